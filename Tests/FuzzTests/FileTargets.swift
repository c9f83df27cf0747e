import CLinux
import Glibc
import SubsonicKit
import Support

@testable import Library
@testable import QueueEngine
@testable import ShelvMPD

/// Reads an input as a configuration file; what stands behind a zero byte is the file that it includes.
enum ConfigurationTarget {
    private static let path = "/etc/shelvmpd.conf"

    static func read(_ input: [UInt8]) {
        let parts = input.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false).map { Array($0) }
        let file = ConfigFile.parse(path) { path throws(SystemError) in
            path == Self.path ? parts[0] : parts.count > 1 ? parts[1] : nil
        }
        let environment = Environment(["HOME": "/home/me", "XDG_RUNTIME_DIR": "/run/user/1000"])
        do throws(ConfigurationError) {
            let result = try ConfigurationReader.read(file, path: path, environment: environment)
            require(
                !result.configuration.servers.isEmpty && !result.configuration.outputs.isEmpty,
                "a good file is complete"
            )
            check(result.notices)
        } catch {
            require(!error.problems.isEmpty, "a refusal has a reason")
            check(error.problems)
        }
    }

    private static func check(_ problems: [ConfigProblem]) {
        for problem in problems { require(!problem.message.isEmpty, "each problem is told") }
    }
}

/// Takes an input for changes to a library's file, in steps of six bytes, and signs the result.
enum ImageTarget {
    private static let folder = TemporaryFolder()
    private static let whole: [UInt8] = {
        guard let folder, let _ = try? build(folder.path + "/whole") else { return [] }
        return (try? Files.read(folder.path + "/whole", limit: 1 << 24)) ?? []
    }()

    private static func build(_ file: String) throws -> LibrarySnapshot {
        var builder = LibraryBuilder()
        for record in SmallLibrary.records { builder.add(record) }
        return try builder.build(info: LibraryInfo(serverID: "fuzz", serverName: "fuzz"), file: file)
    }

    static func read(_ input: [UInt8]) {
        guard let folder, !whole.isEmpty else { return }
        var bytes = whole
        var reader = InputReader(input)
        for _ in 0..<64 where !reader.isAtEnd { forge(&bytes, &reader) }
        sign(&bytes)
        let file = folder.path + "/forged"
        write(bytes, to: file)
        guard let library = try? LibrarySnapshot.open(file: file) else { return }
        // Texts may be anything: a forged file need not make good lines.
        SmallLibrary.askEverything(library, checksLines: false)
    }

    /// Changes a byte, a 32-bit number or a length of a section, all of them chosen so that they are near what is allowed.
    private static func forge(_ bytes: inout [UInt8], _ reader: inout InputReader) {
        let kind = reader.byte()
        let section = Int(reader.byte()) % Library.Section.allCases.count
        let entry = 8 * (ImageLayout.headerWords + section * ImageLayout.entryWords)
        let (start, count) = (Int(load(bytes, entry)), Int(load(bytes, entry + 8)))
        let number = reader.word()
        switch kind % 4 {
        case 0 where count > 0: bytes[start + Int(number >> 8) % count] = UInt8(truncatingIfNeeded: number)
        case 1 where count >= 4:
            let value = UInt32(bitPattern: Int32(Int16(truncatingIfNeeded: number)))
            store(UInt64(value), 4, &bytes, start + 4 * (Int(number >> 16) % (count / 4)))
        case 2:
            let length = Int64(count) + Int64(Int8(truncatingIfNeeded: number))
            if length >= 0, length <= Int64(bytes.count - start) { store(UInt64(length), 8, &bytes, entry + 8) }
        case 3:
            store(UInt64(number), 8, &bytes, 8 * 3)
        default: break
        }
    }

    private static func load(_ bytes: [UInt8], _ place: Int) -> UInt64 {
        (0..<8).reduce(0) { $0 | UInt64(bytes[place + $1]) << UInt64(8 * $1) }
    }

    private static func store(_ number: UInt64, _ width: Int, _ bytes: inout [UInt8], _ place: Int) {
        for index in 0..<width { bytes[place + index] = UInt8(truncatingIfNeeded: number >> UInt64(8 * index)) }
    }

