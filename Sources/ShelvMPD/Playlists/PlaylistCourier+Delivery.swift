import Library
import Logging
import SubsonicKit

/// Bringing edits to the server: what is there is read first, what is to be sent is kept before it is sent, and what came
/// of it is read again.
extension PlaylistCourier {
    /// Brings the edits of one list.
    func deliver(_ delivery: PlaylistDelivery) async -> PlaylistReceipt {
        var attempt = delivery.attempt
        do {
            return try await deliver(delivery, &attempt)
        } catch let error as SubsonicError {
            return .failed(error, attempt)
        } catch {
            // The store does not take what is to be sent: then it is not sent.
            return .failed(.transport(TransportError(.local, "\(error)")), attempt)
        }
    }

    private func deliver(
        _ delivery: PlaylistDelivery,
        _ attempt: inout PlaylistAttempt?
    ) async throws -> PlaylistReceipt {
        try await learn()
        var id = delivery.remoteID ?? attempt?.remoteID
        if id == nil, let attempt { id = try await find(attempt, delivery) }
        if delivery.isDeleted {
            if let id { try await delete(id) }
            return .removed
        }
        let wanted = delivery.wanted.compactMap(\.songID)
        if id == nil {
            let known = try await server.playlists().map(\.id)
            let new = PlaylistAttempt(title: delivery.title, knownIDs: known, entries: delivery.wanted)
            try await keepAttempt(new, delivery.key)
            attempt = new
            id = try await create(wanted, new, delivery)
        }
        if delivery.remoteID == nil, let id, var known = attempt, known.remoteID != id {
            // It may get another title next, by which it would not be found.
            known.remoteID = id
            try await keepAttempt(known, delivery.key)
            attempt = known
        }
        guard let id, let content = try await content(id) else { return .vanished }

        var result = content
        let present = content.songIDs
        let origin = PlaylistOrigin(
            base: delivery.base.compactMap(\.songID),
            attempt: attempt,
            present: present,
            isNew: delivery.remoteID == nil
        )
        let merged = PlaylistMerge.merge(base: origin.base, mine: wanted, theirs: origin.theirs)
        if merged != present {
            if origin.base != origin.theirs, merged != wanted {
                log.notice("The playlist \(delivery.title) was changed elsewhere, too; both changes are kept")
            }
            var new = PlaylistAttempt(
                title: delivery.title,
                knownIDs: attempt?.knownIDs ?? [],
                entries: merged.map { .song($0) },
                base: origin.base.map { .song($0) }
            )
            new.remoteID = attempt?.remoteID
            new.start = .init(present: present.map { .song($0) }, theirs: origin.theirs.map { .song($0) })
            try await keepAttempt(new, delivery.key)
            attempt = new
            guard let written = try await write(merged, over: content, of: delivery, &attempt) else {
                return .vanished
            }
            result = written
        }
        // One that was made by an earlier attempt may have got another title here since.
        if delivery.isRenamed || delivery.remoteID == nil, result.playlist.name != delivery.title {
            let isPublic = result.playlist.isPublic == true ? true : nil
            try await server.updatePlaylist(id: id, PlaylistUpdate(name: delivery.title, isPublic: isPublic))
            guard let renamed = try await self.content(id) else { return .vanished }
            result = renamed
        }
        if let isPublic = delivery.isPublic, let now = result.playlist.isPublic, isPublic != now {
            result = try await show(result, isPublic: isPublic)
        }
        return .arrived(result.playlist, result.songIDs.map { .song($0) })
    }

    // MARK: Making and removing

    /// The list that an attempt has made, if it did.
    private func find(
        _ attempt: PlaylistAttempt,
        _ delivery: PlaylistDelivery
    ) async throws(SubsonicError) -> String? {
        let known = delivery.otherIDs.union(attempt.knownIDs)
        let new = try await server.playlists().filter { $0.name == attempt.title && !known.contains($0.id) }.map(\.id)
        // What was there before another of this name was to be made is not that other one.
        return new.last { delivery.knownToOthers.contains($0) } ?? new.last
    }

