/// Numbers, ranges and words in arguments, with MPD's complaints.
///
/// Each accessor expects that the argument exists; the number of arguments is checked before a command runs.
///
/// Source: MPD 0.24 `src/protocol/ArgParser.cxx`, `src/command/PositionArg.cxx`.
extension Arguments {
    /// A signed number of 32 bits, or of a smaller range.
    public func integer(
        _ index: Int,
        in allowed: ClosedRange<Int> = Int(Int32.min)...Int(Int32.max)
    ) throws(ACK) -> Int {
        let number = try wholeNumber(slice(index), "Integer expected").signed
        guard let value = Int(exactly: number), allowed.contains(value) else {
            throw Self.complaint("Number too large", slice(index))
        }
        return value
    }

    /// A number from 0 up to `maximum`. As in C, a minus sign counts modulo 2^64, which makes `-1` too large.
    public func unsigned(_ index: Int, maximum: Int = Int(UInt32.max)) throws(ACK) -> Int {
        try Self.unsigned(slice(index), maximum: maximum)
    }

    /// A queue version: any number, of which the lowest 32 bits count.
    public func version(_ index: Int) throws(ACK) -> UInt32 {
        UInt32(truncatingIfNeeded: try wholeNumber(slice(index), "Integer expected").unsigned)
    }

    /// `0` or `1`.
    public func boolean(_ index: Int) throws(ACK) -> Bool {
        let message = "Boolean (0/1) expected"
        let number = try wholeNumber(slice(index), message).signed
        guard number == 0 || number == 1 else { throw Self.complaint(message, slice(index)) }
        return number == 1
    }

    /// `N`, `N:M`, `N:`, or `-1` for everything.
    public func range(_ index: Int) throws(ACK) -> PositionRange {
        let argument = slice(index)
        let colon = UInt8(ascii: ":")
        let complaint = "Integer or range expected"
        guard let first = NumberText.integer(argument) else {
            throw Self.complaint(complaint, argument)
        }
        let rest = argument[first.end...]
        guard rest.isEmpty || rest.first == colon else { throw Self.complaint(complaint, argument) }
        if rest.isEmpty, first.signed == -1 { return .everything }
        let start = try rangeBound(first, of: argument)
        if rest.isEmpty { return PositionRange(start: start, end: start + 1) }
        if rest.count == 1 { return PositionRange(start: start, end: nil) }
        guard let second = NumberText.integer(rest.dropFirst()), second.end == argument.endIndex else {
            throw Self.complaint(complaint, argument)
        }
        let end = try rangeBound(second, of: argument)
        if start > end { throw Self.complaint("Malformed range", argument) }
        return PositionRange(start: start, end: end)
    }

    private func rangeBound(_ number: NumberText.Integer, of argument: ArraySlice<UInt8>) throws(ACK) -> Int {
        if number.signed < 0 { throw Self.complaint("Number is negative", argument) }
        guard let bound = Int32(exactly: number.signed) else {
            throw Self.complaint("Number too large", argument)
        }
        return Int(bound)
    }

    /// A floating-point number; may be infinite or NaN.
    public func float(_ index: Int) throws(ACK) -> Double {
        guard let value = NumberText.float(slice(index)) else {
            throw Self.complaint("Float expected", slice(index))
        }
        return value
    }

    /// A time within a song, given in seconds, as milliseconds. At most what fits 32 bits.
    public func songTime(_ index: Int) throws(ACK) -> Int64 {
        let seconds = try float(index)
        if seconds < 0 { throw Self.complaint("Negative value not allowed", slice(index)) }
        return Self.milliseconds(seconds)
    }

    /// Seconds, or with a leading `+` or `-` a distance in seconds.
    public func seekTarget(_ index: Int) throws(ACK) -> SeekTarget {
        let sign = slice(index).first
        let milliseconds = Self.milliseconds(try float(index))
        if sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { return .relative(milliseconds) }
        // A minus sign behind white space is not a distance.
        return .absolute(Swift.max(milliseconds, 0))
    }

    /// `START:END` in seconds, either of which may be missing; an end of zero counts as missing.
    public func timeRange(_ index: Int) throws(ACK) -> TimeRange {
        let argument = slice(index)
        guard let colon = argument.firstIndex(of: UInt8(ascii: ":")),
            let start = Self.timeBound(argument[..<colon]), let end = Self.timeBound(argument[(colon + 1)...]),
            end == 0 || end > start
        else { throw ACK(.argument, "Bad range") }
        return TimeRange(start: start, end: end == 0 ? nil : end)
    }

