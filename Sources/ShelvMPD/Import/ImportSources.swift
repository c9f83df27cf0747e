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
        if let queue { collection.state = OldState(try Files.read(queue, limit: 64 << 20), folder: music) }
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
