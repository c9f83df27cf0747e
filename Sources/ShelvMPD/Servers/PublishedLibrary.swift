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
}

extension MusicServer {
    /// The server has other songs now. One that comes after a later one is left out; one whose translation is of another library
    /// than the present one comes with another translation, a little later.
    func take(_ published: PublishedLibrary) {
        guard published.number > publishedNumber else {
            // What clients see is at least as new.
            if published.hasChanged { raise(.database) }
            return
        }
        let (former, reference) = (library, reference)
        guard published.translation.leads(from: former, to: published.library) else {
            server?.workers.submit {
                let again = PublishedLibrary(
                    library: published.library,
                    number: published.number,
                    translation: SongTranslation(from: former, to: published.library),
                    hasChanged: published.hasChanged
                )
                reference.post { $0.take(again) }
            }
            return
        }
        publishedNumber = published.number
        replaceLibrary(published.library, published.translation, hasChanged: published.hasChanged)
    }
}
