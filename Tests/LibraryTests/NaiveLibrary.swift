import MPDProtocol

@testable import Library

/// The same questions answered by looking at every song, for comparison.
struct NaiveLibrary {
    /// In database order.
    let records: [SongRecord]

    init(_ library: LibrarySnapshot) {
        records = library.songs(below: .root).map { library.record($0) }
    }

    func select(_ filter: Filter, sort: SortOrder? = nil, window: Range<Int>? = nil) throws -> [String] {
        var found = try records.filter { try matches($0, filter) }
        if let sort { found = sorted(found, sort) }
        if let window { found = Array(found[window.clamped(to: 0..<found.count)]) }
        return found.map(\.songID)
    }

    func matches(_ song: SongRecord, _ filter: Filter) throws -> Bool {
        switch filter {
        case .tag(let tag, let match):
            let values = values(song, tag)
            let isMatch = try values.isEmpty ? match.text.isEmpty : values.contains { try test($0, match) }
            return isMatch != match.isNegated
        case .anyTag(let match): return try song.tags.contains { try test($0.value, match) } != match.isNegated
        case .uri(let match): return try test(song.uri, match) != match.isNegated
        case .base(let path):
            let path = String(decoding: path, as: UTF8.self)
            let parent = path.hasSuffix("/") ? path : path + "/"
            return path.isEmpty || song.uri == path || Array(song.uri.utf8).starts(with: Array(parent.utf8))
        case .modifiedSince(let time): return song.lastModified.map { $0 >= time } ?? false
        case .addedSince(let time): return song.added.map { $0 >= time } ?? false
        case .audioFormat(let mask):
            guard let format = song.format else { return false }
            return (mask.sampleRate ?? format.sampleRate) == format.sampleRate
                && (mask.sampleFormat ?? format.sampleFormat) == format.sampleFormat
                && (mask.channels ?? format.channels) == format.channels
        case .priority(let least): return least == 0
        case .not(let inner): return try !matches(song, inner)
        case .and(let parts): return try parts.allSatisfy { try matches(song, $0) }
        }
    }

    /// The distinct values of the first type of the chain that the song has.
    func values(_ song: SongRecord, _ tag: Tag) -> [String] { values(song, [tag] + tag.fallbacks) }

    private func values(_ song: SongRecord, _ chain: [Tag]) -> [String] {
        for type in chain {
            var values: [String] = []
            for entry in song.tags where entry.tag == type {
                if !values.contains(where: { Array($0.utf8) == Array(entry.value.utf8) }) { values.append(entry.value) }
            }
            if !values.isEmpty { return values }
        }
        return []
    }

    /// The lines of a `list`: each combination, sorted as bytes, outer levels printed where they change.
    func list(_ tag: Tag, _ filter: Filter, groups: [Tag]) throws -> String {
        let levels = groups + [tag]
        var rows: [[[UInt8]]] = []
        for song in records where try matches(song, filter) {
            var own: [[[UInt8]]] = [[]]
            for level in levels {
                let values = values(song, level).map { Array($0.utf8) }
                own = own.flatMap { row in (values.isEmpty ? [[]] : values).map { row + [$0] } }
            }
            rows += own
        }
        rows.sort { a, b in
            for (first, second) in zip(a, b) where first != second { return first.lexicographicallyPrecedes(second) }
            return false
        }
        var text = ""
        var last: [[UInt8]]?
        for row in rows where row != last {
            var hasChanged = last == nil
            for (level, value) in row.enumerated() {
                if let last, last[level] != value { hasChanged = true }
                if hasChanged { text += "\(levels[level].name): \(String(decoding: value, as: UTF8.self))\n" }
            }
            last = row
        }
        return text
    }

    private func test(_ value: String, _ match: TextMatch) throws -> Bool {
        var value = Array(value.utf8)
        var wanted = match.text
        if match.operator == .regex {
            return try Regex(wanted, foldsCase: match.foldsCase).matches(text: value)
        }
        if match.stripsDiacritics {
            value = value.withView { TextFolding.stripped($0, foldsCase: match.foldsCase) }
            wanted = wanted.withView { TextFolding.stripped($0, foldsCase: match.foldsCase) }
        } else if match.foldsCase {
            value = TextFolding.folded(value)
            wanted = TextFolding.folded(wanted)
        }
        switch match.operator {
        case .equals: return value == wanted
        case .startsWith, .regex: return value.starts(with: wanted)
        case .contains:
            return wanted.isEmpty
                || value.indices.contains { value[$0...].starts(with: wanted) }
        }
    }

    private func sorted(_ songs: [SongRecord], _ order: SortOrder) -> [SongRecord] {
        func precedes(_ a: SongRecord, _ b: SongRecord) -> Bool {
            switch order.key {
            case .tag(let tag):
                let chain = [tag] + tag.sortFallbacks
                let first = values(a, chain).first ?? ""
                let second = values(b, chain).first ?? ""
                if tag == .track || tag == .disc { return (Int(first) ?? 0) < (Int(second) ?? 0) }
                return Array(first.utf8).lexicographicallyPrecedes(Array(second.utf8))
            case .lastModified: return (a.lastModified ?? 0) < (b.lastModified ?? 0)
            case .added: return (a.added ?? 0) < (b.added ?? 0)
            case .priority: return false
            }
        }
        // Insertion is stable.
        var result: [SongRecord] = []
        for song in songs {
            let place = result.lastIndex { !(order.isDescending ? precedes($0, song) : precedes(song, $0)) }
            result.insert(song, at: place.map { $0 + 1 } ?? 0)
        }
        return result
    }
}

extension Regex {
    func matches(text: [UInt8]) -> Bool { text.withView { matches($0) } }
}
