import Glibc
import MPDProtocol

/// Collects the lines of a reply without a check for each byte; handed over to the caller's array in one go.
@safe
struct ReplyBuffer: ~Copyable {
    private var base: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    private(set) var count = 0
    /// The day of the last time, and its digits.
    private var lastDay = UInt64.max
    private var lastDate: (UInt64, UInt32) = (0, 0)

    init(reserving capacity: Int) {
        self.capacity = max(capacity, 256)
        unsafe base = .allocate(capacity: self.capacity)
    }

    deinit { unsafe base.deallocate() }

    /// Appends the bytes to `output`, and is empty again.
    mutating func flush(to output: inout [UInt8]) {
        unsafe output.append(contentsOf: UnsafeBufferPointer(start: base, count: count))
        count = 0
    }

    @inline(__always)
    mutating func append(_ text: ByteView) {
        reserve(text.count)
        copy(text)
    }

    /// Appends prefix, value and a line end.
    @inline(__always)
    mutating func appendLine(_ prefix: ByteView, _ value: ByteView) {
        reserve(prefix.count + value.count + 1)
        copy(prefix)
        copy(value)
        unsafe base[count] = UInt8(ascii: "\n")
        count += 1
    }

    @inline(__always)
    mutating func append(_ text: StaticString) {
        unsafe append(ByteView(text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Copies a text for which there is room. Most are short, and a call of `memcpy` costs more than they do: two
    /// words that may overlap hold up to 16 bytes.
    @inline(__always)
    private mutating func copy(_ text: ByteView) {
        guard let start = unsafe text.buffer.baseAddress else { return }
        let source = unsafe UnsafeRawPointer(start)
        let target = unsafe UnsafeMutableRawPointer(base + count)
        let size = text.count
        if size > 16 {
            unsafe memcpy(target, source, size)
        } else if size >= 8 {
            unsafe copyEnds(of: UInt64.self, source, target, size)
        } else if size >= 4 {
            unsafe copyEnds(of: UInt32.self, source, target, size)
        } else {
            for index in 0..<size { unsafe base[count + index] = start[index] }
        }
        count += size
    }

    @inline(__always)
    private func copyEnds<Word: BitwiseCopyable>(
        of type: Word.Type,
        _ source: UnsafeRawPointer,
        _ target: UnsafeMutableRawPointer,
        _ size: Int
    ) {
        let last = size - MemoryLayout<Word>.size
        let head = unsafe source.loadUnaligned(as: type)
        let tail = unsafe source.loadUnaligned(fromByteOffset: last, as: type)
        unsafe target.storeBytes(of: head, as: type)
        unsafe target.storeBytes(of: tail, toByteOffset: last, as: type)
    }

    mutating func append(_ byte: UInt8) {
        reserve(1)
        unsafe base[count] = byte
        count += 1
    }

    mutating func append(decimal number: UInt64) {
        reserve(20)
        var digits = 1
        var rest = number
        while rest >= 10 {
            rest /= 10
            digits += 1
        }
        rest = number
        var place = count + digits
        repeat {
            place -= 1
            unsafe base[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while place > count
        count += digits
    }

    /// Appends exactly so many digits, with zeros in front.
    @inline(__always)
    mutating func append(decimal number: UInt64, digits: Int) {
        reserve(digits)
        var rest = number
        var place = count + digits
        while place > count {
            place -= 1
            unsafe base[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        count += digits
    }

    /// Appends seconds with three decimals.
    mutating func append(milliseconds: UInt64) {
        append(decimal: milliseconds / 1000)
        append(UInt8(ascii: "."))
        append(decimal: milliseconds % 1000, digits: 3)
    }

    /// Appends Unix time as `2020-01-31T12:00:00Z`.
    mutating func append(time: UInt64) {
        let (day, seconds) = time.quotientAndRemainder(dividingBy: 86400)
        // Songs of an album mostly have one day: its digits are kept.
        if day != lastDay { setLastDay(day) }
        reserve(20)
        let target = unsafe UnsafeMutableRawPointer(base + count)
        unsafe target.storeBytes(of: lastDate.0, as: UInt64.self)
        unsafe target.storeBytes(of: lastDate.1, toByteOffset: 8, as: UInt32.self)
        // The date and its `T` are 11 bytes long; the 12th is overwritten.
        count += 11
        append(decimal: seconds / 3600, digits: 2)
        append(UInt8(ascii: ":"))
        append(decimal: seconds / 60 % 60, digits: 2)
        append(UInt8(ascii: ":"))
        append(decimal: seconds % 60, digits: 2)
        append(UInt8(ascii: "Z"))
    }

    private mutating func setLastDay(_ days: UInt64) {
        // Years begin in March here, so that the leap day is the last one; from the era of 400 years that holds 1970.
        let (era, day) = (days + 719_468).quotientAndRemainder(dividingBy: 146_097)
        let year = (day - day / 1460 + day / 36524 - day / 146_096) / 365
        let dayOfYear = day - (365 * year + year / 4 - year / 100)
        let month = (5 * dayOfYear + 2) / 153
        let civilMonth = month < 10 ? month + 3 : month - 9
        let start = count
        append(decimal: year + era * 400 + (civilMonth <= 2 ? 1 : 0), digits: 4)
        append(UInt8(ascii: "-"))
        append(decimal: civilMonth, digits: 2)
        append(UInt8(ascii: "-"))
        append(decimal: dayOfYear - (153 * month + 2) / 5 + 1, digits: 2)
        append("T ")
        let written = unsafe UnsafeRawPointer(base + start)
        unsafe lastDate = (
            written.loadUnaligned(as: UInt64.self), written.loadUnaligned(fromByteOffset: 8, as: UInt32.self)
        )
        lastDay = days
        count = start
    }

    @inline(__always)
    private mutating func reserve(_ more: Int) {
        if capacity - count < more { grow(more) }
    }

    @inline(never)
    private mutating func grow(_ more: Int) {
        let larger = max(capacity * 2, count + more)
        let moved = UnsafeMutablePointer<UInt8>.allocate(capacity: larger)
        unsafe memcpy(moved, base, count)
        unsafe base.deallocate()
        unsafe base = moved
        capacity = larger
    }
}

/// `"Artist: "` and its like, at addresses that stay.
@safe
final class TagPrefixes {
    static let shared = TagPrefixes()

    private let text: UnsafePointer<UInt8>
    private let offsets: UnsafePointer<Int>
    private let count = Tag.allCases.count

    private init() {
        var text: [UInt8] = []
        var offsets = [0]
        for tag in Tag.allCases {
            text += tag.name.utf8
            text += ": ".utf8
            offsets.append(text.count)
        }
        unsafe self.text = Self.copy(text)
        unsafe self.offsets = Self.copy(offsets)
    }

    deinit {
        unsafe text.deallocate()
        unsafe offsets.deallocate()
    }

    private static func copy<Element>(_ elements: [Element]) -> UnsafePointer<Element> {
        let memory = UnsafeMutablePointer<Element>.allocate(capacity: elements.count)
        unsafe memory.initialize(from: elements, count: elements.count)
        return unsafe UnsafePointer(memory)
    }

    /// Numbers beyond the tag types give nothing.
    @inline(__always)
    subscript(tag: Int) -> ByteView {
        guard tag >= 0, tag < count else { return unsafe ByteView(nil, count: 0) }
        let start = unsafe offsets[tag]
        return unsafe ByteView(text + start, count: offsets[tag + 1] - start)
    }
}

// Nothing is written after it has been made.
extension TagPrefixes: @unchecked Sendable {}
