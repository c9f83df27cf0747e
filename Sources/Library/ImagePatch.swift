/// What a user did to a song, as far as it is known; nil leaves it as it is.
public struct SongMarks: Sendable, Hashable {
    /// 1...5; 0 is none.
    public var userRating: UInt8?
    public var playCount: UInt32?
    /// When it was played last, Unix time in seconds.
    public var played: Int64?

    public init(userRating: UInt8? = nil, playCount: UInt32? = nil, played: Int64? = nil) {
        self.userRating = userRating
        self.playCount = playCount
        self.played = played
    }
}

/// A copy of an image with other ratings, plays, or another memory of the sync: no more than copying a file.
struct ImagePatch {
    let former: LibrarySnapshot
    private var marks: [UInt8]
    private var playCounts: [UInt32]
    private var played: [UInt32]
    private(set) var hasMarks = false

    init(_ former: LibrarySnapshot) {
        self.former = former
        marks = unsafe Array(former.songs.marks.buffer)
        playCounts = unsafe Array(former.songs.playCounts.buffer)
        played = unsafe Array(former.songs.played.buffer)
    }

    /// Notes what happened to a song.
    mutating func mark(_ song: SongIndex, _ news: SongMarks) {
        if let rating = news.userRating, min(rating, 5) != marks[song.place] & ImageLayout.ratingMask {
            marks[song.place] = min(rating, 5)
            hasMarks = true
        }
        if let count = news.playCount, count != playCounts[song.place] {
            playCounts[song.place] = count
            hasMarks = true
        }
        if let time = news.played.flatMap({ UInt32(exactly: $0) }), time != played[song.place] {
            played[song.place] = time
            hasMarks = true
        }
    }

    /// Writes the copy, to a file or, without one, to memory. Takes some milliseconds for each ten megabytes.
    func write(info: LibraryInfo, file: String?) throws(LibraryError) -> LibrarySnapshot {
        var writer = try ImageWriter(path: file)
        for section in Section.allCases {
            switch section {
            case .marks: try writer.add(section, marks)
            case .playCounts: try writer.add(section, playCounts)
            case .played: try writer.add(section, played)
            case .info: try writer.add(section, InfoCoding.encode(info))
            case .numbers:
                var numbers = unsafe Array(former.numbers.buffer)
                if numbers.count == ImageLayout.numberWords {
                    numbers[3] = UInt64(bitPattern: info.lastSync)
                    numbers[4] = info.isComplete ? 1 : 0
                }
                try writer.add(section, numbers)
            default: try writer.add(section, unsafe Array(former.bytes(section).buffer))
            }
        }
        try writer.finish(songs: former.songCount)
        return try LibrarySnapshot(image: writer.open())
    }
}
