/// The tap's thread: waits until samples are due and gives them to the outputs.
struct TapWriter: ~Copyable {
    /// One output.
    private final class Output {
        let configuration: OutputConfiguration
        var converter: SampleConverter
        var sink: (any TapSink)?
        var wasOpened = false
        /// Failed, and not tried again before it is enabled anew.
        var hasFailed = false

        init(_ configuration: OutputConfiguration, _ format: PCMFormat) {
            self.configuration = configuration
            converter = SampleConverter(format)
        }
    }

    private enum Step {
        case write(SampleBlock, gain: Float)
        /// Cuts were made, or outputs switched on or off.
        case adapt(cuts: Int, enabled: [Bool])
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

    private let outputs: [Output?]
    private let monitor: Monitor<AudioTap.State>
    private let isTimed: Bool
    private let onProblem: @Sendable (Int, String?) -> Void
    /// When the next piece is due.
    private var due: UInt64 = 0
    private var cuts = 0
    private var enabled: [Bool] = []

    init(
        _ configurations: [OutputConfiguration],
        monitor: Monitor<AudioTap.State>,
        isTimed: Bool,
        onProblem: @escaping @Sendable (Int, String?) -> Void
    ) {
        outputs = configurations.map { configuration in
            configuration.kind.format.map { Output(configuration, $0) }
        }
        self.monitor = monitor
        self.isTimed = isTimed
        self.onProblem = onProblem
    }

    /// Works until the tap closes.
    mutating func run() {
        adapt(cuts: 0, enabled: monitor.withLock { $0.enabled })
        while true {
            let now = monotonicNow()
            let moments = [due, due.advanced(by: Self.fadePatience)]
            let deadline = moments.first { $0 > now } ?? .max
            let (due, isTimed, cuts, enabled) = (due, isTimed, cuts, enabled)
            let step = monitor.wait(until: deadline) { state -> Step? in
                if state.cuts != cuts || state.enabled != enabled {
                    return .adapt(cuts: state.cuts, enabled: state.enabled)
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
            case .adapt(let cuts, let enabled):
                adapt(cuts: cuts, enabled: enabled)
            case .settle(let drains, let gain):
                for case let output? in outputs {
                    put(output.converter.finish(gain: output.configuration.appliesVolume ? gain : 1), output)
                }
                for drain in drains { drain() }
            case .end:
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
        for case let output? in outputs where output.sink != nil {
            put(output.converter.convert(block, gain: output.configuration.appliesVolume ? gain : 1), output)
        }
    }

    private mutating func adapt(cuts: Int, enabled: [Bool]) {
        if cuts != self.cuts && isTimed {
            for case let output? in outputs {
                output.converter.reset()
                output.sink?.discardUnread()
            }
            due = 0
        }
        self.cuts = cuts
        self.enabled = enabled
        for (index, output) in outputs.enumerated() {
            guard let output, enabled.indices.contains(index) else { continue }
            if !enabled[index] {
                output.sink = nil
                output.hasFailed = false
                output.converter.reset()
            } else if output.sink == nil && !output.hasFailed {
                open(output, index)
            }
        }
    }

    private func open(_ output: Output, _ index: Int) {
        do throws(PlayerError) {
            switch output.configuration.kind {
            case .tcp(let host, let port, _):
                let onProblem = onProblem
                output.sink = TCPSink(host: host, port: port) { onProblem(index, $0) }
                return
            case .stream(let stream): output.sink = try StreamSink(stream)
            case .file, .fifo, .device, .null:
                output.sink = try PCMSink(output.configuration.kind, continues: output.wasOpened)
            }
            output.wasOpened = true
            onProblem(index, nil)
        } catch {
            output.hasFailed = true
            onProblem(index, "\(error)")
        }
    }

    private func put(_ bytes: [UInt8], _ output: Output) {
        guard !bytes.isEmpty else { return }
        do throws(PlayerError) {
            try output.sink?.write(bytes, frameSize: output.converter.format.frameSize)
        } catch {
            output.hasFailed = true
            output.sink = nil
            if let index = outputs.firstIndex(where: { $0 === output }) { onProblem(index, "\(error)") }
        }
    }
}
