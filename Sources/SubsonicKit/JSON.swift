internal import CJSON

/// Why bytes are no JSON document.
public enum JSONError: Error, Sendable, Equatable, CustomStringConvertible {
    /// No byte, or nothing but white space.
    case empty
    /// Not JSON, even after repair; the position is the byte where that was noticed.
    case syntax(position: Int)
    /// More than 128 containers inside each other.
    case depth
    /// More than 128 MiB.
    case size
    /// The memory for it could not be had.
    case memory

    public var description: String {
        switch self {
        case .empty: "The answer is empty"
        case .syntax(let position): "The answer is not JSON (noticed at byte \(position))"
        case .depth: "The answer is nested too deeply"
        case .size: "The answer is larger than 128 MiB"
        case .memory: "No memory for the answer"
        }
    }
}

/// Owns the nodes and the text of one parsed document.
// Sendable: nothing changes after init, and the memory is freed when the last reference is gone.
@safe final class JSONDocument: @unchecked Sendable {
    private let raw: shelv_json_document
    /// Whether the text had to be repaired before it could be read.
    let wasRepaired: Bool

    init(_ bytes: [UInt8]) throws(JSONError) {
        var document = unsafe shelv_json_document()
        var position = 0
        let parsed = unsafe bytes.withUnsafeBufferPointer { buffer in
            unsafe shelv_json_parse(buffer.baseAddress, buffer.count, JSONField.keys, &document, &position)
        }
        switch parsed {
        case SHELV_JSON_OK: break
        case SHELV_JSON_EMPTY: throw .empty
        case SHELV_JSON_DEPTH: throw .depth
        case SHELV_JSON_SIZE: throw .size
        case SHELV_JSON_MEMORY: throw .memory
        default: throw .syntax(position: position)
        }
        unsafe raw = document
        wasRepaired = unsafe document.repaired != 0
    }

    deinit {
        unsafe shelv_json_free(raw)
    }

    /// The node at an index that came from this document: 0, or reached from there.
    @inline(__always)
    func node(_ index: UInt32) -> shelv_json_node {
        assert(unsafe Int(index) < raw.node_count)
        return unsafe raw.nodes[Int(index)]
    }

    /// The index behind a whole value.
    @inline(__always)
    func end(of index: UInt32) -> UInt32 {
        let node = node(index)
        return node.kind >= SHELV_JSON_ARRAY ? node.length : index + 1
    }

    /// The text of a string or number.
    func text(of node: shelv_json_node) -> String {
        let bytes = unsafe UnsafeBufferPointer(start: raw.text + Int(node.start), count: Int(node.length))
        return unsafe bytes.withMemoryRebound(to: UInt8.self) { unsafe String(decoding: $0, as: UTF8.self) }
    }

    /// The name of the member that holds a node.
    func name(of node: shelv_json_node) -> String {
        node.key_start == 0 ? "" : unsafe String(cString: raw.text + Int(node.key_start))
    }

    /// What a number node spells, as the nearest double; nil beyond the range of doubles.
    func double(of node: shelv_json_node) -> Double? {
        var value = 0.0
        return unsafe shelv_json_number(raw.text + Int(node.start), Int(node.length), &value) == 1 ? value : nil
    }
}

/// A value of a JSON document, read leniently: numbers may come as text and text as numbers, a list may be a single value,
/// and what does not fit is nil, never an error.
///
/// Source: the answers of real servers; XML turned into JSON loses types, and PHP and Perl have few of them.
public struct JSON: Sendable {
    let document: JSONDocument
    let index: UInt32

    /// Parses a whole document. Bytes that are not UTF-8, raw control characters, a byte order mark and text behind the
    /// document are repaired first.
    public static func parse(_ bytes: [UInt8]) throws(JSONError) -> JSON {
        JSON(document: try JSONDocument(bytes), index: 0)
    }

    /// What kind of value this is.
    public enum Kind: Sendable { case null, boolean, number, string, array, object }

    public var kind: Kind {
        switch document.node(index).kind {
        case SHELV_JSON_FALSE, SHELV_JSON_TRUE: .boolean
        case SHELV_JSON_NUMBER: .number
        case SHELV_JSON_STRING: .string
        case SHELV_JSON_ARRAY: .array
        case SHELV_JSON_OBJECT: .object
        default: .null
        }
    }

    public var isNull: Bool { document.node(index).kind == SHELV_JSON_NULL }

    /// Whether the document had to be repaired to be read.
    public var wasRepaired: Bool { document.wasRepaired }

    /// Text: a string, the digits of a number as they were written, `true` or `false`; nil for null and containers.
    public var text: String? {
        let node = document.node(index)
        switch node.kind {
        case SHELV_JSON_STRING, SHELV_JSON_NUMBER: return document.text(of: node)
        case SHELV_JSON_TRUE: return "true"
        case SHELV_JSON_FALSE: return "false"
        default: return nil
        }
    }

