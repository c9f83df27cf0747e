import CLinux

/// A fixed-width array in an image.
///
/// Safe as long as the image lives: only the snapshot that owns it holds arrays of it.
@safe
struct ImageArray<Element: BitwiseCopyable>: RandomAccessCollection {
    private let base: UnsafePointer<Element>?
    let count: Int

    @unsafe
    init(_ base: UnsafePointer<Element>?, count: Int) {
        unsafe self.base = base
        self.count = count
    }

    var startIndex: Int { 0 }
    var endIndex: Int { count }

    /// The caller's index comes from a validated image; a wrong one would be a bug, and stops here.
    subscript(index: Int) -> Element {
        precondition(index >= 0 && index < count, "index beyond the image")
        guard let base = unsafe base else { preconditionFailure("index into nothing") }
        return unsafe base[index]
    }

    /// The part from `start`, `count` long. The caller has validated both.
    func part(_ start: Int, _ count: Int) -> ImageArray {
        precondition(start >= 0 && count >= 0 && start <= self.count && count <= self.count - start)
        return unsafe ImageArray(base.map { unsafe $0 + start }, count: count)
    }

    /// Tells the processor that this element will be read soon.
    @inline(__always)
    func prefetch(_ index: Int) {
        if let base = unsafe base, index >= 0, index < count { unsafe shelv_prefetch(base + index) }
    }

    @unsafe
    var buffer: UnsafeBufferPointer<Element> { unsafe UnsafeBufferPointer(start: base, count: count) }
}

// The memory is mapped read-only and unmapped only when its owner goes, so any thread may read it.
extension ImageArray: @unchecked Sendable {}

/// Texts that offsets delimit in an arena.
struct ImageTexts: Sendable {
    let offsets: ImageArray<UInt32>
    let arena: ImageArray<UInt8>

    var count: Int { max(offsets.count - 1, 0) }

    subscript(index: Int) -> ByteView {
        let start = Int(offsets[index])
        let end = Int(offsets[index + 1])
        return unsafe ByteView(arena.buffer.baseAddress.map { unsafe $0 + start }, count: end - start)
    }
}
