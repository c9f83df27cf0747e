/// A value of SQLite.
enum SQLValue: Sendable, Equatable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])

    /// The text, or nil when it is none.
    var text: String? { if case .text(let text) = self { text } else { nil } }
    /// The whole number, or nil when it is none.
    var integer: Int64? { if case .integer(let number) = self { number } else { nil } }
    /// The number, whole or not, or nil when it is none.
    var real: Double? {
        switch self {
        case .real(let number): number
        case .integer(let number): Double(number)
        default: nil
        }
    }
    /// The bytes of a blob or text, or nil when it is none.
    var bytes: [UInt8]? {
        switch self {
        case .blob(let bytes): bytes
        case .text(let text): Array(text.utf8)
        default: nil
        }
    }
}

extension SQLValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    init(stringLiteral text: String) { self = .text(text) }
    init(integerLiteral number: Int64) { self = .integer(number) }
}

/// Why the store could not do something.
struct StoreError: Error, Sendable, Equatable, CustomStringConvertible {
    enum Kind: Sendable, Equatable {
        /// The file holds no database, or a broken one.
        case damaged
        /// The disk is full.
        case full
        /// Another program works with the file.
        case busy
        /// The file belongs to another program.
        case foreign
        /// A later version of this program made the file.
        case later
        /// The store has been closed.
        case closed
        /// Anything else that SQLite or the system reports.
        case failed
    }

    var kind: Kind
    /// A sentence, without values that were to be kept.
    var description: String

    init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}
