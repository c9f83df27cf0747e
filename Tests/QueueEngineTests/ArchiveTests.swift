import Support
import Testing

@testable import QueueEngine

/// Saving, loading, and what a restart does.
@Suite struct ArchiveTests {
    private func reloaded(_ queue: Queue) -> Queue {
        Queue(queue.archive(), configuration: queue.configuration, seed: 9)
    }

    /// The parts that survive as they are.
    private func comparable(_ queue: Queue) -> QueueArchive {
        var archive = queue.archive()
        archive.version = 0
        archive.nextID = 0
        archive.state = .stopped
        return archive
    }

    @Test func loadingGivesWhatWasSaved() throws {
        let lines = ["a b [c] | x:4 y | d e | u v", "| x | a b | u", "| | |", "[a] | | |"]
        let commands = [
            "repeat 1", "random 1", "random 1, repeat 1, add M N, single oneshot, consume 1", "stop", "pause 1",
        ]
        for line in lines {
            for command in commands {
                var queue = Sketch.queue(line)
                try Commands.run(command, on: &queue)
                let loaded = reloaded(queue)
                #expect(comparable(loaded) == comparable(queue), "\(line) -- \(command)")
                #expect(loaded.version == queue.version + 10_000)
                #expect(loaded.state == .stopped)
                #expect(loaded.changes(since: queue.version).count == queue.count)
            }
        }
        var queue = try mpdQueue("abcdef")
        try Commands.run("random 1, prio 4 b, play 2, next, repeat 1", on: &queue)
        #expect(comparable(reloaded(queue)) == comparable(queue))
    }

    @Test func newIdsAreFarFromThoseThatClientsRemember() throws {
        var queue = try mpdQueue("abc")
        _ = try queue.delete(PositionSpan(2))
        var loaded = reloaded(queue)
        let added = try loaded.append(contentsOf: Sketch.keys("d"))
        #expect(added.ids.lowerBound.rawValue == 10_004)
    }

    @Test func playbackIsRestoredWithoutCountingAsAStart() throws {
        var queue = Sketch.queue("a [b] | x:4 | c | u")
        try Commands.run("random 1, add M", on: &queue)
        var loaded = reloaded(queue)
        let outcome = loaded.restorePlayback(at: .seconds(42), paused: true)
        #expect(outcome.effects.first == .load(Sketch.id("b", in: queue), at: .seconds(42), paused: true))
        #expect(outcome.effects.last == .preload(queue.nextEntry?.id))
        #expect(outcome.changes == .player)
        #expect(comparable(loaded) == comparable(queue))
        #expect(loaded.state == .paused)
        #expect(loaded.restorePlayback(at: .zero, paused: false).isEmpty)
    }

    @Test func anyArchiveGivesAQueueThatIsInOrder() throws {
        var random = SeededRandom(seed: SeededNumbers.seed(usually: 77))
        for round in 0..<300 {
            var archive = QueueArchive(mode: round % 3 == 0 ? .mpd : .threeTier)
            func id() -> EntryID {
                EntryID(UInt32(random.below(8)) &+ (random.below(20) == 0 ? UInt32.max - 3 : 0))
            }
            archive.version = random.below(4) == 0 ? UInt32.max : UInt32(random.below(100))
            archive.nextID = random.below(4) == 0 ? UInt32.max : UInt32(random.below(100))
            archive.random = random.below(2) == 0
            archive.repeat = random.below(2) == 0
            archive.hasStarted = random.below(2) == 0
            for _ in 0..<random.below(9) {
                archive.rows.append(
                    QueueArchive.Row(
                        id: id(),
                        key: SongKey(1),
                        tier: Tier(rawValue: UInt8(random.below(3))) ?? .albumQueue,
                        priority: UInt8(random.below(256)),
                        isLoose: random.below(2) == 0
                    )
                )
            }
            archive.current = random.below(3) == 0 ? nil : id()
            archive.snapshot = (0..<random.below(9)).map { _ in
                QueueArchive.SnapshotRow(id: id(), tier: .userQueue, priority: UInt8(random.below(256)))
            }
            archive.hiddenOrder = (0..<random.below(9)).map { _ in id() }
            archive.nextLap = (0..<random.below(9)).map { _ in id() }
            for mode in QueueMode.allCases {
                var queue = Queue(archive, configuration: QueueConfiguration(mode: mode), seed: 3)
                #expect(queue.checkInvariants())
                for command in ["add X", "play", "next", "end", "random 0", "add 0 Y", "delete 0", "stop"] {
                    do {
                        try Commands.run(command, on: &queue)
                    } catch QueueError.notPlaying, QueueError.badSongIndex {
                        // As it comes: the queue may have run out.
                    }
                    #expect(queue.checkInvariants())
                }
            }
        }
    }

    @Test func anArchiveOfTheOtherModeLosesTiersNotEntries() throws {
        var queue = Sketch.queue("a [b] | x:4 | c | u")
        try Commands.run("random 1", on: &queue)
        let loaded = Queue(queue.archive(), configuration: QueueConfiguration(mode: .mpd), seed: 1)
        #expect(Sketch.letters(loaded) == Sketch.letters(queue))
        #expect(loaded.currentPosition == 1)
        #expect(loaded.hiddenOrder?.count == 5)
        let back = Queue(loaded.archive(), seed: 1)
        #expect(back.playNextBlock.isEmpty)
        #expect(back.snapshot?.rows.count == 5)
    }
}
