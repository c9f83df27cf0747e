import CAudioTap
import Synchronization

/// An output that a tap writes to.
struct TapLine: Equatable, Sendable {
    let outlet: Outlet
    let claim: Outlet.Claim
    let isEnabled: Bool
    /// Hears what keeps it from working, and nil when it works again.
    let report: @Sendable (String?) -> Void

    static func == (a: TapLine, b: TapLine) -> Bool {
        a.outlet === b.outlet && a.claim == b.claim && a.isEnabled == b.isEnabled
    }
}

/// Takes the samples out of libmpv's filter chain and lets the outputs without a device have them.
///
/// libmpv decodes some 0.4 s ahead of the sound. In real time the samples wait here until they are due, so that what is
/// cut off by a seek or a stop before anyone could hear it never reaches an output.
final class AudioTap: Sendable {
    struct State {
        var queue = SampleQueue()
        /// What comes in while the samples of `queue` go out.
        var incoming = SampleQueue()
        var fade: TapFade?
        /// What to call when the overlap is over.
        var passed: (@Sendable () -> Void)?
        /// A load that came to nothing; its samples are dropped.
        var refused: UInt32?
        /// How many frames of the latest load were written, or were known before it.
        var taken: (load: UInt32, frames: Int) = (0, 0)
        /// A load whose first frames are known already, from the one before it, and how many of them are still to come.
        var known: (load: UInt32, frames: Int, left: Int) = (0, 0, 0)
        /// Samples of this load and older ones are dropped.
        var discarded: UInt32 = 0
        /// Grows with each cut.
        var cuts = 0
        var isPaused = false
        /// What to run when everything has been written.
        var drains: [@Sendable () -> Void] = []
        /// The outputs that get the samples.
        var lines: [TapLine] = []
        var gain: Float = 1
        /// Nothing is taken any more; what is there is written if `isTimed` is false.
        var isClosing = false
        var hasEnded = false

        /// Whether a load came after the discarded ones; numbers begin anew at their limit.
        func isWanted(_ load: UInt32) -> Bool {
            guard load != refused else { return false }
            let distance = (load &- discarded) % AudioTap.loadLimit
            return 0 < distance && distance < AudioTap.loadLimit / 2
        }

        /// How many frames of a load were written, or were known before it.
        func written(of load: UInt32) -> Int {
            taken.load == load ? taken.frames : known.load == load ? known.frames : 0
        }

        /// A block without the frames that are known already; nil if that is all of it.
        mutating func news(of block: SampleBlock) -> SampleBlock? {
            guard known.left > 0, block.load == known.load else { return block }
            let old = min(known.left, block.frames)
            known.left -= old
            return old < block.frames ? block.part(old..<block.frames) : nil
        }
    }

    /// Samples that may wait: far more than libmpv decodes ahead in real time, and enough for tests that are faster.
    fileprivate static let limit = Duration.seconds(20)

    let monitor: Monitor<State>
    let isTimed: Bool
    private let library: TapLibrary
    private let slot: Int32
    private let context: Sink

    /// What the library's call back gets; only refers to the state, so that it may outlive the tap.
    private final class Sink: Sendable {
        let monitor: Monitor<State>
        let isTimed: Bool

        init(_ monitor: Monitor<State>, isTimed: Bool) {
            self.monitor = monitor
            self.isTimed = isTimed
        }

        func take(_ block: SampleBlock) {
            // In real time libmpv must never wait for us.
            _ = monitor.wait { state in
                if state.isClosing || !state.isWanted(block.load) { return true }
                let isIncoming = state.fade?.to == block.load
                let waiting = isIncoming ? state.incoming.length : state.queue.length
                if !isTimed && waiting > AudioTap.limit { return nil }
                guard let block = state.news(of: block) else { return true }
                if isIncoming { state.incoming.append(block) } else { state.queue.append(block) }
                return true
            }
            monitor.update { _ in }
        }
    }

