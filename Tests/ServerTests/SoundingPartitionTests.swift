import Playback
import QueueEngine
import Support
import Synchronization
import Testing

@testable import ShelvMPD

/// A partition and a real player: what one of them lets go of, the other must not take for granted.
@Suite(.serialized) struct SoundingPartitionTests {
    private final class Switch: Sendable {
        let isOn = Atomic(true)
    }

    /// A server that refuses access until it is told not to.
    private static func refusing() throws -> (SoundingPartition, Switch) {
        let refuses = Switch()
        let song = SoundingPartition.silence(seconds: 60)
        let room = try SoundingPartition { request in
            refuses.isOn.load(ordering: .relaxed) ? HTTPTestResponse(status: 403) : .file(song, for: request)
        }
        return (room, refuses)
    }

    private static func sounds(_ partition: Partition, from place: Duration) -> Bool {
        guard let loaded = partition.loaded, loaded.position.advances else { return false }
        return partition.queue.state == .playing && loaded.elapsed > place && loaded.elapsed < place + .seconds(20)
    }

    @Test(arguments: ["play", "pause", "seek"])
    func aSongThatWasRefusedPlaysWhenTheServerIsWell(command: String) throws {
        let (room, refuses) = try Self.refusing()
        defer { room.stop() }
        let partition = room.partition
        try partition.edit { queue throws(QueueError) in try queue.seek(at: 0, to: .seconds(30)) }
        #expect(room.wait { $0.queue.state == .paused && $0.error != nil })
        #expect(partition.elapsed == .seconds(30))
        refuses.isOn.store(false, ordering: .relaxed)
        var place = Duration.seconds(30)
        switch command {
        case "seek":
            place = .seconds(5)
            try partition.edit { queue throws(QueueError) in try queue.seekCurrent(to: place) }
            try partition.edit { queue throws(QueueError) in queue.pause(false) }
        case "pause": try partition.edit { queue throws(QueueError) in queue.pause(nil) }
        default: try partition.edit { queue throws(QueueError) in queue.play() }
        }
        #expect(room.wait { Self.sounds($0, from: place) }, "\(String(describing: partition.loaded))")
        #expect(partition.error == nil)
        // What follows was told, too.
        #expect(partition.preloaded != nil)
        try partition.edit { queue throws(QueueError) in queue.pause(true) }
        #expect(room.wait { $0.loaded?.position.advances == false })
        try partition.edit { queue throws(QueueError) in queue.pause(false) }
        #expect(room.wait { Self.sounds($0, from: place) })
    }

    /// Songs of which nothing is heard end at once. A queue that repeats them stops in the end.
    @Test(arguments: [OneShotMode.off, .on])
    func partsBehindTheEndAreNotRepeatedForEver(single: OneShotMode) throws {
        let song = SoundingPartition.silence(seconds: 10)
        let room = try SoundingPartition { .file(song, for: $0) }
        defer { room.stop() }
        let partition = room.partition
        try partition.edit { queue throws(QueueError) in queue.setRepeat(true) }
        try partition.edit { queue throws(QueueError) in queue.setSingle(single) }
        for entry in partition.queue.entries.map(\.id) {
            try partition.edit { queue throws(QueueError) in
                try queue.setRange(PlaybackRange(start: 40_000), id: entry)
            }
        }
        try partition.edit { queue throws(QueueError) in queue.play() }
        #expect(room.wait { $0.queue.state == .stopped })
        #expect(partition.queue.count == 3)
        #expect(partition.error == "Nothing can be heard of these songs")
    }

    /// Behind such a song the others are heard.
    @Test func aPartBehindTheEndHoldsNothingUp() throws {
        let song = SoundingPartition.silence(seconds: 60)
        let room = try SoundingPartition { .file(song, for: $0) }
        defer { room.stop() }
        let partition = room.partition
        let first = try #require(partition.queue.entries.first?.id)
        try partition.edit { queue throws(QueueError) in
            try queue.setRange(PlaybackRange(start: 90_000), id: first)
        }
        try partition.edit { queue throws(QueueError) in queue.play() }
        #expect(room.wait { $0.queue.currentPosition == 1 && Self.sounds($0, from: .zero) })
    }

    /// What nobody hears is not played.
    @Test func aMissingDeviceTakesNothingOfTheSong() throws {
        let song = SoundingPartition.silence(seconds: 60)
        let device = OutputConfiguration.Kind.device(driver: "alsa", device: "not-there")
        let room = try SoundingPartition(device, stopsWithoutDevice: true) { .file(song, for: $0) }
        defer { room.stop() }
        let partition = room.partition
        try partition.edit { queue throws(QueueError) in try queue.seek(at: 0, to: .seconds(30)) }
        for attempt in 0..<5 {
            if attempt > 0 { try partition.edit { queue throws(QueueError) in queue.play() } }
            #expect(room.wait { $0.queue.state == .paused }, "attempt \(attempt)")
            #expect(partition.elapsed == .seconds(30), "attempt \(attempt)")
        }
    }

    /// A device that is away is told each time that something shall sound on it.
    @Test func aMissingDeviceIsToldAtEachAttempt() throws {
        let song = SoundingPartition.silence(seconds: 60)
        let device = OutputConfiguration.Kind.device(driver: "alsa", device: "not-there")
        let room = try SoundingPartition(device, stopsWithoutDevice: true) { .file(song, for: $0) }
        defer { room.stop() }
        let partition = room.partition
        for attempt in 0..<3 {
            try partition.edit { queue throws(QueueError) in
                attempt == 1 ? try queue.play(at: 0) : queue.play()
            }
            #expect(room.wait { $0.queue.state == .paused }, "attempt \(attempt)")
            #expect(partition.error == "the audio device has gone")
        }
    }
}
