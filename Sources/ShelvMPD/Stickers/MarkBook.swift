import SubsonicKit

/// Stars, ratings and likes at one moment: a value that any thread can read.
struct MarkBook: Sendable {
    private var tables: [ShardedTable<String, Mark>] = MarkKey.Kind.allCases.map { _ in ShardedTable() }
    /// What is starred, by kind, the newest last.
    private var starred: [[String]] = MarkKey.Kind.allCases.map { _ in [] }
    /// What the server does not have yet.
    private(set) var pending: [MarkKey: PendingMark] = [:]
    /// The same in the order of the acts; among them such that later ones have taken the place of.
    private var line: [(id: Int64, key: MarkKey)] = []
    private var lineStart = 0
    /// When the server got what was under way: an answer to an older question says nothing of these.
    var settled: [MarkKey: Instant] = [:]
    /// Grows with each change.
    private(set) var version = 0
    private(set) var lastPlace: Int64 = 0

    init() {}

    subscript(key: MarkKey) -> Mark? { tables[Int(key.kind.rawValue)][key.id] }

    /// What is starred, the newest last: ids, of artists names.
    func starred(_ kind: MarkKey.Kind) -> [String] { starred[Int(kind.rawValue)] }

    /// How many there are of a kind.
    func count(_ kind: MarkKey.Kind) -> Int { tables[Int(kind.rawValue)].count }

    /// Goes through all of a kind, in no order.
    func forEach(_ kind: MarkKey.Kind, _ body: (String, Mark) -> Void) { tables[Int(kind.rawValue)].forEach(body) }

    /// Puts one in the place of the former; an empty one takes it out. A new star is the newest.
    mutating func set(_ key: MarkKey, _ mark: Mark) { set([(key, mark)]) }

    /// Puts some in the place of the former ones; empty ones take them out. New stars are the newest, in this order.
    mutating func set(_ marks: [(key: MarkKey, mark: Mark)]) {
        version += 1
        var gone: [Set<String>] = MarkKey.Kind.allCases.map { _ in [] }
        for (key, mark) in marks {
            let kind = Int(key.kind.rawValue)
            let former = tables[kind][key.id]
            var mark = mark
            switch (former?.starred, mark.starred) {
            case (nil, .some):
                lastPlace += 1
                mark.place = lastPlace
                starred[kind].append(key.id)
            case (.some, nil): gone[kind].insert(key.id)
            default: break
            }
            tables[kind][key.id] = mark.isEmpty ? nil : mark
        }
        for kind in gone.indices where !gone[kind].isEmpty { starred[kind].removeAll { gone[kind].contains($0) } }
    }

    // MARK: Under way

    /// An act is under way; what the server had before the first of them stays known.
    mutating func note(_ act: MarkAct, _ key: MarkKey, id: Int64, base: UInt8) {
        version += 1
        var pending = self.pending[key] ?? PendingMark()
        let former = act.isStar ? pending.star : pending.rating
        let new = PendingMark.Act(act: act, id: id, base: former?.base ?? base)
        if act.isStar { pending.star = new } else { pending.rating = new }
        self.pending[key] = pending
        line.append((id, key))
    }

    /// An act is under way no more, unless a later one has taken its place. Returns whether it was the last one.
    mutating func settle(_ act: MarkAct, _ key: MarkKey, through: Int64, at now: Instant) -> Bool {
        guard var pending = self.pending[key], pending.act(like: act)?.id == through else { return false }
        version += 1
        if act.isStar { pending.star = nil } else { pending.rating = nil }
        self.pending[key] = pending.isEmpty ? nil : pending
        settled[key] = now
        return true
    }

    /// The oldest acts that are under way.
    /// - Parameter isWanted: those that are to be left out say no.
    mutating func oldest(_ count: Int, _ isWanted: (MarkKey) -> Bool) -> [MarkDelivery.Item] {
        while lineStart < line.count, act(line[lineStart]) == nil { lineStart += 1 }
        if lineStart > 1_000, lineStart > line.count / 2 {
            line.removeFirst(lineStart)
            lineStart = 0
        }
        var items: [MarkDelivery.Item] = []
        for entry in line[lineStart...] where items.count < count {
            guard let act = act(entry), isWanted(entry.key) else { continue }
            items.append(MarkDelivery.Item(key: entry.key, act: act.act, through: act.id, base: act.base))
        }
        return items
    }

    private func act(_ entry: (id: Int64, key: MarkKey)) -> PendingMark.Act? {
        guard let pending = pending[entry.key] else { return nil }
        return [pending.star, pending.rating].compactMap { $0 }.first { $0.id == entry.id }
    }

    /// Puts many in the place of the former ones, with the places that they bear; then the stars are put in order.
    mutating func replace(_ marks: [(key: MarkKey, mark: Mark)]) {
        guard !marks.isEmpty else { return }
        version += 1
        for (key, mark) in marks {
            lastPlace = max(lastPlace, mark.place)
            tables[Int(key.kind.rawValue)][key.id] = mark.isEmpty ? nil : mark
        }
        for kind in Set(marks.map(\.key.kind)) { sortStars(kind) }
    }

    private mutating func sortStars(_ kind: MarkKey.Kind) {
        var all: [(time: Int64, place: Int64, id: String)] = []
        forEach(kind) { id, mark in
            if let time = mark.starred { all.append((time, mark.place, id)) }
        }
        all.sort { ($0.time, $0.place, $0.id) < ($1.time, $1.place, $1.id) }
        starred[Int(kind.rawValue)] = all.map(\.id)
    }

