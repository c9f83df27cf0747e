import CText

/// The order of names that people expect, by Unicode's root collation; without ICU's data, the order of bytes.
///
/// Source: MPD `src/lib/icu/Collate.cxx`.
@safe
struct Collation: ~Copyable {
    private let collator: UnsafeMutableRawPointer?

    init() { unsafe collator = shelv_collator_open() }

    deinit { if let collator = unsafe collator { unsafe shelv_collator_close(collator) } }

    /// Appends bytes that order as the text does.
    func appendKey(of text: ByteView, to keys: inout [UInt8]) {
        guard let collator = unsafe collator else { return unsafe keys.append(contentsOf: text.buffer) }
        let units = UTF16Text.units(of: text)
        var capacity = units.count * 4 + 32
        while true {
            var needed: Int32 = 0
            let room = Int32(clamping: capacity)
            let key = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
                needed = unsafe units.withUnsafeBufferPointer {
                    unsafe shelv_collation_key(
                        collator,
                        $0.baseAddress,
                        Int32(clamping: $0.count),
                        buffer.baseAddress,
                        room
                    )
                }
                count = Int(max(min(needed, room), 0))
            }
            if needed <= room { return keys.append(contentsOf: key) }
            capacity = Int(needed)
        }
    }
}

/// Collation keys of several texts in one arena.
struct CollationKeys {
    private var arena: [UInt8] = []
    private var offsets: [Int] = [0]

    mutating func add(_ text: ByteView, _ collation: borrowing Collation) {
        collation.appendKey(of: text, to: &arena)
        offsets.append(arena.count)
    }

    /// Negative, zero or positive, for the keys that were added as `a` and `b`.
    func compare(_ a: Int, _ b: Int) -> Int {
        arena.withView { keys in
            ByteView.compare(keys.slice(offsets[a], offsets[a + 1]), keys.slice(offsets[b], offsets[b + 1]))
        }
    }
}
