import SubsonicKit
import Synchronization

/// A Subsonic server without network: a small library, habits like those of real servers, and faults on request.
final class ScriptedServer: SubsonicCalling {
    struct Library: Sendable {
        var albums: [ScriptedAlbum] = []
        var isScanning = false
        /// Moves with every scan; nil for servers that do not tell.
        var lastScan: Int? = 1

        var songs: [ScriptedSong] { albums.flatMap(\.songs) }

        /// So many songs in albums of ten, two albums an artist.
        init(songs count: Int, folder: String = "1") {
            for number in 0..<count {
                if number % 10 == 0 { albums.append(ScriptedAlbum(number: number / 10, folder: folder)) }
                albums[number / 10].songs.append(ScriptedSong(number: number, album: number / 10))
            }
        }
    }

    /// What makes servers differ.
    struct Habits: Sendable {
        var type: String? = "navidrome"
        var version = "1.16.1"
        /// Queries that find everything.
        var emptyQueries: Set<String> = ["", "\"\""]
        var mostItems = Int.max
        var hasScanStatus = true
        var mayScan = true
        var hasAlbumsByName = true
        /// `getIndexes` knows when the library changed.
        var lastModified: Int64?
        /// Music folders, by id.
        var folders: [(id: String, name: String)] = [("1", "Music")]
        var tellsFoldersApart = true
        var ignoresOffset = false
        /// `getStarred2` is there.
        var hasStars = false
        /// `getAlbumList2` knows what was played last.
        var hasRecentAlbums = true
        /// Pages begin so many items early from the second one on, as if something had been inserted meanwhile.
        var shift = 0
    }

    /// What to do with one request instead of answering it.
    enum Fault: Sendable {
        case error(SubsonicError)
        case hang
    }

    private struct State {
        var library: Library
        var habits: Habits
        var calls: [String] = []
        var fault: @Sendable (_ number: Int, _ method: String) -> Fault? = { _, _ in nil }
        var afterCall: @Sendable (_ method: String, _ library: inout Library) -> Void = { _, _ in }
        var running = 0
        var peak = 0
    }
    private let state: Mutex<State>

    init(_ library: Library, _ habits: Habits = Habits()) {
        state = Mutex(State(library: library, habits: habits))
    }

    /// What was asked, `method key=value …`, in order.
    var calls: [String] { state.withLock { $0.calls } }
    /// The most requests that were under way at once.
    var peak: Int { state.withLock { $0.peak } }

    func change(_ body: (inout Library) -> Void) { state.withLock { body(&$0.library) } }
    func changeHabits(_ body: (inout Habits) -> Void) { state.withLock { body(&$0.habits) } }
    func forgetCalls() { state.withLock { $0.calls = [] } }

    /// Asked before each request, with its number from 1.
    func onRequest(_ fault: @escaping @Sendable (_ number: Int, _ method: String) -> Fault?) {
        state.withLock { $0.fault = fault }
    }

    /// Called after each answered request.
    func afterCall(_ body: @escaping @Sendable (_ method: String, _ library: inout Library) -> Void) {
        state.withLock { $0.afterCall = body }
    }

    func call(_ method: String, _ parameters: [(String, String)]) async throws(SubsonicError) -> Envelope {
        let fault = state.withLock { state in
            state.calls.append(([method] + parameters.map { "\($0.0)=\($0.1)" }).joined(separator: " "))
            state.running += 1
            state.peak = max(state.peak, state.running)
            return state.fault(state.calls.count, method)
        }
        await Task.yield()
        defer { state.withLock { $0.running -= 1 } }
        switch fault {
        case .error(let error)?: throw error
        case .hang?:
            while !Task.isCancelled { await Task.yield() }
            throw .transport(TransportError(.cancelled, "cancelled"))
        case nil: break
        }
        let body = state.withLock { state in
            let answer = ScriptedAnswer(library: state.library, habits: state.habits, parameters: parameters)
            let body = answer.body(method)
            state.afterCall(method, &state.library)
            return body
        }
        do {
            let envelope = try Envelope(Array("{\"subsonic-response\":\(body)}".utf8))
            if let failure = envelope.failure { throw SubsonicError.server(failure) }
            return envelope
        } catch let error as SubsonicError {
            throw error
        } catch {
            throw .decoding("\(error)")
        }
    }
}

