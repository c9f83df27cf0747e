import Support
import Synchronization

/// A Subsonic server over HTTP with a few songs that can be heard, and with a memory of what it was told. Its songs are called
/// `1`, `2` and so on, as another's may be, too.
final class SmallMusicServer: Sendable {
    struct Song: Sendable {
        var path: String
        var title: String
        var artist: String
        var album: String
        var seconds: Int
    }

    private struct State {
        var isDown = false
        var ratings: [String: String] = [:]
        var stars: Set<String> = []
        var scrobbles: [String] = []
        /// The place of each is its id.
        var playlists: [(name: String, songs: [String], isGone: Bool)] = []
        var queue: [String]?
        /// How many of its songs it has by now.
        var count: Int
        var holds: [String: Hold] = [:]
    }

    /// Requests that wait.
    struct Hold: Sendable {
        /// Opens when one has come.
        let reached = TestGate()
        /// Lets them be answered.
        let gate = TestGate()
    }

    private let state: Mutex<State>
    private let http = Mutex<HTTPTestServer?>(nil)
    let url: String
    let songs: [Song]

    /// - Parameter name: of the artist of all songs; the last one has a path that does not tell it.
    init?(_ name: String, songs count: Int = 6, seconds: Int = 4) {
        let songs = (1...count).map { number in
            Song(
                path: number == count ? "Same/Place/\(number).wav" : "\(name)/Album/\(number).wav",
                title: "\(name) \(number)",
                artist: name,
                album: "Album of \(name)",
                seconds: seconds
            )
        }
        self.songs = songs
        state = Mutex(State(count: count))
        let box = Answers()
        guard let http = HTTPTestServer({ box.answer.withLock { $0 }?($0) ?? .html("", status: 503) }) else {
            return nil
        }
        url = http.url
        box.answer.withLock { $0 = { [weak self] request in self?.answer(request) ?? .html("", status: 503) } }
        self.http.withLock { $0 = http }
    }

    private final class Answers: Sendable {
        let answer = Mutex<(@Sendable (HTTPTestRequest) -> HTTPTestResponse)?>(nil)
    }

    func stop() { http.withLock { $0 }?.stop() }

    /// Has only the first of its songs, or all again.
    func setCount(_ count: Int) { state.withLock { $0.count = count } }

    /// Lets all requests of one method wait.
    func hold(_ method: String) -> Hold {
        let hold = Hold()
        state.withLock { $0.holds[method] = hold }
        return hold
    }

    /// Whether it refuses everything.
    func setDown(_ isDown: Bool) { state.withLock { $0.isDown = isDown } }

    /// Stars, by id, of what was rated.
    var ratings: [String: String] { state.withLock { $0.ratings } }
    var stars: Set<String> { state.withLock { $0.stars } }
    var scrobbles: [String] { state.withLock { $0.scrobbles } }

    /// The queue that was saved last.
    var queue: [String]? { state.withLock { $0.queue } }

    func setPlaylist(_ name: String, _ songs: [String]) {
        state.withLock { $0.playlists.append((name, songs, false)) }
    }

    /// Another client removes one.
    func removePlaylist(_ name: String) {
        state.withLock { state in
            for index in state.playlists.indices where state.playlists[index].name == name {
                state.playlists[index].isGone = true
            }
        }
    }

    var playlists: [String: [String]] {
        state.withLock { Dictionary($0.playlists.filter { !$0.isGone }.map { ($0.name, $0.songs) }) { $1 } }
    }

    /// 16-bit samples of both channels, all others than those of another song.
    func samples(_ number: Int) -> [Int16] {
        let step = 97 * number + songs[0].artist.utf8.reduce(0) { $0 + Int($1) }
        return (0..<songs[number - 1].seconds * 44_100).flatMap { index in
            let value = Int16(truncatingIfNeeded: index * step % 16_000 - 8_000)
            return [value, value]
        }
    }

