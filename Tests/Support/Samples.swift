import Glibc

/// How strong a frequency is in a piece of one channel: 1 is a full-scale sine.
public func strength(of frequency: Double, in samples: ArraySlice<Int16>, rate: Int = 44100) -> Double {
    // Goertzel's recurrence.
    let factor = 2 * cos(2 * Double.pi * frequency / Double(rate))
    var (older, newer) = (0.0, 0.0)
    for sample in samples { (older, newer) = (newer, Double(sample) / 32768 + factor * newer - older) }
    let power = newer * newer + older * older - factor * newer * older
    return 2 * max(0, power).squareRoot() / Double(max(1, samples.count))
}

/// The first channel of a 16-bit little-endian file.
public func firstChannel(_ bytes: [UInt8], channels: Int = 2) -> [Int16] {
    stride(from: 0, to: bytes.count - 1, by: 2 * channels).map { index in
        Int16(bitPattern: UInt16(bytes[index]) | UInt16(bytes[index + 1]) << 8)
    }
}
