import Logging
import SubsonicKit
import Support
import Synchronization
import Testing

@testable import ShelvMPD

/// The queue on its way to the server and to other devices, and from there.
@Suite struct HandoverTests {
    private static let there = PlayQueue(songIDs: ["c", "x", "c"], current: 2, position: 30_000)

    private static func server(
        _ remote: ScriptedListener,
        _ mode: PlayQueueKeeper.Mode = .save,
        in folder: TemporaryFolder? = nil
    ) async throws -> (ListeningServer, TemporaryFolder) {
        let folder = try #require(folder ?? TemporaryFolder())
        return (try await ListeningServer(folder, remote, queue: mode), folder)
    }

    /// Waits without holding a thread that others need.
    private static func until(_ condition: () throws -> Bool) async rethrows -> Bool {
        let deadline = monotonicMilliseconds() + 20_000
        while monotonicMilliseconds() < deadline {
            if try condition() { return true }
            try? await Task.sleep(for: .milliseconds(2))
        }
        return false
    }

    /// Saves what has changed, without waiting for it to become old enough.
    private static func saves(_ server: ListeningServer, _ expected: PlayQueue) async -> Bool {
        await until {
            server.server.onCore { server in
                server.playQueue?.pace.serverAnswers()
                server.playQueue?.save()
            }
            return server.remote.queue == expected
        }
    }

    /// Has looked, and has nothing more to save.
    private static func rests(_ server: ListeningServer) async -> Bool {
        await until {
            server.server.onCore { server in
                server.playQueue?.pace.serverAnswers()
                server.playQueue?.save()
                return server.playQueue?.isAtRest == true
            } == true
        }
    }