    /// Starts the thread that writes; it has no outputs before `setLines`.
    init(library: TapLibrary, isTimed: Bool) throws(PlayerError) {
        let monitor = Monitor(State())
        let sink = Sink(monitor, isTimed: isTimed)
        self.monitor = monitor
        self.isTimed = isTimed
        self.library = library
        context = sink
        guard let slot = unsafe library.attach(Unmanaged.passUnretained(sink).toOpaque(), takeSamples) else {
            throw PlayerError("too many taps")
        }
        self.slot = slot
        let started = startThread(named: "tap") {
            var writer = TapWriter(monitor, isTimed: isTimed)
            writer.run()
            monitor.update { $0.hasEnded = true }
        }
        guard started else { throw PlayerError("no thread for the tap") }
    }

    /// Numbers of loads count up to here, as filters get their values as `Float`, and begin anew.
    static let loadLimit: UInt32 = 0x100_0000

    /// The filter in FFmpeg's words, for one load.
    func filter(load: UInt64) -> String {
        "ladspa=file=\(library.path):plugin=tap:controls=c0=\(slot)|c1=\(load % UInt64(Self.loadLimit))"
    }

    /// Throws away what was not yet due of loads up to `load`: a seek, a stop or another song follows.
    ///
    /// Faster than real time, everything that comes before this call counts as heard.
    func cut(through load: UInt64) {
        let load = UInt32(truncatingIfNeeded: load % UInt64(Self.loadLimit))
        monitor.update { state in
            state.cuts += 1
            state.discarded = load
            state.known = (0, 0, 0)
            if isTimed {
                state.queue.removeAll()
                state.incoming.removeAll()
                state.fade = nil
            }
        }
    }

    /// The same song is loaded again from a place before its end here: what waits is written all the same, and of the new
    /// load only what follows it.
    /// - Parameters:
    ///   - old: the load so far; more of it is dropped.
    ///   - start: where the new one begins, by the time from the old one's first sample.
    func goOn(from old: UInt64, to new: UInt64, at start: Duration) {
        let (old, new) = (number(of: old), number(of: new))
        monitor.update { state in
            state.discarded = old
            guard let waiting = state.queue.frames(of: old) else { return }
            let place = Int(clamping: start.nanoseconds / 1000 * Int64(waiting.rate) / 1_000_000)
            let ahead = max(0, state.written(of: old) + waiting.count - place)
            state.known = (new, ahead, left: ahead)
        }
    }

    func setPaused(_ isPaused: Bool) { monitor.update { $0.isPaused = isPaused } }

    /// Sets which outputs get the samples, from the next ones that are due on.
    func setLines(_ lines: [TapLine]) { monitor.update { $0.lines = lines } }

    /// Sets what outputs with `appliesVolume` multiply samples by.
    func setGain(_ gain: Float) { monitor.update { $0.gain = gain } }

    /// Calls `body` on the writer's thread when everything there is has been written.
    func drain(_ body: @escaping @Sendable () -> Void) { monitor.update { $0.drains.append(body) } }

    /// Lets libmpv go on without a listener. To be called before libmpv is ended.
    func beginClosing() { monitor.update { $0.isClosing = true } }

    /// Ends the writer and returns when it has. To be called after libmpv is ended.
    func close() {
        beginClosing()
        library.detach(slot)
        _ = monitor.wait { $0.hasEnded ? true : nil }
    }

    fileprivate static func take(_ context: UnsafeMutableRawPointer, _ block: SampleBlock) {
        unsafe Unmanaged<Sink>.fromOpaque(context).takeUnretainedValue().take(block)
    }
}

/// Called on libmpv's thread with samples that are lent until return.
private func takeSamples(
    _ context: UnsafeMutableRawPointer?,
    _ load: UInt32,
    _ rate: UInt32,
    _ channels: UInt32,
    _ planes: UnsafePointer<UnsafePointer<Float>?>?,
    _ frames: UInt32
) {
    guard let context = unsafe context, let planes = unsafe planes, frames > 0 else { return }
    var samples: [Float] = []
    samples.reserveCapacity(Int(channels) * Int(frames))
    for channel in 0..<Int(channels) {
        unsafe samples.append(contentsOf: UnsafeBufferPointer(start: planes[channel], count: Int(frames)))
    }
    guard samples.count == Int(channels) * Int(frames) else { return }
    let block = SampleBlock(
        load: load,
        rate: Int(rate),
        channels: Int(channels),
        frames: Int(frames),
        samples: samples
    )
    unsafe AudioTap.take(context, block)
}
