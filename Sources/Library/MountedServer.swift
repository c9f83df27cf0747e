import MPDProtocol

/// A server whose songs a library holds beside those of its own, below a folder.
///
/// What the library calls its songs, albums, artists and pictures are the server's ids behind the server's identity, so that
/// ids of several servers never meet.
public struct MountedServer: Sendable, Hashable {
    public var serverID: String
    /// The folder: one segment.
    public var path: String
    /// Whether all of the server's songs are there.
    public var isComplete: Bool
    /// Differs between two libraries if the server has given its ids to other songs in between.
    public var idGeneration: String

    /// What stands before the server's ids.
    var prefix: String { "\(serverID)/" }

    private static let count = "mounts"

    /// Reads what `write` wrote.
    static func all(in info: LibraryInfo) -> [MountedServer] {
        guard let count = info.syncState[count].flatMap({ Int($0) }), (0...1_000).contains(count) else { return [] }
        return (0..<count).compactMap { number in
            guard let serverID = info.syncState["mount.\(number).server"],
                let path = info.syncState["mount.\(number).path"]
            else { return nil }
            return MountedServer(
                serverID: serverID,
                path: path,
                isComplete: info.syncState["mount.\(number).complete"] != nil,
                idGeneration: info.syncState["mount.\(number).ids"] ?? ""
            )
        }
    }

    /// Lets a library say which servers it holds.
    static func write(_ mounts: [MountedServer], to info: inout LibraryInfo) {
        info.syncState[count] = String(mounts.count)
        for (number, mount) in mounts.enumerated() {
            info.syncState["mount.\(number).server"] = mount.serverID
            info.syncState["mount.\(number).path"] = mount.path
            if mount.isComplete { info.syncState["mount.\(number).complete"] = "yes" }
            if !mount.idGeneration.isEmpty { info.syncState["mount.\(number).ids"] = mount.idGeneration }
        }
    }
}

/// Which server something comes from. Constant time, for any thread.
extension LibrarySnapshot {
    /// The server that a song is of, and what that calls it.
    public func origin(_ song: SongIndex) -> (serverID: String, id: String) { origin(ofID: songID(song)) }

    /// The same of any id that this library uses: of a song, an album, an artist, or a picture.
    public func origin(ofID id: String) -> (serverID: String, id: String) {
        for mount in mounts where id.utf8.starts(with: mount.prefix.utf8) {
            return (mount.serverID, String(decoding: id.utf8.dropFirst(mount.prefix.utf8.count), as: UTF8.self))
        }
        return (info.serverID, id)
    }

    /// What this library calls something of a server; nil if it holds nothing of that.
    public func localID(_ id: String, of serverID: String) -> String? {
        if serverID == info.serverID { return id }
        return mount(of: serverID).map { $0.prefix + id }
    }

    /// Whether it has the songs of this server.
    public func holds(_ serverID: String) -> Bool { serverID == info.serverID || mount(of: serverID) != nil }

    /// Whether it has all songs of this server.
    public func isComplete(_ serverID: String) -> Bool {
        serverID == info.serverID ? info.isComplete : mount(of: serverID)?.isComplete ?? false
    }

    /// As `idGeneration`, of any of its servers.
    public func idGeneration(of serverID: String) -> String {
        serverID == info.serverID ? idGeneration : mount(of: serverID)?.idGeneration ?? ""
    }

    /// Where the server's paths begin; empty for the library's own.
    public func root(of serverID: String) -> String { mount(of: serverID)?.path ?? "" }

    /// The identities of all servers that it holds, its own first.
    public var serverIDs: [String] { [info.serverID] + mounts.map(\.serverID) }

    private func mount(of serverID: String) -> MountedServer? { mounts.first { $0.serverID == serverID } }
}
