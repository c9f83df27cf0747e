import Library
import Support
import Testing

@testable import ShelvMPD

/// The shelves as clients browse, add and update them.
struct ShelfCommandTests {
    private let first = "Shelves/Recently Added/Alpha - First"

    @Test func areOneFolderInTheRoot() throws {
        let client = try TestServer().client()
        let root = try client.ask("lsinfo").filter { $0.hasPrefix("directory: ") }
        #expect(root == ["directory: Alpha", "directory: Beta - \"Odd\"", "directory: Shelves"])
        #expect(try client.ask("listfiles").suffix(2) == ["directory: Shelves", "OK"])
        for question in ["listall", "listallinfo", "list file", "find \"(base '')\""] {
            #expect(try client.ask(question).allSatisfy { !$0.contains("Shelves") }, "\(question)")
        }
        #expect(try client.ask("count \"(base '')\"").first == "songs: 9")
    }

    @Test func canBeSwitchedOff() throws {
        let client = try TestServer { $0.showsShelves = false }.client()
        #expect(try client.ask("lsinfo").allSatisfy { !$0.contains("Shelves") })
        #expect(try client.ask("lsinfo Shelves") == ["ACK [50@0] {lsinfo} No such directory"])
        #expect(try client.ask("add Shelves") == ["ACK [50@0] {add} No such directory"])
        #expect(try client.ask("listfiles").allSatisfy { !$0.contains("Shelves") })
    }

    @Test func holdFoldersOfAlbums() throws {
        let client = try TestServer().client()
        #expect(
            try client.ask("lsinfo \"Shelves/Recently Added\"").sorted() == [
                "OK", "directory: Shelves/Recently Added/Alpha - First",
                "directory: Shelves/Recently Added/Alpha - Second",
            ]
        )
        let songs = try client.ask("lsinfo \"\(first)\"").filter { $0.hasPrefix("file: ") }
        #expect(songs == (1...3).map { "file: Alpha/First/0\($0).flac" })
        #expect(try client.ask("lsinfo \"\(first)\"").contains("Title: First 1"))
        #expect(
            try client.ask("listall \"\(first)\"")
                == ["directory: \(first)"] + (1...3).map { "file: Alpha/First/0\($0).flac" } + ["OK"]
        )
        #expect(try client.ask("listfiles \"\(first)\"").first == "file: 01.flac")
        #expect(try client.ask("listallinfo \"\(first)\"").contains("Title: First 3"))
        #expect(try client.ask("lsinfo \"Shelves/Decades\"") == ["directory: Shelves/Decades/1990s", "OK"])
        #expect(try client.ask("lsinfo \"Shelves/nowhere\"") == ["ACK [50@0] {lsinfo} No such directory"])
        #expect(try client.ask("lsinfo \"Shelves/\"") == ["ACK [2@0] {lsinfo} Bad relative path"])
    }

    @Test func canBeAddedAndSearched() throws {
        let client = try TestServer().client()
        #expect(try client.ask("add \"\(first)\"") == ["OK"])
        #expect(try client.ask("playlistinfo").filter { $0.hasPrefix("file: ") }.first == "file: Alpha/First/01.flac")
        #expect(try client.ask("addid \"\(first)/02.flac\"").last == "OK")
        #expect(try client.ask("addid \"\(first)\"") == ["ACK [50@0] {addid} No such song"])
        #expect(try client.ask("add \"\(first)/x\"") == ["ACK [50@0] {add} No such directory"])
        #expect(try client.ask("count \"(base '\(first)')\"") == ["songs: 3", "playtime: 180", "OK"])
        #expect(try client.ask("list title \"((base '\(first)') AND (track == '2'))\"") == ["Title: First 2", "OK"])
        #expect(try client.ask("findadd base \"\(first)\" window 0:1") == ["OK"])
        #expect(try client.ask("count base \"Shelves/nowhere\"") == ["ACK [50@0] {count} No such directory"])
        // Each song once, though it stands on several shelves.
        #expect(try client.ask("clear") == ["OK"])
        #expect(try client.ask("add Shelves") == ["OK"])
        #expect(try client.ask("playlistinfo").filter { $0.hasPrefix("file: ") }.count == 8)
    }

    @Test func areUpdatedByThemselves() throws {
        let server = try TestServer()
        let client = try server.client()
        let watcher = try server.client()
        watcher.send("idle database update\n")
        #expect(try client.ask("update \"Shelves/Random\"") == ["updating_db: 1", "OK"])
        #expect(try watcher.reply() == ["changed: database", "changed: update", "OK"])
        #expect(try client.ask("status").allSatisfy { !$0.hasPrefix("updating_db") })
        #expect(try client.ask("update \"Shelves/Recently Played\"") == ["updating_db: 2", "OK"])
        #expect(try client.ask("update Shelves/../x") == ["ACK [2@0] {update} Malformed path"])
    }

    @Test func randomStaysForAnHour() throws {
        var builder = LibraryBuilder()
        for record in LibraryFixture.records { builder.add(record) }
        let library = try builder.build(info: LibraryInfo(serverID: "test", serverName: "test"), file: nil)
        let draws = DrawSource()
        var keeper = ShelfKeeper(library, ShelfLists(), chance: { draws.next() })
        let now = Instant.now
        func draw(after seconds: Int) -> UInt64? { keeper.current(at: now.advanced(by: .seconds(seconds)))?.lists.draw }
        #expect([0, 3590, 3610, 3620].map { draw(after: $0) } == [1, 1, 2, 2])
        keeper.draw(at: now.advanced(by: .seconds(3630)))
        #expect(draw(after: 7200) == 3)
        // What the server tells does not draw anew.
        var lists = ShelfLists()
        lists.recentlyPlayed = ["x"]
        let (changes, changesAgain) = (keeper.take(lists), keeper.take(lists))
        #expect(changes && !changesAgain)
        #expect(draw(after: 7200) == 3)
        var none = ShelfKeeper(library, ShelfLists(), isShown: false)
        let nothing = none.current(at: now)
        #expect(nothing == nil)
    }
}

/// 1, 2, 3 …; for one thread.
private final class DrawSource: @unchecked Sendable {
    // Only the test's own thread asks.
    private var last: UInt64 = 0

    func next() -> UInt64 {
        last += 1
        return last
    }
}
