import Glibc
import Library
import Logging
import QueueEngine
import SubsonicKit
import Support
import Synchronization
import Testing

@testable import ShelvMPD

/// What the server is told of what is listened to.
@Suite struct ScrobbleTests {
    /// A server whose player has begun `a`, with `b` behind it.
    private static func playing(
        _ remote: ScriptedListener,
        scrobbles: Bool = true
    ) async throws -> (ListeningServer, TemporaryFolder) {
        let folder = try #require(TemporaryFolder())
        let server = try await ListeningServer(folder, remote, scrobbles: scrobbles)
        #expect(try server.ask("add a"))
        #expect(try server.ask("add b"))
        #expect(try server.ask("play"))
        return (server, folder)
    }

    private static func until(_ condition: () -> Bool) async -> Bool {
        let deadline = monotonicMilliseconds() + 20_000
        while monotonicMilliseconds() < deadline {
            if condition() { return true }
            try? await Task.sleep(for: .milliseconds(2))
        }
        return false
    }

    @Test(arguments: [ScriptedListener.Habits.navidrome, .gonic, .supysonic, .lms])
    func playsArriveOnceAndInOrder(_ habits: ScriptedListener.Habits) async throws {
        let remote = ScriptedListener(habits)
        let (server, folder) = try await Self.playing(remote)
        defer { server.kill() }
        server.plays(31)
        try server.ends()
        server.plays(60)
        #expect(await server.settle())
        #expect(remote.plays.map(\.songID) == ["a", "b"])
        #expect(remote.plays == server.witness.played)
        #expect(!folder.names.isEmpty)
    }

    @Test func whatCanBeHeardIsToldWhenItIsHeard() async throws {
        let remote = ScriptedListener(.lms)
        let (server, _) = try await Self.playing(remote)
        defer { server.kill() }
        #expect(await server.settle())
        #expect(remote.nowPlaying.isEmpty)
        server.plays(1)
        #expect(await Self.until { remote.nowPlaying == ["a"] })
        server.plays(1, from: 1)
        try server.ends()
        #expect(await server.settle())
        #expect(remote.nowPlaying == ["a"])
        server.plays(1)
        #expect(await Self.until { remote.nowPlaying == ["a", "b"] })
        #expect(remote.plays.isEmpty)
    }

    /// These take what can be heard for a play.
    @Test func whereItWouldCountItIsNotTold() async throws {
        let remote = ScriptedListener(.gonic)
        let (server, _) = try await Self.playing(remote)
        defer { server.kill() }
        server.plays(31)
        #expect(await server.settle())
        #expect(remote.plays.map(\.songID) == ["a"])
        #expect(remote.nowPlaying.isEmpty)
    }

    @Test func howItGoesOnIsReportedWhereThatCanBe() async throws {
        let remote = ScriptedListener(.navidrome)
        let (server, _) = try await Self.playing(remote)
        defer { server.kill() }
        server.plays(5)
        #expect(await Self.until { remote.reports.last == "paused a 5000" })
        #expect(try server.ask("stop"))
        #expect(await Self.until { remote.reports.last == "stopped a 5000" })
        #expect(remote.nowPlaying.isEmpty)
        #expect(remote.plays.isEmpty)
    }

    @Test(arguments: ["play", "seekcur 0", "seekcur 25"])
    func aLostSongIsNoEndOfItsPlay(command: String) async throws {
        let remote = ScriptedListener(.navidrome)
        let (server, _) = try await Self.playing(remote)
        defer { server.kill() }
        server.plays(20)
        try server.fails()
        // Only the newest of what waits is told.
        #expect(await Self.until { remote.reports.contains("paused a 20000") })
        let lost = server.current
        #expect(try server.ask(command) && server.ask("play"))
        #expect(server.current != lost)
        server.plays(11, from: 20)
        #expect(await server.settle())
        #expect(remote.plays.map(\.songID) == ["a"])
    }

    @Test func theEndOfTheProgramIsTheEndOfWhatIsHeard() async throws {
        let remote = ScriptedListener(.navidrome)
        let (server, _) = try await Self.playing(remote)
        defer { server.kill() }
        server.plays(5)
        #expect(await Self.until { remote.reports.last == "paused a 5000" })
        server.server.onCore { $0.endSounding(in: $0.defaultPartition) }
        #expect(await Self.until { remote.reports.last == "stopped a 5000" })
    }

