import Glibc

/// Where one load's samples are mixed with those of another one, by the sample.
struct TapFade: Sendable, Equatable {
    /// The load that goes out, and the one that comes in.
    var from: UInt32
    var to: UInt32
    /// Time from the first sample of `from`.
    var start: Duration
    var length: Duration
    /// Whether the one fades out as the other fades in; else they are added as they are.
    var isFaded: Bool
    /// Whether the numbers are final; until then samples faster than real time wait at `start`.
    var isSettled: Bool
    /// No more samples of `from` will come.
    var isOver = false

    fileprivate func frames(_ duration: Duration, rate: Int) -> Int {
        let (seconds, rest) = (duration.nanoseconds / 1_000_000_000, duration.nanoseconds % 1_000_000_000)
        return Int(clamping: seconds &* Int64(rate) &+ (rest * Int64(rate) + 500_000_000) / 1_000_000_000)
    }

    /// The factor of the song that comes in, at a point of the way from 0 to 1; that of the other one is 1 less it.
    ///
    /// Source: `pcm_mix` of MPD's `src/pcm/Mix.cxx`.
    static func gain(at point: Double) -> Double {
        let sine = sin(Double.pi / 2 * min(max(point, 0), 1))
        return sine * sine
    }

    /// Two blocks of the same size as one; `position` is the first frame's place in the overlap of `length` frames.
    fileprivate func mix(_ old: SampleBlock, _ new: SampleBlock?, at position: Int, of length: Int) -> SampleBlock {
        var mixed = old
        let gains = (0..<old.frames).map { frame -> (old: Float, new: Float) in
            guard isFaded else { return (1, 1) }
            let gain = Self.gain(at: Double(position + frame) / Double(max(1, length)))
            return (Float(1 - gain), Float(gain))
        }
        let fits = new?.samples.count == old.samples.count
        for channel in 0..<old.channels {
            for frame in 0..<old.frames {
                let index = channel * old.frames + frame
                var sample = mixed.samples[index] * gains[frame].old
                if fits, let new { sample += new.samples[index] * gains[frame].new }
                mixed.samples[index] = sample
            }
        }
        return mixed
    }
}

extension AudioTap.State {
    /// Takes the next samples that are to be written, at most `limit` frames. Nil: there are none yet.
    ///
    /// - Parameters:
    ///   - waits: false to go on in an overlap without samples of the new song.
    ///   - holds: whether an overlap whose place is not known yet is waited for.
    mutating func next(limit: Int, waits: Bool, holds: Bool) -> SampleBlock? {
        passBorder()
        guard let fade, let head = queue.first, head.load == fade.from else { return take(limit) }
        let done = written(of: fade.from)
        let start = fade.frames(fade.start, rate: head.rate)
        let length = fade.frames(fade.length, rate: head.rate)
        if done < start { return take(min(limit, start - done)) }
        guard fade.isSettled else { return holds ? nil : take(limit) }
        let left = start + length - done
        if left <= 0 {
            // The old song is longer than was known: the rest of it is not heard any more.
            queue.removeAll()
            self.fade?.isOver = true
            passBorder()
            return take(limit)
        }
        let room = min(limit, left, head.frames)
        guard let follower = incoming.first else {
            guard !waits, let old = take(room) else { return nil }
            return fade.mix(old, nil, at: done - start, of: length)
        }
        guard let old = take(min(room, follower.frames)) else { return nil }
        return fade.mix(old, incoming.next(limit: old.frames), at: done - start, of: length)
    }

    private mutating func take(_ limit: Int) -> SampleBlock? {
        guard let block = queue.next(limit: limit) else { return nil }
        taken = (block.load, written(of: block.load) + block.frames)
        return block
    }

    /// After the overlap the new song's samples are the ones that are written.
    private mutating func passBorder() {
        guard let fade, fade.isOver, queue.isEmpty else { return }
        queue = incoming
        incoming = SampleQueue()
        self.fade = nil
        passed?()
        passed = nil
    }

    /// Whether there is nothing to write, now or after the overlap.
    var isEmpty: Bool { queue.isEmpty && incoming.isEmpty }
}

extension AudioTap {
    /// How the samples of a load are numbered here.
    func number(of load: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: load % UInt64(Self.loadLimit)) }

    /// Has two loads overlap; replaces what was said before about the same ones.
    func setFade(_ fade: TapFade) { monitor.update { $0.fade = fade } }

    /// The load that goes out is over.
    /// - Parameter passed: called on any thread, and must not block, when all of it was written.
    func endFade(_ passed: (@Sendable () -> Void)?) {
        monitor.update { state in
            guard state.fade != nil else {
                passed?()
                return
            }
            state.fade?.isOver = true
            state.passed = passed
        }
    }

    /// Forgets the overlap, and all samples of the load that would have come in.
    func dropFade() {
        monitor.update { state in
            state.refused = state.fade?.to
            state.fade = nil
            state.passed = nil
            state.incoming.removeAll()
        }
    }
}
