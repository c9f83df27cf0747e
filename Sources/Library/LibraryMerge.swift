import Glibc

/// Makes one library of several servers' libraries: one as it is, and each of the others below a folder, which hides what the
/// first one has there.
public struct LibraryMerge: Sendable {
    /// A server's library and its folder.
    public struct Part: Sendable {
        public var path: String
        public var library: LibrarySnapshot

        public init(path: String, library: LibrarySnapshot) {
            self.path = path
            self.library = library
        }
    }

    /// What came out.
    public struct Result: Sendable {
        public var snapshot: LibrarySnapshot
        /// Songs of the first library that are hidden: another one's folder stands in their place.
        public var hidden: Int
        /// Songs that have no place: their URI is too long below the folder, or another song's.
        public var lost: Int
        /// Why it stands in memory instead of the file that was meant.
        public var problem: LibraryError?
    }

    private let main: LibrarySnapshot
    private let parts: [Part]

    public init(_ main: LibrarySnapshot, _ parts: [Part]) {
        self.main = main
        self.parts = parts
    }

    /// The image of an earlier run, if it was made of these very libraries.
    public func open(file: String) -> LibrarySnapshot? {
        guard let snapshot = try? LibrarySnapshot.open(file: file), snapshot.info.syncState[Self.stampKey] == stamp
        else { return nil }
        return snapshot
    }

    /// The image in its file, or in memory where the disk takes nothing more: rather that than an old library.
    /// - Throws: `LibraryError`; `CancellationError` when the task is cancelled.
    public func build(preferring file: String) async throws -> Result {
        do {
            return try await build(file: file)
        } catch let problem as LibraryError {
            guard case .system(_, _, let code) = problem, Self.isOfTheDisk(code) else { throw problem }
            var result = try await build(file: nil)
            result.problem = problem
            return result
        }
    }

    /// Whether an error of the system says that a disk is full, cannot be written, or is not there.
    private static func isOfTheDisk(_ code: Int32) -> Bool {
        [ENOSPC, EDQUOT, EROFS, EACCES, EIO, ENOENT].contains(code)
    }

    /// Takes about 20 µs a song: not for the core.
    /// - Parameter file: Where the image goes; nil for one in memory.
    /// - Throws: `LibraryError`; `CancellationError` when the task is cancelled.
    @concurrent
    public func build(file: String?) async throws -> Result {
        var builder = LibraryBuilder()
        var (hidden, lost) = (0, 0)
        for place in 0..<main.songCount {
            if place % 4096 == 0 { try Task.checkCancellation() }
            let record = main.record(SongIndex(place))
            if isHidden(record.uri) { hidden += 1 } else if !builder.add(record) { lost += 1 }
        }
        for (uri, song) in main.formerURIs
        where !isHidden(uri) && !isHidden(String(decoding: main.uri(song), as: UTF8.self)) {
            builder.addAlias(uri: uri, songID: main.songID(song))
        }
        var mounts: [MountedServer] = []
        for part in parts {
            let library = part.library
            let mount = MountedServer(
                serverID: library.info.serverID,
                path: part.path,
                isComplete: library.info.isComplete,
                idGeneration: library.idGeneration
            )
            mounts.append(mount)
            let prefix = mount.prefix
            for place in 0..<library.songCount {
                if place % 4096 == 0 { try Task.checkCancellation() }
                var record = library.record(SongIndex(place))
                record.songID = prefix + record.songID
                record.uri = "\(part.path)/\(record.uri)"
                record.albumID = record.albumID.map { prefix + $0 }
                record.artistID = record.artistID.map { prefix + $0 }
                record.coverArt = record.coverArt.map { prefix + $0 }
                if !builder.add(record) { lost += 1 }
            }
            for (uri, song) in library.formerURIs {
                builder.addAlias(uri: "\(part.path)/\(uri)", songID: prefix + library.songID(song))
            }
        }
        var info = main.info
        info.lastSync = parts.reduce(info.lastSync) { max($0, $1.library.info.lastSync) }
        info.syncState = info.syncState.filter { $0.key == "ids" }
        info.syncState[Self.stampKey] = stamp
        MountedServer.write(mounts, to: &info)
        let snapshot = try await (consume builder).buildInParallel(info: info, file: file)
        return Result(snapshot: snapshot, hidden: hidden, lost: lost)
    }

    /// Whether a folder of another library stands where the first one has this.
    private func isHidden(_ uri: String) -> Bool {
        parts.contains { part in
            let path = part.path.utf8
            guard uri.utf8.starts(with: path) else { return false }
            let next = uri.utf8.dropFirst(path.count).first
            return next == nil || next == UInt8(ascii: "/")
        }
    }

    /// Differs as soon as one of the libraries is another one.
    private var stamp: String {
        let parts = parts.map { "\($0.path)/\($0.library.info.serverID)/\(String($0.library.checksum, radix: 16))" }
        // The number is that of the rules by which they are put together.
        return "2;\(main.info.serverID)/\(String(main.checksum, radix: 16));" + parts.joined(separator: ";")
    }

    private static let stampKey = "merged"
}
