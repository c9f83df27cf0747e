import CLinux
import Glibc

/// Names, notes and small acts on the files of the audio cache.
enum CacheFiles {
    /// What a note beside a partial file tells.
    struct Map: Equatable {
        var intervals = IntervalSet()
        var total: Int64?
        var validators = FileValidators()
        var isTotalCertain = false
    }

    private static let magic = "shelvmpd audio map 1"
    /// Longest file name made from a key; file systems take 255 bytes.
    private static let nameLimit = 160

    /// A safe file name for any key: what is neither letter, digit, `-` nor `_` is written as hexadecimal digits.
    ///
    /// The size is part of it, so that a file that was replaced on the server gets a new name.
    static func name(key: String, size: Int64?) -> String {
        var name = ""
        for byte in key.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                name.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                name += "%" + hexadecimal(UInt64(byte), digits: 2)
            }
        }
        if name.utf8.count > nameLimit {
            // FNV-1a over the whole key keeps long keys with one beginning apart.
            var hash: UInt64 = 0xCBF2_9CE4_8422_2325
            for byte in key.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
            name = name.prefix(nameLimit - 17) + "~" + hexadecimal(hash, digits: 16)
        }
        return size.map { "\(name)+\($0)" } ?? name
    }

    private static func hexadecimal(_ value: UInt64, digits: Int) -> String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }

    /// Makes a folder and those above it.
    static func makeDirectory(_ path: String) throws(PlayerError) {
        var isDirectory: Bool {
            var status = stat()
            return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
        }
        if isDirectory { return }
        if let slash = path.lastIndex(of: "/"), slash > path.startIndex {
            try makeDirectory(String(path[..<slash]))
        }
        guard unsafe mkdir(path, 0o700) == 0 || isDirectory else {
            throw PlayerError("cannot make the folder \(path): \(SystemError.text())")
        }
    }

    /// Length of a file in bytes, or nil when there is none.
    static func length(of path: String) -> Int64? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? Int64(status.st_size) : nil
    }

    /// All files of one song.
    struct Files: Equatable {
        var name: String
        /// Bytes on the disk; holes take none.
        var size: Int64
        /// Seconds since 1970.
        var lastUse: Int64
    }

    /// The songs in a folder, in no order.
    static func list(_ directory: String) -> [Files] {
        guard let folder = unsafe opendir(directory) else { return [] }
        defer { unsafe closedir(folder) }
        var songs: [String: Files] = [:]
        while let entry = unsafe readdir(folder) {
            let file = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            guard let dot = file.lastIndex(of: "."), [".audio", ".part", ".map", ".new"].contains(file[dot...]) else {
                continue
            }
            var status = stat()
            guard unsafe stat("\(directory)/\(file)", &status) == 0 else { continue }
            let name = String(file[..<dot])
            var song = songs[name] ?? Files(name: name, size: 0, lastUse: 0)
            song.size += Int64(status.st_blocks) * 512
            song.lastUse = max(song.lastUse, Int64(status.st_mtim.tv_sec))
            songs[name] = song
        }
        return Array(songs.values)
    }

    /// Notes that a file was used now.
    static func touch(_ path: String) {
        _ = unsafe utimes(path, nil)
    }

    static func remove(_ path: String) {
        _ = unsafe unlink(path)
    }

    /// Replaces `target`; the folder is brought to the disk too.
    static func rename(_ path: String, to target: String) {
        guard unsafe Glibc.rename(path, target) == 0 else { return }
        let directory = target.lastIndex(of: "/").map { String(target[..<$0]) } ?? "."
        let descriptor = unsafe shelv_open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    /// Notes what is there of a partial file, after bringing it to the disk.
    static func writeMap(of fetcher: Fetcher, path: String) {
        let (intervals, total, generation) = fetcher.file.monitor.withLock { ($0.intervals, $0.total, $0.generation) }
        guard !intervals.ranges.isEmpty, fetcher.file.synchronize() else { return }
        let map = Map(
            intervals: intervals,
            total: total,
            validators: fetcher.validators,
            isTotalCertain: fetcher.isTotalCertain
        )
        write(map, to: path)
        // Thrown away while this was written.
        if fetcher.file.monitor.withLock({ $0.generation }) != generation { remove(path) }
    }

    /// Puts a note in the place of the one before, or leaves that where the disk takes no more.
    static func write(_ map: Map, to path: String) {
        let temporary = path + ".new"
        let descriptor = unsafe shelv_open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        let bytes = Array(text(of: map).utf8)
        let isWritten = unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count && fdatasync(descriptor) == 0
        close(descriptor)
        if isWritten { rename(temporary, to: path) } else { remove(temporary) }
    }

    /// The note at `path`, or nil when there is none that can be believed.
    static func readMap(_ path: String) -> Map? {
        guard let length = length(of: path), 0...1_000_000 ~= length else { return nil }
        let descriptor = unsafe shelv_open(path, O_RDONLY | O_CLOEXEC, 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: Int(length))
        let count = unsafe read(descriptor, &bytes, bytes.count)
        guard count == bytes.count else { return nil }
        return map(from: String(decoding: bytes, as: UTF8.self))
    }

    /// One fact a line; `end` shows that nothing is cut off.
    static func text(of map: Map) -> String {
        var lines = [magic]
        if map.isTotalCertain, let total = map.total { lines.append("total \(total)") }
        if let tag = map.validators.entityTag { lines.append("etag \(tag)") }
        if let date = map.validators.lastModified { lines.append("date \(date)") }
        for range in map.intervals.ranges { lines.append("have \(range.lowerBound) \(range.upperBound)") }
        return (lines + ["end"]).joined(separator: "\n") + "\n"
    }

    static func map(from text: String) -> Map? {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.first == magic[...], lines.dropLast().last == "end" else { return nil }
        var map = Map()
        for line in lines.dropFirst().dropLast(2) {
            let words = line.split(separator: " ", maxSplits: 1)
            guard words.count == 2 else { return nil }
            switch words[0] {
            case "total":
                map.total = Int64(words[1])
                map.isTotalCertain = map.total != nil
            case "etag":
                map.validators.entityTag = String(words[1])
            case "date":
                map.validators.lastModified = String(words[1])
            case "have":
                let bounds = words[1].split(separator: " ").compactMap { Int64($0) }
                guard bounds.count == 2, 0 <= bounds[0], bounds[0] <= bounds[1] else { return nil }
                map.intervals.insert(bounds[0]..<bounds[1])
            default:
                return nil
            }
        }
        return map
    }
}
