import Library
import Logging
import MPDProtocol
import SubsonicKit
import Support
import Synchronization
import Testing

@testable import ShelvMPD

/// A whole server with a store in a folder, whose playlists are those of a scripted server.
///
/// Songs are called `a` to `z`, and so are their ids and URIs. Made again on the same folder it is the next start.
final class PlaylistServer {
    let remote: ScriptedPlaylists
    let server: PersistentServer
    private let work: Task<Void, Never>

    static let songs = (UInt8(ascii: "a")...UInt8(ascii: "z")).map { String(UnicodeScalar($0)) }

    init(_ folder: TemporaryFolder, _ remote: ScriptedPlaylists, maximumLength: Int? = nil) async throws {
        self.remote = remote
        server = try await PersistentServer(
            folder,
            Self.songs.map { name in
                SongRecord(songID: name, uri: name, tags: [TagValue(.title, "Title \(name)")], duration: 60_000)
            }
        )
        let store = server.store
        let id = try await store.identify([ServerAddress(name: "test", url: "http://test")])[0]
        let saved = PlaylistShelf.Saved(
            settings: PlaylistShelf.Settings(user: "me", maximumLength: maximumLength),
            playlists: try await SavedPlaylists.load(from: store, server: id),
            log: .silent
        )
        let journal = try await JournalWriter.opening(store, server: id)
        let core = server.core
        // It is there once it answers.
        _ = try server.client().ask("ping")
        server.onCore { server in
            let journal = journal()
            server.journal = journal
            server.playlists = PlaylistShelf(saved, journal)
        }
        work = Task { await PlaylistCourier(remote, store: store, log: .silent).work(for: MusicServer.Reference(core)) }
    }

    func client() throws -> MPDTestClient { try server.client() }

    /// What the next start does not hear of any more: the process ends without doing anything more.
    func kill() {
        work.cancel()
        server.kill()
    }

    /// Waits until everything is on the server, however often it does not answer; false when that takes too long.
    ///
    /// Lets go of its thread meanwhile: what is waited for runs on the same few.
    func settle() async -> Bool {
        let deadline = monotonicMilliseconds() + 20_000
        while monotonicMilliseconds() < deadline {
            let isDone = server.onCore { server -> Bool in
                let shelf = server.playlists
                for key in shelf.records.keys { shelf.records[key]?.notBefore = nil }
                shelf.pace.serverAnswers()
                guard shelf.perform != nil else { return false }
                let isDone = shelf.records.values.allSatisfy(\.edits.isEmpty) && !shelf.pace.isUnderWay
                if !isDone { shelf.pace.soon() }
                return isDone && !shelf.pace.isScheduled && !shelf.work.wantsRefresh
            }
            if isDone == true { return true }
            try? await Task.sleep(for: .milliseconds(2))
        }
        return false
    }

    /// Looks at the server's lists again, and waits until that is done.
    func refresh() async -> Bool {
        server.onCore { server in
            for key in server.playlists.records.keys { server.playlists.records[key]?.readAt = nil }
            server.playlists.wantRefresh(readsAll: true)
        }
        return await settle()
    }
}

extension MPDTestClient {
    /// Names and URIs of all playlists, as `name: a b c`.
    func playlists() throws -> [String] {
        try ask("listplaylists").filter { $0.hasPrefix("playlist: ") }.map { line in
            let name = String(line.dropFirst("playlist: ".count))
            return "\(name): \(try entries(of: name).joined(separator: " "))"
        }
    }

    /// The URIs of a playlist.
    func entries(of name: String) throws -> [String] {
        let quoted = name.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        return try ask("listplaylist \"\(quoted)\"").filter { $0.hasPrefix("file: ") }.map { String($0.dropFirst(6)) }
    }
}
