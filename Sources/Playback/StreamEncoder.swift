import CEncode

/// How an HTTP stream is encoded, by MPD's names of encoders.
public enum StreamCodec: String, Sendable, CaseIterable {
    case vorbis, opus, flac, lame, wave

    /// FFmpeg's encoder and container.
    fileprivate var names: (encoder: String, container: String) {
        switch self {
        case .vorbis: ("libvorbis", "ogg")
        case .opus: ("libopus", "ogg")
        case .flac: ("flac", "flac")
        case .lame: ("libmp3lame", "mp3")
        case .wave: ("pcm_s16le", "wav")
        }
    }

    /// As HTTP calls it.
    var mediaType: String {
        switch self {
        case .vorbis, .opus: "audio/ogg"
        case .flac: "audio/flac"
        case .lame: "audio/mpeg"
        case .wave: "audio/wav"
        }
    }

    /// The samples that the encoder gets: Opus knows one rate only.
    func format(_ wanted: PCMFormat) -> PCMFormat {
        let rate = self == .opus ? 48000 : wanted.sampleRate
        return PCMFormat(sampleRate: rate, sample: .float, channels: wanted.channels) ?? wanted
    }
}

/// Turns float samples into a stream. Belongs to one thread.
@safe final class StreamEncoder {
    /// What a listener needs before everything else.
    private(set) var header: [UInt8] = []
    private let context: UnsafeMutableRawPointer
    private let output: Output
    private let channels: Int
    private let block: Int
    private var waiting: [Float] = []

    fileprivate final class Output {
        var bytes: [UInt8] = []
    }

    /// - Parameter bitRate: bit/s; 0 leaves it to the encoder.
    /// - Throws: `PlayerError` when this FFmpeg has no such encoder, or it refuses the format.
    init(_ codec: StreamCodec, format: PCMFormat, bitRate: Int) throws(PlayerError) {
        let output = Output()
        let names = codec.names
        let made = unsafe shelv_encoder_open(
            names.encoder,
            names.container,
            Int32(format.sampleRate),
            Int32(format.channels),
            Int64(bitRate),
            Unmanaged.passUnretained(output).toOpaque(),
            takeEncoded
        )
        guard let made = unsafe made else { throw PlayerError("the encoder \(codec.rawValue) cannot make \(format)") }
        unsafe context = made
        self.output = output
        channels = format.channels
        block = unsafe Int(shelv_encoder_block(made))
        header = output.bytes
        output.bytes = []
    }

    deinit { unsafe shelv_encoder_close(context) }

    /// Takes interleaved samples; returns what has become of them and of earlier ones.
    func encode(_ samples: [Float]) throws(PlayerError) -> [UInt8] {
        waiting += samples
        let size = block * channels
        var start = 0
        while waiting.count - start >= size {
            let code = unsafe waiting[start..<(start + size)].withUnsafeBufferPointer { part in
                unsafe shelv_encoder_put(context, part.baseAddress, Int32(block))
            }
            guard code >= 0 else { throw PlayerError("the encoder fails (\(code))") }
            start += size
        }
        waiting.removeFirst(start)
        defer { output.bytes = [] }
        return output.bytes
    }

    fileprivate static func take(_ context: UnsafeMutableRawPointer, _ bytes: UnsafeBufferPointer<UInt8>) {
        unsafe Unmanaged<Output>.fromOpaque(context).takeUnretainedValue().bytes += bytes
    }
}

/// Called by FFmpeg on the thread that encodes.
private func takeEncoded(_ context: UnsafeMutableRawPointer?, _ bytes: UnsafePointer<UInt8>?, _ count: Int32) {
    guard let context = unsafe context, count > 0 else { return }
    unsafe StreamEncoder.take(context, UnsafeBufferPointer(start: bytes, count: Int(count)))
}