    private func create(
        _ songIDs: [String],
        _ attempt: PlaylistAttempt,
        _ delivery: PlaylistDelivery
    ) async throws(SubsonicError) -> String? {
        let made: Playlist?
        if songIDs.count <= PlaylistTraits.mostInQuery {
            made = try await server.createPlaylist(name: attempt.title, songIDs: songIDs, post: false)
        } else {
            let first = Array(songIDs.prefix(PlaylistTraits.mostInQuery))
            made = try await withForm({ (server, post) async throws(SubsonicError) in
                try await server.createPlaylist(name: attempt.title, songIDs: post ? songIDs : first, post: post)
            })
        }
        if let made { return made.id }
        guard let id = try await find(attempt, delivery) else {
            throw .server(ServerFailure(code: 0, message: "The server has made no playlist"))
        }
        return id
    }

    private func delete(_ id: String) async throws(SubsonicError) {
        do {
            try await server.deletePlaylist(id: id)
        } catch {
            // Gone already is as good.
            guard error.serverCode == 70 else { throw error }
        }
    }

    /// Gives a list back who may see it: Ampache and LMS change that with every edit.
    private func show(_ content: PlaylistContent, isPublic: Bool) async throws(SubsonicError) -> PlaylistContent {
        let id = content.playlist.id
        // LMS takes any value for yes; leaving it out means no, but something must be there.
        let isLMS = traits?.kind == .lms
        let update =
            isLMS && !isPublic ? PlaylistUpdate(name: content.playlist.name) : PlaylistUpdate(isPublic: isPublic)
        do {
            try await server.updatePlaylist(id: id, update)
            return try await self.content(id) ?? content
        } catch {
            guard error.serverCode != nil else { throw error }
            log.notice("Cannot restore who sees the playlist \(content.playlist.name ?? id): \(error)")
            return content
        }
    }

    // MARK: Songs

    /// Makes a list hold these songs, by the ways that the server has.
    /// - Returns: the list as it is then; nil when it has gone.
    private func write(
        _ wanted: [String],
        over content: PlaylistContent,
        of delivery: PlaylistDelivery,
        _ attempt: inout PlaylistAttempt?
    ) async throws -> PlaylistContent? {
        let isPublic = delivery.isPublic
        let id = content.playlist.id
        var present = content
        var refusal: SubsonicError?
        for way in ways(from: content.songIDs, to: wanted) {
            if way == .piecewise, var piecewise = attempt {
                piecewise.start?.present = present.songIDs.map { .song($0) }
                piecewise.start?.isPiecewise = true
                try await keepAttempt(piecewise, delivery.key)
                attempt = piecewise
            }
            do throws(SubsonicError) {
                switch way {
                case .append: try await append(wanted[present.songIDs.count...], to: id, isPublic: isPublic)
                case .replace: try await replace(id, wanted, isPublic: isPublic)
                case .piecewise: try await rebuild(id, from: present.songIDs, to: wanted, isPublic: isPublic)
                }
                refusal = nil
            } catch {
                // Refused, or not known: another way may do. Whatever else went wrong goes wrong there, too.
                guard let code = error.serverCode, code != 50, !error.isAuthentication else { throw error }
                refusal = error
            }
            guard let now = try await self.content(id) else { return nil }
            present = now
            if now.songIDs == wanted { return now }
            if refusal == nil, way != .piecewise, Self.isWithoutSome(now.songIDs, wanted) { break }
            // Somebody else has added to it in the same moment.
            if way == .append, refusal == nil, Matching(from: wanted, to: now.songIDs).isComplete { return now }
        }
        if let refusal { throw refusal }
        let name = present.playlist.name ?? id
        log.notice("The server keeps \(present.songIDs.count) of \(wanted.count) songs of the playlist \(name)")
        return present
    }

    private enum Way { case append, replace, piecewise }

    private func ways(from present: [String], to wanted: [String]) -> [Way] {
        let replaces = traits?.replaces ?? true
        if wanted.count > present.count, wanted.starts(with: present) {
            return replaces ? [.append, .replace, .piecewise] : [.append, .piecewise]
        }
        return replaces ? [.replace, .piecewise] : [.piecewise]
    }

    /// Whether only songs are missing that the server does not know at all.
    private static func isWithoutSome(_ present: [String], _ wanted: [String]) -> Bool {
        let known = Set(present)
        return !present.isEmpty && wanted.filter { known.contains($0) } == present
    }

