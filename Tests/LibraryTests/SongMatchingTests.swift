import Testing

@testable import Library

/// Songs that a server gives other ids are found again, as far as that is certain.
struct SongMatchingTests {
    private let folder = SyncFolder()

    private var configuration: LibrarySyncConfiguration {
        LibrarySyncConfiguration(serverID: "id", serverName: "test", directory: folder.path)
    }

    /// Syncs, changes the server, syncs again.
    private func resynced(
        songs: Int = 40,
        prepare: (inout ScriptedServer.Library) -> Void = { _ in },
        change: (inout ScriptedServer.Library) -> Void
    ) async throws -> (former: LibrarySnapshot, last: LibrarySnapshot, successors: [String: String]) {
        var library = ScriptedServer.Library(songs: songs)
        prepare(&library)
        let server = ScriptedServer(library)
        let former = try #require(await SyncWitness.run(server, configuration).published.last)
        server.change { library in
            library.lastScan = 2
            change(&library)
        }
        let witness = await SyncWitness.run(server, configuration, stored: former)
        return (former, try #require(witness.published.last), try #require(witness.refreshes.last).successors)
    }

    private func forEachSong(_ library: inout ScriptedServer.Library, _ change: (inout ScriptedSong) -> Void) {
        for album in library.albums.indices {
            for song in library.albums[album].songs.indices { change(&library.albums[album].songs[song]) }
        }
    }

    @Test func otherIDsAtTheSamePaths() async throws {
        let (former, last, successors) = try await resynced { library in
            forEachSong(&library) { $0.id = "new-\($0.number)" }
        }
        #expect(last.songCount == 40)
        #expect(successors.count == 40)
        #expect(successors["so-7"] == "new-7")
        for place in 0..<40 {
            let uri = former.uri(SongIndex(place))
            #expect(last.song(uri: uri).map(last.uri) == uri)
        }
        #expect(last.formerURIs.isEmpty)
        #expect(!last.hasReassignedIDs)
    }

    @Test func otherIDsAndOtherPathsWithTheSameTags() async throws {
        let (former, last, successors) = try await resynced { library in
            forEachSong(&library) { song in
                song.id = "new-\(song.number)"
                song.path = "Moved/" + song.path
                song.duration += 1
            }
        }
        #expect(successors.count == 40)
        for number in 0..<40 {
            let uri = former.uri(try #require(former.song(id: "so-\(number)")))
            #expect(last.song(uri: uri).map(last.songID) == "new-\(number)", "the old URI leads to the song")
        }
    }

    @Test func recordingsAreKnownThoughTagsDiffer() async throws {
        let (_, last, successors) = try await resynced { library in
            forEachSong(&library) { $0.recording = "rec-\($0.number)" }
        } change: { library in
            library.albums[0].songs[4].id = "new"
            library.albums[0].songs[4].path = "Else/where.mp3"
            library.albums[0].songs[4].title = "Retagged"
        }
        #expect(successors == ["so-4": "new"])
        #expect(last.song(uri: "Artist 0/Album 0/4 Song.mp3").map(last.songID) == "new")
    }

    @Test func twinsAreNotGuessed() async throws {
        let (_, last, successors) = try await resynced { library in
            for song in 3...4 {
                library.albums[0].songs[song].title = "Twin"
                library.albums[0].songs[song].duration = 90
            }
        } change: { library in
            for song in 3...4 {
                library.albums[0].songs[song].id = "new-\(song)"
                library.albums[0].songs[song].path = "Twins/\(song).mp3"
            }
        }
        #expect(successors.isEmpty)
        #expect(last.song(uri: "Artist 0/Album 0/3 Song.mp3") == nil)
    }

    @Test func anotherLengthIsAnotherSong() async throws {
        let (_, last, successors) = try await resynced { library in
            library.albums[0].songs[3].id = "new"
            library.albums[0].songs[3].path = "Live/3.mp3"
            library.albums[0].songs[3].duration = 160
        }
        #expect(successors.isEmpty)
        #expect(last.songCount == 40)
    }

    /// A new database that counts from the start again: every id exists, and means another song.
    @Test func idsThatAreGivenToOtherSongs() async throws {
        let (former, last, successors) = try await resynced { library in
            forEachSong(&library) { $0.id = "so-\(39 - $0.number)" }
        }
        #expect(last.hasReassignedIDs)
        #expect(successors.count == 40)
        #expect(successors["so-1"] == "so-38")
        for number in 0..<40 {
            let uri = former.uri(try #require(former.song(id: "so-\(number)")))
            let song = try #require(last.song(uri: uri))
            #expect(last.uri(song) == uri)
            #expect(last.songID(song) == "so-\(39 - number)")
        }
        #expect(last.formerURIs.isEmpty, "no URI was given up")
    }

    @Test func formerURIsFollowToTheNewIDs() async throws {
        let server = ScriptedServer(.init(songs: 20))
        var stored = try #require(await SyncWitness.run(server, configuration).published.last)
        server.change { library in
            library.lastScan = 2
            library.albums[0].songs[0].path = "Second/place.mp3"
        }
        stored = try #require(await SyncWitness.run(server, configuration, stored: stored).published.last)
        server.change { library in
            library.lastScan = 3
            forEachSong(&library) { $0.id = "new-\($0.number)" }
        }
        let last = try #require(await SyncWitness.run(server, configuration, stored: stored).published.last)
        #expect(last.song(uri: "Artist 0/Album 0/0 Song.mp3").map(last.songID) == "new-0")
        #expect(last.song(uri: "Second/place.mp3").map(last.songID) == "new-0")
    }
}
