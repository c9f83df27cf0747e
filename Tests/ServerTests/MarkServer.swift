import Library
import Logging
import MPDProtocol
import SubsonicKit
import Support
import Synchronization

@testable import ShelvMPD

/// A whole server with a store in a folder, whose stars and ratings are those of a scripted server.
///
/// Songs are called `a` to `z`, and so are their ids and URIs; the album of `a` is `al-a`, its artist `Artist a`. Made again
/// on the same folder it is the next start.
final class MarkServer {
    let remote: ScriptedMarks
    let server: PersistentServer
    let log = LogLines()
    private let work: Task<Void, Never>

    /// - Parameter ids: by their URIs, of songs that have another id.
    init(_ folder: TemporaryFolder, _ remote: ScriptedMarks, ids: [String: String] = [:]) async throws {
        self.remote = remote
        server = try await PersistentServer(folder, Self.records(ids))
        let store = server.store
        let id = try await store.identify([ServerAddress(name: "test", url: "http://test")])[0]
        let saved = try await SavedStickers.load(from: store, server: id)
        let journal = try await JournalWriter.opening(store, server: id)
        let core = server.core
        // It is there once it answers.
        _ = try server.client().ask("ping")
        server.onCore { [log] server in
            let moved = saved.moved(in: server.library)
            let journal = journal()
            server.journal = journal
            server.active.restore(saved, moved, journal, hasFavorites: true, log: log.log)
            server.showFavorites()
        }
        work = Task { [log] in await MarkCourier(remote, log: log.log).work(for: MusicServer.Reference(core)) }
    }

    static func records(_ ids: [String: String] = [:], ratings: [String: UInt8] = [:]) -> [SongRecord] {
        PlaylistServer.songs.map { name in
            SongRecord(
                songID: ids[name] ?? name,
                uri: name,
                tags: [
                    TagValue(.artist, "Artist \(name)"), TagValue(.album, "Album \(name)"),
                    TagValue(.title, "Title \(name)"),
                ],
                duration: 60_000,
                albumID: "al-\(name)",
                userRating: ratings[name] ?? 0
            )
        }
    }

    func client() throws -> MPDTestClient { try server.client() }

    /// What the next start does not hear of any more: the process ends without doing anything more.
    func kill() {
        work.cancel()
        server.kill()
    }

    /// Waits until everything is on the server or refused, however often it does not answer; false when that takes too long.
    func settle() async -> Bool {
        let deadline = monotonicMilliseconds() + 20_000
        while monotonicMilliseconds() < deadline {
            let isDone = server.onCore { server -> Bool in
                let marks = server.marks
                marks.pace.serverAnswers()
                for key in marks.work.doubtful.keys { marks.work.doubtful[key]?.notBefore = .now }
                marks.pace.soon()
                return marks.perform != nil && marks.book.pending.isEmpty && !marks.pace.isUnderWay
            }
            if isDone == true { return true }
            try? await Task.sleep(for: .milliseconds(2))
        }
        return false
    }

    /// Looks at the server's stars, as a refresh does, if it answers.
    func refresh() async {
        let asked = Instant.now
        guard let starred = try? await remote.starred2() else { return }
        server.onCore { $0.marks.take(starred, asked: asked) }
        await rest()
    }

    /// The library is read anew, and has these ratings then.
    func readLibrary(ratings: [String: UInt8], began: Int64) async throws {
        var builder = LibraryBuilder()
        for record in Self.records(ratings: ratings) { builder.add(record) }
        var info = LibraryInfo(serverID: "test", serverName: "test", isComplete: true)
        info.syncState["fullBegan"] = String(began)
        let snapshot = try builder.build(info: info, file: nil)
        server.onCore { server in
            server.replaceLibrary(snapshot, SongTranslation(from: server.library, to: snapshot), hasChanged: false)
            server.marks.confirm(snapshot)
        }
        await rest()
    }

    /// Waits until what workers make of it is shown.
    private func rest() async {
        let deadline = monotonicMilliseconds() + 20_000
        while server.onCore({ $0.marks.reworking }) != 0, monotonicMilliseconds() < deadline {
            try? await Task.sleep(for: .milliseconds(2))
        }
    }
}

/// What was logged.
final class LogLines: Sendable {
    private let state = Mutex<[String]>([])

    var lines: [String] { state.withLock { $0 } }

    var log: Log { Log(level: .debug) { [self] _, line in state.withLock { $0.append(line) } } }
}
