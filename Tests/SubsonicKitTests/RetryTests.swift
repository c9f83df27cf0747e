import Synchronization
import Testing

@testable import SubsonicKit

@Suite("Retries and limits")
struct RetryTests {
    private static func client(
        _ transport: ScriptedTransport,
        _ noted: NotedEnvironment
    ) throws -> SubsonicClient {
        let server = SubsonicServer(
            id: "1",
            name: "home",
            url: try ServerURL("https://h"),
            credentials: Credentials(user: "me", password: "sesame")
        )
        return SubsonicClient(
            server,
            transport: transport,
            remembered: .token,
            environment: noted.environment
        )
    }

    @Test("What may pass is repeated, what may not is told at once")
    func table() async throws {
        typealias Failure = Result<HTTPResponse, TransportError>
        let steps: [TransportError.Step] = [.resolve, .connect, .tls, .send, .receive, .cancelled, .local]
        var table: [(name: String, failure: Failure, repeats: Bool, repeatsUnrepeatable: Bool)] = steps.map { step in
            let passes = [.resolve, .connect, .send, .receive].contains(step)
            let before = [.resolve, .connect].contains(step)
            return ("\(step)", .failure(TransportError(step, "x")), passes, before)
        }
        for status in [500, 502, 503, 504, 408] {
            table.append(("\(status)", .success(.json("x", status: status)), true, false))
        }
        table.append(("429", .success(.failed(0, status: 429)), true, true))
        for status in [400, 401, 403, 404, 410, 501] {
            table.append(("\(status)", .success(.json("x", status: status)), false, false))
        }
        for code in [0, 20, 30, 40, 41, 43, 44, 50, 60, 70] {
            table.append(("code \(code)", .success(.failed(code)), false, false))
        }
        table.append(("cut", .success(.json(#"{"subsonic-response":{"status":"o"#)), true, false))
        table.append(("empty", .success(.json("")), true, false))
        table.append(("web page", .success(.json("<!DOCTYPE html><html>")), true, false))
        table.append(("other JSON", .success(.json("{}")), true, false))

        for row in table {
            for isRepeatable in [true, false] {
                let transport = ScriptedTransport { (_, number) throws(TransportError) in
                    number < 2 ? try row.failure.get() : .ok
                }
                let noted = NotedEnvironment()
                let client = try Self.client(transport, noted)
                let isAnswered = (try? await client.retrying(isRepeatable: isRepeatable).ping()) != nil
                let repeats = isRepeatable ? row.repeats : row.repeatsUnrepeatable
                // Error 41 has another answer than repeating.
                let tries = row.name == "code 41" ? 2 : repeats ? 3 : 1
                #expect(transport.requests.count == tries, "\(row.name)")
                #expect(noted.waits == (repeats ? [.milliseconds(500), .seconds(1)] : []), "\(row.name)")
                #expect(isAnswered == repeats, "\(row.name)")
            }
        }
    }

    @Test("Waits grow linearly, vary by chance, end after the fourth, and heed Retry-After up to a minute")
    func delays() async throws {
        let transport = ScriptedTransport { (_, _) throws(TransportError) in throw TransportError(.connect, "refused") }
        let noted = NotedEnvironment()
        let client = try Self.client(transport, noted)
        await #expect(throws: SubsonicError.transport(TransportError(.connect, "refused"))) {
            try await client.retrying().ping()
        }
        #expect(noted.waits == [.milliseconds(500), .seconds(1), .milliseconds(1500), .seconds(2)])
        #expect(transport.requests.count == 5)

        let cut = SubsonicError.transport(TransportError(.receive, "cut"))
        let policy = RetryPolicy.linear
        #expect(policy.delay(before: 1, after: cut, chance: 0) == .milliseconds(700))
        #expect(policy.delay(before: 1, after: cut, chance: 1) == .milliseconds(1300))
        #expect(policy.delay(before: 4, after: cut, chance: 0.5) == nil)
        #expect(RetryPolicy.none.delay(before: 0, after: cut, chance: 0.5) == nil)
        let busy = { (wish: Duration?) in SubsonicError.http(status: 503, retryAfter: wish) }
        #expect(policy.delay(before: 0, after: busy(nil), chance: 0.5) == .milliseconds(500))
        #expect(policy.delay(before: 0, after: busy(.seconds(7)), chance: 0.5) == .seconds(7))
        #expect(policy.delay(before: 0, after: busy(.seconds(3600)), chance: 0.5) == .seconds(60))
        #expect(policy.delay(before: 0, after: busy(.zero), chance: 0.5) == .milliseconds(500))
    }

    @Test("429 with Retry-After waits as told")
    func retryAfter() async throws {
        let transport = ScriptedTransport { _, number in
            number == 0 ? .json("{}", status: 429, headers: [("retry-after", "9")]) : .ok
        }
        let noted = NotedEnvironment()
        _ = try await Self.client(transport, noted).retrying().ping()
        #expect(noted.waits == [.seconds(9)])
    }

    @Test("Later requests follow a redirected base, and go back when it is gone")
    func movedBase() async throws {
        let transport = ScriptedTransport { (request, number) throws(TransportError) in
            if number == 2 { throw TransportError(.connect, "gone") }
            var answer = HTTPResponse.ok
            if number == 0 { answer.head.effectiveURL = "https://h:8443/music/rest/ping.view" }
            return answer
        }
        let client = try Self.client(transport, NotedEnvironment())
        _ = try await client.retrying().ping()
        #expect(client.streamRequest(songID: "1").description == "https://h:8443/music/rest/stream.view")
        _ = try await client.retrying().ping()
        _ = try await client.retrying().ping()
        let places = transport.requests.map(\.description)
        let moved = "https://h:8443/music/rest/ping.view"
        #expect(places == ["https://h/rest/ping.view", moved, moved, "https://h/rest/ping.view"])
    }

    @Test("No more requests at once than slots; a cancelled wait gives nothing away")
    func limiter() async throws {
        let limiter = RequestLimiter(slots: 2, now: { .now })
        #expect(await limiter.acquire())
        #expect(await limiter.acquire())
        let waiting = Task { await limiter.acquire() }
        let cancelled = Task { await limiter.acquire() }
        cancelled.cancel()
        #expect(await cancelled.value == false)
        limiter.release()
        #expect(await waiting.value)
        limiter.release()
        limiter.release()
        // All slots are back.
        #expect(await limiter.acquire())
        #expect(await limiter.acquire())
    }

    @Test("Many tasks through few slots: never more inside, all get through")
    func crowd() async {
        let limiter = RequestLimiter(slots: 3, now: { .now })
        let inside = Crowd()
        await withTaskGroup { group in
            for index in 0..<300 {
                group.addTask {
                    guard await limiter.acquire() else { return }
                    inside.enter()
                    if index.isMultiple(of: 3) { await Task.yield() }
                    inside.leave()
                    limiter.release()
                }
            }
        }
        #expect(inside.now == 0 && inside.most <= 3 && inside.sum == 300)
    }

    /// Counts who is inside.
    private final class Crowd: Sendable {
        private let state = Mutex((now: 0, most: 0, sum: 0))
        var now: Int { state.withLock { $0.now } }
        var most: Int { state.withLock { $0.most } }
        var sum: Int { state.withLock { $0.sum } }

        func enter() {
            state.withLock { state in
                state.now += 1
                state.most = max(state.most, state.now)
                state.sum += 1
            }
        }

        func leave() { state.withLock { $0.now -= 1 } }
    }

    @Test("After too many requests, half of the slots for a minute")
    func halved() async {
        let start = ContinuousClock.now
        let time = Mutex(start)
        let limiter = RequestLimiter(slots: 2, now: { time.withLock { $0 } })
        limiter.halve(until: start + .seconds(60))
        #expect(await limiter.acquire())
        let second = Task { await limiter.acquire() }
        // The one slot is taken, so this can only come back by being cancelled.
        second.cancel()
        #expect(await second.value == false)
        time.withLock { $0 = start + .seconds(61) }
        #expect(await limiter.acquire())
    }

    @Test("A cancelled call ends as cancelled and is not repeated")
    func cancellation() async throws {
        let transport = ScriptedTransport { (_, _) throws(TransportError) in throw TransportError(.receive, "cut") }
        let noted = NotedEnvironment()
        var environment = noted.environment
        environment.sleep = { _ in unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
        let server = SubsonicServer(
            id: "1",
            name: "home",
            url: try ServerURL("https://h"),
            credentials: Credentials(user: "me", password: "x")
        )
        let client = SubsonicClient(server, transport: transport, environment: environment)
        let task = Task { () -> Bool in
            do {
                _ = try await client.retrying().ping()
                return false
            } catch {
                return (error as? SubsonicError)?.isCancellation == true
            }
        }
        #expect(await task.value)
        #expect(transport.requests.count == 1)
    }
}