    /// Songs have other ids now: by the old ones.
    /// - Returns: what is to be kept of it; an empty mark takes a row away.
    mutating func rename(songs names: [String: String]) -> [(key: MarkKey, mark: Mark)] {
        let moved = names.compactMap { old, new in self[.song(old)].map { (old: old, new: new, mark: $0) } }
        let waiting = names.compactMap { old, new in pending[.song(old)].map { (old: old, new: new, pending: $0) } }
        for item in waiting { pending[.song(item.old)] = nil }
        for item in waiting { pending[.song(item.new)] = item.pending }
        if !waiting.isEmpty {
            version += 1
            line = pending.flatMap { key, acts in [acts.star, acts.rating].compactMap { $0 }.map { ($0.id, key) } }
                .sorted { $0.id < $1.id }
            lineStart = 0
        }
        guard !moved.isEmpty else { return [] }
        var marks: [MarkKey: Mark] = [:]
        for move in moved { marks[.song(move.old)] = Mark() }
        for move in moved { marks[.song(move.new)] = move.mark }
        let all = marks.map { (key: $0.key, mark: $0.value) }
        replace(all)
        return all
    }
}

// MARK: What the server tells

extension MarkBook {
    /// Takes over all that is starred at the server.
    /// - Parameters:
    ///   - asked: when the server was asked.
    ///   - hasAlbums: whether albums and artists can be starred there.
    /// - Returns: what differs.
    mutating func take(_ result: SearchResult, asked: Instant) -> [(key: MarkKey, mark: Mark)] {
        settled = settled.filter { $0.value >= asked }
        var news: [(key: MarkKey, mark: Mark)] = []
        var place = lastPlace
        func take(_ kind: MarkKey.Kind, _ items: [(id: String, time: Int64?, rating: Int?)]) {
            var present = Set<String>()
            for item in items.sorted(by: { ($0.time ?? 0) < ($1.time ?? 0) }) {
                let key = MarkKey(kind: kind, id: item.id)
                guard present.insert(item.id).inserted, settled[key] == nil else { continue }
                var mark = self[key] ?? Mark()
                if pending[key]?.star == nil {
                    if mark.starred == nil {
                        place += 1
                        mark.place = place
                    }
                    mark.starred = item.time ?? mark.starred ?? 0
                    mark.hasLocalStar = false
                    mark.like = nil
                }
                if kind != .song, pending[key]?.rating == nil, let rating = item.rating.flatMap({ UInt8(exactly: $0) })
                {
                    mark.take(stars: rating)
                }
                if mark != self[key] { news.append((key, mark)) }
            }
            for id in starred(kind) where !present.contains(id) {
                let key = MarkKey(kind: kind, id: id)
                guard var mark = self[key], !mark.hasLocalStar, settled[key] == nil, pending[key]?.star == nil else {
                    continue
                }
                mark.starred = nil
                news.append((key, mark))
            }
        }
        take(.song, result.songs.map { ($0.id, $0.starred, nil) })
        take(.album, result.albums.map { ($0.id, $0.starred, $0.userRating) })
        take(
            .artist,
            result.artists.compactMap { artist in artist.name.map { ($0, artist.starred, artist.userRating) } }
        )
        replace(news)
        return news
    }

    /// Takes over what the server tells of ratings of albums.
    /// - Parameters:
    ///   - stars: 0...5 by id.
    ///   - asked: when the server was asked.
    /// - Returns: what differs.
    mutating func take(albums stars: [String: UInt8], asked: Instant) -> [(key: MarkKey, mark: Mark)] {
        settled = settled.filter { $0.value >= asked }
        var news: [(key: MarkKey, mark: Mark)] = []
        for (id, stars) in stars {
            let key = MarkKey.album(id)
            guard settled[key] == nil, pending[key]?.rating == nil else { continue }
            let former = self[key] ?? Mark()
            var mark = former
            mark.take(stars: stars)
            if mark != former { news.append((key, mark)) }
        }
        replace(news)
        return news
    }

    /// Compares ratings with a library.
    /// - Parameters:
    ///   - read: when the server was begun to be read for it, Unix time in seconds.
    ///   - now: Unix time in seconds.
    ///   - stars: the library's rating of a song, 0...5; nil for a song that it does not have.
    /// - Returns: what differs, and how many ratings others have changed.
    mutating func confirm(
        read: Int64,
        now: Int64,
        stars: (String) -> UInt8?
    ) -> (news: [(key: MarkKey, mark: Mark)], overruled: Int) {
        var news: [(key: MarkKey, mark: Mark)] = []
        var overruled = 0
        forEach(.song) { id, mark in
            guard let rating = mark.rating, let since = rating.settled else { return }
            var mark = mark
            if since > now, since != .max {
                // The clock has been set back since, perhaps by years: the next time will tell.
                mark.rating?.settled = now
                news.append((.song(id), mark))
                return
            }
            guard since < read, let known = stars(id) else { return }
            if known != rating.stars { overruled += 1 }
            // An odd one is more than the server can tell.
            guard known != rating.stars || rating.value % 2 == 0 else { return }
            mark.rating = nil
            news.append((.song(id), mark))
        }
        replace(news)
        return (news, overruled)
    }
}

extension Mark {
    /// The server tells a rating of 1...5, or 0 for none; one that was set here and means the same stays.
    fileprivate mutating func take(stars: UInt8) {
        guard rating?.stars ?? 0 != stars, rating?.settled != .max else { return }
        rating = stars == 0 ? nil : Rating(value: min(stars, 5) * 2, settled: 0)
    }
}
