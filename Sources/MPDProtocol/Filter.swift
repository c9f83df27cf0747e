/// What songs a command is about: MPD's filter as a syntax tree, from an expression, from old-style pairs, or both.
///
/// Texts are raw bytes, as the client sent them. Whether letters are folded is decided by the command (`find` or
/// `search`) and the operator at parse time; the folding itself is the library's business.
///
/// Source: MPD 0.24 `src/song/Filter.cxx`; `Docs/deviations.md` for what differs.
public indirect enum Filter: Sendable, Hashable {
    /// Some value of the tag (or, if the song has none, of its fallbacks) matches.
    case tag(Tag, TextMatch)
    /// Some value of any tag matches.
    case anyTag(TextMatch)
    /// The song's URI matches.
    case uri(TextMatch)
    /// The song lies in this directory, or is this song. No trailing slash; empty means everything.
    case base([UInt8])
    /// `Last-Modified` is at or after this Unix time in seconds.
    case modifiedSince(Int64)
    /// `Added` is at or after this Unix time in seconds.
    case addedSince(Int64)
    case audioFormat(AudioFormatMask)
    /// The queue priority is at least this; only in the queue.
    case priority(atLeast: UInt8)
    case not(Filter)
    /// Every part matches; an empty list matches everything.
    case and([Filter])
}

/// How a text is compared with a value of a song.
public struct TextMatch: Sendable, Hashable {
    /// Which part of the value has to be like the text.
    public enum Operator: Sendable, Hashable {
        /// The whole value; an empty `text` matches songs without any value.
        case equals
        case contains
        case startsWith
        /// A Perl-compatible regular expression, unanchored.
        case regex
    }

    public var `operator`: Operator
    public var text: [UInt8]
    /// Both sides are case-folded (and normalized, as MPD 0.24 with ICU does) before they are compared.
    public var foldsCase: Bool
    /// The exact negation: true if no value matches.
    public var isNegated: Bool
    /// Both sides lose their diacritics before they are compared; regular expressions do not look at it.
    public var stripsDiacritics = false

    /// A comparison with `text`.
    public init(_ operator: Operator, _ text: [UInt8], foldsCase: Bool, isNegated: Bool = false) {
        self.operator = `operator`
        self.text = text
        self.foldsCase = foldsCase
        self.isNegated = isNegated
    }
}

/// `AudioFormat == "44100:16:2"`, or a mask with `*` (nil here) after `=~`.
public struct AudioFormatMask: Sendable, Hashable {
    /// Hertz; nil matches any.
    public var sampleRate: UInt32?
    public var sampleFormat: SampleFormat?
    public var channels: UInt8?

    /// A mask of these parts; nil matches anything.
    public init(sampleRate: UInt32?, sampleFormat: SampleFormat?, channels: UInt8?) {
        self.sampleRate = sampleRate
        self.sampleFormat = sampleFormat
        self.channels = channels
    }
}

/// The middle part of an audio format.
public enum SampleFormat: UInt8, Sendable, Hashable {
    case s8 = 1, s16, s24, s32, float, dsd

    /// As the protocol writes it.
    public var name: String {
        switch self {
        case .s8: "8"
        case .s16: "16"
        case .s24: "24"
        case .s32: "32"
        case .float: "f"
        case .dsd: "dsd"
        }
    }
}

/// The key of a `sort` clause.
public struct SortOrder: Sendable, Hashable {
    /// What is compared. Of several values of a tag, the first.
    public enum Key: Sendable, Hashable {
        case tag(Tag)
        case lastModified
        case added
        /// Queue only.
        case priority
    }

    public var key: Key
    public var isDescending: Bool

    /// An order by `key`, ascending unless said otherwise.
    public init(_ key: Key, isDescending: Bool = false) {
        self.key = key
        self.isDescending = isDescending
    }
}
