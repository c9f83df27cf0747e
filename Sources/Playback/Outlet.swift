import Synchronization

/// An output and what is open of it: a file, a connection, a port. It may go from one player to another meanwhile.
///
/// Whoever claimed it last is the one who writes to it; so it does not matter which of two players hears first of a move.
public final class Outlet: Sendable {
    public let configuration: OutputConfiguration

    /// A player's right to write to it, until another one has a newer claim.
    struct Claim: Equatable, Sendable {
        fileprivate let number: UInt64
    }

    private final class Works {
        var owner: Claim?
        var newest: UInt64 = 0
        var converter: SampleConverter?
        var sink: (any TapSink)?
        var wasOpened = false
        /// Failed, and not tried again before it is enabled anew.
        var hasFailed = false

        init(_ format: PCMFormat?) { converter = format.map { SampleConverter($0) } }
    }

    /// Touched by taps' threads only, which may wait for each other at a move.
    private let works: Monitor<Works>
    private let claims = Atomic<UInt64>(0)
    private let reporter = Reporter()

    /// Tells news of the output, which may have a thread of its own that has some, to whoever writes to it.
    private final class Reporter: Sendable {
        private struct State {
            var report: (@Sendable (String?) -> Void)?
            /// What is known; nil for nothing.
            var known: String??
        }

        private let state = Monitor(State())

        func tell(_ problem: String?) {
            let report = state.withLock { state in
                state.known = .some(problem)
                return state.report
            }
            report?(problem)
        }

        /// Has news told to somebody else, and what is known already.
        func connect(_ report: (@Sendable (String?) -> Void)?) {
            let known = state.withLock { state in
                state.report = report
                return state.known
            }
            if let known { report?(known) }
        }
    }

    public init(_ configuration: OutputConfiguration) {
        self.configuration = configuration
        works = Monitor(Works(configuration.kind.format))
    }

    /// A claim that is newer than all before.
    func claim() -> Claim { Claim(number: claims.add(1, ordering: .relaxed).newValue) }

    // MARK: On a tap's thread

    /// Begins to write to it, unless somebody has a newer claim.
    /// - Parameter report: hears what keeps it from working, and nil when it works; on any thread.
    func adopt(_ claim: Claim, isEnabled: Bool, report: @escaping @Sendable (String?) -> Void) {
        works.withLock { works in
            guard claim.number > works.newest else { return }
            works.newest = claim.number
            works.owner = claim
            // What was not heard yet was another player's.
            works.converter?.reset()
            works.sink?.discardUnread()
            reporter.connect(report)
        }
        setEnabled(isEnabled, claim)
    }

    /// Opens what the sound goes to, or closes it.
    func setEnabled(_ isEnabled: Bool, _ claim: Claim) {
        works.withLock { works in
            guard works.owner == claim else { return }
            if !isEnabled {
                works.sink = nil
                works.hasFailed = false
                works.converter?.reset()
            } else if works.sink == nil && !works.hasFailed {
                open(works)
            }
        }
    }

    private func open(_ works: Works) {
        let reporter = reporter
        do throws(PlayerError) {
            switch configuration.kind {
            case .tcp(let host, let port, _):
                works.sink = TCPSink(host: host, port: port) { reporter.tell($0) }
                return
            case .stream(let stream): works.sink = try StreamSink(stream)
            case .file, .fifo: works.sink = try PCMSink(configuration.kind, continues: works.wasOpened)
            case .device, .null: return
            }
            works.wasOpened = true
            reporter.tell(nil)
        } catch {
            works.hasFailed = true
            reporter.tell("\(error)")
        }
    }

    /// Writes a piece of sound, as far as the output is open.
    func write(_ block: SampleBlock, volume: Float, _ claim: Claim) {
        works.withLock { works in
            guard works.owner == claim, works.sink != nil else { return }
            let gain = configuration.appliesVolume ? volume : 1
            if let bytes = works.converter?.convert(block, gain: gain) { put(bytes, works) }
        }
    }

    /// Writes what was kept back, at the end of a song without a follower.
    func finish(volume: Float, _ claim: Claim) {
        works.withLock { works in
            guard works.owner == claim else { return }
            let gain = configuration.appliesVolume ? volume : 1
            if let bytes = works.converter?.finish(gain: gain) { put(bytes, works) }
        }
    }

    private func put(_ bytes: [UInt8], _ works: Works) {
        guard !bytes.isEmpty, let format = configuration.kind.format else { return }
        do throws(PlayerError) {
            try works.sink?.write(bytes, frameSize: format.frameSize)
        } catch {
            works.hasFailed = true
            works.sink = nil
            reporter.tell("\(error)")
        }
    }

    /// Throws away what was not heard yet, because the sound was cut.
    func discardUnread(_ claim: Claim) {
        works.withLock { works in
            guard works.owner == claim else { return }
            works.sink?.discardUnread()
            works.converter?.reset()
        }
    }

    /// Writes to it no more. What is open stays open for whoever adopts it.
    /// - Parameter closes: whether there will be nobody.
    func release(_ claim: Claim, closes: Bool) {
        works.withLock { works in
            guard works.owner == claim else { return }
            works.owner = nil
            if closes { works.sink = nil }
            reporter.connect(nil)
        }
    }
}
