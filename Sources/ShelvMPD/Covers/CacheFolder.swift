import CLinux
import Glibc

/// The files of a folder of the cache.
enum CacheFolder {
    struct File: Equatable {
        var name: String
        var length: Int64
        /// Bytes on the disk; holes take none.
        var size: Int64
        /// Unix time in nanoseconds.
        var lastUse: Int64
    }

    /// Unix time in nanoseconds.
    static var now: Int64 {
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        return nanoseconds(now)
    }

    private static func nanoseconds(_ time: timespec) -> Int64 {
        Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }

    /// The regular files of a folder, in no order; none if there is no such folder.
    static func list(_ directory: String) -> [File] {
        entries(of: directory).filter { $0.status.st_mode & S_IFMT == S_IFREG }.map { name, status in
            File(
                name: name,
                length: Int64(status.st_size),
                size: Int64(status.st_blocks) * 512,
                lastUse: nanoseconds(status.st_mtim)
            )
        }
    }

    /// The names of the folders in a folder.
    static func folders(in directory: String) -> [String] {
        entries(of: directory).filter { $0.status.st_mode & S_IFMT == S_IFDIR && !$0.name.hasPrefix(".") }.map(\.name)
    }

    /// What stands in a folder; links are not followed.
    private static func entries(of directory: String) -> [(name: String, status: stat)] {
        guard let folder = unsafe opendir(directory) else { return [] }
        defer { unsafe closedir(folder) }
        var entries: [(name: String, status: stat)] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            var status = stat()
            if unsafe lstat("\(directory)/\(name)", &status) == 0 { entries.append((name, status)) }
        }
        return entries
    }
}