    @Test func theQueueIsSavedWithRepetitions() async throws {
        let remote = ScriptedListener(.navidrome)
        let (server, _) = try await Self.server(remote)
        defer { server.kill() }
        for command in ["add a", "add b", "add a", "play 2"] { #expect(try server.ask(command)) }
        // `play` moves an entry up.
        #expect(await Self.saves(server, PlayQueue(songIDs: ["a", "b", "a"], current: 2, position: 0)))
        #expect(remote.calls.contains("savePlayQueueByIndex"))
        #expect(try server.ask("pause 1"))
        #expect(try server.ask("seekcur 20"))
        #expect(await Self.saves(server, PlayQueue(songIDs: ["a", "b", "a"], current: 2, position: 20_000)))
    }

    @Test func theFirstOfAQueueIsSavedWhereZeroIsNothing() async throws {
        let remote = ScriptedListener(.ampache)
        let (server, _) = try await Self.server(remote)
        defer { server.kill() }
        for command in ["add a", "add b", "play 0"] { #expect(try server.ask(command)) }
        #expect(await Self.saves(server, PlayQueue(songIDs: ["a", "b"], current: 0, position: 0)))
    }

    @Test func withoutIndexesByID() async throws {
        let remote = ScriptedListener(.gonic)
        let (server, _) = try await Self.server(remote)
        defer { server.kill() }
        for command in ["add a", "add b", "play 1"] { #expect(try server.ask(command)) }
        #expect(await Self.saves(server, PlayQueue(songIDs: ["a", "b"], current: 1, position: 0)))
        #expect(!remote.calls.contains("savePlayQueueByIndex"))
    }

    @Test func aLongOneGoesAsAForm() async throws {
        let remote = ScriptedListener(.navidrome)
        let (server, _) = try await Self.server(remote)
        defer { server.kill() }
        for _ in 0..<5 { for song in ListeningServer.songs { #expect(try server.ask("add \(song)")) } }
        let all = (0..<5).flatMap { _ in ListeningServer.songs }
        #expect(await Self.saves(server, PlayQueue(songIDs: all, current: 0, position: 0)))
        #expect(remote.forms > 0)
    }

    @Test func urlsAreLeftOutAndAnEmptyQueueIsNone() async throws {
        let remote = ScriptedListener(.navidrome)
        let (server, _) = try await Self.server(remote)
        defer { server.kill() }
        for command in ["add a", "add http://127.0.0.1/radio", "add b", "play 2"] { #expect(try server.ask(command)) }
        let saved = PlayQueue(songIDs: ["a", "b"], current: 1, position: 0)
        #expect(await Self.saves(server, saved))
        #expect(try server.ask("clear"))
        #expect(await Self.rests(server))
        #expect(try server.ask("add http://127.0.0.1/radio"))
        #expect(await Self.rests(server))
        #expect(remote.queue == saved)
    }

    @Test func anotherDevicesQueueGoesOnHere() async throws {
        let remote = ScriptedListener(.navidrome)
        remote.save(Self.there, by: "phone")
        let (server, _) = try await Self.server(remote)
        defer { server.kill() }
        #expect(try await Self.until { try server.client.ask("listplaylists").contains("playlist: Queue: test") })
        #expect(try server.client.ask("listplaylist \"Queue: test\"") == ["file: c", "file: x", "file: c", "OK"])
        #expect(try await server.answer("load \"Queue: test\"") == ["OK"])
        let status = try server.client.ask("status")
        #expect(status.contains("state: pause"))
        #expect(status.contains("song: 2"))
        #expect(status.contains("elapsed: 30.000"))
        // It does not go back.
        #expect(await Self.rests(server))
        #expect(remote.queueSaves == 0)
        #expect(try server.ask("pause 0"))
        #expect(try server.ask("previous"))
        #expect(await Self.saves(server, PlayQueue(songIDs: ["c", "x", "c"], current: 1, position: 0)))
    }

    @Test func intoAQueueItIsOnlyAdded() async throws {
        let remote = ScriptedListener(.navidrome)
        remote.save(Self.there, by: "phone")
        let (server, _) = try await Self.server(remote)
        defer { server.kill() }
        #expect(try server.ask("add a"))
        #expect(try await server.answer("load \"Queue: test\"") == ["OK"])
        #expect(try server.client.value("state", of: "status") == "stop")
        #expect(try server.client.value("playlistlength", of: "status") == "4")
        #expect(try server.ask("clear"))
        #expect(try await server.answer("load \"Queue: test\" 1:") == ["OK"])
        #expect(try server.client.value("state", of: "status") == "stop")
        #expect(try server.client.value("playlistlength", of: "status") == "2")
    }

    @Test func itTakesThePlaceOfTheQueueAtTheStart() async throws {
        let remote = ScriptedListener(.navidrome)
        var (server, folder) = try await Self.server(remote, .both)
        for command in ["add a", "add b"] { #expect(try server.ask(command)) }
        #expect(await Self.saves(server, PlayQueue(songIDs: ["a", "b"], current: 0, position: 0)))
        #expect(server.server.settle())
        server.kill()
        // What was saved from here is no news.
        (server, folder) = try await Self.server(remote, .both, in: folder)
        #expect(await Self.rests(server))
        #expect(try server.client.value("playlistlength", of: "status") == "2")
        #expect(!(try server.client.ask("listplaylists").contains("playlist: Queue: test")))
        server.kill()
        remote.save(Self.there, by: "phone")
        (server, folder) = try await Self.server(remote, .both, in: folder)
        defer { server.kill() }
        #expect(try await Self.until { try server.client.value("state", of: "status") == "pause" })
        #expect(try server.client.ask("playlist") == ["0:file: c", "1:file: x", "2:file: c", "OK"])
        #expect(try server.client.value("elapsed", of: "status") == "30.000")
        #expect(await Self.rests(server))
        #expect(remote.queue == Self.there)
    }

    @Test func whatIsReplacedCanStillBeLoaded() async throws {
        let remote = ScriptedListener(.navidrome)
        let (server, _) = try await Self.server(remote)
        defer { server.kill() }
        #expect(await Self.rests(server))
        remote.save(Self.there, by: "phone")
        #expect(try server.ask("add a"))
        #expect(await Self.saves(server, PlayQueue(songIDs: ["a"], current: 0, position: 0)))
        #expect(try await Self.until { try server.client.ask("listplaylists").contains("playlist: Queue: test") })
        #expect(try server.client.ask("listplaylist \"Queue: test\"") == ["file: c", "file: x", "file: c", "OK"])
        // The server has ours by now.
        #expect(try server.ask("clear"))
        #expect(try await server.answer("load \"Queue: test\"") == ["OK"])
        #expect(try server.client.ask("playlist") == ["0:file: c", "1:file: x", "2:file: c", "OK"])
        #expect(try server.client.value("elapsed", of: "status") == "30.000")
    }

    @Test func itIsSavedAtTheEnd() async throws {
        let remote = ScriptedListener(.navidrome)
        let (server, _) = try await Self.server(remote)
        #expect(await Self.rests(server))
        #expect(try server.ask("add a"))
        server.server.end()
        #expect(await Self.until { remote.queue == PlayQueue(songIDs: ["a"], current: 0, position: 0) })
    }

    @Test func whoWaitsForAQueueIsAnsweredWhenNobodyFetchesAnyMore() async throws {
        let remote = ScriptedListener(.navidrome)
        let (server, _) = try await Self.server(remote)
        defer { server.kill() }
        let other = ScriptedListener(.navidrome)
        let courier = PlayQueueCourier(other, mark: "", log: .silent) { _ in }
        let answers = Mutex<[Bool]>([])
        func fetch() {
            courier.fetch { result in
                answers.withLock { $0.append((try? result.get()) == nil) }
            }
        }
        for _ in 0..<2 { fetch() }
        // It leads nowhere.
        let home = MusicServer.Reference(server.server.core, number: .max)
        let work = Task {
            while !Task.isCancelled { await Task.yield() }
            await courier.work(for: home)
        }
        work.cancel()
        await work.value
        #expect(answers.withLock { $0 } == [true, true])
        fetch()
        #expect(answers.withLock { $0 } == [true, true, true])
        #expect(other.calls.isEmpty)
    }

    @Test func aServerWithoutQueuesIsLeftAlone() async throws {
        let remote = ScriptedListener(.supysonic)
        let (server, _) = try await Self.server(remote)
        defer { server.kill() }
        #expect(await Self.until { remote.calls.contains("getPlayQueue") })
        #expect(await Self.rests(server))
        #expect(try server.ask("add a"))
        #expect(await Self.rests(server))
        #expect(!remote.calls.contains("savePlayQueue"))
        #expect(try await server.answer("load \"Queue: test\"").last?.hasPrefix("ACK") == true)
    }

    @Test func withoutTheServerItIsSavedLater() async throws {
        let remote = ScriptedListener(.navidrome)
        remote.onCall { _, _ in .unreachable }
        let (server, _) = try await Self.server(remote)
        defer { server.kill() }
        #expect(try server.ask("add a"))
        #expect(await Self.until { !remote.calls.isEmpty })
        remote.onCall { _, _ in nil }
        #expect(await Self.saves(server, PlayQueue(songIDs: ["a"], current: 0, position: 0)))
    }
}
