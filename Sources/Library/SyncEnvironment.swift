import Glibc

/// Time and chance as the sync sees them, so that tests can give their own.
public struct SyncEnvironment: Sendable {
    /// Waits; throws when the task is cancelled.
    public var sleep: @Sendable (Duration) async throws -> Void
    /// Time since some moment in the past, never going back.
    public var uptime: @Sendable () -> Duration
    /// Unix time in seconds.
    public var wallClock: @Sendable () -> Int64
    /// A number from 0 to 1.
    public var chance: @Sendable () -> Double

    public init(
        sleep: @escaping @Sendable (Duration) async throws -> Void,
        uptime: @escaping @Sendable () -> Duration,
        wallClock: @escaping @Sendable () -> Int64,
        chance: @escaping @Sendable () -> Double
    ) {
        self.sleep = sleep
        self.uptime = uptime
        self.wallClock = wallClock
        self.chance = chance
    }

    /// The machine's clocks.
    public static let system: SyncEnvironment = {
        let start = ContinuousClock.now
        return SyncEnvironment(
            sleep: { try await ContinuousClock().sleep(for: $0) },
            uptime: { start.duration(to: .now) },
            wallClock: { Int64(time(nil)) },
            chance: { Double.random(in: 0...1) }
        )
    }()
}
