import Glibc
import MPDProtocol

/// Collects the lines of a reply without a check for each byte; handed over to the caller's array in one go.
@safe
struct ReplyBuffer: ~Copyable {
    private var base: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    private(set) var count = 0

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

    mutating func append(_ text: ByteView) {
        guard let source = unsafe text.buffer.baseAddress else { return }
        reserve(text.count)
        unsafe memcpy(base + count, source, text.count)
        count += text.count
    }

    /// Appends prefix, value and a line end.
    mutating func appendLine(_ prefix: ByteView, _ value: ByteView) {
        append(prefix)
        append(value)
        append(UInt8(ascii: "\n"))
    }

    mutating func append(_ text: StaticString) {
        reserve(text.utf8CodeUnitCount)
        unsafe memcpy(base + count, text.utf8Start, text.utf8CodeUnitCount)
        count += text.utf8CodeUnitCount
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
    mutating func append(decimal number: UInt64, digits: Int) {
        reserve(digits)
        var rest = number
        for place in (count..<count + digits).reversed() {
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
        let (days, seconds) = time.quotientAndRemainder(dividingBy: 86400)
        // Years begin in March here, so that the leap day is the last one; from the era of 400 years that holds 1970.
        let shifted = days + 719_468
        let (era, day) = shifted.quotientAndRemainder(dividingBy: 146_097)
        let year = (day - day / 1460 + day / 36524 - day / 146_096) / 365
        let dayOfYear = day - (365 * year + year / 4 - year / 100)
        let month = (5 * dayOfYear + 2) / 153
        let civilMonth = month < 10 ? month + 3 : month - 9
        append(decimal: year + era * 400 + (civilMonth <= 2 ? 1 : 0), digits: 4)
        append(UInt8(ascii: "-"))
        append(decimal: civilMonth, digits: 2)
        append(UInt8(ascii: "-"))
        append(decimal: dayOfYear - (153 * month + 2) / 5 + 1, digits: 2)
        append(UInt8(ascii: "T"))
        append(decimal: seconds / 3600, digits: 2)
        append(UInt8(ascii: ":"))
        append(decimal: seconds / 60 % 60, digits: 2)
        append(UInt8(ascii: ":"))
        append(decimal: seconds % 60, digits: 2)
        append(UInt8(ascii: "Z"))
    }

    private mutating func reserve(_ more: Int) {
        if capacity - count >= more { return }
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

    private let base: UnsafePointer<UInt8>
    private let offsets: [Int]

    private init() {
        var text: [UInt8] = []
        var offsets = [0]
        for tag in Tag.allCases {
            text += tag.name.utf8
            text += ": ".utf8
            offsets.append(text.count)
        }
        let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: text.count)
        unsafe memory.initialize(from: text, count: text.count)
        unsafe base = UnsafePointer(memory)
        self.offsets = offsets
    }

    deinit { unsafe base.deallocate() }

    /// Numbers beyond the tag types give nothing.
    subscript(tag: Int) -> ByteView {
        guard tag >= 0, tag + 1 < offsets.count else { return unsafe ByteView(nil, count: 0) }
        return unsafe ByteView(base + offsets[tag], count: offsets[tag + 1] - offsets[tag])
    }
}

// Nothing is written after it has been made.
extension TagPrefixes: @unchecked Sendable {}
