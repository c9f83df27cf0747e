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

    private func write(_ text: String, to path: String) -> Bool {
        guard let file = unsafe fopen(path, "w") else { return false }
        defer { unsafe fclose(file) }
        return unsafe fputs(text, file) >= 0
    }
}
