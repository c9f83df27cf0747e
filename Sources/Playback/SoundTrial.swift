/// Looks whether there is sound on this machine, for diagnoses. Each call starts a libmpv of its own and blocks for up to some
/// seconds.
public enum SoundTrial {
    /// What became of an attempt to play silence.
    public struct Outcome: Sendable {
        /// libmpv's word for the sound system that took it; nil if none did.
        public var driver: String?
        /// The devices that were found.
        public var devices: [AudioDevice]
        /// `mpv 0.35.1`
        public var version: String
    }

    /// Plays a moment of silence.
    /// - Parameters:
    ///   - driver: the only sound system to try, or nil for all.
    ///   - device: its device, or nil for the default.
    public static func run(driver: String?, device: String?) throws(PlayerError) -> Outcome {
        try MPVHandle.trial(driver: driver, device: device)
    }

    /// Why outputs that need the tap would not work; nil when they would.
    public static func tapProblem(configured: String?) -> String? {
        do throws(PlayerError) {
            _ = try TapLibrary(configured: configured)
            return nil
        } catch {
            return error.description
        }
    }
}
