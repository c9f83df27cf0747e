import Logging
import Support
import Synchronization
import Testing

@testable import SubsonicKit

/// Several addresses of one server.
@Suite("Addresses of a server")
struct FailoverTests {
    /// A server that is reached through lines which can be cut.
    private final class House: Sendable {
        let server: HTTPTestServer
        let lines: [CuttingProxy]
        let transport: CurlTransport
        let notices = Mutex<[String]>([])
        /// What waits for a preferred address to be looked at; a gate for each wait.
        let waits = AsyncStream.makeStream(of: (wait: Duration, goOn: AsyncStream<Void>.Continuation).self)

        init(lines count: Int = 2, _ handler: HTTPTestServer.Handler? = nil) throws {
            let answer = #"{"subsonic-response":{"status":"ok","version":"1.16.1","user":{"username":"me"}}}"#
            let server = try #require(HTTPTestServer(handler ?? { _ in .json(answer) }))
            self.server = server
            lines = try (0..<count).map { _ in try #require(CuttingProxy(to: server.port)) }
            transport = try CurlTransport()
        }

        func client(first: String? = nil) throws -> SubsonicClient {
            let urls = try ((first.map { [$0] } ?? []) + lines.map(\.url)).map { try ServerURL($0) }
            var description = SubsonicServer(
                id: "1",
                name: "home",
                url: urls[0],
                credentials: Credentials(user: "me", password: "sesame")
            )
            description.alternatives = Array(urls.dropFirst())
            let log = Log(level: .notice) { [self] _, text in notices.withLock { $0.append(text) } }
            let waits = waits.continuation
            let environment = ClientEnvironment(
                now: { .now },
                sleep: { wait in
                    let (gate, goOn) = AsyncStream.makeStream(of: Void.self)
                    waits.yield((wait, goOn))
                    for await _ in gate {}
                },
                random: { 1 }
            )
            return SubsonicClient(description, transport: transport, log: log, environment: environment)
        }

        func stop() {
            for line in lines { line.stop() }
            server.stop()
            transport.shutdown()
        }
    }

    @Test("An address that is gone is replaced in the same call, told once, and used again when it is back")
    func thereAndBack() async throws {
        let house = try House()
        defer { house.stop() }
        let client = try house.client()
        var waits = house.waits.stream.makeAsyncIterator()
        _ = try await client.ping()
        house.lines[0].die()
        for _ in 0..<3 { _ = try await client.ping() }
        // What must not be done twice is done once.
        _ = try await client.retrying(isRepeatable: false).call("scrobble", [("id", "1")], post: true)
        #expect(house.server.requests.count == 5)
        #expect(house.server.requests.filter { $0.path.hasSuffix("/scrobble.view") }.count == 1)
        #expect(client.streamRequest(songID: "1").url.hasPrefix(house.lines[1].url))
        var notices = house.notices.withLock { $0 }
        #expect(notices.count == 1)
        let words = "home is used at \(house.lines[1].url) for now: \(house.lines[0].url)"
        #expect(notices.first?.hasPrefix(words) == true, "\(notices)")

        // Looked for behind, less and less often.
        let first = try #require(await waits.next())
        #expect(first.wait == .seconds(10))
        first.goOn.finish()
        let second = try #require(await waits.next())
        #expect(second.wait == .seconds(20))
        house.lines[0].revive()
        second.goOn.finish()
        while !client.streamRequest(songID: "1").url.hasPrefix(house.lines[0].url) { await Task.yield() }
        notices = house.notices.withLock { $0 }
        #expect(notices.count == 2 && notices.last == "home answers at \(house.lines[0].url) again", "\(notices)")
        _ = try await client.ping()
    }

    @Test("With no address left, the error is that of a server that is away, and any of them brings it back")
    func noneLeft() async throws {
        let house = try House(lines: 3)
        defer { house.stop() }
        let client = try house.client()
        for line in house.lines { line.die() }
        let error = await #expect(throws: SubsonicError.self) { try await client.ping() }
        #expect(error?.isBeforeSending == true)
        #expect(house.notices.withLock { $0 }.isEmpty)
        house.lines[2].revive()
        _ = try await client.ping()
        house.lines[2].die()
        house.lines[1].revive()
        _ = try await client.ping()
        #expect(client.streamRequest(songID: "1").url.hasPrefix(house.lines[1].url))
    }

