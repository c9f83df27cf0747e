import CText

/// A compiled regular expression, Perl-compatible, on UTF-8.
///
/// Not for several threads at once: each evaluation compiles its own.
/// - Note: Matching is bounded: a value that needs too much counts as no match, and after many of them
///   `isTooExpensive` tells the evaluation to give up.
@safe
final class Regex {
    private let raw: UnsafeMutablePointer<shelv_regex>
    private let stopSign: StopSign?
    private var exhausted = 0

    /// Steps of the matcher for one value; about a millisecond.
    private static let matchLimit: UInt32 = 100_000
    private static let longestExhaustion = 100

    /// - Throws: `FilterError.regex` with PCRE2's own words.
    init(_ pattern: [UInt8], foldsCase: Bool) throws(FilterError) {
        var error: Int32 = 0
        var offset = 0
        // PCRE2 wants an address even for an empty pattern.
        let terminated = pattern + [0]
        let raw = unsafe terminated.withUnsafeBufferPointer {
            unsafe shelv_regex_open($0.baseAddress, pattern.count, foldsCase ? 1 : 0, Self.matchLimit, &error, &offset)
        }
        guard let raw = unsafe raw else { throw .regex(offset: offset, message: Self.message(of: error)) }
        unsafe self.raw = raw
        stopSign = .current
    }

    deinit { unsafe shelv_regex_close(raw) }

    /// So many values reached the limit that the rest is not worth the time, or nobody waits for it.
    var isTooExpensive: Bool { exhausted > Self.longestExhaustion || stopSign?.isSet == true }

    /// Whether the expression matches somewhere in the text.
    func matches(_ text: ByteView) -> Bool {
        if isTooExpensive { return false }
        let result: Int32
        if let base = unsafe text.buffer.baseAddress {
            result = unsafe shelv_regex_matches(raw, base, text.count)
        } else {
            result = unsafe [UInt8](repeating: 0, count: 1).withUnsafeBufferPointer {
                unsafe shelv_regex_matches(raw, $0.baseAddress, 0)
            }
        }
        if result < 0 { exhausted += 1 }
        return result > 0
    }

    private static func message(of error: Int32) -> String {
        if error == 0 { return "out of memory" }
        var text = [UInt8](repeating: 0, count: 256)
        unsafe text.withUnsafeMutableBufferPointer { unsafe shelv_regex_message(error, $0.baseAddress, $0.count) }
        return String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
    }
}
