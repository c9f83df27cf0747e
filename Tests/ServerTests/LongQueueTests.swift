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
    private static let measures = unsafe getenv("SHELV_COST") != nil

    private static func records(_ count: Int) -> [SongRecord] {
        (0..<count).map { number in
            SongRecord(
                songID: "01234567-89ab-cdef-0123-\(100_000_000_000 + number)",
                uri: "Artist \(number / 100)/Album \(number / 10)/\(number).flac",
                tags: [
                    TagValue(.artist, "Artist \(number / 100)"), TagValue(.album, "Album \(number / 10)"),
                    TagValue(.title, "Title \(number)"), TagValue(.track, "\(number % 10)"),
                ],
                duration: 200_000,
                suffix: "flac"
            )
        }
    }

    private static func milliseconds(_ duration: Duration) -> Double { Double(duration.nanoseconds) / 1_000_000 }

    private static func tell(_ text: String) {
        if measures { print("COST \(text)") }
    }

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
        let count = Self.measures ? 100_000 : 3000
        let records = Self.records(count)
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
        Self.tell("add \(count): answered after \(Self.milliseconds(answered - added)) ms")
        Self.tell(
            "saved after \(Self.milliseconds(settled - answered)) ms; slowest ping \(Self.milliseconds(slowest)) ms"
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
        Self.tell("facts of all songs kept after \(Self.milliseconds(clock.now - added)) ms")

        let edits = [
            "addid \"\(records[5].uri)\"", "addid \"\(records[6].uri)\" 0", "delete \(count / 2)",
            "move 10 \(count - 100)", "play 7", "next", "prio 3 \(count - 50)", "setvol 50",
        ]
        for line in edits {
            let written = try await Self.bytes(server, folder) {
                let answer = try client.ask(line)
                #expect(answer.last == "OK")
            }
            Self.tell("\(line.prefix(10)): \(written) bytes written")
            #expect(written < 400_000, "\(line)")
        }

        for _ in 0..<(Self.measures ? 5 : 1) {
            guard let times = server.onCore({ Self.costOfAnEditDuringASave($0) }) else { continue }
            Self.tell(
                "core: copy \(Self.milliseconds(times.copy)) ms, edit while it is read \(Self.milliseconds(times.edit)) ms, "
                    + "the same edit otherwise \(Self.milliseconds(times.plainEdit)) ms"
            )
        }
        #expect(server.settle())
        let ids = try client.ask("plchangesposid 0")
        server.kill()

        let begin = clock.now
        server = try await PersistentServer(folder, records)
        Self.tell("start with this queue, with building the library: \(Self.milliseconds(clock.now - begin)) ms")
        client = try server.client()
        #expect(try client.ask("plchangesposid 0") == ids)
        let reading = clock.now
        _ = try await SavedPartitions.load(
            from: server.store,
            library: try #require(server.onCore { $0.library }),
            log: .silent
        )
        Self.tell("reading the saved queue: \(Self.milliseconds(clock.now - reading)) ms")
        // Emptied and filled again.
        let written = try await Self.bytes(server, folder) {
            for line in ["clear", "add \"\"", "clear", "add \"\(records[0].uri)\""] { _ = try client.ask(line) }
        }
        Self.tell("clear, add all, clear, add one: \(written) bytes written")
        server.end()
        server = try await PersistentServer(folder, records)
        #expect(try server.client().value("playlistlength", of: "status") == "1")
        server.end()
    }
}