struct ScriptedAlbum: Sendable {
    var number: Int
    var folder: String
    var songs: [ScriptedSong] = []
    /// What `songCount` says, if it is not the truth.
    var claimedSongs: Int?
    /// As OpenSubsonic writes it.
    var played: String?
    var playCount: Int?

    var id: String { "al-\(number)" }
    var artist: String { "Artist \(number / 2)" }
    var name: String { "Album \(number)" }
}

struct ScriptedSong: Sendable {
    var number: Int
    var album: Int
    var title: String
    var path: String
    var playCount = 0
    var played: String?
    var rating: Int?
    var duration = 100
    var recording: String?
    var isStarred = false
    var id: String

    init(number: Int, album: Int) {
        self.number = number
        id = "so-\(number)"
        self.album = album
        title = "Song \(number)"
        path = "Artist \(album / 2)/Album \(album)/\(number) Song.mp3"
    }
}

/// Writes one answer.
struct ScriptedAnswer {
    let library: ScriptedServer.Library
    let habits: ScriptedServer.Habits
    let parameters: [(String, String)]

    func body(_ method: String) -> String {
        switch method {
        case "ping": ok("")
        case "getMusicFolders":
            ok(
                list(
                    "musicFolders",
                    "musicFolder",
                    habits.folders.map { "{\"id\":\"\($0.id)\",\"name\":\"\($0.name)\"}" }
                )
            )
        case "search3": search()
        case "getAlbumList2": albumList()
        case "getAlbum":
            albums.first { $0.id == parameter("id") }.map { ok("\"album\":\(text($0, withSongs: true))") }
                ?? failed(70, "not found")
        case "getScanStatus": habits.hasScanStatus ? ok(scanStatus) : failed(50, "not allowed")
        case "startScan": habits.mayScan ? ok(scanStatus) : failed(50, "not allowed")
        case "getIndexes": indexes()
        case "getStarred2":
            habits.hasStars
                ? ok(list("starred2", "song", library.songs.filter(\.isStarred).map(text)))
                : failed(0, "unknown method")
        case "getArtist":
            ok("\"artist\":{\"id\":\"\(parameter("id") ?? "")\",\"name\":\"x\"}")
        case "getArtists": ok("\"artists\":{\"index\":[]}")
        default: failed(0, "unknown method")
        }
    }

    private func parameter(_ name: String) -> String? { parameters.first { $0.0 == name }?.1 }
    private func number(_ name: String) -> Int { parameter(name).flatMap { Int($0) } ?? 0 }

    /// The albums of the folder that was asked for.
    private var albums: [ScriptedAlbum] {
        guard habits.tellsFoldersApart, let folder = parameter("musicFolderId") else { return library.albums }
        return library.albums.filter { $0.folder == folder }
    }

    private func ok(_ content: String) -> String {
        let type = habits.type.map { ",\"type\":\"\($0)\",\"openSubsonic\":true,\"serverVersion\":\"1\"" } ?? ""
        return "{\"status\":\"ok\",\"version\":\"\(habits.version)\"\(type)\(content.isEmpty ? "" : ",")\(content)}"
    }

    private func failed(_ code: Int, _ message: String) -> String {
        "{\"status\":\"failed\",\"version\":\"\(habits.version)\",\"error\":{\"code\":\(code),\"message\":\"\(message)\"}}"
    }

    private func list(_ payload: String, _ name: String, _ items: [String]) -> String {
        "\"\(payload)\":{\"\(name)\":[\(items.joined(separator: ","))]}"
    }

    private func page<Item>(_ items: [Item], count: Int, offset: Int) -> ArraySlice<Item> {
        let count = min(count, habits.mostItems)
        let shifted = offset > 0 ? max(0, offset - habits.shift) : offset
        let start = habits.ignoresOffset ? 0 : min(shifted, items.count)
        return items[start..<min(items.count, start + count)]
    }