    /// A side of a time range in milliseconds; an empty one is zero.
    private static func timeBound(_ text: ArraySlice<UInt8>) -> Int64? {
        if text.isEmpty { return 0 }
        guard let seconds = NumberText.float(text), !(seconds < 0) else { return nil }
        return milliseconds(seconds)
    }

    private static func milliseconds(_ seconds: Double) -> Int64 {
        if seconds.isNaN { return 0 }
        let limit = Double(UInt32.max)
        return Int64(Swift.min(Swift.max(seconds * 1000, -limit), limit).rounded())
    }

    /// Where to insert, before anything is known of the queue. Numbers beyond 32 bits are refused.
    public func insertPosition(_ index: Int) throws(ACK) -> InsertPosition {
        let argument = slice(index)
        switch argument.first {
        case UInt8(ascii: "+"):
            return .afterCurrent(try Self.unsigned(argument.dropFirst(), maximum: Int(Int32.max)))
        case UInt8(ascii: "-"):
            return .beforeCurrent(try Self.unsigned(argument.dropFirst(), maximum: Int(Int32.max)))
        default:
            return .absolute(try Self.unsigned(argument, maximum: Int(Int32.max)))
        }
    }

    /// Where to insert into a queue of `length` songs, of which the one at `current` is the current one.
    public func insertPosition(_ index: Int, length: Int, current: Int?) throws(ACK) -> Int {
        let argument = slice(index)
        switch argument.first {
        case UInt8(ascii: "+"):
            let current = try Self.required(current)
            return current + 1
                + (try Self.unsigned(argument.dropFirst(), maximum: Swift.max(length - current - 1, 0)))
        case UInt8(ascii: "-"):
            let current = try Self.required(current)
            return current - (try Self.unsigned(argument.dropFirst(), maximum: current))
        default:
            return try Self.unsigned(argument, maximum: length)
        }
    }

    /// Where the first song of `moved` shall stand after the move: a position in the queue of `length` songs without
    /// the moved ones, or relative to the current song.
    public func moveDestination(
        _ index: Int,
        moving moved: Range<Int>,
        length: Int,
        current: Int?
    ) throws(ACK) -> Int {
        let argument = slice(index)
        let remaining = length - moved.count
        guard let sign = argument.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else {
            return try Self.unsigned(argument, maximum: Swift.max(remaining, 0))
        }
        var anchor = try Self.required(current)
        if moved.contains(anchor) { throw ACK(.argument, "Cannot move current song relative to itself") }
        if anchor >= moved.upperBound { anchor -= moved.count }
        if sign == UInt8(ascii: "+") {
            return anchor + 1
                + (try Self.unsigned(argument.dropFirst(), maximum: Swift.max(remaining - anchor - 1, 0)))
        }
        // MPD bounds this by the songs after the current one, which refuses valid distances near the end.
        return anchor - (try Self.unsigned(argument.dropFirst(), maximum: anchor))
    }

    private static func required(_ current: Int?) throws(ACK) -> Int {
        guard let current else { throw ACK(.playerSync, "No current song") }
        return current
    }

    private static func unsigned(_ text: ArraySlice<UInt8>, maximum: Int) throws(ACK) -> Int {
        let number = try wholeNumber(text, "Integer expected").unsigned
        guard number <= UInt64(clamping: maximum) else {
            throw Self.complaint("Number too large", text)
        }
        return Int(clamping: number)
    }

    /// A tag type by name.
    public func tag(_ index: Int) throws(ACK) -> Tag {
        guard let tag = Tag(name: slice(index)) else {
            throw ACK(.argument, "Unknown tag type", quoting: slice(index))
        }
        return tag
    }

    private static func wholeNumber(
        _ text: ArraySlice<UInt8>,
        _ complaint: String
    ) throws(ACK) -> NumberText.Integer {
        guard let number = NumberText.integer(text), number.end == text.endIndex else {
            throw Self.complaint(complaint, text)
        }
        return number
    }

    private func wholeNumber(
        _ text: ArraySlice<UInt8>,
        _ complaint: String
    ) throws(ACK) -> NumberText.Integer {
        try Self.wholeNumber(text, complaint)
    }

    /// What MPD says of an argument; it cuts the text off behind 255 bytes.
    private static func complaint(_ message: String, _ culprit: ArraySlice<UInt8>) -> ACK {
        var ack = ACK(.argument, message, quoting: culprit)
        ack.message = Array(ack.message.prefix(255))
        return ack.withSingleBlanks
    }
}
