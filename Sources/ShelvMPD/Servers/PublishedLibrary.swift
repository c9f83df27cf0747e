import Library
import MPDProtocol

/// What a sync found a server to have, on its way to the core.
struct PublishedLibrary: Sendable {
    let library: LibrarySnapshot
    /// Greater than that of all that were published of this server before.
    let number: UInt64
    /// Where the songs of the one that was published before are.
    let translation: SongTranslation
    /// Whether clients can see a difference.
    let hasChanged: Bool
    /// What the keys of the queue stand for then, where clients see this server alone.
    var replacement: SongReplacement?
    /// How often it was prepared.
    var attempts = 1

    /// While keys are added faster than it is prepared, the core does the rest in the end.
    fileprivate static let mostAttempts = 4

    /// Whether the core would be busy for long.
    fileprivate func isOutdated(for songs: SongTable) -> Bool {
        if attempts >= Self.mostAttempts { return false }
        guard let replacement, replacement.fits(songs) else { return songs.names.count > SongReplacement.fewKeys }
        return replacement.isOutdated(for: songs)
    }
}

extension MusicServer {
    /// The server has other songs now. One that comes after a later one is left out; one that was prepared for another library
    /// than the present one, or for a much shorter queue, is prepared again and comes a little later.
    func take(_ published: PublishedLibrary) {
        guard published.number > publishedNumber else {
            // What clients see is at least as new.
            if published.hasChanged { raise(.database) }
            return
        }
        let (former, names) = (library, namesOfQueue)
        let isRight = published.translation.leads(from: former, to: published.library)
        if isRight, names == nil || server.map({ !published.isOutdated(for: $0.songs) }) ?? true {
            publishedNumber = published.number
            return replaceLibrary(published)
        }
        if isAttached { server?.libraryIsOnItsWay(self, published.number) }
        server?.workers.submit { [reference] in
            let translation =
                isRight ? published.translation : SongTranslation(from: former, to: published.library)
            let again = PublishedLibrary(
                library: published.library,
                number: published.number,
                translation: translation,
                // The end of the comparison may have been told meanwhile.
                hasChanged: true,
                replacement: names.flatMap { SongReplacement($0, translation) },
                attempts: published.attempts + 1
            )
            reference.post { music in
                music.server?.libraryArrives(music, again.number) { music.take(again) }
            }
        }
    }
}