    private func wave(_ number: Int) -> [UInt8] {
        func little(_ value: Int, _ bytes: Int) -> [UInt8] {
            (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        let samples = samples(number)
        let length = samples.count * 2
        let format = little(1, 2) + little(2, 2) + little(44_100, 4) + little(176_400, 4) + little(4, 2) + little(16, 2)
        var bytes = Array("RIFF".utf8) + little(36 + length, 4) + Array("WAVEfmt ".utf8) + little(16, 4) + format
        bytes += Array("data".utf8) + little(length, 4)
        for sample in samples {
            bytes.append(UInt8(truncatingIfNeeded: sample))
            bytes.append(UInt8(truncatingIfNeeded: sample >> 8))
        }
        return bytes
    }

    // MARK: Answers

    private func answer(_ request: HTTPTestRequest) -> HTTPTestResponse {
        if state.withLock({ $0.isDown }) { return .html("away", status: 503) }
        let method = request.path.split(separator: "/").last.map { $0.replacing(".view", with: "") } ?? ""
        let id = request.parameter("id") ?? request.parameter("songId") ?? ""
        if let hold = state.withLock({ $0.holds[String(method)] }) {
            hold.reached.open()
            hold.gate.wait(timeout: 60_000)
        }
        let count = state.withLock { $0.count }
        switch method {
        case "ping", "startScan": return ok("")
        case "getOpenSubsonicExtensions":
            return ok("\"openSubsonicExtensions\":[{\"name\":\"formPost\",\"versions\":[1]}]")
        case "getMusicFolders": return ok("\"musicFolders\":{\"musicFolder\":[{\"id\":1,\"name\":\"Music\"}]}")
        case "getScanStatus": return ok("\"scanStatus\":{\"scanning\":false,\"count\":\(count)}")
        case "search3": return search(request)
        case "getAlbumList2":
            return ok("\"albumList2\":{\"album\":[\((request.parameter("offset") ?? "0") == "0" ? album : "")]}")
        case "getArtists": return ok("\"artists\":{\"index\":[]}")
        case "getAlbum":
            let all = songs.indices.prefix(count).map { song($0 + 1) }.joined(separator: ",")
            return ok("\"album\":\(album.dropLast()),\"song\":[\(all)]}")
        case "getSong":
            guard let number = Int(id), songs.indices.contains(number - 1) else { return failed(70) }
            return ok("\"song\":\(song(number))")
        case "getStarred2":
            let starred = stars.compactMap { Int($0) }.sorted().map { song($0) }.joined(separator: ",")
            return ok("\"starred2\":{\"song\":[\(starred)]}")
        case "star": state.withLock { _ = $0.stars.insert(id) }
        case "unstar": state.withLock { _ = $0.stars.remove(id) }
        case "setRating": state.withLock { $0.ratings[id] = request.parameter("rating") }
        case "scrobble": state.withLock { if request.parameter("submission") != "false" { $0.scrobbles.append(id) } }
        case "stream", "download":
            guard let number = Int(id), songs.indices.contains(number - 1) else { return failed(70) }
            return .file(wave(number), for: request, type: "audio/x-wav")
        case "getCoverArt":
            return .file(Array("picture of \(songs[0].artist) \(id)".utf8), for: request, type: "image/png")
        case "getPlaylists":
            let lists = state.withLock { $0.playlists }.enumerated().filter { !$1.isGone }
                .map { Self.head($0, $1.name, $1.songs) + "}" }
            return ok("\"playlists\":{\"playlist\":[\(lists.joined(separator: ","))]}")
        case "getPlaylist": return playlist(id)
        case "createPlaylist":
            let songs = request.parameters.filter { $0.name == "songId" }.map(\.value)
            let number = state.withLock { state in
                if let number = request.parameter("playlistId").flatMap({ Int($0.dropFirst()) }) {
                    state.playlists[number].songs = songs
                    return number
                }
                state.playlists.append((request.parameter("name") ?? "", songs, false))
                return state.playlists.count - 1
            }
            return playlist("p\(number)")
        case "updatePlaylist":
            guard let number = Int((request.parameter("playlistId") ?? "").dropFirst()) else { return failed(70) }
            let added = request.parameters.filter { $0.name == "songIdToAdd" }.map(\.value)
            let removed = request.parameters.filter { $0.name == "songIndexToRemove" }.compactMap { Int($0.value) }
            state.withLock { state in
                for index in removed.sorted().reversed() { state.playlists[number].songs.remove(at: index) }
                state.playlists[number].songs += added
                if let name = request.parameter("name") { state.playlists[number].name = name }
            }
        case "savePlayQueue":
            state.withLock { $0.queue = request.parameters.filter { $0.name == "id" }.map(\.value) }
        case "getPlayQueue":
            guard let queue else { return failed(70) }
            let entries = queue.compactMap { Int($0) }.map { song($0) }.joined(separator: ",")
            return ok("\"playQueue\":{\"current\":\"\(queue.first ?? "")\",\"entry\":[\(entries)]}")
        default: return failed(0)
        }
        return ok("")
    }

    private func playlist(_ id: String) -> HTTPTestResponse {
        let lists = state.withLock { $0.playlists }
        guard let number = Int(id.dropFirst()), lists.indices.contains(number), !lists[number].isGone else {
            return failed(70)
        }
        let entries = lists[number].songs.compactMap { Int($0) }.map { song($0) }.joined(separator: ",")
        return ok("\"playlist\":\(Self.head(number, lists[number].name, lists[number].songs)),\"entry\":[\(entries)]}")
    }

    private static func head(_ number: Int, _ name: String, _ songs: [String]) -> String {
        """
        {"id":"p\(number)","name":"\(name)","songCount":\(songs.count),"duration":\(songs.count),"owner":"u",\
        "changed":"2026-01-01T00:00:\(10 + songs.count).000Z"
        """
    }

    private func search(_ request: HTTPTestRequest) -> HTTPTestResponse {
        let offset = Int(request.parameter("songOffset") ?? "0") ?? 0
        let count = Int(request.parameter("songCount") ?? "20") ?? 20
        let numbers = songs.indices.prefix(state.withLock { $0.count }).map { $0 + 1 }.dropFirst(offset).prefix(count)
        let artists = (request.parameter("artistCount") ?? "20") == "0" ? "" : "\"artist\":[],"
        return ok("\"searchResult3\":{\(artists)\"song\":[\(numbers.map { song($0) }.joined(separator: ","))]}")
    }

    private var album: String {
        let count = state.withLock { $0.count }
        return """
            {"id":"al","name":"\(songs[0].album)","artist":"\(songs[0].artist)","songCount":\(count),\
            "duration":\(count * songs[0].seconds),"created":"2026-01-01T00:00:00.000Z"}
            """
    }

    private func song(_ number: Int) -> String {
        guard songs.indices.contains(number - 1) else { return "{\"id\":\"\(number)\"}" }
        let song = songs[number - 1]
        let (rating, star) = state.withLock { ($0.ratings["\(number)"], $0.stars.contains("\(number)")) }
        return """
            {"id":"\(number)","title":"\(song.title)","artist":"\(song.artist)","album":"\(song.album)","albumId":"al",\
            "coverArt":"\(number)",\
            "track":\(number),"path":"\(song.path)","suffix":"wav","contentType":"audio/x-wav","isDir":false,\
            "duration":\(song.seconds),"size":\(44 + song.seconds * 176_400),"bitRate":1411,\
            "replayGain":{"trackGain":\(-number)},\
            "created":"2026-01-01T00:00:00.000Z"\(rating.map { ",\"userRating\":\($0)" } ?? "")\
            \(star ? ",\"starred\":\"2026-01-02T00:00:00.000Z\"" : "")}
            """
    }

    private func ok(_ content: String) -> HTTPTestResponse {
        .json("{\"subsonic-response\":{\(Self.head(isOK: true))\(content.isEmpty ? "" : ",\(content)")}}")
    }

    private func failed(_ code: Int) -> HTTPTestResponse {
        .json("{\"subsonic-response\":{\(Self.head(isOK: false)),\"error\":{\"code\":\(code),\"message\":\"no\"}}}")
    }

    private static func head(isOK: Bool) -> String {
        """
        "status":"\(isOK ? "ok" : "failed")","version":"1.16.1","type":"small","serverVersion":"1","openSubsonic":true
        """
    }
}