    @Test("Names that do not resolve and failing TLS count, errors of the API and of HTTP do not")
    func whatCounts() async throws {
        let house = try House(lines: 1) { request in
            switch request.path.split(separator: "/").last {
            case "a.view": HTTPTestResponse(status: 502)
            case "b.view": .json(#"{"subsonic-response":{"status":"failed","error":{"code":40,"message":"no"}}}"#)
            default: .json(#"{"subsonic-response":{"status":"ok","version":"1.16.1"}}"#)
            }
        }
        defer { house.stop() }
        for first in ["http://music.invalid", "https://127.0.0.1:\(house.server.port)"] {
            let client = try house.client(first: first)
            _ = try await client.ping()
            #expect(client.streamRequest(songID: "1").url.hasPrefix(house.lines[0].url), "\(first)")
        }
        let count = house.server.requests.count
        let client = try house.client(first: house.server.url)
        for method in ["a", "b"] {
            await #expect(throws: SubsonicError.self) { try await client.call(method, []) }
        }
        #expect(client.streamRequest(songID: "1").url.hasPrefix(house.server.url))
        #expect(house.server.requests.count == count + 2)
    }

    @Test("An address that hangs is left: while connecting in the same request, without an answer in the next one")
    func hanging() async throws {
        let house = try House(lines: 1)
        defer { house.stop() }
        let deaf = try #require(DeafListener())
        let addresses = ServerAddresses(try ServerURL(deaf.url), [try ServerURL(house.lines[0].url)])
        var request = HTTPRequest(url: deaf.url + "/rest/ping.view?t=secret", connectTimeout: .milliseconds(50))
        request.route = ServerRoute(addresses: addresses, base: deaf.url)
        let response = try await house.transport.send(request)
        #expect(response.head.effectiveURL == house.lines[0].url + "/rest/ping.view")
        #expect(addresses.current == house.lines[0].url && addresses.preferred == [deaf.url])

        let gate = house.server.makeGate()
        let silent = try #require(
            HTTPTestServer { _ in
                gate.wait(timeout: 20_000)
                return .json("")
            }
        )
        defer { silent.stop() }
        defer { gate.open() }
        let others = ServerAddresses(try ServerURL(silent.url), [try ServerURL(house.lines[0].url)])
        var mute = HTTPRequest(url: silent.url + "/rest/ping.view", stallTimeout: .milliseconds(50))
        mute.route = ServerRoute(addresses: others, base: silent.url)
        await #expect(throws: TransportError.self) { try await house.transport.send(mute) }
        #expect(others.current == house.lines[0].url)
    }

    @Test("Each address has its own path and leads elsewhere by its own redirect")
    func redirects() async throws {
        let house = try House(lines: 1) { request in
            request.path.hasPrefix("/old/")
                ? .redirect(to: "/new" + request.path.dropFirst(4) + "?" + request.query)
                : .json(#"{"subsonic-response":{"status":"ok","version":"1.16.1"}}"#)
        }
        defer { house.stop() }
        let addresses = [house.lines[0].url + "/old", house.server.url + "/sub"]
        var server = SubsonicServer(
            id: "1",
            name: "home",
            url: try ServerURL(addresses[0]),
            credentials: Credentials(user: "me", password: "sesame")
        )
        server.alternatives = [try ServerURL(addresses[1])]
        let client = SubsonicClient(server, transport: house.transport)
        _ = try await client.ping()
        #expect(client.streamRequest(songID: "1").url.hasPrefix(house.lines[0].url + "/new/rest/"))
        house.lines[0].die()
        _ = try await client.ping()
        #expect(client.streamRequest(songID: "1").url.hasPrefix(addresses[1] + "/rest/"))
        #expect(house.server.requests.last?.path == "/sub/rest/ping.view")
    }
}
