import Library
import MPDProtocol
import Playback
import Support
import Testing

@testable import ShelvMPD

/// What users do with their clients, in the words that these clients send, on three tiers: the song that was asked for
/// plays, and the queue is as Docs/queue.md has it.
@Suite struct ClientWalkTests {
    // MARK: mpc

    @Test func mpcInsertPlaysNext() throws {
        let walk = try ClientWalk(playing: "A2")
        try walk.insertWithMPC("B")
        #expect(try walk.queue() == "A1 [A2] B1+ B2+ B3+ B4+ A3 A4")
        try walk.endSong()
        #expect(try walk.queue() == "A1 A2 [B1] B2+ B3+ B4+ A3 A4")
        #expect(walk.heard == "B1")
        try walk.insertWithMPC("x")
        try walk.send("next")
        #expect(try walk.queue() == "A1 A2 B1 [x] B2+ B3+ B4+ A3 A4")
        #expect(walk.heard == "x")
    }

    @Test func mpcInsertPlaysNextWhileShuffled() throws {
        let walk = try ClientWalk(playing: "A2")
        try walk.send("random 1")
        try walk.insertWithMPC("B")
        #expect(try walk.queue().hasPrefix("A1 [A2] B1+ B2+ B3+ B4+ A"))
        try walk.endSong()
        #expect(try walk.queue().hasPrefix("A1 A2 [B1] B2+ B3+ B4+ A"))
        #expect(walk.heard == "B1")
        // Without random it goes on where it was, behind what was inserted.
        try walk.send("random 0")
        #expect(try walk.queue() == "A1 A2 [B1] B2+ B3+ B4+ A3 A4")
    }

    @Test func mpcAddWaitsAndPlayStartsIt() throws {
        let walk = try ClientWalk(playing: "A2")
        try walk.list("add \"x\"")
        try walk.list("add \"B\"")
        #expect(try walk.queue() == "A1 [A2] A3 A4 x B1 B2 B3 B4")
        // `mpc play 6`: the rest of what was added just now comes along, nothing is passed over.
        try walk.send("play \"5\"")
        #expect(try walk.queue() == "A1 A2 [B1] B2 B3 B4 A3 A4 x")
        #expect(walk.heard == "B1")
    }

    @Test func mpcPlayOfALaterSongLosesNothing() throws {
        let walk = try ClientWalk(playing: "A1")
        try walk.send("play \"3\"")
        #expect(try walk.queue() == "A1 [A4] A2 A3")
        #expect(walk.heard == "A4")
        try walk.endSong()
        #expect(try walk.queue() == "A1 A4 [A2] A3")
    }

    // MARK: ncmpcpp

    @Test func ncmpcppEnterOnASongPlaysItAtOnce() throws {
        let walk = try ClientWalk(playing: "A2")
        let id = try walk.value("Id", "addid \"x\"")
        try walk.send("playid \"\(id)\"")
        #expect(try walk.queue() == "A1 A2 [x] A3 A4")
        #expect(walk.heard == "x")
        try walk.endSong()
        #expect(walk.heard == "A3")
    }

    @Test(arguments: [false, true])
    func ncmpcppEnterOnAnAlbumPlaysTheAlbum(isShuffled: Bool) throws {
        let walk = try ClientWalk(playing: "A2")
        if isShuffled { try walk.send("random \"1\"") }
        let ids = try (1...4).map { try walk.value("Id", "addid \"B/\($0)\"") }
        try walk.send("playid \"\(ids[0])\"")
        #expect(walk.heard == "B1")
        if isShuffled {
            // The song that was chosen, the rest of its album, then what was there; the order of the waiting is drawn.
            #expect(try walk.queue().hasPrefix("A1 A2 [B1] B2 B3 B4 A"))
        } else {
            #expect(try walk.queue() == "A1 A2 [B1] B2 B3 B4 A3 A4")
        }
        try walk.endSong()
        #expect(walk.heard == "B2")
    }

    // MARK: Cantata

    @Test func cantataAppendAndPlay() throws {
        let walk = try ClientWalk(playing: "A2")
        try walk.list("add \"B/1\"", "add \"B/2\"", "add \"B/3\"")
        try walk.send("play \"4\"")
        #expect(try walk.queue() == "A1 A2 [B1] B2 B3 A3 A4")
        #expect(walk.heard == "B1")
    }

    /// Cantata moves what is dragged to the end first, then to where it was dropped.
    @Test func cantataDragObeysThePosition() throws {
        let walk = try ClientWalk(playing: "A1")
        try walk.list("add \"B\"")
        #expect(try walk.queue() == "[A1] A2 A3 A4 B1 B2 B3 B4")
        try walk.list("move \"5\" \"7\"", "move \"4\" \"7\"", "move \"6\" \"2\"", "move \"7\" \"3\"")
        #expect(try walk.queue() == "[A1] A2 B2 B1 A3 A4 B3 B4")
        try walk.send("next")
        try walk.send("next")
        #expect(walk.heard == "B2")
        // Dropped directly behind what plays it is played next.
        try walk.list("move \"7\" \"7\"", "move \"7\" \"3\"")
        #expect(try walk.queue() == "A1 A2 [B2] B4+ B1 A3 A4 B3")
        try walk.endSong()
        #expect(walk.heard == "B4")
    }

