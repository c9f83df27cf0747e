/// The largest number of channels that MPD knows.
private let maximumChannelCount: UInt8 = 8

extension AudioFormatMask {
    /// Reads `rate:bits:channels` or `dsd64:channels`.
    ///
    /// Source: MPD 0.24 `src/pcm/AudioParser.cxx`.
    /// - Parameter isMask: whether `*` is allowed for each part.
    init(_ text: [UInt8], isMask: Bool) throws(ACK) {
        let colon = UInt8(ascii: ":")
        let parts = text.split(separator: colon, maxSplits: 2, omittingEmptySubsequences: false)
        if text.starts(with: "dsd".utf8) {
            let (rate, channels) = try Self.dsdParts(text)
            self.init(
                sampleRate: try Self.dsdSampleRate(rate),
                sampleFormat: .dsd,
                channels: try Self.channelCount(channels, isMask: isMask)
            )
            return
        }
        let sampleRate = try Self.sampleRate(parts[0], isMask: isMask)
        guard parts.count > 1 else { throw ACK(.argument, "Sample format missing") }
        let sampleFormat = try Self.sampleFormat(parts[1], isMask: isMask)
        guard parts.count > 2 else { throw ACK(.argument, "Channel count missing") }
        self.init(
            sampleRate: sampleRate,
            sampleFormat: sampleFormat,
            channels: try Self.channelCount(parts[2], isMask: isMask)
        )
    }

    private static func dsdParts(_ text: [UInt8]) throws(ACK) -> (ArraySlice<UInt8>, ArraySlice<UInt8>) {
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")) else {
            throw ACK(.argument, "Channel count missing")
        }
        return (text[3..<colon], text[(colon + 1)...])
    }

    /// `dsd64` is 64 times the rate of a CD, counted in bytes of eight samples.
    private static func dsdSampleRate(_ text: ArraySlice<UInt8>) throws(ACK) -> UInt32 {
        guard let factor: UInt16 = wholeNumber(text) else { throw ACK(.argument, "Failed to parse the DSD rate") }
        guard (32...4096).contains(factor) else { throw ACK(.argument, "Bad DSD rate") }
        return UInt32(factor) * 44_100 / 8
    }

    private static func sampleRate(_ text: ArraySlice<UInt8>, isMask: Bool) throws(ACK) -> UInt32? {
        if isMask, text.spells("*") { return nil }
        guard let rate: UInt32 = wholeNumber(text) else {
            throw ACK(.argument, "Failed to parse the sample rate")
        }
        guard rate > 0, rate < 1 << 30 else { throw ACK(.argument, "Invalid sample rate", quoting: text) }
        return rate
    }

    private static func sampleFormat(_ text: ArraySlice<UInt8>, isMask: Bool) throws(ACK) -> SampleFormat? {
        if isMask, text.spells("*") { return nil }
        if text.spells("24_3") { return .s24 }
        let formats: [SampleFormat] = [.s8, .s16, .s24, .s32, .float, .dsd]
        guard let format = formats.first(where: { text.spells($0.name) }) else {
            let quote = [UInt8(ascii: "\"")]
            throw ACK(.argument, "Invalid sample format", quoting: quote + text + quote).withSingleBlanks
        }
        return format
    }

    private static func channelCount(_ text: ArraySlice<UInt8>, isMask: Bool) throws(ACK) -> UInt8? {
        if isMask, text.spells("*") { return nil }
        guard let count: UInt8 = wholeNumber(text) else {
            throw ACK(.argument, "Failed to parse the channel count")
        }
        guard (1...maximumChannelCount).contains(count) else {
            throw ACK(.argument, "Invalid channel count", quoting: text)
        }
        return count
    }

    /// A text of digits only, or nil if it is none or too large.
    private static func wholeNumber<Number: FixedWidthInteger>(_ text: ArraySlice<UInt8>) -> Number? {
        guard !text.isEmpty, text.allSatisfy(\.isDigit), let number = NumberText.integer(text) else { return nil }
        return number.overflows ? nil : Number(exactly: number.magnitude)
    }
}
