/// What a star or a rating is on.
struct MarkKey: Hashable, Sendable {
    enum Kind: Int64, Sendable, CaseIterable {
        case song, album, artist

        /// In messages.
        var plural: String {
            switch self {
            case .song: "songs"
            case .album: "albums"
            case .artist: "artists"
            }
        }
    }

    var kind: Kind
    /// The server's id; of an artist the name, because songs tell nothing else of all their artists.
    var id: String

    static func song(_ id: String) -> MarkKey { MarkKey(kind: .song, id: id) }
    static func album(_ id: String) -> MarkKey { MarkKey(kind: .album, id: id) }
    static func artist(_ name: String) -> MarkKey { MarkKey(kind: .artist, id: name) }

    /// In the journal.
    var subject: String { "\(kind):\(id)" }

    init(kind: Kind, id: String) {
        self.kind = kind
        self.id = id
    }

    init?(subject: String) {
        guard let colon = subject.firstIndex(of: ":"),
            let kind = Kind.allCases.first(where: { "\($0)" == subject[..<colon] })
        else { return nil }
        self.init(kind: kind, id: String(subject[subject.index(after: colon)...]))
    }
}

/// What is known of somebody's star and rating. Of songs the image of the library knows the ratings, and this only what
/// differs.
struct Mark: Sendable, Hashable {
    /// When it was starred, Unix time in seconds; 0 if nobody knows when.
    var starred: Int64?
    /// Decides the order of those that were starred in one second.
    var place: Int64 = 0
    /// Whether the star is kept here only, because the server takes none of this kind.
    var hasLocalStar = false
    var rating: Rating?
    /// What a client said of something without a star: 0 it is disliked, 1 it is not.
    var like: UInt8?

    /// A rating that counts in place of the library's.
    struct Rating: Sendable, Hashable {
        /// 1...10; 0 is none.
        var value: UInt8
        /// Since when the server has it, Unix time in seconds; nil as long as it may not; `.max` if it takes none of this kind.
        var settled: Int64?

        /// As the server knows it: 1...5, 0 is none.
        var stars: UInt8 { (value + 1) / 2 }
    }

    var isEmpty: Bool { starred == nil && rating == nil && like == nil }
}

/// An act of a client that the server is to learn of.
enum MarkAct: Hashable, Sendable {
    case star(Bool)
    /// 0...10.
    case rate(UInt8)

    var isStar: Bool { if case .star = self { true } else { false } }
}

/// What is under way to the server for one key; of several acts only the last one counts.
struct PendingMark: Sendable, Hashable {
    struct Act: Sendable, Hashable {
        var act: MarkAct
        /// Its number in the journal.
        var id: Int64
        /// What the server had when the first of them was done: stars 1...5, or whether there was a star.
        var base: UInt8
    }

    var star: Act?
    var rating: Act?

    var isEmpty: Bool { star == nil && rating == nil }
}
