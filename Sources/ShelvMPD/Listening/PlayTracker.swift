import CLinux
import Playback
import QueueEngine

/// Follows what a partition's player does with its songs, and tells what becomes of each play. Owned by the core.
///
/// A play begins when a song sounds and ends when another one takes its place, or the same one from its beginning. A
/// pause, a jump, a lost connection or a restart of the program does not end it.
final class PlayTracker {
    /// One play of one entry.
    struct Play: Sendable, Equatable {
        let entry: EntryID
        let key: SongKey
        var watch: PlayWatch
        /// When it could be heard first, Unix time in milliseconds; nil before that.
        var start: Int64?
    }

    /// The clocks by which it is known when a play began.
    struct Clock {
        /// Unix time in milliseconds.
        var wall: () -> Int64 = { PlayTracker.wallClock }
        /// Milliseconds that nobody sets, and that go on while the machine sleeps.
        var running: () -> Int64 = { shelv_boot_milliseconds() }
    }

    /// What is told of a play.
    enum Report: Sendable, Equatable {
        /// It can be heard: for the first time, or after a restart of the program.
        case began(Play)
        /// It counts as played.
        case due(Play)
        /// Some more of it was heard.
        case heard(Play)
        /// It sounds at this place, or stands there.
        case paced(Play, elapsed: Duration, advances: Bool)
        /// It is over.
        /// - Parameter isSkip: whether the listener has gone on to something else before it counted.
        case left(Play, isSkip: Bool)
    }

    /// Whom it is told. Called in the middle of an edit: must not edit.
    var report: ((Report) -> Void)?
    private(set) var current: Play?
    /// When the current play began, by the clock that nobody sets; nil after a restart.
    private var runningStart: Int64?
    private let clock: Clock
    private var advances = false
    /// What had been heard when that was told last.
    private var toldHeard = Duration.zero

    /// So much more is worth telling.
    private static let telling = Duration.seconds(5)

    init(clock: Clock = Clock()) { self.clock = clock }

    // MARK: What happens

    /// A song is loaded, or is heard in the place of the one before.
    /// - Parameters:
    ///   - length: as far as it is known.
    ///   - position: where it begins.
    func begins(_ entry: EntryID, key: SongKey?, length: Duration?, at position: Duration) {
        if let play = current, play.entry == entry, play.key == key, position > .zero || isRestored {
            // The same play goes on: the player has lost the song, or the program was started again.
            isRestored = false
            take(.left(at: Self.now))
            if let length { current?.watch.length = length }
            advances = false
            return
        }
        left(isChoice: true)
        guard let key else { return }
        toldHeard = .zero
        current = Play(entry: entry, key: key, watch: PlayWatch(length: length))
        runningStart = nil
    }

    /// The player tells where it is.
    func moved(to position: PlaybackPosition) {
        take(.position(elapsed: position.elapsed, at: position.time, advances: position.advances))
        guard let current, current.start != nil else { return }
        let heard = current.watch.heardSoFar
        if advances != position.advances {
            advances = position.advances
            report?(.paced(current, elapsed: position.elapsed, advances: advances))
        } else if heard >= toldHeard + Self.telling {
            report?(.heard(current))
        } else {
            return
        }
        toldHeard = heard
    }

    /// The song's length is known better.
    func lengthIs(_ length: Duration) { current?.watch.length = length }

    /// Nothing is heard until the player tells where it is.
    func stands() {
        take(.sought(at: Self.now))
        // What comes next is told, as it comes somewhere else.
        advances = false
    }

    /// The player has let go of the song, which stands there.
    func isLost(at position: PlaybackPosition) {
        take(.sought(at: Self.now))
        moved(to: position)
    }

    /// The song is over.
    /// - Parameter isChoice: whether the listener wants to hear something else.
    func left(isChoice: Bool) {
        take(.left(at: Self.now))
        guard let play = current else { return }
        current = nil
        advances = false
        isRestored = false
        guard play.start != nil else { return }
        report?(.left(play, isSkip: isChoice && !play.watch.isDue && play.watch.threshold != nil))
    }

    // MARK: Restarts

    private var isRestored = false

    /// Takes up a play of the last run; it goes on if its entry is the first one that is loaded.
    func restore(_ play: Play) {
        current = play
        runningStart = nil
        isRestored = true
    }

    // MARK: Inner

    private func take(_ event: PlayWatch.Event) {
        guard let news = current?.watch.take(event) else { return }
        for item in news {
            switch item {
            case .began(let moment):
                if current?.start == nil {
                    // Negative for a moment that lies ahead.
                    let passed = Int64(clamping: Self.now / 1_000_000) - Int64(clamping: moment / 1_000_000)
                    current?.start = clock.wall() - passed
                    runningStart = clock.running() - passed
                }
                if let current { report?(.began(current)) }
            case .due:
                correctStart()
                if let current { report?(.due(current)) }
            }
        }
    }

    /// Machines without a clock of their own learn the time some seconds after they have begun to play.
    private func correctStart() {
        guard let runningStart, let start = current?.start else { return }
        let corrected = clock.wall() - (clock.running() - runningStart)
        if (corrected - start).magnitude > Self.clockTolerance { current?.start = corrected }
    }

    /// Milliseconds by which clocks may differ that nobody has set.
    private static let clockTolerance = 2000

    private static var now: UInt64 { shelv_monotonic_now() }

    /// Unix time in milliseconds.
    static var wallClock: Int64 { shelv_wall_milliseconds() }
}
