import MPDProtocol

extension Subcommand {
    /// Takes over what an mpd has of stickers, playlists and queue.
    static let importing = Subcommand(
        name: "import",
        usage: [
            "--from MPD.CONF [--dry-run]",
            "[--stickers FILE] [--playlists PATH] [--queue FILE] [--database FILE] [--dry-run]",
        ],
        summary: "take over the stickers, playlists and queue of an mpd",
        details: """
            Songs are found by their path, by its end, or by tags, which the mpd's database tells. Where several songs could be
            meant, none is taken. It all goes through the running server, so the Subsonic server learns of ratings and playlists
            as if a client had set them. What is there already stays: stickers that a song has, playlists of the same name. Songs
            of the mpd's queue are added at the end of the queue.
            """,
        options: [
            CommandOption(name: "--from", value: "MPD.CONF", summary: "find the files by mpd's configuration"),
            CommandOption(name: "--stickers", value: "FILE", summary: "mpd's sticker_file"),
            CommandOption(name: "--playlists", value: "PATH", summary: "a folder with playlists (M3U), or one of them"),
            CommandOption(name: "--queue", value: "FILE", summary: "mpd's state_file"),
            CommandOption(name: "--database", value: "FILE", summary: "mpd's db_file, for tags; compressed or not"),
            CommandOption(
                name: "--rating-scale",
                value: "MAX",
                choices: ["10", "5"],
                summary: "the highest rating that the mpd's clients gave, by default 10"
            ),
            CommandOption(name: "--dry-run", summary: "only say what would be done"),
        ],
        run: ImportCommand.run
    )
}

/// What `shelvmpd import` does.
enum ImportCommand {
    static func run(_ call: CommandCall) async throws -> ExitStatus {
        let sources = try ImportSources(call)
        guard !sources.isEmpty else {
            throw CommandFailure("there is nothing to import; name --from, --stickers, --playlists or --queue")
        }
        let collection = try sources.read()
        let connection = try ServerConnection(
            try call.configuration(),
            allowing: [.read, .add, .player, .control]
        )
        let library = try songs(connection)
        call.console.write("\(library.count) songs in the library\n")
        var work = ImportWork(
            connection: connection,
            console: call.console,
            collection: collection,
            matcher: SongMatcher(library),
            isDry: call.invocation.has("--dry-run")
        )
        let scale = call.invocation["--rating-scale"].flatMap { Int($0) } ?? 10
        if sources.stickers != nil { try work.takeStickers(StickerTranslation(scale: scale)) }
        if !sources.playlists.isEmpty { try work.takePlaylists() }
        if sources.queue != nil { try work.takeQueue() }
        work.conclude()
        return .success
    }

    /// All songs of the running server.
    private static func songs(_ connection: ServerConnection) throws(ServerConnectionError) -> [OldSong] {
        var songs: [OldSong] = []
        for (key, value) in try connection.ask("listallinfo").compactMap(ServerConnection.pair) {
            switch key {
            case "file": songs.append(OldSong(uri: value))
            case "directory", "playlist": break
            default: if !songs.isEmpty { songs[songs.count - 1].take(key, value) }
            }
        }
        return songs
    }
}

/// The files of an mpd.
struct ImportSources: Sendable, Equatable {
    var stickers: String?
    var playlists: [String] = []
    var queue: String?
    var database: String?
    /// mpd's `music_directory`.
    var music: String?

    var isEmpty: Bool { stickers == nil && playlists.isEmpty && queue == nil }

    /// - Throws: `CommandFailure` for what is not there.
    init(_ call: CommandCall) throws {
        if let path = call.invocation["--from"] { try take(configuration: path, call.environment) }
        if let path = call.invocation["--stickers"] { stickers = path }
        if let path = call.invocation["--playlists"] { playlists = Self.files(path) }
        if let path = call.invocation["--queue"] { queue = path }
        if let path = call.invocation["--database"] { database = path }
        for path in [stickers, queue, database].compactMap({ $0 }) + playlists where !Files.exists(path) {
            throw CommandFailure("there is no file \(path)")
        }
    }

    /// The paths in an mpd.conf, as far as there is something.
    private mutating func take(configuration path: String, _ environment: Environment) throws {
        guard Files.exists(path) else { throw CommandFailure("there is no file \(path)") }
        let file = ConfigFile.parse(path) { path throws(SystemError) in try? Files.read(path, limit: 4 << 20) }
        let context = SettingContext(environment: environment, place: Place(file: path))
        for case .option(let option) in file.statements {
            guard let value = try? context.expand(option.value) else { continue }
            switch option.name {
            case "music_directory": music = value
            case "sticker_file": stickers = Files.exists(value) ? value : nil
            case "state_file": queue = Files.exists(value) ? value : nil
            case "db_file": database = Files.exists(value) ? value : nil
            case "playlist_directory": playlists = Self.files(value)
            default: break
            }
        }
    }

    private static func files(_ path: String) -> [String] {
        guard Files.kind(of: path) == .directory else { return [path] }
        return CacheFolder.list(path).map(\.name).filter { name in
            name.lowercased().hasSuffix(".m3u") || name.lowercased().hasSuffix(".m3u8")
        }.sorted().map { "\(path)/\($0)" }
    }

    /// Reads them all.
    func read() throws -> OldCollection {
        var collection = OldCollection()
        if let database { collection.tags = OldCollection.tags(try Self.unpacked(database)) }
        if let stickers { collection.stickers = try OldCollection.stickers(in: stickers) }
        if let queue { collection.queue = OldCollection.queue(try Files.read(queue, limit: 64 << 20), folder: music) }
        for path in playlists {
            let name = path.split(separator: "/").last.map(String.init) ?? path
            let songs = OldCollection.playlist(try Files.read(path, limit: 64 << 20), folder: music)
            let stem = name.lastIndex(of: ".").map { String(name[..<$0]) } ?? name
            collection.playlists.append(OldCollection.Playlist(name: stem, songs: songs))
        }
        return collection
    }

