import Glibc
import Library
import MPDProtocol
import QueueEngine
import Support
import Testing

@testable import ShelvMPD

/// What it costs to put libraries together, and how long the core is busy when another server is shown. With `SHELV_COST`, in a
/// release build, 100,000 songs of each server, all of them in the queue, and the numbers.
@Suite struct SwitchingCostTests {
    private static func library(_ server: String, _ count: Int) throws -> LibrarySnapshot {
        var builder = LibraryBuilder()
        for record in CostMeasurement.records(count, artist: server) { builder.add(record) }
        return try builder.build(info: LibraryInfo(serverID: server, serverName: server), file: nil)
    }

    /// The most memory that the process has had, in MiB.
    private static var peak: Int {
        var usage = rusage()
        unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage.ru_maxrss / 1024
    }

    @Test(arguments: CostMeasurement.isOn ? [1_000, 10_000, 100_000] : [2_000])
    func aLongQueueKeepsItsSongsThroughSwitches(count: Int) async throws {
        let clock = ContinuousClock()
        let (first, second) = (try Self.library("first", count), try Self.library("second", count))
        let peak = Self.peak
        let start = clock.now
        let both = try await LibraryMerge(first, [.init(path: "m", library: second)]).build(file: nil).snapshot
        CostMeasurement.tell(
            "merge: \(CostMeasurement.milliseconds(clock.now - start)) ms, peak +\(Self.peak - peak) MiB, \(2 * count) songs"
        )
        #expect(both.songCount == 2 * count)
        let fewer = try Self.library("first", count - count / 100)

        let table = SongTable(library: first)
        var queue = Queue(seed: 1)
        let keys = (0..<UInt32(count)).map { table.key(for: SongIndex(rawValue: $0)) }
        _ = try queue.append(contentsOf: keys)
        let wanted = keys.map { table.uri(of: $0) }
        let libraries = [
            ("to the other", second), ("to both", both), ("to the first", first), ("sync, 1 % gone", fewer),
            ("sync, 1 % back", first),
        ]
        for (name, library) in libraries {
            let version = queue.version
            let translation = SongTranslation(from: table.library, to: library)
            let begun = clock.now
            let replacement = try #require(SongReplacement(table.names, translation))
            let start = clock.now
            let changed = try #require(table.replaceLibrary(by: replacement))
            let replaced = clock.now
            let outcome = queue.markChanged { changed.contains($0) }
            let marked = clock.now
            replacement.clear()
            CostMeasurement.tell(
                "\(count) entries, \(name): table \(CostMeasurement.milliseconds(replaced - start)) ms, queue "
                    + "\(CostMeasurement.milliseconds(marked - replaced)) ms; a worker: \(CostMeasurement.milliseconds(start - begun)) ms, "
                    + "\(CostMeasurement.milliseconds(clock.now - marked)) ms"
            )
            // From both to one of them, nothing of its songs changes.
            let isSame = name == "to the first"
            #expect(outcome.isEmpty == isSame && queue.version == (isSame ? version : version + 1))
            #expect(keys.map { table.uri(of: $0) } == wanted)
        }
    }
}
