import Library
import Logging
import MPDProtocol
import Playback
import SubsonicKit

/// The stored playlist `Radio Stations`: those that the server keeps. URLs that are added or removed are added or removed
/// there, if it allows that. Owned by the core.
final class StationPlaylist: VirtualPlaylist {
    /// Something to be done at the server; what it has then is told on any thread.
    enum Job: Sendable {
        case look
        case add([RadioStation])
        /// By their ids.
        case remove([String])
    }

    private let perform: @Sendable (Job, @escaping @Sendable (Result<[RadioStation], SubsonicError>) -> Void) -> Void
    /// The server that keeps them.
    private unowned let home: MusicServer
    private(set) var stations: [RadioStation]
    private var changed: Int64 = 0

    /// - Parameter known: what the last run knew.
    init(
        known: [RadioStation] = [],
        of home: MusicServer,
        _ perform:
            @escaping @Sendable (Job, @escaping @Sendable (Result<[RadioStation], SubsonicError>) -> Void) -> Void
    ) {
        stations = known
        if !known.isEmpty { changed = PlaylistShelf.wallClock }
        self.home = home
        self.perform = perform
    }

    let name = "Radio Stations"
    var isListed: Bool { !stations.isEmpty }
    var lastModified: Int64 { changed }

    func content(for use: VirtualPlaylistUse, of server: Server) -> VirtualContent {
        let known = stations
        return .fetched { [perform, reference = home.reference] _, whenDone in
            perform(.look) { result in
                reference.core.post { server in
                    // Without the server, what is known of them serves as well.
                    let stations = (try? result.get()) ?? known
                    if case .success = result { reference.find(in: server)?.stations?.take(stations) }
                    whenDone(.success(Self.entries(stations)))
                }
            }
        }
    }

    /// Looks whether the server has others.
    func look() {
        perform(.look) { [reference = home.reference] result in
            guard case .success(let stations) = result else { return }
            reference.post { $0.stations?.take(stations) }
        }
    }

    /// Takes over what the server has.
    func take(_ stations: [RadioStation]) {
        guard stations != self.stations else { return }
        self.stations = stations
        changed = PlaylistShelf.wallClock
        home.playlists.changed()
        home.journal.map { $0.store.keep(Self.encode(stations), as: Self.fact, about: $0.server) }
    }

    /// Those that can be played.
    private static func entries(_ stations: [RadioStation]) -> [PlaylistEntry] {
        stations.compactMap(entry)
    }

    private static func entry(_ station: RadioStation) -> PlaylistEntry? {
        guard let address = StreamAddress(Array(station.address.utf8)) else { return nil }
        let name = StreamSong.Value(.name, Array(station.name.utf8)).map { [$0] } ?? []
        return .stream(StreamSong(uri: address.text, tags: name))
    }

    // MARK: Edits

    func editableEntries(of server: Server) throws(PlaylistError) -> [PlaylistEntry] { Self.entries(stations) }

    func edit(_ edit: PlaylistEdit, of server: Server, whenKept: @escaping Store.WhenDone) throws(PlaylistError) {
        let shown = stations.filter { Self.entry($0) != nil }
        switch edit {
        case .insert(let entries, _):
            var new: [RadioStation] = []
            for entry in entries {
                guard case .stream(let stream) = entry else { throw .onlyStations }
                new.append(Self.station(stream))
            }
            carryOut(.add(new), whenKept)
        case .remove(let range):
            carryOut(.remove(shown[range.clamped(to: 0..<shown.count)].map(\.id)), whenKept)
        case .create, .move, .replace, .rename, .delete: throw .readOnly(.madeUp)
        }
    }

    private func carryOut(_ job: Job, _ whenKept: @escaping Store.WhenDone) {
        perform(job) { [reference = home.reference] result in
            reference.core.post { server in
                switch result {
                case .success(let stations):
                    reference.find(in: server)?.stations?.take(stations)
                    whenKept(.success(()))
                case .failure(let error):
                    whenKept(.failure(StoreError(.failed, "The server does not take it: \(error)")))
                }
            }
        }
    }

    /// A URL as a station; what follows `#` is its name, as some clients write it, else the host.
    private static func station(_ stream: StreamSong) -> RadioStation {
        let text = String(decoding: stream.uri, as: UTF8.self)
        let parts = text.split(separator: "#", maxSplits: 1)
        let address = parts.first.map(String.init) ?? text
        if parts.count == 2 { return RadioStation(id: "", name: String(parts[1]), address: address) }
        if let name = stream.tags.first(where: { $0.tag == .name }) {
            return RadioStation(id: "", name: String(decoding: name.text, as: UTF8.self), address: address)
        }
        let host = address.split(separator: "/").dropFirst().first.map(String.init) ?? address
        return RadioStation(id: "", name: host, address: address)
    }

    // MARK: Durable form

    /// Under which name they are kept in the store.
    static let fact = "radio_stations"

    private static func encode(_ stations: [RadioStation]) -> String {
        stations.map { "\($0.id)\u{1E}\($0.name)\u{1E}\($0.address)" }.joined(separator: "\u{1D}")
    }

    /// Reads what `encode` made.
    static func decode(_ text: String) -> [RadioStation] {
        text.split(separator: "\u{1D}").compactMap { station in
            let parts = station.split(separator: "\u{1E}", omittingEmptySubsequences: false).map(String.init)
            return parts.count == 3 ? RadioStation(id: parts[0], name: parts[1], address: parts[2]) : nil
        }
    }
}

extension SubsonicCalling {
    /// Does what the stations need, and looks at them again.
    func carryOut(_ job: StationPlaylist.Job) async throws(SubsonicError) -> [RadioStation] {
        switch job {
        case .look: break
        case .add(let stations):
            for station in stations { try await createRadioStation(name: station.name, address: station.address) }
        case .remove(let ids):
            for id in ids { try await deleteRadioStation(id: id) }
        }
        do throws(SubsonicError) {
            return try await radioStations()
        } catch {
            // Who knows no stations has none.
            if case .look = job, error.serverCode != nil, !error.isAuthentication { return [] }
            throw error
        }
    }
}
