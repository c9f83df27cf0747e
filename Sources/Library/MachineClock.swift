/// What may be said of the machine's wall clock.
///
/// A machine without a clock of its own, such as a Raspberry Pi, begins in 1970, or where it was last switched off, until
/// somebody tells it the time.
public enum MachineClock {
    /// Unix time in seconds: the beginning of 2020. Nothing happened before, as far as this program is concerned.
    public static let earliest: Int64 = 1_577_836_800

    /// Whether the clock can be right, by Unix time in seconds.
    public static func isSet(_ seconds: Int64) -> Bool { seconds >= earliest }
}
