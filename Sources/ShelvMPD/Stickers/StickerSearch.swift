import Library
import MPDProtocol

/// What `sticker find` looks for.
struct StickerSearch: Sendable {
    enum Comparison: Sendable {
        case equals, less, greater
        case integerEquals, integerLess, integerGreater
        case contains, startsWith

        init(_ word: [UInt8]) throws(StickerError) {
            switch String(decoding: word, as: UTF8.self) {
            case "=": self = .equals
            case "<": self = .less
            case ">": self = .greater
            case "eq": self = .integerEquals
            case "lt": self = .integerLess
            case "gt": self = .integerGreater
            case "contains": self = .contains
            case "starts_with": self = .startsWith
            default: throw .badOperator(word)
            }
        }

        /// Whether the whole part of a value is less than, equal to or greater than a number: -1, 0, 1. A text that is no number
        /// is greater than all, as in SQLite.
        private static func order(_ value: [UInt8], _ wanted: [UInt8]) -> Int {
            let (limit, isNumber) = StickerQuantity.read(wanted)
            let whole = StickerQuantity.whole(StickerNumber.integer(value))
            if !isNumber || whole.isLess(than: limit) { return -1 }
            return limit.isLess(than: whole) ? 1 : 0
        }

        /// Parts of texts are compared without regard to ASCII case, as SQLite's LIKE does.
        func holds(_ value: [UInt8], _ wanted: [UInt8]) -> Bool {
            switch self {
            case .equals: value == wanted
            case .less: value.lexicographicallyPrecedes(wanted)
            case .greater: wanted.lexicographicallyPrecedes(value)
            case .integerEquals: Self.order(value, wanted) == 0
            case .integerLess: Self.order(value, wanted) < 0
            case .integerGreater: Self.order(value, wanted) > 0
            case .startsWith: value.startsIgnoringCase(wanted)
            case .contains:
                wanted.count <= value.count
                    && (0...(value.count - wanted.count)).contains { value[$0...].startsIgnoringCase(wanted) }
            }
        }
    }

    enum Order: Sendable {
        case uri, value, integer

        init(_ word: ArraySlice<UInt8>) throws(StickerError) {
            switch String(decoding: word, as: UTF8.self) {
            case "uri": self = .uri
            case "value": self = .value
            case "value_int": self = .integer
            default: throw .badSort(Array(word))
            }
        }
    }

    var type: StickerType
    /// A directory for songs, else what the objects begin with.
    var base: [UInt8]
    var name: [UInt8]
    var test: (comparison: Comparison, value: [UInt8])?
    var order: Order?
    var isDescending = false
    var window: PositionRange?

    /// A song or another object that bears the sticker.
    struct Hit: Sendable {
        var song: SongIndex?
        /// Of what is no song; of songs only where they are sorted by it.
        var object: [UInt8] = []
        var value: [UInt8]
    }

    /// Looks for it. Takes about 0.1 µs for each song or sticker: large ones are not for the core.
    func hits(in view: StickerView) throws -> ArraySlice<Hit> {
        var hits = try type == .song ? songs(view) : others(view)
        if let test { hits = hits.filter { test.comparison.holds($0.value, test.value) } }
        sort(&hits, view.library)
        return hits[window?.clipped(to: hits.count) ?? 0..<hits.count]
    }

    /// About how many songs and stickers are looked at.
    func cost(in view: StickerView) -> Int {
        let objects =
            type == .song
            ? view.parts.reduce(0) { $0 + $1.stickers.count(of: type) } : view.own.stickers.count(of: type)
        guard KeptSticker(name) != nil else { return objects }
        return objects + view.library.songCount
            + view.parts.reduce(0) { sum, part in MarkKey.Kind.allCases.reduce(sum) { $0 + part.marks.count($1) } }
    }

