import Library
import Logging
import SubsonicKit

/// Something to be done at the server for stars and ratings: acts in the order in which they were done.
struct MarkDelivery: Sendable {
    struct Item: Sendable {
        var key: MarkKey
        var act: MarkAct
        /// The last act that is in it.
        var through: Int64
        /// What the server had before.
        var base: UInt8
    }

    var items: [Item]
}

/// What became of an act.
enum MarkReceipt: Sendable {
    /// The server has it: it was read back.
    case arrived
    /// The server does not take this: no such thing, or nothing that can be starred or rated. Some say so by an error
    /// that may mean anything, also what passes; then it is not certain.
    case refused(String, isCertain: Bool)
    /// It did not work; this and what follows is tried again.
    case failed(SubsonicError)
}

/// Brings stars and ratings to one server. Used for one delivery at a time.
///
/// Each act is looked up first: what is there already, because an answer was lost or somebody else did the same, is not
/// sent again. Afterwards it is read back, because some servers say yes to what they do not do.
actor MarkCourier {
    let server: any SubsonicCalling
    let log: Log
    private var kind: ServerKind?
    /// Ids of artists by their names.
    private var artists: [String: String] = [:]

    /// More stars than this are looked up by one question for all.
    private static let few = 4

    init(_ server: any SubsonicCalling, log: Log) {
        self.server = server
        self.log = log
    }

    /// Carries out what the core's keeper wants, one delivery at a time, until the task is cancelled.
    nonisolated func work(for home: MusicServer.Reference) async {
        let (jobs, queue) = AsyncStream.makeStream(of: MarkDelivery.self)
        home.post { $0.marks.connect { queue.yield($0) } }
        for await delivery in jobs {
            let receipts = await deliver(delivery)
            if Task.isCancelled { return }
            home.post { $0.marks.delivered(delivery, receipts) }
        }
    }

    /// Brings acts to the server, in their order.
    /// - Returns: what became of each; fewer where the last one has failed.
    func deliver(_ delivery: MarkDelivery) async -> [MarkReceipt] {
        var receipts: [MarkReceipt] = []
        var rest = delivery.items[...]
        do throws(SubsonicError) {
            if kind == nil { kind = ServerKind(try await server.ping()) }
            while let first = rest.first {
                let group = first.act.isStar ? rest.prefix { $0.act == first.act } : rest.prefix(1)
                rest = rest[group.endIndex...]
                receipts += try await deliver(Array(group))
            }
        } catch {
            receipts.append(.failed(error))
        }
        return receipts
    }

    /// Brings stars of one sort, or one rating.
    private func deliver(_ items: [MarkDelivery.Item]) async throws(SubsonicError) -> [MarkReceipt] {
        var ids: [String?] = []
        for item in items { ids.append(try await id(of: item.key)) }
        var states = try await states(items, ids)
        let open = items.indices.filter { ids[$0] != nil && states[$0]?.has(items[$0].act) != true }
        for index in open { tellConflict(items[index], states[index]) }
        if open.isEmpty { return items.indices.map { receipt(items[$0], ids[$0], states[$0], refusal: nil) } }
        let refusals = try await send(open.compactMap { index in ids[index].map { (items[index], $0) } })
        let after = try await self.states(items, ids)
        for index in items.indices { states[index] = after[index] }
        return items.indices.map { index in
            receipt(items[index], ids[index], states[index], refusal: refusals[items[index].key])
        }
    }

    private func receipt(
        _ item: MarkDelivery.Item,
        _ id: String?,
        _ state: MarkState?,
        refusal: SubsonicError?
    ) -> MarkReceipt {
        guard id != nil else { return .refused("there is no such artist", isCertain: true) }
        // What cannot be read back is believed.
        if state?.has(item.act) ?? (refusal == nil) { return .arrived }
        return .refused(refusal.map { "\($0)" } ?? "it has no effect", isCertain: refusal?.serverCode ?? 0 != 0)
    }

    private func tellConflict(_ item: MarkDelivery.Item, _ state: MarkState?) {
        guard case .rate(let value) = item.act, let state, let stars = state.stars, stars != item.base else { return }
        log.notice(
            "The rating of \(item.key.subject) was changed elsewhere to \(stars) meanwhile; it becomes \((value + 1) / 2)"
        )
    }

    // MARK: Sending

    /// - Returns: what the server refused, and why.
    private func send(
        _ items: [(MarkDelivery.Item, id: String)]
    ) async throws(SubsonicError) -> [MarkKey: SubsonicError] {
        do {
            try await sendAll(items)
            return [:]
        } catch {
            guard error.isRefusal else { throw error }
            if items.count == 1, let item = items.first { return [item.0.key: error] }
        }
        // One of them spoils all on some servers.
        var refusals: [MarkKey: SubsonicError] = [:]
        for item in items {
            do {
                try await sendAll([item])
            } catch {
                guard error.isRefusal else { throw error }
                refusals[item.0.key] = error
            }
        }
        return refusals
    }

    private func sendAll(_ items: [(MarkDelivery.Item, id: String)]) async throws(SubsonicError) {
        guard let first = items.first else { return }
        switch first.0.act {
        case .star(let isStarred):
            try await server.star(items.map { $0.0.key.starredID($0.id) }, isStarred)
        case .rate(let value):
            // A lone 0 is dropped by Ampache.
            let zero = kind == .ampache ? "00" : "0"
            try await server.setRating(id: first.id, rating: value == 0 ? zero : String((value + 1) / 2))
        }
    }

    // MARK: Looking

    /// What the server has of these; nil where it cannot be found out.
    private func states(
        _ items: [MarkDelivery.Item],
        _ ids: [String?]
    ) async throws(SubsonicError) -> [MarkState?] {
        if items.count > Self.few, let all = try await starred() {
            return zip(items, ids).map { item, id in
                id.map { MarkState(isStarred: all.contains(MarkKey(kind: item.key.kind, id: $0)), stars: nil) }
            }
        }
        var states: [MarkState?] = []
        for (item, id) in zip(items, ids) {
            guard let id else {
                states.append(nil)
                continue
            }
            states.append(try await state(item.key.kind, id))
        }
        return states
    }

    private func state(_ kind: MarkKey.Kind, _ id: String) async throws(SubsonicError) -> MarkState? {
        do {
            switch kind {
            case .song:
                return try await server.song(id: id).map { MarkState(isStarred: $0.isStarred, stars: $0.userRating) }
            case .album:
                return try await server.album(id: id).map { MarkState(isStarred: $0.isStarred, stars: $0.userRating) }
            case .artist:
                return try await server.artist(id: id).map { MarkState(isStarred: $0.isStarred, stars: $0.userRating) }
            }
        } catch {
            // What is not there has neither star nor rating.
            if error.serverCode == 70 { return MarkState(isStarred: false, stars: nil) }
            guard error.isRefusal else { throw error }
            return nil
        }
    }

    /// All that is starred; nil where the server does not tell.
    private func starred() async throws(SubsonicError) -> Set<MarkKey>? {
        do {
            let all = try await server.starred2()
            return Set(
                all.songs.map { MarkKey.song($0.id) } + all.albums.map { .album($0.id) }
                    + all.artists.map { MarkKey(kind: .artist, id: $0.id) }
            )
        } catch {
            guard error.isRefusal else { throw error }
            return nil
        }
    }

    /// What the server calls it; nil for an artist that it does not have.
    private func id(of key: MarkKey) async throws(SubsonicError) -> String? {
        guard key.kind == .artist else { return key.id }
        if let known = artists[key.id] { return known }
        let found: [Artist]
        do {
            found = try await server.search3(SearchPage(query: key.id, artists: 0..<50)).artists
        } catch {
            guard error.isRefusal else { throw error }
            return nil
        }
        let id = found.first { $0.name == key.id }?.id
        artists[key.id] = id
        return id
    }
}

/// What a server has of one song, album or artist.
private struct MarkState: Sendable {
    var isStarred: Bool
    /// 0...5; nil where only stars were asked for.
    var stars: UInt8?

    init(isStarred: Bool, stars: Int?) {
        self.isStarred = isStarred
        self.stars = UInt8(clamping: stars ?? 0)
    }

    /// Whether there is nothing left to do for an act.
    func has(_ act: MarkAct) -> Bool {
        switch act {
        case .star(let isStarred): self.isStarred == isStarred
        case .rate(let value): stars == (value + 1) / 2
        }
    }
}

extension SubsonicError {
    /// Whether the server understood and does not want to, so that the same question would get the same answer.
    fileprivate var isRefusal: Bool {
        switch self {
        case .server: !isAuthentication
        case .http(let status, _): [405, 410, 501].contains(status)
        case .transport, .decoding: false
        }
    }
}

extension MarkKey {
    fileprivate func starredID(_ id: String) -> StarredID {
        switch kind {
        case .song: .song(id)
        case .album: .album(id)
        case .artist: .artist(id)
        }
    }
}
