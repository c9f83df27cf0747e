/// The calls that tell a server what is listened to, and that ask it what could be.
extension SubsonicCalling {
    /// Tells of plays that count. Several servers look at the first one only.
    public func scrobble(_ plays: [(songID: String, time: Int64?)]) async throws(SubsonicError) {
        let ids = plays.map { ("id", $0.songID) }
        let times = plays.compactMap { play in play.time.map { ("time", String($0)) } }
        _ = try await call("scrobble", ids + times + [("submission", "true")])
    }

    /// Tells what can be heard at the moment.
    /// - Parameter time: since when, Unix time in milliseconds.
    public func nowPlaying(songID: String, since time: Int64) async throws(SubsonicError) {
        _ = try await call("scrobble", [("id", songID), ("time", String(time)), ("submission", "false")])
    }

    /// Tells how a song is going on; for servers with the extension `playbackReport`. Does not count as a play.
    public func reportPlayback(_ report: PlaybackReport) async throws(SubsonicError) {
        _ = try await call("reportPlayback", report.parameters)
    }

    // MARK: The queue

    /// Puts a queue in the place of the one that the server keeps.
    /// - Parameter byIndex: for servers with the extension `indexBasedQueue`; others find the current song by its id.
    public func savePlayQueue(_ queue: PlayQueue, byIndex: Bool, post: Bool) async throws(SubsonicError) {
        var parameters = queue.songIDs.map { ("id", $0) }
        if queue.songIDs.indices.contains(queue.current) {
            // Ampache drops a parameter that is "0", and reads "00" as 0, like everyone else.
            let index = queue.current == 0 ? "00" : String(queue.current)
            parameters.append(byIndex ? ("currentIndex", index) : ("current", queue.songIDs[queue.current]))
        }
        parameters.append(("position", String(queue.position)))
        _ = try await call(byIndex ? "savePlayQueueByIndex" : "savePlayQueue", parameters, post: post)
    }

    /// The queue that the server keeps; nil if there is none.
    public func playQueue(byIndex: Bool) async throws(SubsonicError) -> PlayQueue? {
        let content = try await call(byIndex ? "getPlayQueueByIndex" : "getPlayQueue", []).content
        return content[byIndex ? .playQueueByIndex : .playQueue].flatMap(PlayQueue.init)
    }

    // MARK: More of the same

    /// Songs that go with an artist's; empty where the server knows nobody who could tell.
    public func similarSongs(artistID: String, count: Int) async throws(SubsonicError) -> [String] {
        let content = try await call("getSimilarSongs2", [("id", artistID), ("count", String(count))]).content
        return content[.similarSongs2]?[.song]?.elements.compactMap { $0[.id]?.filledText } ?? []
    }

    /// Songs that go with a song.
    public func similarSongs(songID: String, count: Int) async throws(SubsonicError) -> [String] {
        let content = try await call("getSimilarSongs", [("id", songID), ("count", String(count))]).content
        return content[.similarSongs]?[.song]?.elements.compactMap { $0[.id]?.filledText } ?? []
    }

    // MARK: Radio stations

    /// The stations of the network that the server keeps.
    public func radioStations() async throws(SubsonicError) -> [RadioStation] {
        let content = try await call("getInternetRadioStations", []).content
        return content[.internetRadioStations]?[.internetRadioStation]?.list(RadioStation.init) ?? []
    }

    /// Adds a station. Error 50 for others than administrators.
    public func createRadioStation(name: String, address: String) async throws(SubsonicError) {
        _ = try await call("createInternetRadioStation", [("streamUrl", address), ("name", name)])
    }

    /// Removes a station. Error 50 for others than administrators, 70 if it is gone.
    public func deleteRadioStation(id: String) async throws(SubsonicError) {
        _ = try await call("deleteInternetRadioStation", [("id", id)])
    }
}

/// How a song is going on.
public struct PlaybackReport: Sendable, Hashable {
    /// The words of the API.
    public enum State: String, Sendable { case starting, playing, paused, stopped }

    public var songID: String
    public var state: State
    /// Milliseconds into the song.
    public var position: Int64

    public init(songID: String, state: State, position: Int64) {
        self.songID = songID
        self.state = state
        self.position = position
    }

    var parameters: [(String, String)] {
        [
            ("mediaId", songID), ("mediaType", "song"), ("positionMs", String(position)), ("state", state.rawValue),
            ("ignoreScrobble", "true"),
        ]
    }
}

/// A queue as a server keeps it for all clients of an account.
public struct PlayQueue: Sendable, Hashable {
    /// With repetitions.
    public var songIDs: [String]
    /// The place of the current song.
    public var current: Int
    /// Milliseconds into the current song.
    public var position: Int64
    /// Unix time in seconds.
    public var changed: Int64?
    /// The client that has saved it, as that calls itself.
    public var changedBy: String?

    public init(songIDs: [String], current: Int, position: Int64) {
        self.songIDs = songIDs
        self.current = current
        self.position = position
    }

    /// Reads either form; nil for an empty one. A current song that is not in it is the first one.
    public init?(_ json: JSON) {
        let songIDs = json[.entry]?.elements.compactMap { $0[.id]?.filledText } ?? []
        if songIDs.isEmpty { return nil }
        self.songIDs = songIDs
        let index = json[.currentIndex]?.integer.flatMap { Int(exactly: $0) }
        let id = json[.current]?.filledText
        let place = index ?? id.flatMap { songIDs.firstIndex(of: $0) } ?? 0
        current = songIDs.indices.contains(place) ? place : 0
        position = max(0, json[.position]?.integer ?? 0)
        changed = json[.changed]?.moment
        changedBy = json[.changedBy]?.filledText
    }
}

/// A radio station of the network.
public struct RadioStation: Sendable, Hashable {
    public var id: String
    public var name: String
    /// Where it sends.
    public var address: String

    public init(id: String, name: String, address: String) {
        self.id = id
        self.name = name
        self.address = address
    }

    /// Nil for one that cannot be named or heard.
    public init?(_ json: JSON) {
        guard let id = json[.id]?.filledText, let address = json[.streamUrl]?.filledText else { return nil }
        self.init(id: id, name: json[.name]?.filledText ?? address, address: address)
    }
}

/// What a server can do beyond what all can.
public struct ServerAbilities: Sendable, Hashable {
    public var server: ServerInfo
    /// Names of the extensions of OpenSubsonic.
    public var extensions: Set<String>

    public init(server: ServerInfo, extensions: Set<String>) {
        self.server = server
        self.extensions = extensions
    }
}

extension SubsonicCalling {
    /// Finds out who answers, and what it can do.
    public func abilities() async throws(SubsonicError) -> ServerAbilities {
        let server = try await ping()
        var extensions: [ServerExtension] = []
        do throws(SubsonicError) {
            extensions = try await openSubsonicExtensions()
        } catch {
            // Who knows no extensions has none, and says so in one way or another.
            if case .transport = error { throw error }
        }
        return ServerAbilities(server: server, extensions: Set(extensions.map(\.name)))
    }
}
