/// The bytes of a reply while it is written.
///
/// Keys are literals of the protocol. Values come in two kinds: those that cannot hold a line end (numbers, our own
/// words), and texts from outside, which `untrusted` makes fit for a line.
public struct Reply: Sendable {
    /// What was written so far.
    public var bytes: [UInt8]

    /// An empty reply with room for `capacity` bytes.
    public init(reserving capacity: Int = 0) {
        bytes = []
        if capacity > 0 { bytes.reserveCapacity(capacity) }
    }

    /// `key: value` with a value of our own.
    public mutating func pair(_ key: String, _ value: String) {
        begin(key)
        bytes.append(contentsOf: value.utf8)
        end()
    }

    /// `key: value` with bytes that are known to hold no control characters and to be short enough.
    public mutating func pair(_ key: String, _ value: [UInt8]) {
        begin(key)
        bytes.append(contentsOf: value)
        end()
    }

    /// The same for a part of an array.
    public mutating func pair(_ key: String, _ value: ArraySlice<UInt8>) {
        begin(key)
        bytes.append(contentsOf: value)
        end()
    }

    /// `key: value` with a text from outside.
    public mutating func pair(_ key: String, untrusted value: [UInt8]) {
        begin(key)
        bytes.appendSanitized(value, limit: Self.valueLimit(key))
        end()
    }

    /// `key: value` with a text from outside.
    public mutating func pair(_ key: String, untrusted value: String) {
        begin(key)
        bytes.appendSanitized(value.utf8, limit: Self.valueLimit(key))
        end()
    }

    /// `key: value` with a number.
    @inlinable
    public mutating func pair(_ key: String, _ value: some FixedWidthInteger) {
        begin(key)
        bytes.appendDecimal(value)
        end()
    }

    /// The bytes that are left for a value on the line of `key`.
    private static func valueLimit(_ key: String) -> Int { ReplyLine.maximumLength - key.utf8.count - 2 }

    /// `key: 0` or `key: 1`.
    public mutating func pair(_ key: String, flag: Bool) {
        begin(key)
        bytes.append(UInt8(ascii: flag ? "1" : "0"))
        end()
    }

    /// `key: S.mmm`.
    public mutating func pair(_ key: String, milliseconds: Int64) {
        begin(key)
        bytes.appendSeconds(milliseconds: milliseconds)
        end()
    }

    /// `key: value` in the shortest form, as `mixrampdb` is written: `0`, `-17`, `-3.5`.
    ///
    /// What is no number is written as `inf`: MPD is compiled without a difference between them.
    public mutating func pair(_ key: String, shortest value: Float) {
        let value = value.isNaN ? .infinity : value
        pair(key, value.isFinite ? DecimalText(shortest: "\(value)").text : "\(value)")
    }

    /// The same of a number with more digits.
    public mutating func pair(_ key: String, shortest value: Double) {
        pair(key, value.isFinite ? DecimalText(shortest: "\(value)").text : "\(value)")
    }

    /// `binary: N`, the bytes and a line end.
    public mutating func binary(_ chunk: some Collection<UInt8>) {
        pair("binary", chunk.count)
        bytes.append(contentsOf: chunk)
        end()
    }

    /// The end of a successful reply.
    public mutating func ok() { bytes.append(contentsOf: "OK\n".utf8) }

    /// The end of a successful command in a list.
    public mutating func listOK() { bytes.append(contentsOf: "list_OK\n".utf8) }

    /// The end of a failed reply.
    /// - Parameters:
    ///   - index: the command's place in the list, else 0.
    ///   - command: its name; empty if the request was unreadable or the command unknown.
    public mutating func ack(_ ack: ACK, index: Int = 0, command: String) {
        bytes.append(contentsOf: "ACK [".utf8)
        bytes.appendDecimal(ack.code.rawValue)
        bytes.append(UInt8(ascii: "@"))
        bytes.appendDecimal(index)
        bytes.append(contentsOf: "] {".utf8)
        bytes.append(contentsOf: command.utf8)
        bytes.append(contentsOf: "} ".utf8)
        // As MPD, which gives back what it was sent. A line's bytes are no line end.
        bytes.append(contentsOf: ack.message.prefix(4000).map { $0 == UInt8(ascii: "\n") ? UInt8(ascii: " ") : $0 })
        end()
    }

    /// The `changed` lines of an idle report and its `OK`.
    public mutating func changed(_ subsystems: Subsystems) {
        for name in subsystems.names { pair("changed", name) }
        ok()
    }

    /// What the server says first.
    public mutating func greeting(version: String) {
        bytes.append(contentsOf: "OK MPD ".utf8)
        bytes.append(contentsOf: version.utf8)
        end()
    }

    /// Writes the key and its separator.
    @usableFromInline
    mutating func begin(_ key: String) {
        bytes.append(contentsOf: key.utf8)
        bytes.append(UInt8(ascii: ":"))
        bytes.append(UInt8(ascii: " "))
    }

    /// Ends the line.
    @usableFromInline
    mutating func end() { bytes.append(UInt8(ascii: "\n")) }
}