    /// mpd compresses its database by gzip.
    private static func unpacked(_ path: String) throws -> [UInt8] {
        let bytes = try Files.read(path, limit: 1 << 30)
        guard bytes.starts(with: [0x1F, 0x8B]) else { return bytes }
        let quoted = "'" + path.replacing("'", with: "'\\''") + "'"
        let result = try ShellCommand.run("gzip -dc < \(quoted)", timeout: 60_000, limit: 1 << 30)
        guard result.end == .exited(0) else { throw CommandFailure("\(path) cannot be unpacked by gzip") }
        return result.output
    }
}

/// One import under way.
struct ImportWork {
    let connection: ServerConnection
    let console: Console
    let collection: OldCollection
    let matcher: SongMatcher
    /// Whether nothing is to be changed.
    let isDry: Bool
    private var found: [String: SongMatcher.Match?] = [:]

    init(connection: ServerConnection, console: Console, collection: OldCollection, matcher: SongMatcher, isDry: Bool) {
        self.connection = connection
        self.console = console
        self.collection = collection
        self.matcher = matcher
        self.isDry = isDry
    }

    mutating func takeStickers(_ translation: StickerTranslation) throws {
        var counts: [String: Int] = [:]
        var kept = 0
        for (uri, stickers) in Dictionary(grouping: collection.stickers, by: \.uri).sorted(by: { $0.key < $1.key }) {
            guard let match = match(OldSong(uri: uri)) else { continue }
            let song = ServerConnection.quoted(match.uri)
            let present = Set(
                try connection.ask("sticker list song \(song)").compactMap(ServerConnection.pair).map {
                    String($0.1.prefix { $0 != "=" })
                }
            )
            for sticker in stickers {
                guard let (name, value) = translation.translate(sticker.name, sticker.value) else { continue }
                if present.contains(name) {
                    kept += 1
                    continue
                }
                let command =
                    "sticker set song \(song) \(ServerConnection.quoted(name)) \(ServerConnection.quoted(value))"
                if tells(command, "\(name) of \(match.uri)") { counts[name, default: 0] += 1 }
            }
        }
        let list = counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        console.write("Stickers: \(list.isEmpty ? "none" : list.joined(separator: ", ")) \(done)")
        console.write(kept > 0 ? "; \(kept) were there already\n" : "\n")
    }

    mutating func takePlaylists() throws {
        let present = Set(
            try connection.ask("listplaylists").compactMap(ServerConnection.pair).filter { $0.0 == "playlist" }.map(\.1)
        )
        for playlist in collection.playlists {
            guard !present.contains(playlist.name) else {
                console.write("Playlist \(playlist.name): there is one already, it stays\n")
                continue
            }
            let count = fill(playlist.name, playlist.songs.compactMap { address(of: $0) })
            console.write("Playlist \(playlist.name): \(count) of \(playlist.songs.count) songs \(done)\n")
        }
    }

    /// Makes a playlist; returns how many entries it has got.
    ///
    /// A URL goes first and the songs before it are put before it: only a list that begins with one is kept here, where URLs
    /// may stand.
    private func fill(_ name: String, _ uris: [String]) -> Int {
        let first = uris.firstIndex { $0.contains("://") } ?? 0
        let order = uris.isEmpty ? [] : [first] + (0..<first) + ((first + 1)..<uris.count)
        var count = 0
        var before = 0
        for index in order {
            let place = index < first ? " \(before)" : ""
            let words = "playlistadd \(ServerConnection.quoted(name)) \(ServerConnection.quoted(uris[index]))\(place)"
            guard tells(words, uris[index]) else { continue }
            count += 1
            if index < first { before += 1 }
        }
        return count
    }

    mutating func takeQueue() throws {
        var count = 0
        for song in collection.queue {
            guard let uri = address(of: song) else { continue }
            if tells("add \(ServerConnection.quoted(uri))", uri) { count += 1 }
        }
        console.write("Queue: \(count) of \(collection.queue.count) entries \(done)\n")
    }

    /// How songs were found, and which were not.
    func conclude() {
        for way in SongMatcher.Way.allCases {
            let count = found.values.count { $0?.way == way }
            if count > 0 { console.write("\(Self.songs(count)) found by: \(way.rawValue)\n") }
        }
        let missing = found.filter { $0.value == nil }.keys.sorted()
        if missing.isEmpty { return }
        console.write("\(Self.songs(missing.count)) not found:\n")
        for uri in missing { console.write("  \(uri)\n") }
    }

    private static func songs(_ count: Int) -> String { count == 1 ? "1 song" : "\(count) songs" }

    private var done: String { isDry ? "would be taken over" : "taken over" }

    private mutating func match(_ song: OldSong) -> SongMatcher.Match? {
        if let known = found[song.uri] { return known }
        let match = matcher.match(collection.known(song))
        found[song.uri] = .some(match)
        return match
    }

    /// What to add for it: our song, or the same URL.
    private mutating func address(of song: OldSong) -> String? {
        song.uri.contains("://") ? song.uri : match(song)?.uri
    }

    /// Whether a command was, or would be, carried out.
    private func tells(_ command: String, _ subject: String) -> Bool {
        if isDry { return true }
        do throws(ServerConnectionError) {
            _ = try connection.ask(command)
            return true
        } catch {
            console.complain("\(subject): \(error)\n")
            return false
        }
    }
}
