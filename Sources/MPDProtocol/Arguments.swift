/// The arguments of a request, without the command's name.
///
/// The typed accessors are in `TypedArguments.swift`.
public struct Arguments: Sendable, RandomAccessCollection {
    private var bytes: [UInt8]
    private var bounds: [Range<Int>]

    /// Arguments at these places of an unescaped line.
    init(bytes: [UInt8], bounds: [Range<Int>]) {
        self.bytes = bytes
        self.bounds = bounds
    }

    /// Arguments that were never a line.
    public init(_ arguments: [[UInt8]]) {
        bytes = []
        bounds = []
        for argument in arguments {
            bounds.append(bytes.count..<bytes.count + argument.count)
            bytes.append(contentsOf: argument)
        }
    }

    /// Arguments that were never a line, from texts.
    public init(_ arguments: [String]) { self.init(arguments.map { Array($0.utf8) }) }

    public var startIndex: Int { 0 }
    public var endIndex: Int { bounds.count }

    /// The unescaped bytes of an argument.
    public subscript(index: Int) -> [UInt8] { Array(slice(index)) }

    /// The same without a copy.
    public func slice(_ index: Int) -> ArraySlice<UInt8> { bytes[bounds[index]] }

    /// The argument as text; invalid UTF-8 is replaced, so this is for words and messages, not for data.
    public func text(_ index: Int) -> String { String(decoding: slice(index), as: UTF8.self) }

    /// Whether the argument is exactly this word.
    public func spells(_ word: String, at index: Int) -> Bool { slice(index).spells(word) }

    /// Whether the argument is this word, ASCII letters in any case.
    public func spellsIgnoringCase(_ word: String, at index: Int) -> Bool {
        slice(index).equalsIgnoringASCIICase(word)
    }

    /// These arguments without the first `count`.
    public func droppingFirst(_ count: Int) -> Arguments {
        Arguments(bytes: bytes, bounds: Array(bounds.dropFirst(count)))
    }
}
