import Library
import Logging
import Playback
import SubsonicKit
import Synchronization

/// The configured Subsonic server: its library on disk, its client, and the bytes of its songs.
///
/// API and audio have connections and threads of their own, so that a long answer of one never holds up the other.
final class MusicSource: Sendable {
    let audioTransport: CurlTransport
    let apiTransport: CurlTransport
    let client: SubsonicClient
    let id: ServerID
    let store: Store
    let log: Log
    private let transcoding: Transcoding?
    /// Whether the server can leave out the first seconds of what it makes.
    private let takesTimeOffset = Mutex(false)
    private let firstByteTimeout: Duration
    private let stallTimeout: Duration
    let syncConfiguration: LibrarySyncConfiguration
    /// The library that clients see.
    let shown: Mutex<LibrarySnapshot>
    /// What the shelves and the mixes take from the server; nil if there are none.
    let shelves: Mutex<ShelfLists?>
    /// Which steps of a sync are told in the log.
    let milestones = Mutex(SyncMilestones())

    /// Reads the password and finds out what is known about the server.
    /// - Throws: a sentence for the user: no server, no password, an address that is none.
    init(_ configuration: Configuration, store: Store, log: Log) async throws {
        guard let server = configuration.servers.first else {
            throw MusicSourceError("there is no subsonic_server in the configuration")
        }
        if configuration.servers.count > 1 {
            log.notice("Only the first subsonic_server is used: \(server.name)")
        }
        id = try await store.identify([ServerAddress(name: server.name, url: server.url)])[0]
        let facts = try await store.facts(about: id)
        apiTransport = try CurlTransport()
        audioTransport = try CurlTransport()
        client = SubsonicClient(
            try SubsonicServer(server, id: id.text),
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
            directory: configuration.cacheDirectory,
            musicFolders: server.musicFolders,
            tags: configuration.metadataToUse,
            checkInterval: configuration.refreshInterval ?? .seconds(1 << 40),
            formerURIs: try await store.aliases(of: id)
        )
        shown = Mutex(try Self.storedLibrary(syncConfiguration, log))
    }

    /// The library as it was at the end of the last run; an empty one when there is none.
    private static func storedLibrary(_ sync: LibrarySyncConfiguration, _ log: Log) throws -> LibrarySnapshot {
        do throws(LibraryError) {
            return try LibrarySnapshot.open(file: sync.imageFile)
        } catch {
            if error != .noFile { log.notice("The stored library cannot be used and is fetched again: \(error)") }
        }
        let info = LibraryInfo(serverID: sync.serverID, serverName: sync.serverName, isComplete: false)
        return try LibraryBuilder().build(info: info, file: nil)
    }

    /// How the bytes of a song are fetched.
    func audio(_ song: SongIndex, _ library: LibrarySnapshot) -> AudioSource? {
        audio(
            library.songID(song),
            size: library.size(song),
            suffix: library.suffix(song),
            bitRate: library.bitRate(song),
            duration: library.duration(song).map { .milliseconds(Int64($0)) }
        )
    }

    /// How the bytes of a song are fetched that the library does not have yet; nil for one of another server.
    func audio(_ song: SongTable.GoneSong) -> AudioSource? {
        guard song.serverID == id.text else { return nil }
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

    /// Ends all transfers and their threads.
    func shutdown() {
        audioTransport.shutdown()
        apiTransport.shutdown()
    }
}

/// Why there is no music; a sentence for the user.
struct MusicSourceError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
