import CLinux
import Glibc

/// One mapped image: the bytes behind a snapshot.
///
/// Everything that a query uses later as an offset, an id or an end has been checked when this exists.
@safe
final class LibraryImage {
    private let base: UnsafeRawPointer
    let length: Int
    let songCount: Int
    private let starts: [Int]
    private let lengths: [Int]

    /// Maps and verifies the file behind a descriptor, which stays the caller's.
    init(descriptor: Int32, path: String) throws(LibraryError) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            throw .system(operation: "fstat", path: path, errno: errno)
        }
        let length = Int(status.st_size)
        guard length >= ImageLayout.tableWords * 8 else { throw .damaged("too short") }
        guard let base = unsafe mmap(nil, length, PROT_READ, MAP_SHARED, descriptor, 0), unsafe base != MAP_FAILED
        else { throw .system(operation: "mmap", path: path, errno: errno) }
        unsafe self.base = UnsafeRawPointer(base)
        self.length = length

        let header = unsafe UnsafeBufferPointer(
            start: UnsafeRawPointer(base).assumingMemoryBound(to: UInt64.self),
            count: ImageLayout.tableWords
        )
        let problem: LibraryError?
        (songCount, starts, lengths, problem) = unsafe Self.readHeader(header, length: length)
        if let problem { throw problem }
        try verify()
        // What verifying has read need not stay resident; queries bring in again what they use.
        _ = unsafe madvise(UnsafeMutableRawPointer(mutating: base), length, MADV_DONTNEED)
    }

    deinit { _ = unsafe munmap(UnsafeMutableRawPointer(mutating: base), length) }

    /// The section as an array; a length that is no multiple of the element's is cut.
    func array<Element: BitwiseCopyable>(_ section: Section, of type: Element.Type) -> ImageArray<Element> {
        let count = lengths[section.rawValue] / MemoryLayout<Element>.stride
        let start = unsafe base + starts[section.rawValue]
        return unsafe ImageArray(start.assumingMemoryBound(to: Element.self), count: count)
    }

    func bytes(_ section: Section) -> ImageArray<UInt8> { array(section, of: UInt8.self) }
    func words(_ section: Section) -> ImageArray<UInt32> { array(section, of: UInt32.self) }

    func texts(_ offsets: Section, _ arena: Section) -> ImageTexts {
        ImageTexts(offsets: words(offsets), arena: bytes(arena))
    }

    private static func readHeader(
        _ words: UnsafeBufferPointer<UInt64>,
        length: Int
    ) -> (songs: Int, starts: [Int], lengths: [Int], problem: LibraryError?) {
        func failed(_ problem: LibraryError) -> (Int, [Int], [Int], LibraryError?) { (0, [], [], problem) }
        guard unsafe words[0] == ImageLayout.magic, unsafe words[1] == ImageLayout.format else {
            return failed(.otherFormat)
        }
        guard unsafe words[2] == UInt64(length), unsafe words[4] == UInt64(Section.allCases.count) else {
            return failed(.damaged("length"))
        }
        guard unsafe words[ImageLayout.checksumWord] == headerChecksum(words) else {
            return failed(.damaged("header"))
        }
        guard let songs = unsafe UInt32(exactly: words[3]), songs < ImageLayout.none else {
            return failed(.damaged("count"))
        }
        var starts: [Int] = []
        var lengths: [Int] = []
        for section in Section.allCases {
            let entry = ImageLayout.headerWords + section.rawValue * ImageLayout.entryWords
            guard let start = unsafe Int(exactly: words[entry]),
                let count = unsafe Int(exactly: words[entry + 1]),
                start <= length, count <= length - start, start % ImageLayout.alignment == 0
            else { return failed(.damaged("place of \(section)")) }
            starts.append(start)
            lengths.append(count)
        }
        return (Int(songs), starts, lengths, nil)
    }

    /// The checksum of header and section table, without the word that holds it.
    static func headerChecksum(_ words: UnsafeBufferPointer<UInt64>) -> UInt64 {
        var copy = unsafe Array(words)
        copy[ImageLayout.checksumWord] = 0
        var sum = ImageChecksum()
        unsafe copy.withUnsafeBytes { unsafe sum.update($0) }
        return sum.value
    }

    /// The checksum of header and section table, and so of all.
    var checksum: UInt64 { array(at: 0, count: ImageLayout.tableWords)[ImageLayout.checksumWord] }

    private func verify() throws(LibraryError) {
        let header = array(at: 0, count: ImageLayout.tableWords)
        for section in Section.allCases {
            var sum = ImageChecksum()
            let start = unsafe base + starts[section.rawValue]
            unsafe sum.update(UnsafeRawBufferPointer(start: start, count: lengths[section.rawValue]))
            let entry = ImageLayout.headerWords + section.rawValue * ImageLayout.entryWords
            guard sum.value == header[entry + 2] else { throw .damaged("checksum of \(section)") }
        }
        try validate()
    }

    private func array(at offset: Int, count: Int) -> ImageArray<UInt64> {
        unsafe ImageArray((base + offset).assumingMemoryBound(to: UInt64.self), count: count)
    }
}

// The memory is mapped read-only, and all stored properties are constants.
extension LibraryImage: @unchecked Sendable {}
