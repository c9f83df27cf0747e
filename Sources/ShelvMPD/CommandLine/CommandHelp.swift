/// What `--help` writes.
enum CommandHelp {
    private static let width = 80

    /// The help of the program.
    static func text() -> String {
        let names = Subcommand.all.map(\.name)
        let column = (names.map(\.count).max() ?? 0) + 2
        var text = """
            Usage: shelvmpd [--config FILE] [--check-config]
                   shelvmpd COMMAND [--help]
                   shelvmpd --print \(CommandLineOptions.Document.allCases.map(\.rawValue).joined(separator: "|"))
                   shelvmpd --help | --version

            A music server for MPD clients that plays from Subsonic servers. Without a command it serves.

            Commands; each has its own --help:

            """
        for subcommand in Subcommand.all {
            text += row(subcommand.name, subcommand.summary, column)
        }
        text += "\nOptions:\n" + options(MainOption.all)
        return text + """

            Exit status: 0 for success, 1 when something failed, 2 for a wrong command line.

            Options of the configuration file:

            """ + SettingsText.summary()
    }

    /// The help of a subcommand.
    static func text(of subcommand: Subcommand) -> String {
        let forms = subcommand.usage.map { "shelvmpd \(subcommand.name)" + ($0.isEmpty ? "" : " \($0)") }
        var text = "Usage: " + forms.joined(separator: "\n       ") + "\n\n"
        let first = subcommand.summary.prefix(1).uppercased() + subcommand.summary.dropFirst()
        text += wrapped("\(first).", indent: 0)
        for paragraph in subcommand.details.split(separator: "\n\n") {
            text += "\n" + wrapped(String(paragraph).replacing("\n", with: " "), indent: 0)
        }
        return text + "\nOptions:\n" + options(subcommand.allOptions)
    }

    private static func options(_ options: [CommandOption]) -> String {
        let heads = options.map { option in
            (option.short.map { "\($0), " } ?? "    ") + option.name + (option.value.map { " \($0)" } ?? "")
        }
        let column = min(30, (heads.map(\.count).max() ?? 0) + 2)
        return zip(heads, options).map { head, option in
            let choices = option.choices.isEmpty ? "" : ": \(SettingContext.list(option.choices))"
            return row(head, option.summary + choices, column)
        }.joined()
    }

    private static func row(_ head: String, _ text: String, _ column: Int) -> String {
        var lines = wrapped(text, indent: column + 2)
        if head.count + 2 > column { return "  \(head)\n\(lines)" }
        lines.removeFirst(min(lines.count, head.count + 2))
        return "  \(head)\(lines)"
    }

    /// Breaks a text at blanks.
    private static func wrapped(_ text: String, indent: Int) -> String {
        let margin = String(repeating: " ", count: indent)
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty && indent + line.count + 1 + word.count > width {
                lines.append(margin + line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        return (lines + [margin + line]).joined(separator: "\n") + "\n"
    }
}
