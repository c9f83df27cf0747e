/// The tap's thread: waits until samples are due and gives them to the outputs.
struct TapWriter: ~Copyable {
    private enum Step {
        case write(SampleBlock, gain: Float)
        /// Cuts were made, or outputs have come, gone, or were switched on or off.
        case adapt(cuts: Int, lines: [TapLine])
        case settle([@Sendable () -> Void], gain: Float)
        case end
    }

    /// Samples are written in pieces of this length at most, so that they come evenly.
    private static let pieceFrames = 1024
    /// More than libmpv ever decodes ahead: the device's clock is slower than ours.
    private static let backlogLimit = Duration.seconds(2)
    /// Being late by more than this means that there was nothing to write: time starts anew.
    private static let lateness: UInt64 = 200_000_000
    /// A song that comes in is waited for so long; then the old one goes on alone.
    private static let fadePatience = Duration.milliseconds(150)

    private let monitor: Monitor<AudioTap.State>
    private let isTimed: Bool
    /// When the next piece is due.
    private var due: UInt64 = 0
    private var cuts = 0
    private var lines: [TapLine] = []

    init(_ monitor: Monitor<AudioTap.State>, isTimed: Bool) {
        self.monitor = monitor
        self.isTimed = isTimed
    }

    /// Works until the tap closes.
    mutating func run() {
        while true {
            let now = monotonicNow()
            let moments = [due, due.advanced(by: Self.fadePatience)]
            let deadline = moments.first { $0 > now } ?? .max
            let (due, isTimed, cuts, lines) = (due, isTimed, cuts, lines)
            let step = monitor.wait(until: deadline) { state -> Step? in
                if state.cuts != cuts || state.lines != lines {
                    return .adapt(cuts: state.cuts, lines: state.lines)
                }
                return Self.next(&state, due: due, isTimed: isTimed)
            }
            switch step {
            case .write(let block, let gain):
                write(block, gain: gain)
                if !isTimed {
                    // Whoever waits for room may go on.
                    monitor.update { _ in }
                }
            case .adapt(let cuts, let lines):
                adapt(cuts: cuts, lines: lines)
            case .settle(let drains, let gain):
                for line in self.lines { line.outlet.finish(volume: gain, line.claim) }
                for drain in drains { drain() }
            case .end:
                for line in self.lines { line.outlet.release(line.claim, closes: true) }
                return
            case nil:
                continue
            }
        }
    }

    private static func next(_ state: inout AudioTap.State, due: UInt64, isTimed: Bool) -> Step? {
        if state.isClosing && (isTimed || state.isEmpty) { return .end }
        if state.isEmpty {
            if state.drains.isEmpty { return nil }
            defer { state.drains = [] }
            return .settle(state.drains, gain: state.gain)
        }
        if isTimed {
            // At the end libmpv has played what is left here, whether we were paused or not.
            if state.isPaused && state.drains.isEmpty { return nil }
            if monotonicNow() < due && state.queue.length < backlogLimit { return nil }
        }
        let limit = isTimed ? pieceFrames : .max
        let waits = !isTimed || monotonicNow() < due.advanced(by: fadePatience)
        if let block = state.next(limit: limit, waits: waits, holds: !isTimed) {
            return .write(block, gain: state.gain)
        }
        // What the rest waits for will not come.
        return state.isClosing ? .end : nil
    }

    private mutating func write(_ block: SampleBlock, gain: Float) {
        if isTimed {
            let now = monotonicNow()
            let start = now > due && now - due > Self.lateness ? now : due
            due = start.advanced(by: block.length)
        }
        for line in lines where line.isEnabled { line.outlet.write(block, volume: gain, line.claim) }
    }

    private mutating func adapt(cuts: Int, lines: [TapLine]) {
        if cuts != self.cuts && isTimed {
            for line in self.lines { line.outlet.discardUnread(line.claim) }
            due = 0
        }
        let old = self.lines
        self.cuts = cuts
        self.lines = lines
        for line in old where !lines.contains(where: { $0.claim == line.claim && $0.outlet === line.outlet }) {
            line.outlet.release(line.claim, closes: false)
        }
        for line in lines {
            if old.contains(where: { $0.claim == line.claim && $0.outlet === line.outlet }) {
                line.outlet.setEnabled(line.isEnabled, line.claim)
            } else {
                line.outlet.adopt(line.claim, isEnabled: line.isEnabled, report: line.report)
            }
        }
    }
}
