import Glibc
import Support
import Testing

/// Samples of a test signal and the files that hold them.
struct Tone {
    var rate = 44100
    var channels = 2
    /// Interleaved.
    var samples: [Int16]

    /// A sine of a whole number of Hz; `offset` frames of the same wave come before it.
    init(_ frequency: Double, frames: Int, offset: Int = 0, rate: Int = 44100, channels: Int = 2) {
        self.rate = rate
        self.channels = channels
        samples = []
        samples.reserveCapacity(frames * channels)
        // Whole frequencies repeat every second.
        let second = (0..<rate).map { frame in
            Int16((sin(2 * Double.pi * frequency * Double(frame) / Double(rate)) * 16000).rounded())
        }
        for frame in 0..<frames {
            let value = second[(frame + offset) % rate]
            for _ in 0..<channels { samples.append(value) }
        }
    }

    /// Noise, in which each place is unlike all others.
    init(noise frames: Int, seed: UInt64 = 1) {
        var numbers = SeededNumbers(seed: seed)
        samples = (0..<frames * channels).map { _ in Int16(truncatingIfNeeded: numbers.next() >> 1) / 2 }
    }

    var frames: Int { samples.count / channels }

    var duration: Duration { .nanoseconds(Int64(frames) * 1_000_000_000 / Int64(rate)) }

    /// The samples as they stand in a `…:16:…` output.
    var pcm: [UInt8] { unsafe samples.withUnsafeBytes { unsafe Array($0) } }

    /// A WAV file.
    var wav: [UInt8] {
        let data = pcm
        func little(_ value: Int, _ bytes: Int) -> [UInt8] {
            (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        let format =
            little(1, 2) + little(channels, 2) + little(rate, 4) + little(rate * channels * 2, 4)
            + little(channels * 2, 2) + little(16, 2)
        return Array("RIFF".utf8) + little(36 + data.count, 4) + Array("WAVEfmt ".utf8) + little(16, 4) + format
            + Array("data".utf8) + little(data.count, 4) + data
    }

    /// The file that FFmpeg makes of it with these options.
    ///
    /// - Throws: when there is no FFmpeg.
    func encoded(_ suffix: String, _ options: [String] = [], in folder: TemporaryFolder) throws -> [UInt8] {
        let source = folder.write("source.wav", wav)
        let target = folder.path("encoded.\(suffix)")
        try run(["ffmpeg", "-v", "error", "-y", "-i", source] + options + [target])
        return try #require(contents(of: target))
    }

    /// A minute of noise, which no encoder can make small.
    static func noise(_ suffix: String, _ options: [String], in folder: TemporaryFolder) throws -> [UInt8] {
        let target = folder.path("noise.\(suffix)")
        let source = ["-f", "lavfi", "-i", "anoisesrc=d=60:r=48000:seed=1"]
        try run(["ffmpeg", "-v", "error", "-y"] + source + options + [target])
        return try #require(contents(of: target))
    }

}

struct TestFailure: Error, CustomStringConvertible {
    var description: String
}

/// Runs a program to its end; throws when it fails.
private func run(_ words: [String]) throws {
    guard let result = TestProcess.run(words) else { throw TestFailure(description: "cannot run \(words[0])") }
    guard result.end == .exited(0) else {
        throw TestFailure(description: "\(words.joined(separator: " ")): \(result.end) \(result.errors)")
    }
}
