import Library
import Support
import Synchronization
import Testing

@testable import ShelvMPD

/// How a sync is told to clients, and what `shelvmpd sync` makes of it.
@Suite struct SyncProgressTests {
    @Test func aSyncIsToldStepByStep() throws {
        let server = try TestServer()
        let client = try server.client()
        func tell(_ event: LibrarySyncEvent) { server.core.post { $0.syncReport.note(event) } }
        #expect(try client.value("state", of: "shelv_sync") == "idle")
        tell(.started)
        #expect(try client.value("state", of: "shelv_sync") == "syncing")
        tell(.progress(songs: 500, expected: 2000))
        let reply = try client.ask("shelv_sync")
        #expect(reply.contains("fetched: 500") && reply.contains("expected: 2000"))
        let progress = SyncProgress(reply: reply.map { Array($0.utf8) })
        #expect(progress.bar == "test  [#######.......................]  500 of 2000 songs")
        tell(.failed(message: "no route\nto host", retryAfter: .seconds(5)))
        #expect(try client.value("message", of: "shelv_sync") == "no route to host")
        tell(.started)
        tell(.finished(didChange: true))
        #expect(try client.ask("shelv_sync").contains { $0.hasPrefix("message") } == false)
    }

    /// A wrong password or address at the first start: clients would see an empty library, and nothing else.
    @Test func withoutALibraryTheTroubleIsTold() throws {
        let server = try TestServer(isComplete: false)
        let client = try server.client()
        let idler = try server.client()
        func tell(_ event: LibrarySyncEvent) { server.core.post { $0.active.note(event) } }
        func failed(_ message: String) -> LibrarySyncEvent { .failed(message: message, retryAfter: .seconds(5)) }
        func error() throws -> String? { try client.value("error", of: "status") }
        idler.send("idle player\n")
        tell(failed("logging in failed"))
        #expect(try idler.reply() == ["changed: player", "OK"])
        #expect(try error() == "Cannot fetch the library of test: logging in failed")
        tell(.started)
        tell(failed("no answer"))
        #expect(try error() == "Cannot fetch the library of test: no answer")
        #expect(try client.ask("newpartition other") == ["OK"])
        // What is wrong with the music is told first.
        server.core.post { $0.defaultPartition.setError("no sound", isTransient: false) }
        #expect(try error() == "no sound")
        server.core.post { $0.defaultPartition.clearError() }
        #expect(try error() == "Cannot fetch the library of test: no answer")
        // Cleared, it is not told again for each attempt, but elsewhere it is.
        #expect(try client.ask("clearerror") == ["OK"])
        tell(failed("no answer yet"))
        #expect(try error() == nil)
        #expect(try client.ask("partition other") == ["OK"])
        #expect(try error() == "Cannot fetch the library of test: no answer yet")
        tell(.finished(didChange: true))
        #expect(try error() == nil)
    }

    @Test func theTroubleIsOverWithTheFirstSongs() throws {
        let server = try TestServer(isComplete: false)
        let client = try server.client()
        server.core.post { server in
            server.active.note(.failed(message: "away", retryAfter: .seconds(5)))
            let music = server.active
            music.follow(music.library, SongTranslation(from: music.library, to: music.library))
        }
        #expect(try client.value("error", of: "status") == nil)
    }

    /// A library of an earlier run serves well while its server sleeps.
    @Test func withALibraryTheTroubleIsNotTold() throws {
        let server = try TestServer()
        let client = try server.client()
        server.core.post { $0.active.note(.failed(message: "asleep", retryAfter: .seconds(5))) }
        #expect(try client.value("error", of: "status") == nil)
        #expect(try client.value("state", of: "shelv_sync") == "failed")
    }

    @Test func eachServerIsReadByItself() {
        let lines = """
            server: first
            state: idle
            updating_db: 3
            songs: 7
            server: second
            mounted: b
            state: syncing
            songs: 2
            fetched: 5
            expected: 10
            """
        let all = SyncProgress.all(reply: lines.split(separator: "\n").map { Array($0.utf8) })
        #expect(all.map(\.server) == ["first", "second"] && all.map(\.job) == [3, nil])
        #expect(all.map(\.songs) == [7, 2] && all.map(\.fetched) == [0, 5])
        #expect(SyncProgress(reply: lines.split(separator: "\n").map { Array($0.utf8) }) == all[0])
    }