    // MARK: M.A.L.P.

    @Test(arguments: ["2", "+0"])
    func malpPlaysNext(position: String) throws {
        let walk = try ClientWalk(playing: "A2")
        _ = try walk.client.ask("status")
        _ = try walk.value("Id", "addid \"x\" \"\(position)\"")
        #expect(try walk.queue() == "A1 [A2] x+ A3 A4")
        _ = try walk.value("Id", "addid \"y\" \"\(position)\"")
        #expect(try walk.queue() == "A1 [A2] y+ x+ A3 A4")
        // A jump to something else in between does not lose them.
        try walk.send("play 5")
        #expect(try walk.queue() == "A1 A2 [A4] y+ x+ A3")
        try walk.endSong()
        #expect(walk.heard == "y")
    }

    // MARK: Home Assistant

    /// It knows playlists only: what is chosen in its media browser is loaded by name.
    @Test func homeAssistantPlaysAPlaylist() throws {
        let walk = try ClientWalk(playing: "A2")
        try walk.send("playlistadd \"Evening\" \"B/2\"")
        try walk.send("playlistadd \"Evening\" \"x\"")
        try walk.send("playlistadd \"Evening\" \"B/2\"")
        try walk.send("random 1")
        let lists = try walk.client.ask("listplaylists").filter { $0.hasPrefix("playlist: ") }
        #expect(lists == ["playlist: Evening"])
        try walk.send("clear")
        try walk.send("load \"Evening\"")
        try walk.send("play")
        #expect(try walk.names().sorted() == ["B2", "B2", "x"])
        #expect(try walk.client.value("lastloadedplaylist", of: "status") == "Evening")
        #expect(try walk.queue().hasPrefix("[\(walk.heard)] "))
        try walk.send("random 0")
        try walk.send("clear")
        try walk.send("load \"Evening\"")
        try walk.send("play")
        #expect(try walk.queue() == "[B2] x B2")
        #expect(walk.heard == "B2")
        // A playlist that is not there leaves the queue as `clear` left it.
        try walk.send("clear")
        #expect(try walk.client.ask("load \"Morning\"") == ["ACK [50@0] {load} No such playlist"])
        #expect(try walk.queue() == "")
    }

    /// Speech is a URL of its own server.
    @Test func homeAssistantAnnouncesSomething() throws {
        let walk = try ClientWalk(playing: "A2")
        let url = "http://192.0.2.1:8123/api/tts_proxy/a%20b.mp3"
        try walk.send("clear")
        try walk.send("add \"\(url)\"")
        try walk.send("play")
        #expect(walk.heard == url)
        let current = try walk.client.ask("currentsong")
        #expect(current.first == "file: \(url)")
        #expect(try walk.client.value("state", of: "status") == "play")
    }

    // MARK: mpDris2

    @Test func mediaKeysGoForwardAndBack() throws {
        let walk = try ClientWalk(playing: "A2")
        _ = try walk.value("Id", "addid \"x\" +0")
        try walk.send("next")
        #expect(try walk.queue() == "A1 A2 [x] A3 A4")
        #expect(walk.heard == "x")
        try walk.send("previous")
        #expect(try walk.queue() == "A1 [A2] x A3 A4")
        #expect(walk.heard == "A2")
        try walk.send("previous")
        try walk.send("previous")
        #expect(try walk.queue() == "[A1] A2 x A3 A4")
        #expect(walk.heard == "A1")
    }

    @Test func nextInTheLastMomentSkipsOneSong() throws {
        let walk = try ClientWalk(playing: "A2")
        walk.commit()
        try walk.send("next")
        walk.arrive()
        #expect(try walk.queue() == "A1 A2 [A3] A4")
        #expect(walk.heard == "A3")
    }

    // MARK: mpd-sima

    @Test func simaKeepsTheQueueFilledWithConsumeAndRandom() throws {
        let walk = try ClientWalk(playing: "A1")
        try walk.send("consume 1")
        try walk.send("random 1")
        var wanted: Set = ["A1", "A2", "A3", "A4"]
        for song in ["B/1", "B/2", "B/3", "B/4", "x", "y"] {
            let before = try walk.queue()
            try walk.send("add \"\(song)\"")
            // What is added waits at the end; what comes next stays what it was.
            let name = song.replacing("/", with: "")
            #expect(try walk.queue() == before + " " + name)
            wanted.insert(name)
            let next = try walk.next()
            let left = walk.heard
            try walk.endSong()
            wanted.remove(left)
            #expect(walk.heard == next)
            #expect(try walk.queue().hasPrefix("[\(next)] "))
            #expect(try Set(walk.names()) == wanted)
        }
        // The listener asks for one of them: it plays, and only what was heard is gone.
        let names = try walk.names()
        try walk.send("play \(names.count - 1)")
        #expect(walk.heard == names[names.count - 1])
        #expect(try Set(walk.names()) == wanted)
    }
}

