import CLinux
import Glibc

/// What `shelvmpd cache` shows and removes: the files of songs, and those of covers and lyrics.
struct CacheOverview {
    /// What `--clear` removes.
    enum Clearing: String, Sendable, CaseIterable { case songs, covers, all }

    private let songs: String
    private let covers: String
    private let lock: String

    init(_ configuration: Configuration) {
        songs = configuration.cacheDirectory + "/audio"
        covers = configuration.cacheDirectory + "/covers"
        lock = configuration.stateFile + ".lock"
    }

    /// One line for each kind.
    var text: String {
        let kinds = [("songs", songFiles), ("covers", coverFiles)].map { name, files in
            (name: name, count: files.count, size: files.reduce(0) { $0 &+ $1.file.size })
        }
        let width = kinds.map { Self.amount($0.size).count }.max() ?? 0
        return kinds.map { kind in
            let amount = Self.amount(kind.size)
            let name = kind.name + String(repeating: " ", count: max(0, 8 - kind.name.count))
            return "\(name)\(String(repeating: " ", count: width - amount.count))\(amount)  \(kind.count) files\n"
        }.joined()
    }

    /// Removes files. Covers may go while a server runs: it fetches them again.
    /// - Throws: when a server runs that has the files of songs open.
    func clear(_ kind: Clearing) throws(CacheInUse) {
        if kind != .covers {
            // Kept until the end, so that no server starts in between.
            let descriptor = unsafe shelv_open(lock, O_RDWR | O_CLOEXEC, 0)
            defer { if descriptor >= 0 { close(descriptor) } }
            guard descriptor < 0 || flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw CacheInUse() }
            // Notes first: one without its file would be believed.
            let files = songFiles
            for (path, file) in files where file.name.hasSuffix(".map") { unsafe unlink(path) }
            for (path, _) in files { unsafe unlink(path) }
        }
        if kind != .songs { for (path, _) in coverFiles { unsafe unlink(path) } }
    }

    private typealias Found = (path: String, file: CacheFolder.File)

    private var songFiles: [Found] { CacheFolder.list(songs).map { ("\(songs)/\($0.name)", $0) } }

    /// Those of all servers.
    private var coverFiles: [Found] {
        CacheFolder.folders(in: covers).flatMap { folder in
            CacheFolder.list("\(covers)/\(folder)").map { ("\(covers)/\(folder)/\($0.name)", $0) }
        }
    }

    /// In MiB, with one decimal.
    private static func amount(_ bytes: Int64) -> String {
        let tenths = bytes / 104_858 + (bytes % 104_858 >= 52_429 ? 1 : 0)
        return "\(tenths / 10).\(tenths % 10) MiB"
    }
}

/// Why songs cannot be removed.
struct CacheInUse: Error, CustomStringConvertible {
    let description = "a server runs by this configuration and has songs open; end it, or clear covers only"
}