    @Test func allBarsFitInOneRow() {
        func progress(_ server: String) -> SyncProgress {
            let lines = ["server: \(server)", "state: syncing", "fetched: 500", "expected: 1000"]
            return SyncProgress(reply: lines.map { Array($0.utf8) })
        }
        let two = [progress("first"), progress("second")]
        let whole = SyncProgress.line(of: two, columns: 200)
        #expect(whole == two.map(\.bar).joined(separator: "  "))
        #expect(SyncProgress.line(of: two, columns: whole.count + 1) == whole)
        for columns in 0...whole.count {
            #expect(SyncProgress.line(of: two, columns: columns).count <= max(0, columns - 1))
        }
        #expect(SyncProgress.line(of: two, columns: 90).contains("[#####.....]  500 of 1000 songs"))
        #expect(SyncProgress.line(of: two, columns: 70) == "first  500 of 1000 songs  second  500 of 1000 songs")
        // Wide letters.
        #expect(SyncProgress.line(of: [progress("音楽")], columns: 8) == "音楽  5")
    }

    @Test func theLogTellsEveryTenth() {
        var milestones = SyncMilestones()
        let due = stride(from: 500, through: 100_000, by: 500).filter { milestones.isDue(songs: $0, expected: 100_000) }
        #expect(due == [10_000, 20_000, 30_000, 40_000, 50_000, 60_000, 70_000, 80_000, 90_000, 100_000])
        // The next sync begins anew.
        let early = milestones.isDue(songs: 500, expected: nil)
        let late = milestones.isDue(songs: 10_000, expected: nil)
        #expect(!early && late)
    }

    @Test func whatWasSaidOfTheEnd() {
        var before = SyncProgress(reply: [])
        before.songs = 10
        var after = before
        after.server = "home"
        #expect(after.summary(since: before) == "home: 10 songs\n")
        after.songs = 13
        #expect(after.summary(since: before) == "home: 13 songs, 3 more than before\n")
    }

    /// It waits for a number in the middle of a group.
    @Test func theSubcommandWaitsForTheComparisonThatAnswersIt() throws {
        let server = try TestServer()
        let client = try server.client()
        #expect(try client.ask("ping") == ["OK"])
        let core = server.core
        let begun = Mutex(0)
        let ended = Mutex(false)
        core.post { server in
            server.requestSync = { _ in
                let number = begun.withLock { begun in
                    begun += 1
                    return begun
                }
                guard number == 2 else { return UInt64(number) }
                core.post { server in
                    _ = server.timers.schedule(at: .now.advanced(by: .milliseconds(400))) { server in
                        ended.withLock { $0 = true }
                        server.syncEnded(server.active, didChange: true, through: 2)
                    }
                }
                return 2
            }
        }
        for job in 1...2 { #expect(try client.ask("update") == ["updating_db: \(job)", "OK"]) }
        var configuration = Configuration()
        configuration.addresses = [.host("127.0.0.1", port: UInt16(server.port))]
        var isFirst = true
        try SyncProgress.follow(by: configuration, isTerminal: true) { _ in
            guard isFirst else { return }
            isFirst = false
            // Its own one was the third.
            #expect((try? client.ask("update")) == ["updating_db: 4", "OK"])
            core.post { server in server.syncEnded(server.active, didChange: false, through: 1) }
        }
        #expect(ended.withLock { $0 })
    }

    /// Against a server whose update another thread ends.
    @Test(arguments: [true, false]) func theSubcommandFollowsToTheEnd(succeeds: Bool) async throws {
        let server = try TestServer()
        // The core runs when it has answered somebody.
        let client = try server.client()
        #expect(try client.ask("ping") == ["OK"])
        let core = server.core
        core.post { server in
            server.requestSync = { _ in
                core.post { server in
                    for event: LibrarySyncEvent in [.started, .progress(songs: 5, expected: 9)] {
                        server.syncReport.note(event)
                    }
                    _ = server.timers.schedule(at: .now.advanced(by: .milliseconds(400))) { server in
                        server.syncReport.note(
                            succeeds ? .finished(didChange: true) : .failed(message: "away", retryAfter: .zero)
                        )
                        server.syncEnded(server.active, didChange: true, through: 1)
                    }
                }
                return 1
            }
        }
        var configuration = Configuration()
        configuration.addresses = [.host("127.0.0.1", port: UInt16(server.port))]
        var shown = ""
        if succeeds {
            try SyncProgress.follow(by: configuration, isTerminal: true) { shown += $0 }
            #expect(shown.contains("5 of 9 songs"))
            #expect(shown.hasSuffix("test: \(LibraryFixture.records.count) songs\n"))
        } else {
            #expect(throws: ServerConnectionError("away")) {
                try SyncProgress.follow(by: configuration, isTerminal: false) { shown += $0 }
            }
        }
        #expect(try client.value("updating_db", of: "status") == nil)
    }
}
