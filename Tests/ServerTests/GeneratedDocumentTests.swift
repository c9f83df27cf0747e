import Glibc
import Support
import Testing

@testable import ShelvMPD

/// Files that are made from tables of the program must be as the tables have it.
///
/// `make documents` writes them.
@Suite struct GeneratedDocumentTests {
    static let documents: [(path: String, text: @Sendable () -> String)] = [
        ("Docs/commands.md", { CommandsDocument.text() }),
        ("Docs/configuration.md", SettingsText.document),
        ("Packaging/man/shelvmpd.conf.5", ConfigurationManual.text),
        ("Packaging/shelvmpd.conf.example", SettingsText.exampleFile),
    ]

    @Test func documentsAreFresh() throws {
        for document in GeneratedDocumentTests.documents {
            let path = PackageFolder.path(document.path)
            let wanted = document.text()
            if unsafe getenv("SHELV_WRITE_DOCUMENTS") != nil {
                try #require(write(wanted, to: path))
            }
            let found = contents(of: path).map { String(decoding: $0, as: UTF8.self) }
            #expect(found == wanted, "\(document.path) is stale; make documents writes it")
        }
    }

    /// What is written by hand names every word that the program takes.
    @Test(arguments: [
        "man/shelvmpd.1", "completions/shelvmpd.bash", "completions/_shelvmpd", "completions/shelvmpd.fish",
    ])
    func handWrittenOnesNameEveryWord(_ name: String) throws {
        let bytes = try #require(contents(of: PackageFolder.path("Packaging/\(name)")))
        let text = String(decoding: bytes, as: UTF8.self).replacing("\\-", with: "-")
        var words = CacheOverview.Clearing.allCases.map(\.rawValue)
        for subcommand in Subcommand.all {
            words += [subcommand.name] + subcommand.verbs
            words += subcommand.allOptions.map { String($0.name.dropFirst(2)) }
        }
        for option in MainOption.all { words += option.choices + [String(option.name.dropFirst(2))] }
        for word in words { #expect(text.contains(word), "\(name) does not name \(word)") }
    }

    private func write(_ text: String, to path: String) -> Bool {
        guard let file = unsafe fopen(path, "w") else { return false }
        defer { unsafe fclose(file) }
        return unsafe fputs(text, file) >= 0
    }
}