    private func sort(_ hits: inout [Hit], _ library: LibrarySnapshot) {
        let isDescending = isDescending
        switch order {
        case nil: break
        case .value:
            hits.sort {
                isDescending
                    ? $1.value.lexicographicallyPrecedes($0.value) : $0.value.lexicographicallyPrecedes($1.value)
            }
        case .integer:
            let keyed = hits.map { (key: StickerNumber.integer($0.value), hit: $0) }
            hits = keyed.sorted { isDescending ? $1.key < $0.key : $0.key < $1.key }.map(\.hit)
        case .uri:
            for index in hits.indices {
                if let song = hits[index].song { hits[index].object = library.uri(song) }
            }
            hits.sort {
                isDescending
                    ? $1.object.lexicographicallyPrecedes($0.object) : $0.object.lexicographicallyPrecedes($1.object)
            }
        }
    }

    // MARK: Songs

    /// In database order.
    private func songs(_ view: StickerView) -> [Hit] {
        let library = view.library
        guard let places = library.places(below: base) else { return [] }
        func place(_ id: some StringProtocol, _ part: StickerView.Part) -> SongIndex? {
            library.localID(String(id), of: part.serverID).flatMap { library.song(id: $0) }
                .flatMap { places.contains(Int($0.rawValue)) ? $0 : nil }
        }
        func forEachOwn(_ body: (SongIndex, StickerBook.Sticker) -> Void) {
            for part in view.parts {
                part.stickers.forEach(.song) { id, all in
                    guard let own = all.first(where: { $0.name == name }),
                        let song = place(String(decoding: id, as: UTF8.self), part)
                    else { return }
                    body(song, own)
                }
            }
        }
        var found: [SongIndex: [UInt8]] = [:]
        switch KeptSticker(name) {
        case .some(let kept) where kept.isStar && view.hasFavorites:
            for part in view.parts {
                part.marks.forEach(.song) { id, mark in
                    guard let value = mark.value(of: kept), let song = place(id, part) else { return }
                    found[song] = StickerNumber.text(value)
                }
            }
        case .rating: return rated(view, places)
        case .some(let kept) where kept.isCounted:
            for song in library.songs(in: places, { view.counted(kept, $0) > 0 }) {
                found[song] = view.count(kept, song, nil)
            }
            forEachOwn { song, own in found[song] = view.count(kept, song, own).flatMap { $0.isEmpty ? nil : $0 } }
        default: forEachOwn { song, own in found[song] = own.value }
        }
        return found.sorted { $0.key < $1.key }.map { Hit(song: $0.key, value: $0.value) }
    }

    /// Without a table of all, because there may be very many.
    private func rated(_ view: StickerView, _ places: Range<Int>) -> [Hit] {
        let texts = (0...10).map { StickerNumber.text($0) }
        var own: [SongIndex: UInt8] = [:]
        for part in view.parts {
            part.marks.forEach(.song) { id, mark in
                guard let rating = mark.rating, let local = view.library.localID(id, of: part.serverID),
                    let song = view.library.song(id: local), places.contains(Int(song.rawValue))
                else { return }
                own[song] = min(rating.value, 10)
            }
        }
        var hits: [Hit] = []
        for song in view.library.songs(in: places, { view.library.userRating($0) > 0 })
        where own.isEmpty || own[song] == nil {
            hits.append(Hit(song: song, value: texts[min(Int(view.library.userRating(song)) * 2, 10)]))
        }
        if own.isEmpty { return hits }
        hits += own.filter { $0.value > 0 }.map { Hit(song: $0.key, value: texts[Int($0.value)]) }
        return hits.sorted { ($0.song?.rawValue ?? 0) < ($1.song?.rawValue ?? 0) }
    }

    // MARK: Others

    /// In the order of their texts.
    private func others(_ view: StickerView) throws -> [Hit] {
        var found: [[UInt8]: [UInt8]] = [:]
        if let kept = KeptSticker(name), !kept.isStar || view.hasFavorites {
            for (object, value) in try self.kept(kept, view) { found[object] = StickerNumber.text(value) }
        }
        view.forEachObject(type) { object, all in
            guard let own = all.first(where: { $0.name == name }) else { return }
            if found[object] == nil { found[object] = own.value }
        }
        return found.filter { $0.key.startsIgnoringCase(base) }
            .sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { Hit(object: $0.key, value: $0.value) }
    }