    /// The server counts later, and then its numbers count.
    @Test func playsAreSeenAtOnce() async throws {
        let remote = ScriptedListener()
        remote.onCall { _, _ in .unreachable }
        var (server, folder) = try await Self.playing(remote)
        let listener = try server.server.client()
        listener.send("idle sticker\n")
        server.plays(31)
        #expect(try listener.reply() == ["changed: sticker", "OK"])
        let time = try #require(server.witness.played.first).time / 1000
        #expect(try server.client.ask("sticker get song a playCount") == ["sticker: playCount=1", "OK"])
        #expect(try server.client.ask("sticker get song a lastPlayed") == ["sticker: lastPlayed=\(time)", "OK"])
        #expect(try server.client.ask("sticker find song \"\" playCount").contains("file: a"))

        // After a restart, the play is still on its way.
        server.kill()
        server = try await ListeningServer(folder, remote)
        defer { server.kill() }
        #expect(try server.client.ask("sticker get song a playCount") == ["sticker: playCount=1", "OK"])
        var records = ListeningServer.records
        (records[0].playCount, records[0].played) = (8, time + 60)
        try server.server.replaceLibrary(records)
        #expect(try server.client.ask("sticker get song a playCount") == ["sticker: playCount=8", "OK"])
        #expect(server.server.onCore { $0.active.freshPlays.isEmpty } == true)
    }

    @Test func nothingIsToldWhenThatIsSwitchedOff() async throws {
        let remote = ScriptedListener()
        let (server, _) = try await Self.playing(remote, scrobbles: false)
        defer { server.kill() }
        server.plays(31)
        try server.ends()
        #expect(server.witness.played.map(\.songID) == ["a"])
        #expect(remote.calls.isEmpty)
    }

    @Test func whatIsHeardWithoutTheServerIsToldLater() async throws {
        let remote = ScriptedListener()
        remote.onCall { _, _ in .unreachable }
        var (server, folder) = try await Self.playing(remote)
        server.plays(31)
        try server.ends()
        server.plays(31)
        #expect(remote.plays.isEmpty)
        server.kill()
        server = try await ListeningServer(folder, remote)
        defer { server.kill() }
        remote.onCall { _, _ in nil }
        #expect(await server.settle())
        #expect(remote.plays.map(\.songID) == ["a", "b"])
        // In one request, since the server takes several.
        #expect(remote.calls.count { $0 == "scrobble" } == 1)
    }

    @Test func aLostAnswerMakesNoSecondPlay() async throws {
        let remote = ScriptedListener()
        let answers = Mutex(1)
        remote.onCall { _, method in
            guard method == "scrobble" else { return nil }
            return answers.withLock { count in
                defer { count -= 1 }
                return count > 0 ? .after : nil
            }
        }
        let (server, _) = try await Self.playing(remote)
        defer { server.kill() }
        server.plays(31)
        #expect(await server.settle())
        #expect(remote.plays.map(\.songID) == ["a"])
        #expect(remote.calls.contains("getSong"))
    }

    @Test func aSongThatTheServerDoesNotKnowHoldsUpNothing() async throws {
        let remote = ScriptedListener(.lms)
        let knows = Mutex(false)
        remote.onCall { _, method in
            guard method == "scrobble", !knows.withLock({ $0 }) else { return nil }
            return .error(.server(ServerFailure(code: 70, message: "not found")))
        }
        let (server, _) = try await Self.playing(remote)
        defer { server.kill() }
        server.plays(31)
        #expect(await server.settle())
        knows.withLock { $0 = true }
        try server.ends()
        server.plays(31)
        #expect(await server.settle())
        #expect(remote.plays.map(\.songID) == ["b"])
    }

    @Test func aRestartDoesNotMakeTwoPlaysOfOne() async throws {
        let remote = ScriptedListener()
        var (server, folder) = try await Self.playing(remote)
        server.plays(20)
        #expect(server.server.settle())
        server.kill()
        server = try await ListeningServer(folder, remote)
        #expect(try server.ask("pause 0"))
        server.plays(9, from: 20)
        #expect(server.witness.played.isEmpty)
        server.plays(2, from: 29)
        #expect(await server.settle())
        #expect(remote.plays.count == 1)
        #expect(server.server.settle())
        server.kill()
        server = try await ListeningServer(folder, remote)
        defer { server.kill() }
        #expect(try server.ask("pause 0"))
        server.plays(29, from: 31)
        #expect(await server.settle())
        #expect(remote.plays.count == 1)
    }

    // MARK: Clocks

    /// A machine without a clock of its own plays offline in 1970, then learns the time.
    @Test func aPlayOfBeforeTheClockWasSetIsToldByTheRightOne() {
        let (booted, set): (Int64, Int64) = (0, 1_800_000_000_000)
        // It began ten seconds after the start.
        let play = Scrobbler.Waiting(id: 1, songID: "a", time: booted + 10_000, isKept: true, lead: booted)
        #expect(play.knownTime == nil)
        #expect(play.corrected(lead: booted).knownTime == nil)
        #expect(play.corrected(lead: set).knownTime == set + 10_000)
        // A clock that was set by a little has not been wrong.
        let later = Scrobbler.Waiting(id: 2, songID: "a", time: set, isKept: true, lead: set)
        #expect(later.corrected(lead: set + 5000) == later)
        let saved = Scrobbler.Waiting(id: 3, songID: "a", time: booted + 10_000, isKept: true)
        #expect(saved.corrected(lead: set) == saved)
    }

