import Library
import Support
import Testing

@testable import ShelvMPD

/// Playlists that are made up: what clients see of them, and what they may do.
@Suite struct VirtualPlaylistTests {
    /// One that holds songs, made at once or told by somebody else later.
    private final class Made: VirtualPlaylist {
        let name: String
        let isListed: Bool
        let lastModified: Int64 = 1_600_000_000
        private let isFetched: Bool

        init(_ name: String, isListed: Bool = true, isFetched: Bool = false) {
            self.name = name
            self.isListed = isListed
            self.isFetched = isFetched
        }

        func content(for use: VirtualPlaylistUse, of server: Server) -> VirtualContent {
            let songs = use == .look ? ["First-1", "First-2"] : ["First-2", "First-1", "First-2"]
            let entries = songs.map { PlaylistEntry.song($0) }
            if !isFetched { return .made(cost: 1) { entries } }
            return .fetched { server, whenDone in
                server.core.post { _ in whenDone(.success(entries)) }
            }
        }
    }

    /// One that takes what it is given.
    private final class Editable: VirtualPlaylist {
        let name = "Editable"
        let lastModified: Int64 = 0
        private var entries: [PlaylistEntry] = []

        func content(for use: VirtualPlaylistUse, of server: Server) -> VirtualContent {
            .made(cost: 1) { [entries] in entries }
        }

        func editableEntries(of server: Server) throws(PlaylistError) -> [PlaylistEntry] { entries }

        func edit(_ edit: PlaylistEdit, of server: Server, whenKept: @escaping Store.WhenDone) throws(PlaylistError) {
            edit.apply(to: &entries)
            server.playlists.changed()
            whenKept(.success(()))
        }
    }

    private static func client() throws -> MPDTestClient {
        let server = try TestServer()
        let client = try server.client()
        server.core.post { server in
            server.playlists.add(virtual: Made("Mix: B"))
            server.playlists.add(virtual: Made("Mix: A", isFetched: true))
            server.playlists.add(virtual: Made("Hidden", isListed: false))
            server.playlists.add(virtual: Editable())
        }
        return client
    }

    @Test(arguments: ["Mix: A", "Mix: B", "Hidden"])
    func isLookedAtAndLoaded(_ name: String) throws {
        let client = try Self.client()
        #expect(
            try client.ask("listplaylist \"\(name)\"") == [
                "file: Alpha/First/01.flac", "file: Alpha/First/02.flac", "OK",
            ]
        )
        #expect(try client.ask("playlistlength \"\(name)\"") == ["songs: 2", "playtime: 120", "OK"])
        #expect(try client.ask("load \"\(name)\" 1:") == ["OK"])
        #expect(try client.ask("playlist") == ["0:file: Alpha/First/01.flac", "1:file: Alpha/First/02.flac", "OK"])
        #expect(try client.value("lastloadedplaylist", of: "status") == name)
    }

    @Test func isListedAmongTheOthers() throws {
        let client = try Self.client()
        #expect(try client.ask("add Alpha/First") == ["OK"])
        #expect(try client.ask("save Jazz") == ["OK"])
        #expect(try client.ask("save Zen") == ["OK"])
        let names = try client.ask("listplaylists").filter { $0.hasPrefix("playlist: ") }.map { $0.dropFirst(10) }
        #expect(names == ["Editable", "Jazz", "Mix: A", "Mix: B", "Zen"])
        let root = try client.ask("lsinfo").filter { $0.hasPrefix("playlist: ") }.map { $0.dropFirst(10) }
        #expect(root == names)
    }

    @Test(arguments: [
        "playlistclear \"Mix: A\"", "playlistadd \"Mix: A\" loose.mp3", "playlistdelete \"Mix: A\" 0",
        "playlistmove \"Mix: A\" 0 1", "rm \"Mix: A\"", "rename \"Mix: A\" other", "save \"Mix: A\" append",
        "save \"Mix: A\" replace", "playlistadd \"Mix: A\" loose.mp3 0",
    ])
    func cannotBeEdited(_ command: String) throws {
        let client = try Self.client()
        let name = command.prefix { $0 != " " }
        #expect(
            try client.ask(command)
                == ["ACK [4@0] {\(name)} The playlist is made up of other things; it cannot be edited"]
        )
    }

    @Test func itsNameIsTaken() throws {
        let client = try Self.client()
        #expect(try client.ask("save \"Mix: A\"") == ["ACK [56@0] {save} Playlist already exists"])
        #expect(try client.ask("save other") == ["OK"])
        #expect(try client.ask("rename other \"Mix: A\"") == ["ACK [56@0] {rename} Playlist exists already"])
    }

    @Test func oneThatTakesEditsGetsThem() throws {
        let client = try Self.client()
        #expect(try client.ask("playlistadd Editable Alpha/First") == ["OK"])
        #expect(try client.ask("playlistdelete Editable 1") == ["OK"])
        #expect(try client.ask("playlistdelete Editable 7") == ["ACK [2@0] {playlistdelete} Bad song index"])
        #expect(
            try client.ask("listplaylist Editable") == ["file: Alpha/First/01.flac", "file: Alpha/First/03.flac", "OK"]
        )
    }

    @Test func aListOfTheServerThatIsCalledSoBearsANumber() async throws {
        let folder = try #require(TemporaryFolder())
        let remote = ScriptedPlaylists(.navidrome, [.init(id: "p1", name: "Mix: A", songs: ["c"])])
        let server = try await PlaylistServer(folder, remote)
        server.server.onCore { $0.playlists.add(virtual: Made("Mix: A")) }
        #expect(await server.settle())
        #expect(try server.client().playlists() == ["Mix: A: song:First-1 song:First-2", "Mix: A (2): c"])
        server.kill()
    }
}