    /// What the server keeps of albums and artists, under the objects of this type.
    private func kept(_ kept: KeptSticker, _ view: StickerView) throws -> [[UInt8]: Int64] {
        let library = view.library
        var found: [[UInt8]: Int64] = [:]
        func add(_ object: [UInt8], _ value: Int64) { found[object] = max(found[object] ?? value, value) }
        var values: [String: Int64] = [:]
        switch type {
        case .filter, .tag(.album), .tag(.musicBrainzAlbumID):
            for part in view.parts {
                part.marks.forEach(.album) { id, mark in
                    if let local = library.localID(id, of: part.serverID) { values[local] = mark.value(of: kept) }
                }
            }
            let songs = library.firstSongs(ofAlbums: Set(values.keys))
            for (id, value) in values {
                guard let song = songs[id] else { continue }
                switch type {
                case .tag(let tag): for text in library.values(of: tag, song) { add(text, value) }
                default: add(library.albumFilter(song).expression, value)
                }
            }
        case .tag(.artist), .tag(.albumArtist):
            for part in view.parts {
                part.marks.forEach(.artist) { name, mark in
                    if let value = mark.value(of: kept) { values[name] = max(values[name] ?? value, value) }
                }
            }
            guard case .tag(let tag) = type else { break }
            for (name, value) in values {
                let match = TextMatch(.equals, Array(name.utf8), foldsCase: false)
                if try !library.select(.tag(tag, match)).isEmpty { add(Array(name.utf8), value) }
            }
        default: break
        }
        return found
    }
}

extension LibrarySnapshot {
    /// The filter by which clients name the album of a song: artist, album and date, as far as they are known.
    fileprivate func albumFilter(_ song: SongIndex) -> Filter {
        let artists = [values(of: .albumArtist, song), values(of: .artist, song)].first { !$0.isEmpty } ?? []
        let parts: [(Tag, [UInt8]?)] = [
            (.albumArtist, artists.first), (.album, values(of: .album, song).first),
            (.date, values(of: .date, song).first),
        ]
        return .and(
            parts.compactMap { tag, text in text.map { .tag(tag, TextMatch(.equals, $0, foldsCase: false)) } }
        )
    }
}

extension Collection<UInt8> {
    /// Whether these bytes begin with those, ASCII letters compared without case.
    fileprivate func startsIgnoringCase(_ start: some Collection<UInt8>) -> Bool {
        count >= start.count && zip(self, start).allSatisfy { $0 == $1 || Self.lower($0) == Self.lower($1) }
    }

    private static func lower(_ byte: UInt8) -> UInt8 {
        byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
    }
}

/// Songs and other objects with a sticker, as `sticker find` gives them.
struct StickerHits: ReplySource {
    private let library: LibrarySnapshot
    private let label: String
    private let name: [UInt8]
    private var rest: ArraySlice<StickerSearch.Hit>

    init(_ hits: ArraySlice<StickerSearch.Hit>, of search: StickerSearch, in library: LibrarySnapshot) {
        self.library = library
        label = search.type.label + ": "
        name = search.name
        rest = hits
    }

    mutating func appendNext(to output: inout [UInt8], limit: Int) -> Bool {
        while output.count < limit, let hit = rest.popFirst() {
            output.append(contentsOf: label.utf8)
            output.append(contentsOf: hit.song.map { library.uri($0) } ?? hit.object)
            output.append(contentsOf: "\nsticker: ".utf8)
            output.append(contentsOf: name)
            output.append(UInt8(ascii: "="))
            output.append(contentsOf: hit.value)
            output.append(UInt8(ascii: "\n"))
        }
        return !rest.isEmpty
    }
}