    private func search() -> String {
        guard let query = parameter("query"), habits.emptyQueries.contains(query) else {
            return ok("\"searchResult3\":{}")
        }
        let songs = page(albums.flatMap(\.songs), count: number("songCount"), offset: number("songOffset"))
        let found = page(albums, count: number("albumCount"), offset: number("albumOffset"))
        let names = Array(Set(albums.map(\.artist))).sorted()
        let artists = page(names, count: number("artistCount"), offset: number("artistOffset"))
        let pieces = [
            "\"song\":[\(songs.map(text).joined(separator: ","))]",
            "\"album\":[\(found.map { text($0, withSongs: false) }.joined(separator: ","))]",
            "\"artist\":[\(artists.map { "{\"id\":\"\($0)\",\"name\":\"\($0)\",\"sortName\":\"sort \($0)\"}" }.joined(separator: ","))]",
        ]
        return ok("\"searchResult3\":{\(pieces.joined(separator: ","))}")
    }

    private func albumList() -> String {
        let type = parameter("type")
        if type == "alphabeticalByName", !habits.hasAlbumsByName { return failed(0, "cannot sort") }
        if type == "recent", !habits.hasRecentAlbums { return failed(0, "unknown type") }
        var all = type == "newest" ? Array(albums.reversed()) : albums
        if type == "recent" {
            all = albums.filter { $0.played != nil || $0.playCount != nil }
            all.sort { ($0.played ?? "", $0.playCount ?? 0) > ($1.played ?? "", $1.playCount ?? 0) }
        }
        let found = page(all, count: number("size"), offset: number("offset"))
        return ok(list("albumList2", "album", found.map { text($0, withSongs: false) }))
    }

    private func indexes() -> String {
        guard let modified = habits.lastModified else { return ok("\"indexes\":{\"lastModified\":0,\"index\":[]}") }
        if let since = parameter("ifModifiedSince").flatMap({ Int64($0) }), since >= modified {
            return ok("\"indexes\":{\"lastModified\":\(modified)}")
        }
        return ok("\"indexes\":{\"lastModified\":\(modified),\"index\":[{\"name\":\"A\",\"artist\":[]}]}")
    }

    private var scanStatus: String {
        let last = library.lastScan.map { ",\"lastScan\":\"scan \($0)\"" } ?? ""
        return "\"scanStatus\":{\"scanning\":\(library.isScanning),\"count\":\(library.songs.count)\(last)}"
    }

    private func text(_ song: ScriptedSong) -> String {
        // Albums stand at their numbers.
        let album = song.album < library.albums.count ? library.albums[song.album] : nil
        let recording = song.recording.map { ",\"musicBrainzId\":\"\($0)\"" } ?? ""
        let played = song.played.map { ",\"played\":\"\($0)\"" } ?? ""
        let rating = song.rating.map { ",\"userRating\":\($0)" } ?? ""
        return """
            {"id":"\(song.id)","title":"\(song.title)","path":"\(song.path)","album":"\(album?.name ?? "")",\
            "albumId":"al-\(song.album)","artist":"\(album?.artist ?? "")","duration":\(song.duration),"playCount":\(song.playCount),\
            "created":"2024-01-01T00:00:00Z","isDir":false\(recording)\(played)\(rating)\(song.isStarred ? ",\"starred\":\"2024-02-02T00:00:00Z\"" : "")}
            """
    }

    private func text(_ album: ScriptedAlbum, withSongs: Bool) -> String {
        let played = album.played.map { ",\"played\":\"\($0)\"" } ?? ""
        let count = album.playCount.map { ",\"playCount\":\($0)" } ?? ""
        let songs = withSongs ? ",\"song\":[\(album.songs.map(text).joined(separator: ","))]" : ""
        return """
            {"id":"\(album.id)","name":"\(album.name)","artist":"\(album.artist)",\
            "songCount":\(album.claimedSongs ?? album.songs.count),"created":"2024-01-01T00:00:00Z"\(played)\(count)\(songs)}
            """
    }
}
