/// What an asynchronous call to libmpv was for: the kind in the low byte, and a number.
struct Tag {
    enum Kind: UInt64 {
        case none, load, position, bitRate, seek, codec, parameters, metadata, seekable, hook, gain, output
    }

    let kind: Kind
    let number: UInt64

    init(_ kind: Kind, _ number: UInt64) {
        self.kind = kind
        self.number = number
    }

    init(rawValue: UInt64) {
        kind = Kind(rawValue: rawValue & 0xFF) ?? .none
        number = rawValue >> 8
    }

    var rawValue: UInt64 { number << 8 | kind.rawValue }
}