    /// Makes all checksums fit again.
    private static func sign(_ bytes: inout [UInt8]) {
        for section in Library.Section.allCases {
            let entry = 8 * (ImageLayout.headerWords + section.rawValue * ImageLayout.entryWords)
            guard let start = Int(exactly: load(bytes, entry)), let count = Int(exactly: load(bytes, entry + 8)),
                start <= bytes.count, count <= bytes.count - start
            else { continue }
            var sum = ImageChecksum()
            unsafe bytes.withUnsafeBytes {
                unsafe sum.update(UnsafeRawBufferPointer(rebasing: $0[start..<start + count]))
            }
            store(sum.value, 8, &bytes, entry + 16)
        }
        let words = (0..<ImageLayout.tableWords).map { load(bytes, 8 * $0) }
        let sum = unsafe words.withUnsafeBufferPointer { unsafe LibraryImage.headerChecksum($0) }
        store(sum, 8, &bytes, 8 * ImageLayout.checksumWord)
    }

    private static func write(_ bytes: [UInt8], to file: String) {
        let descriptor = unsafe shelv_open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        _ = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
        close(descriptor)
    }
}

/// Takes an input for what was kept: a block of the queue, which must make a queue that is in order; songs of a sync; a
/// playlist and its edits; a cover.
enum StoredTarget {
    static func read(_ input: [UInt8]) {
        var reader = InputReader(input)
        let kind = reader.byte()
        let bytes = Array(reader.rest)
        switch kind % 6 {
        case 0, 1, 2: readBlock(bytes, kind: kind)
        case 3: readSpool(bytes)
        case 4:
            _ = try? PlaylistCoding.entries(bytes)
            _ = try? PlaylistCoding.attempt(bytes)
            if let edit = try? PlaylistCoding.edit(bytes) {
                let again = try? PlaylistCoding.edit(PlaylistCoding.encode(edit))
                require(again == edit, "an edit can be read that was written")
            }
        default:
            _ = CoverFileForm.cover(in: bytes, of: "key")
            _ = LyricsComments.pairs(bytes)
            _ = StationPlaylist.decode(String(decoding: bytes, as: UTF8.self))
            _ = try? BlockCoding.decode(numbers: bytes)
        }
    }

    private static func readBlock(_ bytes: [UInt8], kind: UInt8) {
        guard let rows = try? BlockCoding.decode(bytes, key: { UInt32($0.songID.utf8.count) }) else { return }
        let mode: QueueMode = kind & 8 == 0 ? .threeTier : .mpd
        var archive = QueueArchive(mode: kind & 16 == 0 ? mode : .mpd)
        archive.random = kind & 32 != 0
        archive.repeat = kind & 64 != 0
        archive.version = rows.first?.id ?? 0
        archive.nextID = rows.last?.id ?? 0
        for list in SavedList.allCases where list == .entries || kind & 128 != 0 {
            list.restore(rows, into: &archive)
        }
        archive.current = rows.dropFirst(rows.count / 2).first.map { EntryID($0.id) }
        var queue = Queue(archive, configuration: QueueConfiguration(mode: mode), seed: 1)
        require(queue.checkInvariants(), "a queue from anywhere is in order")
        _ = queue.restorePlayback(at: .seconds(1), paused: false)
        for _ in 0..<3 { _ = try? queue.next() }
        require(queue.checkInvariants(), "a queue from anywhere goes on in order")
        _ = Queue(queue.archive(), configuration: QueueConfiguration(mode: mode), seed: 2)
    }

    private static func readSpool(_ bytes: [UInt8]) {
        bytes.withView { view in
            var reader = SpoolReader(view)
            while let song = reader.song() {
                _ = (song.songID, song.path)
                guard var record = song.record() else { continue }
                record.songID = "x"
                record.uri = "x"
                // As the builder takes it from a sync.
                if let library = SmallLibrary.build([record]) {
                    SmallLibrary.askEverything(library, checksLines: false)
                }
            }
        }
    }
}
