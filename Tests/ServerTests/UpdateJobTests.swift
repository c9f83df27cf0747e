import Library
import Support
import Synchronization
import Testing

@testable import ShelvMPD

/// Which comparisons with the servers end the job of an `update`.
@Suite(.serialized)
struct UpdateJobTests {
    private static func job(_ client: MPDTestClient) throws -> String? { try client.value("updating_db", of: "status") }

    @Test func aComparisonThatBeganBeforeAnswersNobody() async throws {
        let remote = try #require(SmallMusicServer("Anna"))
        let (ping, scan) = (remote.hold("ping"), remote.hold("startScan"))
        defer {
            ping.gate.open()
            scan.gate.open()
        }
        let server = try await SwitchingServer([SwitchingServer.block("Anna", remote.url)], [remote])
        let client = try server.client()
        // The start's comparison is under way; it has not told so yet.
        #expect(ping.reached.wait(timeout: 30_000))
        #expect(try client.ask("update") == ["updating_db: 1", "OK"])
        ping.gate.open()
        #expect(scan.reached.wait(timeout: 30_000))
        #expect(try Self.job(client) == "1")
        scan.gate.open()
        #expect(waitUntil { (try? Self.job(client)) == .some(nil) }, "\(server.log)")
        await server.end()
    }

    /// A server without anybody who syncs, so that the test does.
    private static func begin() throws -> (server: TestServer, client: MPDTestClient, asked: Asked) {
        let (server, asked) = (try TestServer(), Asked())
        let client = try server.client()
        #expect(try client.ask("ping") == ["OK"])
        return (server, client, asked)
    }

    /// What it was asked for.
    private final class Asked: Sendable {
        let syncs = Mutex<[Bool]>([])
        let shelves = Mutex<[UInt64]>([])

        func sync(_ rescans: Bool) -> UInt64 {
            syncs.withLock { syncs in
                syncs.append(rescans)
                return UInt64(syncs.count)
            }
        }
    }

    @Test func aShelfAndAComparisonEndOnlyWhatIsTheirs() throws {
        let (server, client, asked) = try Self.begin()
        server.core.post { server in
            server.requestSync = asked.sync
            server.requestShelves = { _, number in asked.shelves.withLock { $0.append(number) } }
        }
        func post(_ action: @escaping @Sendable (MusicServer) -> Void) throws -> String? {
            server.core.post { action($0.active) }
            return try Self.job(client)
        }
        #expect(try client.ask("update \"Shelves/Recently Played\"") == ["updating_db: 1", "OK"])
        #expect(try post { $0.syncBegan() } == "1")
        // The timer's comparison is still under way.
        #expect(try post { $0.shelvesFetched(1, didChange: true) } == "1")
        #expect(try client.ask("update \"Shelves/Frequently Played\"") == ["updating_db: 1", "OK"])
        #expect(asked.shelves.withLock { $0 } == [1, 2])
        #expect(try post { $0.syncEnded(didChange: false, through: 0) } == "1")
        #expect(try client.ask("update") == ["updating_db: 2", "OK"])
        #expect(asked.syncs.withLock { $0 } == [])
        #expect(try post { $0.shelvesFetched(2, didChange: false) } == "2")
        #expect(asked.syncs.withLock { $0 } == [false])
        // One that fails may have begun before, too.
        #expect(try post { $0.syncEnded(didChange: false, through: 0) } == "2")
        #expect(try post { $0.syncBegan() } == "2")
        #expect(try post { $0.syncEnded(didChange: true, through: 1) } == nil)
        // Nobody is there any more who could end it.
        #expect(try client.ask("update") == ["updating_db: 3", "OK"])
        #expect(try post { $0.syncStopped() } == nil)
    }

    @Test func whoCannotBeAskedYetIsAskedLater() throws {
        let (server, client, asked) = try Self.begin()
        #expect(try client.ask("rescan") == ["updating_db: 1", "OK"])
        server.core.post { $0.active.syncBecomesPossible(asked.sync) }
        #expect(try Self.job(client) == "1")
        #expect(asked.syncs.withLock { $0 } == [true])
        server.core.post { $0.active.syncEnded(didChange: false, through: 0) }
        #expect(try Self.job(client) == "1")
        server.core.post { $0.active.syncEnded(didChange: false, through: 1) }
        #expect(try Self.job(client) == nil)
    }

    /// The first number of a group is shown, also where the others begin anew.
    @Test func aGroupIsShownByItsFirstNumber() {
        var jobs = UpdateJobs()
        for number in 1..<UInt32(1 << 15) {
            let request = jobs.request()
            _ = jobs.end()
            #expect(request.job == number && request.begins)
        }
        let requests = [false, false, true].map { jobs.request(rescans: $0).job }
        #expect(requests == [1 << 15, 1, 2])
        let begun = jobs.end().begun
        #expect(begun == UpdateJobs.Job(number: 1, rescans: true) && jobs.running == 1)
        let last = jobs.request().job
        let ended = jobs.end().ended
        #expect(last == 3 && ended?.number == 1 && jobs.running == 3)
    }

    @Test(.timeLimit(.minutes(1))) func whoAsksTheCoreAfterItsEndGetsNothing() async throws {
        let core: Core
        do {
            let server = try TestServer()
            _ = try server.client().ask("ping")
            core = server.core
            let answer = await core.ask { $0.musicServers.count }
            #expect(answer == 1)
            withExtendedLifetime(server) {}
        }
        let answer = await core.ask { $0.musicServers.count }
        #expect(answer == nil && !Task.isCancelled)
    }
}
