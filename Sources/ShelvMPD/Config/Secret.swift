/// A text that no message may show: a password or an API key.
///
/// Every way of turning it into text gives `***`; only `revealed` gives the text itself.
struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The text itself, for the one place that sends or compares it.
    let revealed: String

    init(_ text: String) { revealed = text }

    var description: String { "***" }
    var debugDescription: String { "***" }
    var customMirror: Mirror { Mirror(self, children: []) }
}

/// Where a secret comes from. Read at start by `SecretSource.read`, not while the configuration is parsed.
enum SecretSource: Sendable, Hashable {
    /// Written in the configuration file.
    case literal(Secret)
    /// The first line of this file.
    case file(String)
    /// The first line that this command, run by `/bin/sh`, writes to its standard output.
    case command(String)
    /// The first line of the systemd credential of this name, which only the service itself can read.
    case credential(String)
    /// The value of this variable of the environment.
    case variable(String)
}
