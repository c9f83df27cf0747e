/// How long one play of a song has been heard, and when it counts as played: after half of the song or four minutes,
/// whichever comes first; songs under half a minute never count.
///
/// Heard is what has sounded, wherever in the song it was: not the pauses, not what was jumped over, and twice what was
/// heard twice. A pure state machine, fed with what the player reports; moments are nanoseconds of a monotonic clock.
struct PlayWatch: Sendable, Equatable {
    /// What happens to a song.
    enum Event: Sendable, Equatable {
        /// The player tells where it is, and whether the song goes on from there.
        case position(elapsed: Duration, at: UInt64, advances: Bool)
        /// The listener jumps; nothing is heard until the next position.
        case sought(at: UInt64)
        /// The song is left, at its end or before.
        case left(at: UInt64)
    }

    /// What follows from it.
    enum News: Sendable, Equatable {
        /// It can be heard for the first time, since that moment.
        case began(at: UInt64)
        /// It counts as played from now on; told once.
        case due
    }

    /// Shorter songs never count.
    static let shortest = Duration.seconds(30)
    /// Of longer songs no more has to be heard.
    static let longestThreshold = Duration.seconds(240)

    /// The player tells about once a second where it is; when it has been silent for longer, nobody knows what was heard.
    static let longestSilence = Duration.seconds(5)

    /// Length of the song, as far as it is known.
    var length: Duration?
    /// Heard before the present stretch.
    private(set) var heard = Duration.zero
    /// Whether it has been heard at all.
    private(set) var hasBegun = false
    /// Whether it counts as played.
    private(set) var isDue = false
    /// The stretch that sounds at the moment.
    private var stretch: Stretch?

    /// Sound without a pause or a jump.
    private struct Stretch: Sendable, Equatable {
        var start: (elapsed: Duration, time: UInt64)
        var last: (elapsed: Duration, time: UInt64)

        /// By the clock, but not more than the song has moved: a device that hangs plays nothing.
        var heard: Duration {
            min(PlayWatch.time(from: start.time, to: last.time), max(.zero, last.elapsed - start.elapsed))
        }

        static func == (a: Stretch, b: Stretch) -> Bool { a.start == b.start && a.last == b.last }
    }

    init(length: Duration? = nil) { self.length = length }

    /// A play that was interrupted, as it was then.
    init(length: Duration? = nil, heard: Duration, isDue: Bool) {
        self.length = length
        self.heard = max(.zero, heard)
        self.isDue = isDue
    }

    /// What has to be heard until it counts; nil if it never will.
    var threshold: Duration? {
        guard let length, length >= Self.shortest else { return nil }
        return min(length / 2, Self.longestThreshold)
    }

    /// All that has been heard, as far as is known.
    var heardSoFar: Duration { heard + (stretch?.heard ?? .zero) }

    /// Takes what has happened.
    mutating func take(_ event: Event) -> [News] {
        var news: [News] = []
        switch event {
        case .position(let elapsed, let time, let advances):
            follow(elapsed, time)
            if !advances {
                close()
            } else if stretch == nil {
                stretch = Stretch(start: (elapsed, time), last: (elapsed, time))
                if !hasBegun {
                    hasBegun = true
                    news.append(.began(at: time))
                }
            }
        case .sought(let time), .left(let time):
            if let last = stretch?.last {
                let silence = min(Self.time(from: last.time, to: time), Self.longestSilence)
                follow(last.elapsed + silence, time)
            }
            close()
        }
        if !isDue, let threshold, heardSoFar >= threshold {
            isDue = true
            news.append(.due)
        }
        return news
    }

    private mutating func follow(_ elapsed: Duration, _ time: UInt64) {
        guard let last = stretch?.last, time >= last.time else { return }
        stretch?.last = (elapsed, time)
    }

    private mutating func close() {
        heard = heardSoFar
        stretch = nil
    }

    private static func time(from start: UInt64, to end: UInt64) -> Duration {
        .nanoseconds(Int64(clamping: end > start ? end - start : 0))
    }
}
