/// Which events a connection has not been told of yet, and whether it waits for some.
///
/// Source: MPD 0.24 `src/client/Idle.cxx`.
public struct IdleState: Sendable, Hashable {
    /// Raised and not reported.
    public private(set) var pending: Subsystems = []
    /// What the connection waits for; nil if it is not idle.
    public private(set) var wanted: Subsystems?

    /// Not idle, with nothing pending.
    public init() {}

    /// Whether the connection waits.
    public var isWaiting: Bool { wanted != nil }

    /// Begins to wait, unless some of the events are pending.
    /// - Returns: the events to report at once, or nil to wait for.
    public mutating func begin(_ wanted: Subsystems) -> Subsystems? {
        self.wanted = wanted
        return takeReport()
    }

    /// Notes events.
    /// - Returns: the events to report now, which ends the waiting, or nil.
    public mutating func raise(_ events: Subsystems) -> Subsystems? {
        pending.formUnion(events)
        return takeReport()
    }

    /// Ends the waiting without events.
    /// - Returns: whether the connection was waiting.
    public mutating func cancel() -> Bool {
        defer { wanted = nil }
        return isWaiting
    }

    /// Only what was asked for is reported and forgotten; the rest stays pending.
    private mutating func takeReport() -> Subsystems? {
        guard let wanted else { return nil }
        let report = pending.intersection(wanted)
        if report.isEmpty { return nil }
        pending.subtract(report)
        self.wanted = nil
        return report
    }
}
