import Glibc
import Library
import Logging
import MPDProtocol
import QueueEngine
import Support
import Testing

@testable import ShelvMPD

/// Long queues: what is written for an edit, and how long the core is busy. With `SHELV_COST`, in a release build, 100,000
/// entries and the numbers.
@Suite struct LongQueueTests {
    /// Bytes that `body` makes the store write, once it is settled.
    private static func bytes(
        _ server: PersistentServer,
        _ folder: TemporaryFolder,
        _ body: () throws -> Void
    ) async throws -> Int {
        #expect(server.settle())
        await server.store.flush()
        _ = try await server.store.read { database throws(StoreError) in
            try database.rows("PRAGMA wal_checkpoint(TRUNCATE)")
        }
        try body()
        #expect(server.settle())
        await server.store.flush()
        return contents(of: folder.path("store.sqlite-wal"))?.count ?? 0
    }

    /// The worst for the core: an edit while the store still reads its copy.
    private static func costOfAnEditDuringASave(_ server: Server) -> (
        copy: Duration, edit: Duration, plainEdit: Duration
    ) {
        let partition = server.defaultPartition
        let clock = ContinuousClock()
        let start = clock.now
        let moment = partition.saver?.moment()
        let copied = clock.now
        partition.report { (try? $0.delete(PositionSpan(100))) ?? Outcome() }
        let edited = clock.now
        withExtendedLifetime(moment) {}
        partition.report { (try? $0.delete(PositionSpan(100))) ?? Outcome() }
        return (copied - start, edited - copied, clock.now - edited)
    }

    @Test func editsOfALongQueueAreCheapAndComeBack() async throws {
        let count = CostMeasurement.isOn ? 100_000 : 3000
        let records = CostMeasurement.records(count)
        let folder = try #require(TemporaryFolder())
        var server = try await PersistentServer(folder, records)
        var client = try server.client()
        let clock = ContinuousClock()
        let added = clock.now
        #expect(try client.ask("add \"\"") == ["OK"])
        let answered = clock.now
        // Others are answered while it is saved.
        let other = try server.client()
        var slowest = Duration.zero
        while server.onCore({ $0.defaultPartition.saver?.isUpToDate == true }) != true {
            let asked = clock.now
            _ = try other.ask("ping")
            slowest = max(slowest, clock.now - asked)
        }
        let settled = clock.now
        CostMeasurement.tell("add \(count): answered after \(CostMeasurement.milliseconds(answered - added)) ms")
        CostMeasurement.tell(
            "saved after \(CostMeasurement.milliseconds(settled - answered)) ms; slowest ping \(CostMeasurement.milliseconds(slowest)) ms"
        )

        // What is put off: a piece follows the other; the last one has been done when the number stays.
        var kept: Int64 = -1
        while true {
            await server.store.flush()
            let number = try await server.store.read { database throws(StoreError) in
                try database.value("SELECT count(*) FROM queue_song")?.integer ?? 0
            }
            if number == kept { break }
            kept = number
        }
        #expect(kept == Int64(count))
        CostMeasurement.tell("facts of all songs kept after \(CostMeasurement.milliseconds(clock.now - added)) ms")

        let edits = [
            "addid \"\(records[5].uri)\"", "addid \"\(records[6].uri)\" 0", "delete \(count / 2)",
            "move 10 \(count - 100)", "play 7", "next", "prio 3 \(count - 50)", "setvol 50",
        ]
        for line in edits {
            let written = try await Self.bytes(server, folder) {
                let answer = try client.ask(line)
                #expect(answer.last == "OK")
            }
            CostMeasurement.tell("\(line.prefix(10)): \(written) bytes written")
            #expect(written < 400_000, "\(line)")
        }

        for _ in 0..<(CostMeasurement.isOn ? 5 : 1) {
            guard let times = server.onCore({ Self.costOfAnEditDuringASave($0) }) else { continue }
            CostMeasurement.tell(
                "core: copy \(CostMeasurement.milliseconds(times.copy)) ms, edit while it is read \(CostMeasurement.milliseconds(times.edit)) ms, "
                    + "the same edit otherwise \(CostMeasurement.milliseconds(times.plainEdit)) ms"
            )
        }
        #expect(server.settle())
        let ids = try client.ask("plchangesposid 0")
        server.kill()

        let begin = clock.now
        server = try await PersistentServer(folder, records)
        CostMeasurement.tell(
            "start with this queue, with building the library: \(CostMeasurement.milliseconds(clock.now - begin)) ms"
        )
        client = try server.client()
        #expect(try client.ask("plchangesposid 0") == ids)
        let reading = clock.now
        _ = try await SavedPartitions.load(
            from: server.store,
            library: try #require(server.onCore { $0.library }),
            log: .silent
        )
        CostMeasurement.tell("reading the saved queue: \(CostMeasurement.milliseconds(clock.now - reading)) ms")
        // Emptied and filled again.
        let written = try await Self.bytes(server, folder) {
            for line in ["clear", "add \"\"", "clear", "add \"\(records[0].uri)\""] { _ = try client.ask(line) }
        }
        CostMeasurement.tell("clear, add all, clear, add one: \(written) bytes written")
        server.end()
        server = try await PersistentServer(folder, records)
        #expect(try server.client().value("playlistlength", of: "status") == "1")
        server.end()
    }
}
