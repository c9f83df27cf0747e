import CLinux

/// Bytes that somebody else keeps: a text of an image, or of a buffer while a closure runs.
///
/// Safe as long as the owner lives: a snapshot keeps its image, and views do not leave the calls that made them.
@safe
struct ByteView {
    private let base: UnsafePointer<UInt8>?
    let count: Int

    @unsafe
    init(_ base: UnsafePointer<UInt8>?, count: Int) {
        unsafe self.base = base
        self.count = count
    }

    @unsafe
    init(_ buffer: UnsafeBufferPointer<UInt8>) {
        unsafe self.base = buffer.baseAddress
        self.count = buffer.count
    }

    subscript(index: Int) -> UInt8 {
        guard let base = unsafe base, index >= 0, index < count else { return 0 }
        return unsafe base[index]
    }

    var isEmpty: Bool { count == 0 }

    /// The bytes from `start` up to `end`, both clipped.
    func slice(_ start: Int, _ end: Int) -> ByteView {
        let start = min(max(start, 0), count)
        let end = min(max(end, start), count)
        return unsafe ByteView(base.map { unsafe $0 + start }, count: end - start)
    }

    @unsafe
    var buffer: UnsafeBufferPointer<UInt8> { unsafe UnsafeBufferPointer(start: base, count: count) }

    var array: [UInt8] { unsafe Array(buffer) }

    /// As a text; what is no UTF-8 is replaced.
    var string: String { unsafe String(decoding: buffer, as: UTF8.self) }

    /// Negative, zero or positive, as in `memcmp`; a prefix comes before what it is a prefix of.
    static func compare(_ a: ByteView, _ b: ByteView) -> Int {
        if let first = unsafe a.base, let second = unsafe b.base {
            let order = unsafe memcmp(first, second, min(a.count, b.count))
            if order != 0 { return Int(order) }
        }
        return a.count - b.count
    }

    static func == (a: ByteView, b: ByteView) -> Bool { a.count == b.count && compare(a, b) == 0 }

    func hasPrefix(_ prefix: ByteView) -> Bool { count >= prefix.count && slice(0, prefix.count) == prefix }

    /// The first place at or after `start` where `needle` stands.
    func find(_ needle: ByteView, from start: Int = 0) -> Int? {
        guard start >= 0, start <= count else { return nil }
        guard let first = unsafe needle.base, needle.count > 0 else { return start }
        guard let base = unsafe base, count - start >= needle.count else { return nil }
        guard let found = unsafe shelv_memmem(base + start, count - start, first, needle.count) else { return nil }
        return unsafe found - UnsafeRawPointer(base)
    }

    func contains(_ needle: ByteView) -> Bool { find(needle) != nil }

    func contains(_ byte: UInt8) -> Bool {
        guard let base = unsafe base else { return false }
        return unsafe memchr(base, Int32(byte), count) != nil
    }

    /// The place of the last byte equal to `byte`.
    func lastIndex(of byte: UInt8) -> Int? {
        guard let base = unsafe base else { return nil }
        var index = count
        while index > 0 {
            index -= 1
            if unsafe base[index] == byte { return index }
        }
        return nil
    }

    var isASCII: Bool {
        guard let base = unsafe base else { return true }
        var index = 0
        let raw = unsafe UnsafeRawPointer(base)
        while index + 8 <= count {
            if unsafe raw.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 != 0 {
                return false
            }
            index += 8
        }
        while index < count {
            if unsafe base[index] >= 0x80 { return false }
            index += 1
        }
        return true
    }

    /// The first eight bytes as a number that orders as they do; shorter texts are filled with zeros.
    var leadingKey: UInt64 {
        guard let base = unsafe base else { return 0 }
        if count >= 8 {
            return unsafe UInt64(bigEndian: UnsafeRawPointer(base).loadUnaligned(as: UInt64.self))
        }
        var key: UInt64 = 0
        for index in 0..<count { key |= unsafe UInt64(base[index]) << UInt64(56 - 8 * index) }
        return key
    }

    /// A number for hash tables, the same on every machine of this byte order.
    var hash: UInt64 {
        guard let base = unsafe base else { return Self.mix(0x9E37_79B9_7F4A_7C15) }
        let raw = unsafe UnsafeRawPointer(base)
        var state = UInt64(truncatingIfNeeded: count) ^ 0x9E37_79B9_7F4A_7C15
        var index = 0
        while index + 8 <= count {
            state = unsafe Self.mix(state ^ raw.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            index += 8
        }
        var rest: UInt64 = 0
        while index < count {
            rest = unsafe rest << 8 | UInt64(base[index])
            index += 1
        }
        return Self.mix(state ^ rest)
    }

    private static func mix(_ value: UInt64) -> UInt64 {
        let (high, low) = value.multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
        return high ^ low &+ 0x2545_F491_4F6C_DD1D
    }
}

extension [UInt8] {
    /// Lends the bytes for the time of a call.
    func withView<Result, Failure: Error>(
        _ body: (ByteView) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe withUnsafeBufferPointer { buffer throws(Failure) in try unsafe body(ByteView(buffer)) }
    }
}

extension String {
    /// Lends the UTF-8 for the time of a call.
    func withView<Result>(_ body: (ByteView) throws -> Result) rethrows -> Result {
        var copy = self
        return try copy.withUTF8 { try unsafe body(ByteView($0)) }
    }
}
