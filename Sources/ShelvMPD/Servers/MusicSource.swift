import Library
import Logging
import Playback
import SubsonicKit
import Synchronization

/// A configured Subsonic server, as other threads have it: its library on disk, its client, and the bytes of its songs.
///
/// Made anew when its block in the configuration changes.
final class MusicSource: Sendable {
    let apiTransport: CurlTransport
    let client: SubsonicClient
    let id: ServerID
    /// What it was made of.
    let made: Recipe
    let store: Store
    let log: Log
    private let transcoding: Transcoding?
    /// Whether the server can leave out the first seconds of what it makes.
    private let takesTimeOffset = Mutex(false)
    private let firstByteTimeout: Duration
    private let stallTimeout: Duration
    let syncConfiguration: LibrarySyncConfiguration
    /// The library that was published last, and its number.
    let published: Mutex<(library: LibrarySnapshot, number: UInt64)>
    /// What the shelves and the mixes take from the server; nil if there are none.
    let shelves: Mutex<ShelfLists?>
    let albumRatings = AlbumRatings()
    /// Which steps of a sync are told in the log.
    let milestones = Mutex(SyncMilestones())

    /// Finds out what is known about the server.
    /// - Parameter library: what it has, as far as is known.
    /// - Throws: a sentence for the user: an address that is none.
    init(
        _ recipe: Recipe,
        id: ServerID,
        library: LibrarySnapshot,
        _ configuration: Configuration,
        store: Store,
        log: Log
    ) async throws {
        let server = recipe.block
        self.id = id
        made = recipe
        let facts = try await store.facts(about: id)
        apiTransport = try CurlTransport()
        client = SubsonicClient(
            recipe.server,
            transport: apiTransport,
            remembered: facts["authentication"].flatMap(AuthenticationMethod.init),
            log: log
        )
        self.store = store
        self.log = log
        transcoding = server.transcoding
        firstByteTimeout = server.firstByteTimeout
        stallTimeout = server.stallTimeout
        shelves = Mutex(
            configuration.showsShelves || configuration.showsMixes
                ? facts[Self.shelvesFact].map { ShelfLists(encoded: $0) } ?? ShelfLists() : nil
        )
        syncConfiguration = LibrarySyncConfiguration(
            serverID: id.text,
            serverName: server.name,
            serverAddress: recipe.server.url.description,
            directory: configuration.cacheDirectory,
            musicFolders: server.musicFolders,
            tags: configuration.metadataToUse,
            checkInterval: configuration.refreshInterval ?? .seconds(1 << 40),
            formerURIs: try await store.aliases(of: id)
        )
        published = Mutex((library, 0))
    }

    /// A server's library as it was at the end of the last run; an empty one when there is none.
    static func storedLibrary(
        _ id: ServerID,
        _ server: ServerConfiguration,
        _ configuration: Configuration,
        _ log: Log
    ) throws -> LibrarySnapshot {
        let place = LibrarySyncConfiguration(
            serverID: id.text,
            serverName: server.name,
            directory: configuration.cacheDirectory
        )
        do throws(LibraryError) {
            return try LibrarySnapshot.open(file: place.imageFile)
        } catch {
            if error != .noFile {
                log.notice("The stored library of \(server.name) cannot be used and is fetched again: \(error)")
            }
        }
        let info = LibraryInfo(serverID: id.text, serverName: server.name, isComplete: false)
        return try LibraryBuilder().build(info: info, file: nil)
    }

    /// How the bytes of a song are fetched.
    /// - Parameter id: as the server calls it.
    func audio(_ song: SongIndex, as id: String, of library: LibrarySnapshot) -> AudioSource? {
        audio(
            id,
            size: library.size(song),
            suffix: library.suffix(song),
            bitRate: library.bitRate(song),
            duration: library.duration(song).map { .milliseconds(Int64($0)) }
        )
    }

    /// How the bytes of a song are fetched that the library does not have.
    func audio(_ song: SongTable.GoneSong) -> AudioSource? {
        let name = song.uri.split(separator: UInt8(ascii: "/")).last ?? []
        let suffix = name.lastIndex(of: UInt8(ascii: ".")).map { name[name.index(after: $0)...] } ?? []
        return audio(
            song.songID,
            size: nil,
            suffix: String(decoding: suffix, as: UTF8.self),
            bitRate: nil,
            duration: nil
        )
    }

    private func audio(
        _ songID: String,
        size: Int64?,
        suffix: String,
        bitRate: Int?,
        duration: Duration?
    ) -> AudioSource {
        let transcoding = transcoding(of: suffix, bitRate: bitRate)
        let made = transcoding.map { "/\($0.format ?? "")-\($0.maximumBitRate ?? 0)" } ?? ""
        let (firstByte, stall) = (firstByteTimeout, stallTimeout)
        var source = AudioSource(
            cacheKey: "\(id.text)/\(songID)\(made)",
            size: transcoding == nil ? size : nil,
            suffix: transcoding == nil ? suffix : transcoding?.format ?? "",
            duration: duration
        ) { [client] start in
            var request = client.streamRequest(songID: songID, rangeStart: start, transcoding: transcoding)
            request.firstByteTimeout = firstByte
            request.stallTimeout = stall
            return request
        }
        source.serverHealth = { [client] in await Self.health(of: client) }
        source.isTranscoded = transcoding != nil
        if transcoding != nil, takesTimeOffset.withLock({ $0 }) {
            source.requestFromSecond = { [client] second in
                var request = client.streamRequest(songID: songID, transcoding: transcoding, timeOffset: second)
                request.firstByteTimeout = firstByte
                request.stallTimeout = stall
                return request
            }
        }
        return source
    }

    /// Whether a server is well but for its songs, asked with the same credentials.
    static func health(of client: SubsonicClient) async -> ServerHealth {
        do throws(SubsonicError) {
            _ = try await client.ping()
            return .well
        } catch {
            return error.isRefusal ? .refuses("\(error)") : .failing
        }
    }

    /// What the server shall make of a song; nil for its file as it is, also where that is small enough already.
    private func transcoding(of suffix: String, bitRate: Int?) -> Transcoding? {
        guard let transcoding else { return nil }
        let isSmall = transcoding.maximumBitRate.map { (bitRate ?? .max) <= $0 } ?? true
        let isThere = transcoding.format.map { $0.lowercased() == suffix.lowercased() } ?? true
        return isSmall && isThere ? nil : transcoding
    }

    /// Finds out whether the server can leave out the first seconds of what it makes; tries until it answers.
    func learnTimeOffset() async {
        guard transcoding != nil else { return }
        while !Task.isCancelled {
            do throws(SubsonicError) {
                let extensions = try await client.openSubsonicExtensions()
                takesTimeOffset.withLock { $0 = extensions.contains { $0.name == "transcodeOffset" } }
                return
            } catch {
                // Servers that know no extensions have none.
                if error.serverCode != nil { return }
            }
            try? await Task.sleep(for: .seconds(60))
        }
    }

    /// Ends all transfers and their thread.
    func shutdown() { apiTransport.shutdown() }

    /// What the configuration says of a server, with the passwords read.
    struct Recipe: Sendable {
        let block: ServerConfiguration
        let server: SubsonicServer

        /// Reads files, and runs commands: blocks.
        init(_ block: ServerConfiguration, id: ServerID) throws {
            self.block = block
            server = try SubsonicServer(block, id: id.text)
        }

        /// Whether it makes the same; where the block stands makes no difference.
        func isSame(as other: Recipe) -> Bool {
            var block = block
            block.place = other.block.place
            return block == other.block && server.credentials == other.server.credentials
        }
    }
}