/// A client and the listener: two albums of four songs, `A` and `B`, and the songs `x` and `y`.
private final class ClientWalk {
    let server: TestServer
    let client: MPDTestClient
    /// What the listener hears.
    private(set) var heard = ""
    private var following: (id: PlaybackID, name: String)?
    private var playing: PlaybackID?

    /// Adds the first album and plays one of its songs.
    init(playing name: String) throws {
        let uris = ["A", "B"].flatMap { album in (1...4).map { "\(album)/\($0)" } } + ["x", "y"]
        server = try TestServer(
            uris.map { uri in
                SongRecord(
                    songID: uri.replacing("/", with: ""),
                    uri: uri,
                    tags: [TagValue(.title, uri)],
                    duration: 60_000,
                    size: 1000,
                    suffix: "flac"
                )
            }
        )
        client = try server.client()
        try send("add A")
        try send("play \(try #require(try names().firstIndex(of: name)))")
    }

    /// Sends a command that must be accepted.
    func send(_ command: String, _ location: SourceLocation = #_sourceLocation) throws {
        #expect(try client.ask(command) == ["OK"], "\(command)", sourceLocation: location)
        follow()
    }

    /// Sends commands in a list.
    func list(_ commands: String..., location: SourceLocation = #_sourceLocation) throws {
        let lines = ["command_list_begin"] + commands + ["command_list_end"]
        try send(lines.joined(separator: "\n"), location)
    }

    /// The value of a key in a reply that must have it.
    func value(_ key: String, _ command: String) throws -> String {
        defer { follow() }
        return try #require(try client.value(key, of: command))
    }

    /// `mpc insert`, version 0.34.
    func insertWithMPC(_ uri: String) throws {
        let old = try value("playlistlength", "status")
        try list("add \"\(uri)\"")
        let new = try value("playlistlength", "status")
        if try value("random", "status") == "1" {
            try send("prio \"1\" \"\(old):\(new)\"")
        } else {
            let id = try value("songid", "status")
            let position = try #require(Int(try value("Pos", "playlistid \"\(id)\"")))
            try send("move \"\(old):\(new)\" \"\(position + 1)\"")
        }
    }

    /// The song that `status` says will come.
    func next() throws -> String { try names()[try #require(Int(try value("nextsong", "status")))] }

    /// The names of the entries.
    func names() throws -> [String] {
        try client.ask("playlistinfo").filter { $0.hasPrefix("file: ") }
            .map { String($0.dropFirst(6).replacing("/", with: "")) }
    }

    /// The queue: the current entry in brackets, Play Next with a plus.
    func queue() throws -> String {
        let current = try client.value("song", of: "status").flatMap { Int($0) }
        let songs = try client.ask("playlistinfo").filter { $0.hasPrefix("file: ") || $0.hasPrefix("Prio: ") }
        var entries: [String] = []
        for line in songs {
            if line.hasPrefix("Prio: ") {
                entries[entries.count - 1] += "+"
            } else {
                let name = line.dropFirst(6).replacing("/", with: "")
                entries.append(entries.count == current ? "[\(name)]" : String(name))
            }
        }
        return entries.joined(separator: " ")
    }

    // MARK: The player

    /// The song is over: the listener hears what follows.
    func endSong() throws {
        if following == nil {
            server.player.report(.ended(try #require(playing), .endOfFile))
            _ = try client.ask("ping")
            follow()
        } else {
            commit()
            arrive()
        }
    }

    /// The player is at the next song already.
    func commit() { if let following { server.player.report(.committed(following.id)) } }

    /// The listener hears the next song.
    func arrive() {
        guard let next = following else { return }
        (playing, heard, following) = (next.id, next.name, nil)
        server.player.report(.audible(next.id))
        _ = try? client.ask("ping")
        follow()
    }

    /// Does what the player was told.
    private func follow() {
        for call in server.player.takeCalls() {
            switch call {
            case .load(let id, let name, _, _): (playing, heard, following) = (id, name, nil)
            case .preload(let id, let name): following = (id, name)
            case .cancelPreload: following = nil
            case .stop: (playing, heard, following) = (nil, "", nil)
            case .fetchAhead, .gain, .pause, .seek, .volume, .crossfade, .output, .putOutput, .shutdown: break
            }
        }
    }
}
