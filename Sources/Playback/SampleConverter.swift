import CResample

/// Turns blocks of any rate and number of channels into the bytes of one format. Belongs to one thread.
///
/// Blocks that have the format's rate and channels already are only rounded, so what a file of that format holds comes
/// out unchanged.
struct SampleConverter: ~Copyable {
    let format: PCMFormat
    private var resampler: Resampler?

    init(_ format: PCMFormat) {
        self.format = format
    }

    /// Bytes of a block. What the resampler keeps back comes with later blocks, or from `finish`.
    mutating func convert(_ block: SampleBlock, gain: Float) -> [UInt8] {
        var bytes: [UInt8] = []
        if block.rate == format.sampleRate && block.channels == format.channels {
            finish(gain: gain, into: &bytes)
            var interleaved = [Float](repeating: 0, count: block.samples.count)
            for channel in 0..<block.channels {
                for frame in 0..<block.frames {
                    interleaved[frame * block.channels + channel] = block.samples[channel * block.frames + frame]
                }
            }
            append(interleaved, gain: gain, to: &bytes)
            return bytes
        }
        if resampler?.accepts(block) != true {
            finish(gain: gain, into: &bytes)
            resampler = Resampler(rate: block.rate, channels: block.channels, to: format)
        }
        // A combination that the resampler refuses can't be heard here; silence keeps the time.
        let frames = resampler?.run(block) ?? silence(for: block)
        append(frames, gain: gain, to: &bytes)
        return bytes
    }

    /// The bytes that the resampler has kept back, at the end of a song without a follower.
    mutating func finish(gain: Float) -> [UInt8] {
        var bytes: [UInt8] = []
        finish(gain: gain, into: &bytes)
        return bytes
    }

    /// Forgets what the resampler has kept back, where the sound was cut.
    mutating func reset() {
        resampler = nil
    }

    private mutating func finish(gain: Float, into bytes: inout [UInt8]) {
        guard let old = resampler else { return }
        append(old.run(nil), gain: gain, to: &bytes)
        resampler = nil
    }

    private func silence(for block: SampleBlock) -> [Float] {
        let frames = block.rate > 0 ? block.frames * format.sampleRate / block.rate : 0
        return [Float](repeating: 0, count: frames * format.channels)
    }

    private func append(_ samples: [Float], gain: Float, to bytes: inout [UInt8]) {
        bytes.reserveCapacity(bytes.count + samples.count * format.sample.size)
        for sample in samples {
            let value = sample * gain
            switch format.sample {
            case .s16: Self.append(UInt16(bitPattern: Int16(Self.scaled(value, 15))), to: &bytes)
            case .s24: Self.append(UInt32(bitPattern: Int32(Self.scaled(value, 23))), to: &bytes)
            case .s32: Self.append(UInt32(bitPattern: Int32(Self.scaled(value, 31))), to: &bytes)
            case .float: Self.append(value.bitPattern, to: &bytes)
            }
        }
    }

    /// `value` as a signed number of `bits + 1` bits, rounded and clipped; what is no number is silence.
    private static func scaled(_ value: Float, _ bits: Int) -> Int64 {
        guard value == value else { return 0 }
        let one = Double(1 << bits)
        return Int64(min(max((Double(value) * one).rounded(.toNearestOrEven), -one), one - 1))
    }

    private static func append<Value: FixedWidthInteger>(_ value: Value, to bytes: inout [UInt8]) {
        for shift in stride(from: 0, to: Value.bitWidth, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }
}

/// FFmpeg's resampler from planar float to interleaved float.
@safe private final class Resampler {
    private let context: UnsafeMutableRawPointer
    private let rate: Int
    private let channels: Int
    private let format: PCMFormat

    init?(rate: Int, channels: Int, to format: PCMFormat) {
        let (toRate, toChannels) = (Int32(format.sampleRate), Int32(format.channels))
        guard let fromRate = Int32(exactly: rate), let fromChannels = Int32(exactly: channels),
            let context = unsafe shelv_resample_open(fromRate, fromChannels, toRate, toChannels)
        else { return nil }
        unsafe self.context = context
        self.rate = rate
        self.channels = channels
        self.format = format
    }

    deinit { unsafe shelv_resample_close(context) }

    func accepts(_ block: SampleBlock) -> Bool { block.rate == rate && block.channels == channels }

    /// Frames for a block, or, for nil, those that are left.
    func run(_ block: SampleBlock?) -> [Float] {
        let frames = Int32(clamping: block?.frames ?? 0)
        let room = unsafe max(0, shelv_resample_bound(context, frames)) + 256
        var out = [Float](repeating: 0, count: Int(room) * format.channels)
        let count: Int32 = unsafe out.withUnsafeMutableBufferPointer { out in
            guard let block else { return unsafe shelv_resample_run(context, out.baseAddress, room, nil, 0) }
            return unsafe block.samples.withUnsafeBufferPointer { samples in
                var pointers: [UnsafePointer<Float>?] = unsafe (0..<block.channels).map { channel in
                    unsafe samples.baseAddress.map { unsafe $0 + channel * block.frames }
                }
                return unsafe shelv_resample_run(context, out.baseAddress, room, &pointers, frames)
            }
        }
        return Array(out.prefix(Int(max(0, count)) * format.channels))
    }
}
