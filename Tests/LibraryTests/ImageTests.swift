import Glibc
import MPDProtocol
import Support
import Testing

@testable import Library

/// A folder of its own for one test.
private struct TemporaryFolder: ~Copyable {
    let path: String

    init() throws {
        var template = Array("/tmp/shelvmpd-library-XXXXXX".utf8CString)
        let isMade = unsafe template.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return false }
            return unsafe mkdtemp(base) != nil
        }
        #expect(isMade)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        for name in ["/library", "/other"] { _ = unsafe unlink(path + name) }
        _ = unsafe rmdir(path)
    }
}

private func read(_ path: String) throws -> [UInt8] {
    let file = unsafe try #require(fopen(path, "r"))
    defer { _ = unsafe fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe fread($0.baseAddress, 1, $0.count, file) }
    return Array(bytes[..<count])
}

private func write(_ bytes: [UInt8], _ path: String) throws {
    let file = unsafe try #require(fopen(path, "w"))
    let count = unsafe bytes.withUnsafeBytes { unsafe fwrite($0.baseAddress, 1, $0.count, file) }
    _ = unsafe fclose(file)
    try #require(count == bytes.count)
}

private let isOptimized: Bool = {
    var isDebug = false
    assert({ isDebug = true }() == ())
    return !isDebug
}()

@Suite("Images on disk")
struct ImageTests {
    @Test("a snapshot is read back as it was written")
    func reopening() throws {
        let folder = try TemporaryFolder()
        let built = try LibraryFixture.snapshot(file: folder.path + "/library")
        let opened = try LibrarySnapshot.open(file: folder.path + "/library")
        #expect(opened.info == built.info)
        #expect(opened.statistics == built.statistics)
        #expect(text(opened.reply(treeOf: .root, mask: .all)) == text(built.reply(treeOf: .root, mask: .all)))
        // Nothing of the writing is left over.
        let isLeftOver = unsafe access(folder.path + "/library.new", F_OK) == 0
        #expect(!isLeftOver)
    }

    @Test("replacing the file leaves the older snapshot as it is")
    func replacing() throws {
        let folder = try TemporaryFolder()
        let first = try LibraryFixture.snapshot(file: folder.path + "/library")
        let before = text(first.reply(treeOf: .root, mask: .all))
        let second = try LibraryBuilder().build(info: LibraryFixture.info, file: folder.path + "/library")
        #expect(second.songCount == 0)
        #expect(text(first.reply(treeOf: .root, mask: .all)) == before)
        #expect(try LibrarySnapshot.open(file: folder.path + "/library").songCount == 0)
    }