    private func append(_ songIDs: ArraySlice<String>, to id: String, isPublic: Bool?) async throws(SubsonicError) {
        let visible: Bool? = isPublic == true ? true : nil
        let all = PlaylistUpdate(isPublic: visible, addedSongIDs: Array(songIDs))
        if songIDs.count <= PlaylistTraits.mostInQuery {
            return try await server.updatePlaylist(id: id, all)
        }
        let isDone = try await withForm({ (server, post) async throws(SubsonicError) in
            guard post else { return false }
            try await server.updatePlaylist(id: id, all, post: true)
            return true
        })
        if isDone { return }
        var rest = songIDs
        while !rest.isEmpty {
            let part = rest.prefix(PlaylistTraits.mostInQuery)
            try await server.updatePlaylist(id: id, PlaylistUpdate(isPublic: visible, addedSongIDs: Array(part)))
            rest = rest.dropFirst(part.count)
        }
    }

    private func replace(_ id: String, _ wanted: [String], isPublic: Bool?) async throws(SubsonicError) {
        if wanted.count <= PlaylistTraits.mostInQuery {
            return try await server.replacePlaylist(id: id, songIDs: wanted, post: false)
        }
        let first = Array(wanted.prefix(PlaylistTraits.mostInQuery))
        let isDone = try await withForm({ (server, post) async throws(SubsonicError) in
            try await server.replacePlaylist(id: id, songIDs: post ? wanted : first, post: post)
            return post
        })
        if isDone { return }
        guard let now = try await content(id), now.songIDs == first else { return }
        try await append(wanted[first.count...], to: id, isPublic: isPublic)
    }

    /// Takes songs off the end until only what stays is left, and adds the rest.
    private func rebuild(
        _ id: String,
        from present: [String],
        to wanted: [String],
        isPublic: Bool?
    ) async throws(SubsonicError) {
        let visible: Bool? = isPublic == true ? true : nil
        var kept = 0
        while kept < min(present.count, wanted.count), present[kept] == wanted[kept] { kept += 1 }
        var count = present.count
        var step = PlaylistTraits.mostInQuery
        while count > kept {
            let positions = Array((max(kept, count - step)..<count).reversed())
            try await server.updatePlaylist(
                id: id,
                PlaylistUpdate(isPublic: visible, removedPositions: positions)
            )
            guard let now = try await content(id) else { return }
            let length = now.songIDs.count
            guard length < count, length >= kept else {
                throw .server(ServerFailure(code: 0, message: "The server does not remove songs from a playlist"))
            }
            // Funkwhale removes only one at a time.
            if count - length < positions.count { step = 1 }
            count = length
        }
        if wanted.count > kept { try await append(wanted[kept...], to: id, isPublic: isPublic) }
    }

    // MARK: What the server can do

    /// Finds out once with whom we speak.
    private func learn() async throws(SubsonicError) {
        if traits != nil { return }
        let info = try await server.ping()
        let kind = ServerKind(info)
        var takesForms = kind != .unknown && kind != .funkwhale
        if info.isOpenSubsonic {
            let extensions = try? await server.openSubsonicExtensions()
            if extensions?.contains(where: { $0.name == "formPost" }) == true { takesForms = true }
        }
        traits = PlaylistTraits(kind: kind, takesForms: takesForms, replaces: kind != .funkwhale)
    }

    /// Sends a long list as a form, or, where the server does not read forms, lets `body` do without.
    private func withForm<Result: Sendable>(
        _ body: (any SubsonicCalling, _ post: Bool) async throws(SubsonicError) -> Result
    ) async throws(SubsonicError) -> Result {
        if traits?.takesForms == true {
            do {
                return try await body(server, true)
            } catch {
                // It has not seen any parameter, or does not know the method of HTTP.
                let isUnread =
                    switch error {
                    case .server(let failure): failure.code == 10
                    case .http(let status, _): [400, 404, 405, 411, 413, 501].contains(status)
                    case .transport, .decoding: false
                    }
                guard isUnread else { throw error }
                traits?.takesForms = false
            }
        }
        return try await body(server, false)
    }
}

extension PlaylistTraits {
    /// Ids that go into an address: with UUIDs some 5 kB, where servers and proxies take 8.
    static let mostInQuery = 100
}