    /// The run that knew by how much it was wrong has ended: the server's clock is better than 1970.
    @Test func aPlayWhoseTimeNobodyKnowsIsToldWithoutOne() async throws {
        let remote = ScriptedListener(.navidrome)
        let folder = try #require(TemporaryFolder())
        let store = try Store(path: folder.path("store.sqlite"), log: .silent)
        defer { store.close() }
        let id = try await store.identify([ServerAddress(name: "test", url: "http://test")])[0]
        let courier = ScrobbleCourier(remote, id: id, store: store, log: .silent)
        let plays = [("a", 10_000), ("b", 1_800_000_000_000), ("c", 1_800_000_060_000)].enumerated().map {
            number,
            play in
            Scrobbler.Waiting(id: Int64(number + 1), songID: play.0, time: play.1, isKept: true)
        }
        guard case .arrived(1) = await courier.submit(plays, uncertain: 0),
            case .arrived(2) = await courier.submit(Array(plays.dropFirst()), uncertain: 0)
        else {
            Issue.record("other plays were sent together: \(remote.plays)")
            return
        }
        #expect(
            remote.plays == [
                .init(songID: "a", time: 0), .init(songID: "b", time: 1_800_000_000_000),
                .init(songID: "c", time: 1_800_000_060_000),
            ]
        )
    }

    // MARK: Anything

    private static let isLong = unsafe getenv("SHELV_SOAK") != nil

    /// A listener who does anything, while the server fails, is away, or this process is killed: in the end the server has
    /// each play that counts, once and in order.
    @Test func serverHasWhatWasHeard() async throws {
        let habits: [ScriptedListener.Habits] = [.navidrome, .gonic, .lms]
        for round in 0..<(Self.isLong ? 200 : 10) {
            let seed = SeededNumbers.seed(usually: Self.isLong ? nil : UInt64(round + 1))
            try await Self.run(habits[round % habits.count], seed, "round \(round), SHELV_SEED=\(seed)")
        }
    }

    private static func run(_ habits: ScriptedListener.Habits, _ seed: UInt64, _ label: String) async throws {
        var random = SeededRandom(seed: seed)
        let remote = ScriptedListener(habits)
        let faults = Mutex((random: SeededRandom(seed: seed ^ 1), isAway: false, chance: 0))
        remote.onCall { _, _ in
            faults.withLock { faults in
                if faults.isAway { return .unreachable }
                guard Int.random(in: 0..<100, using: &faults.random) < faults.chance else { return nil }
                return [.unreachable, .before, .after].randomElement(using: &faults.random) ?? nil
            }
        }
        var folder = try #require(TemporaryFolder())
        var server = try await ListeningServer(folder, remote)
        for song in ListeningServer.songs { #expect(try server.ask("add \(song)")) }
        #expect(try server.ask("repeat 1"))
        #expect(try server.ask("play"))
        var told: [ScriptedListener.Play] = []
        var mayBeLost: Set<ScriptedListener.Play> = []
        func restart() async throws {
            told += server.witness.played
            server = try await ListeningServer(folder, remote)
            if try server.client.value("state", of: "status") == "stop" {
                #expect(try server.ask("play"))
            } else {
                #expect(try server.ask("pause 0"))
            }
        }
        for _ in 0..<(isLong ? 80 : 40) {
            switch Int.random(in: 0..<16, using: &random) {
            case 0: faults.withLock { $0.isAway.toggle() }
            case 1:
                let chance = [0, 0, 20, 50].randomElement(using: &random) ?? 0
                faults.withLock { $0.chance = chance }
            case 2:
                #expect(server.server.settle())
                server.kill()
                try await restart()
            case 3:
                #expect(server.server.settle())
                await server.server.store.flush()
                // What comes last may be lost with the process, as if it had never been heard.
                let before = server.witness.played.count
                let seconds = Double.random(in: 1...40, using: &random)
                server.plays(seconds)
                let other = try #require(TemporaryFolder())
                server.killHard(leaving: other, from: folder)
                folder = other
                mayBeLost.formUnion(server.witness.played.dropFirst(before))
                try await restart()
                server.plays(40)
            case 4: server.server.onCore { $0.scrobbler?.pace.serverAnswers() }
            case 5: #expect(try server.ask("next"))
            case 6: #expect(try server.ask("seekcur \(Int.random(in: 0...50, using: &random))"))
            case 7: #expect(try server.ask("play \(Int.random(in: 0..<26, using: &random))"))
            case 8, 9, 10: try server.ends()
            default: server.plays(Double.random(in: 1...40, using: &random))
            }
        }
        _ = try server.ask("ping")
        faults.withLock { ($0.isAway, $0.chance) = (false, 0) }
        #expect(await server.settle(), "\(label): it never comes to rest")
        told += server.witness.played
        // What was not lost may have been told twice here: by the process that was killed, and by the next one.
        let there = Set(remote.plays)
        var wanted: [ScriptedListener.Play] = []
        for play in told where !wanted.contains(play) && (there.contains(play) || !mayBeLost.contains(play)) {
            wanted.append(play)
        }
        #expect(remote.plays == wanted, "\(label)")
        server.kill()
    }
}
