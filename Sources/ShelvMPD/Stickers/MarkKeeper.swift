import Glibc
import Library
import Logging
import MPDProtocol
import SubsonicKit

/// Stars, ratings and likes: what clients see of them, and what is still to be told to the server.
///
/// An act is shown at once, kept in the journal, and sent later by what `perform` stands for. What the server tells of its
/// stars and ratings is worked in on a worker, and does not touch what is under way. Owned by the core.
final class MarkKeeper {
    let log: Log
    /// What clients see.
    private(set) var book = MarkBook()
    /// Whether there are stars at all.
    let hasFavorites: Bool
    /// Nil where nothing is kept and no server is told.
    let journal: JournalWriter?

    /// The server that has them.
    weak var home: MusicServer?
    /// Carries out what has to be done at the server; one delivery at a time. Nil without a server.
    var perform: ((MarkDelivery) -> Void)?
    var work = MarkWork()
    let pace = DeliveryPace()
    /// How many answers of the server are being worked in.
    private(set) var reworking = 0

    /// - Parameter book: what the last run left in the store.
    init(_ book: MarkBook = MarkBook(), hasFavorites: Bool = true, journal: JournalWriter? = nil, log: Log = .silent) {
        self.book = book
        self.hasFavorites = hasFavorites
        self.journal = journal
        self.log = log
    }

    // MARK: Acts

    /// Stars something, or takes the star away.
    /// - Parameter whenKept: told once it cannot be lost any more.
    func star(_ keys: some Collection<MarkKey>, _ isStarred: Bool, whenKept: @escaping Store.WhenDone) {
        let now = Self.wallClock
        var acts: [(key: MarkKey, act: MarkAct, base: UInt8)] = []
        var changed: [(key: MarkKey, mark: Mark)] = []
        var seen: Set<MarkKey> = []
        for key in keys.prefix(Self.most) where seen.insert(key).inserted {
            var mark = book[key] ?? Mark()
            let wasStarred = mark.starred != nil
            if wasStarred != isStarred {
                mark.starred = isStarred ? now : nil
                if !isStarred { mark.hasLocalStar = false }
                acts.append((key, .star(isStarred), wasStarred ? 1 : 0))
            } else if mark.like == nil {
                continue
            }
            mark.like = nil
            changed.append((key, mark))
        }
        if !changed.isEmpty { book.set(changed) }
        let rest = Array(keys.dropFirst(Self.most))
        let whenKept = KeptParts(rest.isEmpty ? 1 : 2, whenKept).part
        keep(changed.map(\.key), acts, whenKept)
        if !acts.isEmpty { starsChanged() }
        guard !rest.isEmpty else { return }
        // Without a server there is nobody whose turn it could be.
        guard let home else { return star(rest, isStarred, whenKept: whenKept) }
        // Nobody shall wait for many.
        home.reference.core.post { [reference = home.reference] server in
            // It may have left the configuration meanwhile; somebody waits all the same.
            guard let home = reference.find(in: server) else {
                return whenKept(.failure(StoreError(.failed, "the server is gone from the configuration")))
            }
            home.marks.star(rest, isStarred, whenKept: whenKept)
        }
    }

    /// Rates something, 0...10; 0 takes the rating away.
    /// - Parameter whenKept: told once it cannot be lost any more.
    func rate(_ keys: [MarkKey], _ value: UInt8, whenKept: @escaping Store.WhenDone) {
        var acts: [(key: MarkKey, act: MarkAct, base: UInt8)] = []
        for key in keys {
            var mark = book[key] ?? Mark()
            let known = libraryStars(key)
            let former = mark.rating?.stars ?? known
            var rating = Mark.Rating(value: value, settled: nil)
            if rating.stars == former, book.pending[key]?.rating == nil {
                // Nothing that the server could tell apart.
                rating.settled = mark.rating?.settled ?? 0
            } else {
                acts.append((key, .rate(value), former))
            }
            mark.rating = rating
            if rating.settled == 0, value == known * 2 { mark.rating = nil }
            if key.kind != .song, value == 0, rating.settled != nil { mark.rating = nil }
            book.set(key, mark)
        }
        keep(keys, acts, whenKept)
    }

    /// Notes 0, disliked, or 1, not disliked, of what has no star; nil forgets it.
    /// - Parameter whenKept: told once it cannot be lost any more.
    func like(_ keys: [MarkKey], _ value: UInt8?, whenKept: @escaping Store.WhenDone) {
        for key in keys {
            var mark = book[key] ?? Mark()
            mark.like = value
            book.set(key, mark)
        }
        keep(keys, [], whenKept)
    }

    /// The library's rating of a song, 0...5.
    private func libraryStars(_ key: MarkKey) -> UInt8 {
        guard key.kind == .song, let library = home?.library, let song = library.song(id: key.id) else { return 0 }
        return library.userRating(song)
    }

    /// Writes marks and acts down in one transaction, and has the acts sent.
    private func keep(
        _ keys: [MarkKey],
        _ acts: [(key: MarkKey, act: MarkAct, base: UInt8)],
        _ whenKept: @escaping Store.WhenDone
    ) {
        guard let journal, !keys.isEmpty else { return whenKept(.success(())) }
        let server = journal.server.text
        let rows = rows(keys)
        let whenKept = KeptParts(1 + acts.count, whenKept).part
        journal.store.submit(
            "stars and ratings",
            { database throws(StoreError) in
                for row in rows {
                    try StickerTable.write(row.mark, on: row.key, uri: row.uri, for: server, to: database)
                }
            },
            whenDone: whenKept
        )
        for act in acts {
            let base = book.pending[act.key]?.act(like: act.act)?.base ?? act.base
            let entry = journal.append(
                act.act.kind,
                subject: act.key.subject,
                content: [act.act.value, base],
                time: Self.wallClock,
                whenKept: whenKept
            )
            book.note(act.act, act.key, id: entry.id, base: base)
        }
        if !acts.isEmpty { pace.soon() }
    }

