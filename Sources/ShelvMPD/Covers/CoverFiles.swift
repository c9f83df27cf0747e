import CLinux
import Glibc
import Logging

/// Pictures on disk, a file for each; when they become too many, those go that were not used for the longest time.
///
/// All files are handled on one thread. A file begins with the source, the type and the time it was fetched, and ends with
/// a checksum over all, so that one that was cut, or that bears another's name, is not taken for a picture.
final class CoverFiles: Sendable {
    private let thread = WorkerPool(count: 1)
    private let table: FileTable

    /// - Parameters:
    ///   - directory: the folder of one server's pictures.
    ///   - size: what the server was asked to scale them to; those of other sizes stay, as long as there is room.
    ///   - limit: bytes that they may take together.
    init(directory: String, size: Int?, limit: Int64, log: Log) {
        table = FileTable(directory: directory, variant: size.map { "\($0) " } ?? "", limit: limit, log: log)
        thread.submit { [table] in table.open() }
    }

    /// Looks for a picture.
    /// - Parameter whenDone: told on another thread.
    func read(_ source: CoverSource, _ whenDone: @escaping @Sendable (Cover?) -> Void) {
        thread.submit { [table] in whenDone(table.read(source)) }
    }

    /// Keeps a picture.
    func write(_ source: CoverSource, _ cover: Cover) {
        thread.submit { [table] in table.write(source, cover) }
    }

    func remove(_ source: CoverSource) {
        thread.submit { [table] in table.remove(source) }
    }

    /// Ends the thread; what waits for it is dropped, which costs no more than fetching it again.
    func shutdown() { thread.shutdown() }
}

/// What lies in the folder.
// Touched on the one thread of `CoverFiles` only.
private final class FileTable: @unchecked Sendable {
    private struct Entry {
        var size: Int64
        /// Unix time in nanoseconds.
        var lastUse: Int64
    }

    private let directory: String
    /// Stands before the sources' texts.
    private let variant: String
    private let limit: Int64
    private let log: Log
    private var entries: [String: Entry] = [:]
    private var size: Int64 = 0
    private var isUsable = false

    init(directory: String, variant: String, limit: Int64, log: Log) {
        self.directory = directory
        self.variant = variant
        self.limit = limit
        self.log = log
    }

    func open() {
        do throws(SystemError) {
            try Files.makeDirectory(directory)
            isUsable = true
        } catch {
            log.notice("Covers are not kept: \(error)")
            return
        }
        for file in CacheFolder.list(directory) {
            guard file.name.hasSuffix(CoverFileForm.ending) else {
                // Left by an end in the middle of writing.
                if file.name.hasSuffix(CoverFileForm.temporary) { unsafe unlink("\(directory)/\(file.name)") }
                continue
            }
            entries[file.name] = Entry(size: file.length, lastUse: file.lastUse)
            size += file.length
        }
        makeRoom()
    }

    func read(_ source: CoverSource) -> Cover? {
        guard isUsable else { return nil }
        let key = variant + source.text
        let name = CoverFileForm.name(of: key)
        let path = "\(directory)/\(name)"
        guard let bytes = try? Files.read(path, limit: CoverFetcher.largest + 65_536) else {
            forget(name)
            return nil
        }
        guard let cover = CoverFileForm.cover(in: bytes, of: key) else { return nil }
        _ = unsafe utimes(path, nil)
        enter(name, size: Int64(bytes.count))
        return cover
    }

    func write(_ source: CoverSource, _ cover: Cover) {
        guard isUsable else { return }
        let key = variant + source.text
        let name = CoverFileForm.name(of: key)
        let bytes = CoverFileForm.bytes(of: cover, key)
        guard Int64(bytes.count) <= limit else { return }
        let temporary = "\(directory)/\(name)\(CoverFileForm.temporary)"
        let descriptor = unsafe shelv_create(temporary, O_WRONLY | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { bytes in
                unsafe Glibc.write(descriptor, bytes.baseAddress.map { unsafe $0 + written }, bytes.count - written)
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { break }
            written += count
        }
        close(descriptor)
        guard written == bytes.count, unsafe rename(temporary, "\(directory)/\(name)") == 0 else {
            unsafe unlink(temporary)
            return
        }
        enter(name, size: Int64(bytes.count))
        makeRoom()
    }

    func remove(_ source: CoverSource) {
        let name = CoverFileForm.name(of: variant + source.text)
        forget(name)
        unsafe unlink("\(directory)/\(name)")
    }

    private func enter(_ name: String, size: Int64) {
        forget(name)
        entries[name] = Entry(size: size, lastUse: CacheFolder.now)
        self.size += size
    }

    private func forget(_ name: String) {
        if let entry = entries.removeValue(forKey: name) { size -= entry.size }
    }

    /// Down to nine tenths, so that not every new picture has to look at all others.
    private func makeRoom() {
        guard size > limit else { return }
        for (name, _) in entries.sorted(by: { $0.value.lastUse < $1.value.lastUse }) {
            if size <= limit / 10 * 9 { return }
            forget(name)
            unsafe unlink("\(directory)/\(name)")
        }
    }
}

/// How a picture stands in its file.
enum CoverFileForm {
    static let ending = ".cover"
    static let temporary = ".new"
    private static let magic = "shelvmpd cover 1"

    /// The name of the file for a key. Two keys may share one; the content tells whose it is.
    static func name(of key: String) -> String { hexadecimal(checksum(key.utf8)) + ending }

    static func bytes(of cover: Cover, _ key: String) -> [UInt8] {
        var bytes = Array("\(magic)\n\(key.utf8.count) \(cover.type) \(cover.fetched)\n".utf8)
        bytes += key.utf8
        bytes += cover.bytes
        bytes += hexadecimal(checksum(bytes)).utf8
        return bytes
    }

    /// The picture, or nil if the bytes are not what was written for this key.
    static func cover(in bytes: [UInt8], of key: String) -> Cover? {
        let newline = UInt8(ascii: "\n")
        guard bytes.count > 16, let first = bytes.firstIndex(of: newline),
            bytes[..<first].elementsEqual(magic.utf8),
            let second = bytes[(first + 1)...].firstIndex(of: newline)
        else { return nil }
        let end = bytes.count - 16
        guard bytes[end...].elementsEqual(hexadecimal(checksum(bytes[..<end])).utf8) else { return nil }
        let words = String(decoding: bytes[(first + 1)..<second], as: UTF8.self)
            .split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, let length = Int(words[0]), let fetched = Int64(words[2]),
            length == key.utf8.count, end - second - 1 > length
        else { return nil }
        let start = second + 1 + length
        guard bytes[(second + 1)..<start].elementsEqual(key.utf8) else { return nil }
        return Cover(bytes: Array(bytes[start..<end]), type: String(words[1]), fetched: fetched)
    }

    /// FNV-1a.
    private static func checksum(_ bytes: some Sequence<UInt8>) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return hash
    }

    private static func hexadecimal(_ number: UInt64) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
    }
}
