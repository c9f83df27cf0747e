/// The lines between `command_list_begin` and `command_list_end`, unparsed.
public struct CommandList: Sendable, Hashable {
    /// Whether each successful command is followed by `list_OK`.
    public let sendsListOK: Bool

    private var bytes: [UInt8] = []
    private var ends: [Int] = []

    /// An empty list.
    public init(sendsListOK: Bool) { self.sendsListOK = sendsListOK }

    /// The number of lines.
    public var count: Int { ends.count }

    /// The size as limits count it: every line with its end.
    var size: Int { bytes.count + ends.count }

    /// A line, for the tokenizer.
    public subscript(index: Int) -> [UInt8] {
        Array(bytes[(index == 0 ? 0 : ends[index - 1])..<ends[index]])
    }

    /// Adds a line; whoever collects has checked the size.
    mutating func append(_ line: [UInt8]) {
        bytes.append(contentsOf: line)
        ends.append(bytes.count)
    }
}