    private func rows(_ keys: [MarkKey]) -> [(key: MarkKey, mark: Mark, uri: [UInt8]?)] {
        keys.map { (key: $0, mark: book[$0] ?? Mark(), uri: uri(of: $0)) }
    }

    private func uri(of key: MarkKey) -> [UInt8]? {
        guard key.kind == .song, let library = home?.library else { return nil }
        return library.song(id: key.id).map { library.uri($0) }
    }

    /// Keeps marks whose acts are done with, up to these numbers.
    func settle(_ done: [MarkDelivery.Item]) {
        guard let journal else { return }
        let server = journal.server.text
        let rows = rows(done.map(\.key))
        journal.store.submit("that the server has stars and ratings") { database throws(StoreError) in
            for row in rows { try StickerTable.write(row.mark, on: row.key, uri: row.uri, for: server, to: database) }
            for item in done {
                try Journal.remove(
                    item.act.kind,
                    subject: item.key.subject,
                    through: item.through,
                    for: server,
                    from: database
                )
            }
        }
    }

    /// Changes the book without an act.
    func change(_ body: (inout MarkBook) -> Void) { body(&book) }

    // MARK: What the server tells

    /// Takes over what the user has starred.
    /// - Parameter asked: a moment before the server was asked.
    func take(_ starred: SearchResult, asked: Instant) {
        rework { book in (book.take(starred, asked: asked), 0) }
    }

    /// Takes over how the user has rated albums, stars 0...5 by id.
    /// - Parameter asked: a moment before the server was asked.
    func take(albums stars: [String: UInt8], asked: Instant) {
        guard !stars.isEmpty else { return }
        rework { book in (book.take(albums: stars, asked: asked), 0) }
    }

    /// Compares what was rated here with a library.
    func confirm(_ library: LibrarySnapshot) {
        guard book.count(.song) > 0 else { return }
        let read = library.lastFullRead
        rework { book in
            let result = book.confirm(read: read, now: Self.wallClock) { id in
                library.song(id: id).map { library.userRating($0) }
            }
            return (result.news, result.overruled)
        }
    }

    /// Songs have other ids now: by the old ones.
    func rename(_ songs: [String: String]) {
        guard book.count(.song) > 0 else { return }
        rework { book in (book.rename(songs: songs), 0) }
        guard let journal else { return }
        let server = journal.server.text
        journal.store.submit("other ids of songs") { database throws(StoreError) in
            for (old, new) in songs {
                for kind in [JournalEntry.Kind.star, .rating] {
                    try Journal.rename(
                        kind,
                        MarkKey.song(old).subject,
                        MarkKey.song(new).subject,
                        for: server,
                        in: database
                    )
                }
            }
        }
    }

    /// Changes a copy of the book on a worker, and puts it in the place of the book, unless that was changed meanwhile: then
    /// once more.
    private func rework(
        _ change: @escaping @Sendable (inout MarkBook) -> (news: [(key: MarkKey, mark: Mark)], overruled: Int)
    ) {
        guard let home, let server = home.server else { return }
        reworking += 1
        let (former, library) = (book, home.library)
        server.workers.submit { [reference = home.reference] in
            var book = former
            let (news, overruled) = change(&book)
            let rows = news.map { item in
                let song = item.key.kind == .song ? library.song(id: item.key.id) : nil
                return (key: item.key, mark: item.mark, uri: song.map { library.uri($0) })
            }
            reference.post { [book] home in
                let keeper = home.marks
                keeper.reworking -= 1
                guard keeper.book.version == former.version else { return keeper.rework(change) }
                keeper.reworked(book, rows, overruled)
            }
        }
    }

    private func reworked(_ book: MarkBook, _ rows: [(key: MarkKey, mark: Mark, uri: [UInt8]?)], _ overruled: Int) {
        let former = self.book
        self.book = book
        guard !rows.isEmpty else { return }
        if overruled > 0 { log.info("\(overruled) ratings were changed elsewhere") }
        if let journal {
            let server = journal.server.text
            journal.store.submit("stars and ratings of the server") { database throws(StoreError) in
                for row in rows {
                    try StickerTable.write(row.mark, on: row.key, uri: row.uri, for: server, to: database)
                }
            }
        }
        home?.raise(.sticker)
        if MarkKey.Kind.allCases.contains(where: { former.starred($0) != book.starred($0) }) { starsChanged() }
    }

    /// What shows stars follows.
    private func starsChanged() {
        showStars()
        if hasFavorites { home?.raise([.sticker, .storedPlaylist]) }
    }

    /// Puts the stars on the shelf of favourites.
    func showStars() {
        if let home, home.isAttached { home.server?.showStars() }
    }

    /// Stars of one turn.
    private static var most: Int { 200 }

    /// Unix time in seconds.
    static var wallClock: Int64 { Int64(time(nil)) }
}

extension PendingMark {
    /// The act of the same sort.
    func act(like act: MarkAct) -> Act? { act.isStar ? star : rating }
}