    /// A whole number, also from text and from a float (cut off); nil when it does not fit 64 bits.
    public var integer: Int64? {
        let node = document.node(index)
        switch node.kind {
        case SHELV_JSON_NUMBER:
            // Digits first: a double would round ids and sizes beyond 2^53.
            if node.length < 20, let exact = Int64(document.text(of: node)) { return exact }
            return document.double(of: node).flatMap { Int64(exactly: $0.rounded(.towardZero)) }
        case SHELV_JSON_STRING:
            let text = document.text(of: node).trimmingSpaces()
            return Int64(text) ?? Double(text).flatMap { Int64(exactly: $0.rounded(.towardZero)) }
        case SHELV_JSON_TRUE: return 1
        case SHELV_JSON_FALSE: return 0
        default: return nil
        }
    }

    /// A finite number, also from text.
    public var double: Double? {
        let node = document.node(index)
        let value: Double? =
            switch node.kind {
            case SHELV_JSON_NUMBER: document.double(of: node)
            case SHELV_JSON_STRING: Double(document.text(of: node).trimmingSpaces())
            default: nil
            }
        return value.flatMap { $0.isFinite ? $0 : nil }
    }

    /// A truth value, also from the words `true` and `false` in any case, and from numbers.
    public var boolean: Bool? {
        let node = document.node(index)
        switch node.kind {
        case SHELV_JSON_TRUE: return true
        case SHELV_JSON_FALSE: return false
        case SHELV_JSON_NUMBER: return document.double(of: node).map { $0 != 0 }
        case SHELV_JSON_STRING:
            switch document.text(of: node).trimmingSpaces().lowercased() {
            case "true", "1", "yes": return true
            case "false", "0", "no": return false
            default: return nil
            }
        default: return nil
        }
    }

    /// The values of a list: an array's elements; a value that stands alone where a list is meant; none for null and for
    /// an empty object, which is how an empty list looks after a detour through XML.
    public var elements: Elements {
        let node = document.node(index)
        switch node.kind {
        case SHELV_JSON_ARRAY: return Elements(document: document, cursor: index + 1, end: node.length)
        case SHELV_JSON_NULL: return Elements(document: document, cursor: index, end: index)
        case SHELV_JSON_OBJECT where node.start == 0: return Elements(document: document, cursor: index, end: index)
        default: return Elements(document: document, cursor: index, end: document.end(of: index))
        }
    }

    /// The members of an object whose names are known (`JSONField`), in the order of the document; none for others.
    public var fields: Fields {
        let node = document.node(index)
        let isObject = node.kind == SHELV_JSON_OBJECT
        return Fields(document: document, cursor: index + 1, end: isObject ? node.length : index + 1)
    }

    /// All members of an object with their names, in the order of the document; none for others.
    public var members: [(name: String, value: JSON)] {
        let node = document.node(index)
        guard node.kind == SHELV_JSON_OBJECT else { return [] }
        return Elements(document: document, cursor: index + 1, end: node.length).map {
            (document.name(of: document.node($0.index)), $0)
        }
    }

    /// The last member with this name that is not null, or nil.
    public subscript(field: JSONField) -> JSON? {
        var found: JSON?
        for (name, value) in fields where name == field && !value.isNull { found = value }
        return found
    }

    /// The elements of a list, one after the other.
    public struct Elements: Sequence, IteratorProtocol, Sendable {
        let document: JSONDocument
        var cursor: UInt32
        let end: UInt32

        @inline(__always)
        public mutating func next() -> JSON? {
            guard cursor < end else { return nil }
            let value = JSON(document: document, index: cursor)
            cursor = document.end(of: cursor)
            return value
        }
    }

    /// The known members of an object, one after the other.
    public struct Fields: Sequence, IteratorProtocol, Sendable {
        public typealias Element = (field: JSONField, value: JSON)

        let document: JSONDocument
        var cursor: UInt32
        let end: UInt32

        @inline(__always)
        public mutating func next() -> Element? {
            while cursor < end {
                let index = cursor
                cursor = document.end(of: index)
                let key = document.node(index).key
                if key > 0 { return (JSONField.all[Int(key) - 1], JSON(document: document, index: index)) }
            }
            return nil
        }
    }
}

extension String {
    fileprivate func trimmingSpaces() -> String {
        guard let first = utf8.first, let last = utf8.last, first <= 0x20 || last <= 0x20 else { return self }
        let isSpace = { (c: Character) in c == " " || c.isNewline || c == "\t" }
        var rest = drop(while: isSpace)
        while let last = rest.last, isSpace(last) { rest.removeLast() }
        return String(rest)
    }
}
