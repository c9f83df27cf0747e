import Library
import Logging
import SubsonicKit
import Synchronization

/// What the shelves take from the server: fetched with each refresh and when a client updates a shelf, kept in the
/// store, so that they are there without the server, too.
extension MusicSource {
    /// Answers what clients ask for, one after the other, until the task is cancelled.
    func answerShelfRequests(_ home: MusicServer.Reference) async {
        let (requests, source) = AsyncStream.makeStream(of: (shelf: Shelf?, number: UInt64).self)
        home.post { $0.requestShelves = { source.yield((shelf: $0, number: $1)) } }
        for await request in requests {
            let didChange = await refreshShelves(request.shelf, home)
            home.post { $0.shelvesFetched(request.number, didChange: didChange) }
        }
    }

    /// Fetches what one shelf, or all of them, take from the server. What does not succeed stays as it is.
    ///
    /// - Parameter refresh: what has been fetched already: the stars, and mostly the albums that were played last.
    @discardableResult
    func refreshShelves(
        _ shelf: Shelf?,
        after refresh: LibraryRefresh? = nil,
        _ home: MusicServer.Reference
    ) async -> Bool {
        if refresh == nil, shelf == nil || shelf == .favorites {
            let asked = Instant.now
            if let starred = try? await client.starred2() { home.post { $0.marks.take(starred, asked: asked) } }
        }
        let former = shelves.withLock { $0 }
        guard var lists = former else { return false }
        if let albums = refresh?.recentlyPlayed {
            lists.recentlyPlayed = albums
        } else if shelf == nil || shelf == .recentlyPlayed, let albums = await albums(.recent) {
            lists.recentlyPlayed = albums
        }
        if shelf == nil || shelf == .frequentlyPlayed, let albums = await albums(.frequent) {
            lists.frequentlyPlayed = albums
        }
        if lists == former { return false }
        shelves.withLock { $0 = lists }
        store.keep(lists.encoded, as: Self.shelvesFact, about: id)
        home.post { [lists] in $0.show(lists) }
        return true
    }

    /// Nil where the server does not answer, or does not know such a list.
    private func albums(_ type: AlbumListType) async -> [String]? {
        do throws(SubsonicError) {
            return try await client.albumList2(type: type, size: Shelf.size).map(\.id)
        } catch {
            log.debug("\(client.server.name) gives no list of \(type.rawValue) albums: \(error)")
            return nil
        }
    }

    /// Under which name they are kept in the store.
    static let shelvesFact = "shelves"
}
