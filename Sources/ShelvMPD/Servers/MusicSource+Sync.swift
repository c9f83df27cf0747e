import CLinux
import Library
import Logging
import SubsonicKit
import Synchronization

extension MusicSource {
    /// Keeps the library like the server's, and shows it on the core as it changes; until the task is cancelled.
    func keepInSync(_ home: MusicServer.Reference) async {
        // They end with the task, as the sync does.
        async let shelves: Void = answerShelfRequests(home)
        await sync(home).run()
        await shelves
        home.post { $0.syncStopped() }
    }

    /// Later requests to update go to this one.
    private func sync(_ home: MusicServer.Reference) -> LibrarySync {
        let sync = LibrarySync(
            syncConfiguration,
            server: client,
            stored: published.withLock { $0.library.info.isComplete ? $0.library : nil },
            handlers: LibrarySyncHandlers(
                publish: { [self] snapshot in await publish(snapshot, home) },
                refreshed: { [self] refresh in await refreshed(refresh, home) },
                event: { [self] event in tell(event, home) }
            ),
            log: log
        )
        home.post { $0.syncBecomesPossible { rescans in sync.requestUpdate(rescan: rescans) } }
        return sync
    }

    /// Where songs have gone is found out here, so that the core only has to follow.
    private func publish(_ snapshot: LibrarySnapshot, _ home: MusicServer.Reference) async {
        let (former, number) = published.withLock { last in
            defer { last = (snapshot, last.number + 1) }
            return (last.library, last.number + 1)
        }
        let translation = SongTranslation(from: former, to: snapshot)
        // While the first sync runs, each part is worth a look; later the end of the job tells.
        let isPart = !snapshot.info.isComplete
        // Building has used much memory that will not be needed until the next change.
        if !isPart { malloc_trim(0) }
        keepFormerURIs(of: snapshot, isNewerThan: former)
        let names = await home.core.ask { home.find(in: $0)?.namesOfQueue }
        let new = PublishedLibrary(
            library: snapshot,
            number: number,
            translation: translation,
            hasChanged: isPart,
            replacement: names?.flatMap { SongReplacement($0, translation) }
        )
        home.post { $0.take(new) }
    }

    /// The library is as the server has it. What else belongs to a refresh is fetched from here.
    private func refreshed(_ refresh: LibraryRefresh, _ home: MusicServer.Reference) async {
        rememberAuthentication()
        let began = Instant.now.advanced(by: .zero - refresh.duration)
        home.post { home in
            home.marks.pace.serverAnswers()
            if let starred = refresh.starred { home.marks.take(starred, asked: began) }
            home.marks.confirm(refresh.library)
        }
        let asked = Instant.now
        let stars = await albumRatings.look(client)
        home.post { $0.marks.take(albums: stars, asked: asked) }
        await refreshShelves(nil, after: refresh, home)
        home.post { home in
            home.playlists.pace.serverAnswers()
            home.scrobbler?.pace.serverAnswers()
            home.playQueue?.serverAnswers()
            home.stations?.look()
            home.playlists.wantRefresh(readsAll: true)
        }
    }

    private func tell(_ event: LibrarySyncEvent, _ home: MusicServer.Reference) {
        home.post { $0.note(event) }
        switch event {
        case .started: home.post { $0.syncBegan() }
        case .progress(let songs, let expected):
            guard milestones.withLock({ $0.isDue(songs: songs, expected: expected) }) else { return }
            log.info("\(client.server.name): \(songs) songs\(expected.map { " of \($0)" } ?? "") fetched")
        case .finished(let didChange, let request):
            home.post { $0.syncEnded(didChange: didChange, through: request) }
        case .failed(_, _, let request): home.post { $0.syncEnded(didChange: false, through: request) }
        }
    }

    /// What songs were called stays valid, also when the image, which is only a cache, is deleted.
    private func keepFormerURIs(of snapshot: LibrarySnapshot, isNewerThan former: LibrarySnapshot) {
        guard snapshot.info.isComplete else { return }
        let known = Set(former.formerURIs.map { FormerURI(uri: $0.uri, songID: former.songID($0.song)) })
        let new = snapshot.formerURIs.filter {
            !known.contains(FormerURI(uri: $0.uri, songID: snapshot.songID($0.song)))
        }
        guard !new.isEmpty else { return }
        let songs = Dictionary(new.map { ($0.uri, snapshot.songID($0.song)) }) { $1 }
        store.keepAliases(songs, of: id)
    }

    private func rememberAuthentication() {
        guard let method = client.workingAuthentication else { return }
        store.keep(method.rawValue, as: "authentication", about: id)
    }
}

/// A URI that a song had before.
private struct FormerURI: Hashable {
    var uri: String
    var songID: String
}
