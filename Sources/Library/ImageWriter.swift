import CLinux
import Glibc

/// Writes an image section by section, so that what has been written need not stay in memory.
///
/// A file is written beside its final name and takes its place when it is whole. Without a name the image lives in
/// memory that only its descriptor names.
struct ImageWriter: ~Copyable {
    private let descriptor: Int32
    private let path: String?
    private let temporaryPath: String
    private var position = 0
    private var table = [UInt64](repeating: 0, count: ImageLayout.tableWords)
    private var isFinished = false

    init(path: String?) throws(LibraryError) {
        self.path = path
        temporaryPath = path.map { "\($0).new" } ?? "library"
        if path != nil {
            descriptor = unsafe shelv_create(temporaryPath, O_RDWR | O_TRUNC | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw .system(operation: "open", path: temporaryPath, errno: errno) }
        } else {
            descriptor = unsafe shelv_memory_file(temporaryPath)
            guard descriptor >= 0 else {
                throw .system(operation: "memfd_create", path: temporaryPath, errno: errno)
            }
        }
        try write([UInt64](repeating: 0, count: ImageLayout.tableWords))
    }

    deinit {
        if !isFinished, path != nil { _ = unsafe unlink(temporaryPath) }
        close(descriptor)
    }

    /// Writes one section.
    mutating func add<Element: BitwiseCopyable & Sendable>(_ section: Section, _ elements: [Element])
        throws(LibraryError)
    {
        try add(section, Pieces(elements))
    }

    /// Writes one section of several pieces.
    mutating func add<Element: BitwiseCopyable & Sendable>(_ section: Section, _ pieces: Pieces<Element>)
        throws(LibraryError)
    {
        let padding = (ImageLayout.alignment - position % ImageLayout.alignment) % ImageLayout.alignment
        try write([UInt8](repeating: 0, count: padding))
        let entry = ImageLayout.headerWords + section.rawValue * ImageLayout.entryWords
        var sum = ImageChecksum()
        table[entry] = UInt64(position)
        table[entry + 1] = UInt64(pieces.count * MemoryLayout<Element>.stride)
        for elements in pieces.arrays {
            unsafe elements.withUnsafeBytes { unsafe sum.update($0) }
            try write(elements)
        }
        table[entry + 2] = sum.value
    }

    /// Completes the header and gives the file its name.
    mutating func finish(songs: Int) throws(LibraryError) {
        table[0] = ImageLayout.magic
        table[1] = ImageLayout.format
        table[2] = UInt64(position)
        table[3] = UInt64(songs)
        table[4] = UInt64(Section.allCases.count)
        table[ImageLayout.checksumWord] = unsafe table.withUnsafeBufferPointer {
            unsafe LibraryImage.headerChecksum($0)
        }
        guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw failure("lseek") }
        try write(table)
        if let path {
            // Without this a crash of the machine could leave the new name with nothing behind it.
            guard fdatasync(descriptor) == 0 else { throw failure("fdatasync") }
            guard unsafe rename(temporaryPath, path) == 0 else { throw failure("rename") }
        }
        isFinished = true
    }

    /// Maps the finished image. What it was made of should be gone by then: verifying reads all of it into memory.
    func open() throws(LibraryError) -> LibraryImage {
        try LibraryImage(descriptor: descriptor, path: path ?? temporaryPath)
    }

    private mutating func write<Element: BitwiseCopyable>(_ elements: [Element]) throws(LibraryError) {
        let descriptor = descriptor
        let error: Int32 = unsafe elements.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count {
                let count = unsafe Glibc.write(
                    descriptor,
                    bytes.baseAddress.map { unsafe $0 + done },
                    bytes.count - done
                )
                if count > 0 { done += count } else if count == 0 || errno != EINTR { return count == 0 ? EIO : errno }
            }
            return 0
        }
        guard error == 0 else { throw .system(operation: "write", path: temporaryPath, errno: error) }
        position += elements.count * MemoryLayout<Element>.stride
    }

    private func failure(_ operation: String) -> LibraryError {
        .system(operation: operation, path: temporaryPath, errno: errno)
    }
}

/// A long array in pieces, which needs no second copy to grow.
struct Pieces<Element: BitwiseCopyable & Sendable>: Sendable {
    private(set) var arrays: [[Element]] = []
    /// The number of elements of all pieces.
    private(set) var count = 0

    init() {}

    init(_ elements: [Element]) { append(elements) }

    mutating func append(_ elements: [Element]) {
        arrays.append(elements)
        count += elements.count
    }
}
