import Synchronization

/// Tells those who work for somebody that nobody waits for it any more. Any thread.
public final class StopSign: Sendable {
    private let flag = Atomic(false)

    public init() {}

    /// What is looked up while a sign is the current one looks at it now and then, and ends early once it is set.
    @TaskLocal public static var current: StopSign?

    /// Whether the work may end. Takes a nanosecond.
    public var isSet: Bool { flag.load(ordering: .relaxed) }

    /// Lets the work end soon; it stays so.
    public func set() { flag.store(true, ordering: .relaxed) }
}
