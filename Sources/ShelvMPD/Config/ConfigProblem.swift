/// A mistake in the configuration: where, what, and what is allowed instead. Never shows a secret.
struct ConfigProblem: Error, Sendable, Equatable, CustomStringConvertible {
    /// File and line.
    var place: Place
    /// A sentence without its full stop.
    var message: String

    var description: String { "\(place): \(message)" }
}

/// A line of a file, written as compilers do, so that editors can jump there.
struct Place: Sendable, Hashable, CustomStringConvertible {
    var file: String
    /// Counts from 1; nil for the file as a whole.
    var line: Int?

    var description: String { line.map { "\(file):\($0)" } ?? file }
}

/// All mistakes of a configuration, at least one, in the order of the file.
struct ConfigurationError: Error, Sendable, Equatable, CustomStringConvertible {
    var problems: [ConfigProblem]

    var description: String { problems.map(\.description).joined(separator: "\n") }
}
