import SubsonicKit

/// A block `subsonic_server` in the making: its options in the order in which they are written.
struct ServerDraft: Sendable, Equatable {
    /// Names and values, as in the file.
    var options: [(name: String, value: String)] = []

    static func == (a: ServerDraft, b: ServerDraft) -> Bool {
        a.options.elementsEqual(b.options) { $0.name == $1.name && $0.value == $1.value }
    }

    mutating func set(_ name: String, _ value: String) { options.append((name, value)) }

    /// The block as text.
    var block: String {
        let width = (options.map(\.name.count).max() ?? 0) + 2
        let lines = options.map { option in
            let padding = String(repeating: " ", count: width - option.name.count)
            return "    \(option.name)\(padding)\(ConfigText.quoted(option.value))\n"
        }
        return "\(Settings.serverBlock) {\n\(lines.joined())}\n"
    }

    /// What it means.
    /// - Throws: `ConfigurationError`
    func configuration(_ environment: Environment) throws -> ServerConfiguration {
        let file = ConfigFile.parse("the new server") { _ throws(SystemError) in Array(block.utf8) }
        let result = try ConfigurationReader.read(file, path: "the new server", environment: environment)
        guard let server = result.configuration.servers.first else { throw CommandFailure("there is no server") }
        return server
    }
}

/// Parts of a configuration file as text.
enum ConfigText {
    /// As a value in double quotes.
    static func quoted(_ value: String) -> String {
        var text = "\""
        for scalar in value.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { text.unicodeScalars.append("\\") }
            text.unicodeScalars.append(scalar)
        }
        return text + "\""
    }
}
