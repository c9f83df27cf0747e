import SubsonicKit
import Support
import Synchronization
import Testing

@Suite("CurlTransport: streams, cancelling, ending")
struct CurlStreamTests {
    private static let file = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }

    @Test("A stream brings the head once, then all bytes, then the end once; ranges are exact and uncompressed")
    func stream() async throws {
        let server = try #require(HTTPTestServer { .file(Self.file, for: $0) })
        defer { server.stop() }
        let transport = try CurlTransport()
        for start in [nil, 0, 1, 150_000, 299_999, 300_000] as [Int64?] {
            let receiver = RecordingReceiver()
            _ = transport.stream(HTTPRequest(url: server.url + "/s?t=1", rangeStart: start), to: receiver)
            #expect(await receiver.finish() == nil)
            #expect(receiver.heads.count == 1 && receiver.finishes.count == 1)
            let head = try #require(receiver.heads.first)
            #expect(head.status == (start == nil ? 200 : start == 300_000 ? 416 : 206))
            #expect(head.isLoopback && head.effectiveURL == server.url + "/s")
            #expect(receiver.body == Array(Self.file[Int(start ?? 0)...]))
        }
        #expect(server.requests.allSatisfy { $0.value(of: "accept-encoding") == "identity" })
        #expect(server.requests.map { $0.value(of: "range") }[..<3] == [nil, "bytes=0-", "bytes=1-"])
        #expect(server.connectionCount == 1)
    }

    @Test("The receiver ends the transfer at the head or after some bytes")
    func receiverEnds() async throws {
        let server = try #require(HTTPTestServer { .file(Self.file, for: $0) })
        defer { server.stop() }
        let transport = try CurlTransport()
        for receiver in [RecordingReceiver(stopsAtHead: true), RecordingReceiver(stopsAfter: 1)] {
            _ = transport.stream(HTTPRequest(url: server.url), to: receiver)
            #expect(await receiver.finish()?.step == .cancelled)
            #expect(receiver.heads.count == 1 && receiver.finishes.count == 1)
            #expect(receiver.body.count < Self.file.count)
        }
    }

    @Test("A cut stream keeps what came, and goes on by range")
    func resume() async throws {
        let server = try #require(
            HTTPTestServer { request in
                let whole = HTTPTestResponse.file(Self.file, for: request)
                return request.rangeStart ?? 0 < 200_000 ? whole.interrupted(after: 90_000, by: .reset) : whole
            }
        )
        defer { server.stop() }
        let transport = try CurlTransport()
        var body: [UInt8] = []
        var attempts = 0
        while body.count < Self.file.count && attempts < 50 {
            let receiver = RecordingReceiver()
            _ = transport.stream(HTTPRequest(url: server.url, rangeStart: Int64(body.count)), to: receiver)
            let error = await receiver.finish()
            body += receiver.body
            #expect((error == nil) == (body.count == Self.file.count))
            attempts += 1
        }
        #expect(body == Self.file)
        #expect(attempts >= 3)
    }

    @Test(
        "Cancelling works at every stage and finishes once: connecting, waiting, in the middle, queued, done",
        .timeLimit(.minutes(1))
    )
    func cancelling() async throws {
        let deaf = try #require(DeafListener())
        let gate = TestGate()
        let server = try #require(
            HTTPTestServer { request in
                var response = HTTPTestResponse.file(Self.file, for: request)
                if request.path == "/wait" { response.stepsBefore = [.wait(gate)] }
                return request.path == "/middle" ? response.interrupted(after: 1000, by: .wait(gate)) : response
            }
        )
        defer {
            gate.open()
            server.stop()
        }
        let transport = try CurlTransport(CurlTransportOptions(maximumTransfersPerServer: 2))
        // Nothing but cancelling can end these in the life of a test.
        func patient(_ url: String) -> HTTPRequest {
            HTTPRequest(url: url, connectTimeout: .seconds(3600), stallTimeout: .seconds(3600))
        }

        func cancelled(_ url: String, afterBytes count: Int = 0) async -> RecordingReceiver {
            let receiver = RecordingReceiver()
            let transfer = transport.stream(patient(url), to: receiver)
            await receiver.bytes(count)
            transfer.cancel()
            transfer.cancel()
            #expect(await receiver.finish()?.step == .cancelled, "\(url)")
            return receiver
        }

        _ = await cancelled(deaf.url)
        _ = await cancelled(server.url + "/wait")
        let middle = await cancelled(server.url + "/middle", afterBytes: 1000)
        #expect(middle.body.count == 1000 && middle.finishes.count == 1)

        // Both slots are taken: the third waits here.
        let first = RecordingReceiver()
        let second = RecordingReceiver()
        let one = transport.stream(patient(server.url + "/wait"), to: first)
        let two = transport.stream(patient(server.url + "/wait"), to: second)
        let queued = await cancelled(server.url + "/file")
        #expect(queued.heads.isEmpty)
        // A slot that becomes free is used.
        let next = RecordingReceiver()
        let last = transport.stream(HTTPRequest(url: server.url + "/file"), to: next)
        one.cancel()
        #expect(await next.finish() == nil)
        two.cancel()
        #expect(await second.finish()?.step == .cancelled)
        // Too late is no harm.
        last.cancel()
        #expect(next.finishes.count == 1)
    }

    @Test("Cancelling a task ends its request, also one that has not started")
    func cancellingTasks() async throws {
        let deaf = try #require(DeafListener())
        let transport = try CurlTransport()
        let url = deaf.url
        let tasks = (0..<20).map { _ in
            Task { () -> TransportError.Step? in
                do throws(TransportError) {
                    _ = try await transport.send(HTTPRequest(url: url))
                    return nil
                } catch {
                    return error.step
                }
            }
        }
        for task in tasks { task.cancel() }
        for task in tasks { #expect(await task.value == .cancelled) }
    }

    @Test("Never more transfers at once to a server than allowed; time in the queue is no stall")
    func slots() async throws {
        let gate = TestGate()
        let started = Mutex(0)
        let server = try #require(
            HTTPTestServer { request in
                started.withLock { $0 += 1 }
                gate.wait()
                return .file([1, 2, 3], for: request)
            }
        )
        defer {
            gate.open()
            server.stop()
        }
        let transport = try CurlTransport(CurlTransportOptions(maximumTransfersPerServer: 3))
        let receivers = (0..<12).map { _ in RecordingReceiver() }
        for receiver in receivers { _ = transport.stream(HTTPRequest(url: server.url), to: receiver) }
        // Another server is not held up.
        let other = try #require(HTTPTestServer { _ in .json("") })
        defer { other.stop() }
        _ = try await transport.send(HTTPRequest(url: other.url))
        #expect(started.withLock { $0 } <= 3)
        gate.open()
        for receiver in receivers { #expect(await receiver.finish() == nil) }
        #expect(server.connectionCount <= 3)
    }

    @Test("Shutting down ends what is under way, and what comes later")
    func shutdown() async throws {
        let deaf = try #require(DeafListener())
        let transport = try CurlTransport(CurlTransportOptions(maximumTransfersPerServer: 1))
        let active = RecordingReceiver()
        let queued = RecordingReceiver()
        _ = transport.stream(HTTPRequest(url: deaf.url), to: active)
        _ = transport.stream(HTTPRequest(url: deaf.url), to: queued)
        transport.shutdown()
        transport.shutdown()
        // The thread has ended, so both have been told.
        #expect(active.finishes.first??.step == .cancelled && queued.finishes.first??.step == .cancelled)
        let late = RecordingReceiver()
        _ = transport.stream(HTTPRequest(url: deaf.url), to: late)
        #expect(await late.finish()?.step == .cancelled)
        let error = await #expect(throws: TransportError.self) { try await transport.send(HTTPRequest(url: deaf.url)) }
        #expect(error?.step == .cancelled)
    }

    @Test("The last owner may let go, or shut down, inside a callback")
    func releasedInCallback() async throws {
        let server = try #require(HTTPTestServer { _ in .json("x") })
        defer { server.stop() }
        for shutsDown in [true, false] {
            let receiver = try Self.releasingReceiver(url: server.url, shutsDown: shutsDown)
            #expect(await receiver.finish() == nil)
        }
    }

    /// Starts a transfer whose end lets go of its transport.
    private static func releasingReceiver(url: String, shutsDown: Bool) throws -> RecordingReceiver {
        let owner = Owner(try CurlTransport())
        let receiver = RecordingReceiver(onFinish: {
            let transport = owner.take()
            if shutsDown { transport?.shutdown() }
        })
        owner.stream(HTTPRequest(url: url), to: receiver)
        return receiver
    }

    /// The only owner of a transport.
    private final class Owner: Sendable {
        private let transport: Mutex<CurlTransport?>
        init(_ transport: CurlTransport) { self.transport = Mutex(transport) }

        func stream(_ request: HTTPRequest, to receiver: RecordingReceiver) {
            // Under the lock, so that the callback waits until nobody here holds the transport any more.
            transport.withLock { _ = $0?.stream(request, to: receiver) }
        }

        func take() -> CurlTransport? {
            transport.withLock { transport in
                defer { transport = nil }
                return transport
            }
        }
    }

    @Test("A thousand requests at once through few connections")
    func crowd() async throws {
        let server = try #require(HTTPTestServer { .json($0.path) })
        defer { server.stop() }
        let transport = try CurlTransport()
        let url = server.url
        let good = await withTaskGroup { group in
            for index in 0..<1000 {
                group.addTask {
                    let response = try? await transport.send(HTTPRequest(url: "\(url)/\(index)"))
                    return response?.body == Array("/\(index)".utf8)
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(good == 1000)
        #expect(server.connectionCount <= 8)
    }
}