    @Test("what cannot be opened says why")
    func failures() throws {
        let folder = try TemporaryFolder()
        #expect(throws: LibraryError.noFile) { try LibrarySnapshot.open(file: folder.path + "/library") }
        #expect(throws: LibraryError.self) { try LibrarySnapshot.open(file: folder.path) }
        #expect(throws: LibraryError.self) {
            try LibraryBuilder().build(info: LibraryFixture.info, file: "/dev/null/x")
        }
        try write([], folder.path + "/library")
        #expect(throws: LibraryError.damaged("too short")) { try LibrarySnapshot.open(file: folder.path + "/library") }
        try write([UInt8](repeating: 0x41, count: 100_000), folder.path + "/library")
        #expect(throws: LibraryError.otherFormat) { try LibrarySnapshot.open(file: folder.path + "/library") }
    }

    @Test("a file cut anywhere is refused")
    func truncation() throws {
        let folder = try TemporaryFolder()
        _ = try LibraryFixture.snapshot(file: folder.path + "/library")
        let whole = try read(folder.path + "/library")
        for count in stride(from: 0, to: whole.count, by: 97) {
            try write(Array(whole[..<count]), folder.path + "/other")
            #expect(throws: LibraryError.self) { try LibrarySnapshot.open(file: folder.path + "/other") }
        }
        try write(whole + [0], folder.path + "/other")
        #expect(throws: LibraryError.self) { try LibrarySnapshot.open(file: folder.path + "/other") }
    }

    @Test("a flipped bit is noticed, or lies where nothing is")
    func flippedBits() throws {
        let folder = try TemporaryFolder()
        let intact = try LibraryFixture.snapshot(file: folder.path + "/library")
        let expected = text(intact.reply(treeOf: .root, mask: .all))
        var bytes = try read(folder.path + "/library")
        var dice = SeededNumbers(seed: SeededNumbers.seed(usually: 11))
        var unnoticed = 0
        // Each byte in an optimized build; opening takes its time without.
        let step = isOptimized ? 1 : 7
        for index in stride(from: dice.roll(step), to: bytes.count, by: step) {
            let bit = UInt8(1) << UInt8(dice.roll(8))
            bytes[index] ^= bit
            try write(bytes, folder.path + "/other")
            if let library = try? LibrarySnapshot.open(file: folder.path + "/other") {
                unnoticed += 1
                #expect(text(library.reply(treeOf: .root, mask: .all)) == expected)
            }
            bytes[index] ^= bit
        }
        // Only the padding between sections.
        #expect(unnoticed < Section.allCases.count * ImageLayout.alignment)
    }

    @Test("a forged file, with checksums that fit, is refused or answers", arguments: 1...4)
    func forgedFiles(seed: Int) throws {
        let folder = try TemporaryFolder()
        _ = try LibraryFixture.snapshot(file: folder.path + "/library")
        let whole = try read(folder.path + "/library")
        var dice = SeededNumbers(seed: SeededNumbers.seed(usually: UInt64(seed)))
        var answered = 0
        for _ in 0..<(isOptimized ? 2000 : 100) {
            var bytes = whole
            for _ in 0...dice.roll(3) { forge(&bytes, &dice) }
            sign(&bytes)
            try write(bytes, folder.path + "/other")
            guard let library = try? LibrarySnapshot.open(file: folder.path + "/other") else { continue }
            answered += 1
            askEverything(library)
        }
        // Texts may be anything, so a good part stays valid.
        #expect(answered > 10)
    }

    /// Changes a byte, a 32-bit number, or a section's length.
    private func forge(_ bytes: inout [UInt8], _ dice: inout SeededNumbers) {
        switch dice.roll(3) {
        case 0:
            bytes[ImageLayout.tableWords * 8 + dice.roll(bytes.count - ImageLayout.tableWords * 8)] = dice.pick([
                0, 1, 255,
            ])
        case 1:
            let place = ImageLayout.tableWords * 8 + 4 * dice.roll((bytes.count - ImageLayout.tableWords * 8) / 4)
            let number = dice.pick([0, 1, 2, 16, 17, 18, UInt32.max, UInt32.max - 1])
            store(UInt64(number), 4, &bytes, place)
        default:
            let entry = ImageLayout.headerWords + dice.roll(Section.allCases.count) * ImageLayout.entryWords
            let place = 8 * (entry + 1)
            let length = load(bytes, place)
            store(dice.pick([0, 4, length &- 4, length &+ 4, length &- 1, length / 2]), 8, &bytes, place)
        }
    }

    private func load(_ bytes: [UInt8], _ place: Int) -> UInt64 {
        (0..<8).reduce(0) { $0 | UInt64(bytes[place + $1]) << UInt64(8 * $1) }
    }

    private func store(_ number: UInt64, _ width: Int, _ bytes: inout [UInt8], _ place: Int) {
        for index in 0..<width { bytes[place + index] = UInt8(truncatingIfNeeded: number >> UInt64(8 * index)) }
    }

    /// Makes all checksums fit again.
    private func sign(_ bytes: inout [UInt8]) {
        for section in Section.allCases {
            let entry = 8 * (ImageLayout.headerWords + section.rawValue * ImageLayout.entryWords)
            guard let start = Int(exactly: load(bytes, entry)), let count = Int(exactly: load(bytes, entry + 8)),
                start <= bytes.count, count <= bytes.count - start
            else { continue }
            var sum = ImageChecksum()
            let part = Array(bytes[start..<start + count])
            unsafe part.withUnsafeBytes { unsafe sum.update($0) }
            store(sum.value, 8, &bytes, entry + 16)
        }
        let words = (0..<ImageLayout.tableWords).map { load(bytes, 8 * $0) }
        let sum = unsafe words.withUnsafeBufferPointer { unsafe LibraryImage.headerChecksum($0) }
        store(sum, 8, &bytes, 8 * ImageLayout.checksumWord)
    }

    /// Uses every accessor and query once; the answers do not matter.
    private func askEverything(_ library: LibrarySnapshot) {
        for song in library.songs(below: .root) {
            _ = library.record(song)
            _ = library.song(id: library.songID(song))
            _ = library.song(uri: library.uri(song))
            _ = library.directory(of: song)
        }
        for directory in 0..<library.directoryCount {
            let directory = DirectoryIndex(rawValue: UInt32(directory))
            _ = library.directory(path: library.path(directory))
            _ = library.subdirectories(of: directory)
            _ = text(library.reply(contentsOf: directory, mask: .all))
            _ = text(library.reply(treeOf: directory, mask: .all))
        }
        _ = library.formerURIs
        _ = library.song(uri: "old/place.flac")
        for row in FilterTests.table {
            _ = try? library.select(row.filter)
            _ = library.estimatedCost(row.filter)
        }
        for tag in [Tag.artist, .albumArtistSort, .mood, .track] {
            _ = (try? library.list(tag, groups: [.album])).map { text(library.reply($0)) }
            _ = (try? library.list(tag)).map { text(library.reply($0)) }
            _ = (try? library.count(group: tag)).map { text(library.reply($0)) }
            _ = try? library.select(.and([]), sort: SortOrder(.tag(tag)))
        }
    }
}
