import MPDProtocol
import SubsonicKit
import Support
import Synchronization
import Testing

@testable import Library

/// How little is asked for when little has changed, and what makes a sync read everything.
struct RefreshTests {
    private let folder = SyncFolder()

    private var configuration: LibrarySyncConfiguration {
        LibrarySyncConfiguration(serverID: "id", serverName: "test", directory: folder.path)
    }

    private func synced(_ server: ScriptedServer) async throws -> LibrarySnapshot {
        let library = await SyncWitness.run(server, configuration).published.last
        server.forgetCalls()
        return try #require(library)
    }

    private func addAlbum(_ library: inout ScriptedServer.Library, songs: Int = 3) {
        let number = library.albums.count
        var album = ScriptedAlbum(number: number, folder: "1")
        let first = library.songs.count + 1000
        album.songs = (0..<songs).map { ScriptedSong(number: first + $0, album: number) }
        library.albums.append(album)
        library.lastScan = library.lastScan.map { $0 + 1 }
    }

    private func methods(_ server: ScriptedServer) -> [String] {
        server.calls.map { String($0.prefix { $0 != " " }) }
    }

    /// Whether pages of songs were asked for, beyond those that find out what the server can.
    private func readsAll(_ server: ScriptedServer) -> Bool { server.calls.contains { $0.contains("songCount=500") } }

    @Test(arguments: ["navidrome", "gonic", "lms", "nextcloud"])
    func aNewAlbumComesWithAHandfulOfRequests(type: String) async throws {
        var habits = ScriptedServer.Habits()
        habits.type = type
        habits.hasStars = true
        var library = ScriptedServer.Library(songs: 3000)
        if type != "navidrome" { library.lastScan = nil }
        let server = ScriptedServer(library, habits)
        let former = try await synced(server)
        server.change { addAlbum(&$0) }
        let witness = await SyncWitness.run(server, configuration, stored: former)
        let last = try #require(witness.published.last)
        #expect(last.songCount == 3003)
        #expect(last.song(uri: "Artist 150/Album 300/4000 Song.mp3") != nil)
        #expect(last.song(uri: "Artist 0/Album 0/0 Song.mp3").map(last.songID) == "so-0")
        #expect(witness.results == [.started, .finished(didChange: true)])
        #expect(!readsAll(server))
        #expect(server.calls.count < 12, "\(server.calls)")
        #expect(witness.refreshes.map(\.didChange) == [true])
        #expect(last.info.lastSync >= former.info.lastSync)
        // And a full pass finds nothing that this one had not.
        let next = await SyncWitness.run(
            server,
            configuration,
            stored: try LibrarySnapshot.open(file: configuration.imageFile),
            request: true
        )
        #expect(readsAll(server))
        #expect(next.results == [.started, .finished(didChange: false, through: 1)])
    }

    @Test func whatIsAddedToAnAlbumComesToo() async throws {
        let server = ScriptedServer(.init(songs: 50))
        let former = try await synced(server)
        server.change { library in
            library.albums[4].songs.append(ScriptedSong(number: 77, album: 4))
            library.lastScan = 2
        }
        let witness = await SyncWitness.run(server, configuration, stored: former)
        #expect(witness.published.last?.songCount == 51)
        #expect(!readsAll(server))
    }

    @Test func whatIsAddedIsLookedOverLater() async throws {
        let server = ScriptedServer(.init(songs: 50))
        let former = try await synced(server)
        server.change { addAlbum(&$0) }
        // Checks follow each other every five minutes; after an hour everything is read, and then no more.
        let witness = await SyncWitness.run(server, configuration, stored: former, rounds: 2)
        #expect(witness.results == [.started, .finished(didChange: true), .started, .finished(didChange: false)])
        #expect(witness.sleeps.filter { $0 == .seconds(300) }.count >= 11)
        #expect(witness.published.count == 1)
        let stored = try LibrarySnapshot.open(file: configuration.imageFile)
        #expect(SyncMemory(stored.info.syncState).isUnverified == false)
    }

    @Test func aRemovalIsBelievedAfterEverythingWasRead() async throws {
        let server = ScriptedServer(.init(songs: 50))
        let former = try await synced(server)
        server.change { library in
            addAlbum(&library)
            library.albums[0].songs.removeLast()
        }
        let witness = await SyncWitness.run(server, configuration, stored: former)
        #expect(readsAll(server))
        #expect(witness.published.last?.songCount == 52)
        #expect(witness.published.last?.song(id: "so-9") == nil)
    }

    @Test func aRetaggedSongKeepsItsURIAndItsPlace() async throws {
        let server = ScriptedServer(.init(songs: 50))
        let former = try await synced(server)
        server.change { library in
            library.albums[1].songs[0].title = "Another"
            library.lastScan = 2
        }
        let witness = await SyncWitness.run(server, configuration, stored: former)
        let last = try #require(witness.published.last)
        let song = try #require(last.song(uri: "Artist 0/Album 1/10 Song.mp3"))
        #expect(last.tags(song).contains(TagValue(.title, "Another")))
        #expect(witness.results.last == .finished(didChange: true))
    }

    private func play(_ library: inout ScriptedServer.Library, _ album: Int, at time: String, telling: Bool = true) {
        library.albums[album].songs[2].playCount += 1
        library.albums[album].playCount = library.albums[album].songs.reduce(0) { $0 + $1.playCount }
        guard telling else { return }
        library.albums[album].songs[2].played = time
        library.albums[album].played = time
    }

    @Test func whatWasPlayedElsewhereIsAskedForByItsAlbum() async throws {
        var library = ScriptedServer.Library(songs: 300)
        for album in 0..<20 { play(&library, album, at: "2024-03-01T00:00:\(album + 10)Z") }
        let server = ScriptedServer(library)
        let former = try await synced(server)
        #expect(former.song(id: "so-52").map(former.playCount) == 1)
        server.change { library in
            play(&library, 5, at: "2024-03-02T00:00:00Z")
            library.albums[5].songs[2].rating = 4
            play(&library, 25, at: "2024-03-03T00:00:00Z")
        }
        let witness = await SyncWitness.run(server, configuration, stored: former, request: false)
        let last = try #require(witness.published.last)
        #expect(witness.published.count == 1)
        #expect(last.song(id: "so-52").map(last.playCount) == 2)
        #expect(last.song(id: "so-52").map(last.userRating) == 4)
        #expect(last.song(id: "so-52").flatMap(last.played) == 1_709_337_600)
        #expect(last.song(id: "so-252").map(last.playCount) == 1)
        #expect(last.song(id: "so-2").map(last.playCount) == 1)
        #expect(witness.results == [.started, .finished(didChange: false, through: 1)])
        #expect(!readsAll(server))
        let asked = server.calls.filter { $0.hasPrefix("getAlbum ") }
        #expect(asked == ["getAlbum id=al-25", "getAlbum id=al-5"])
        #expect(LibraryDifference.between(former, last) == .annotations)
        let stored = try LibrarySnapshot.open(file: configuration.imageFile)
        #expect(LibraryDifference.between(stored, last) == .none)
    }

    @Test func manyPlayedAlbumsComeOneLookAfterTheOther() async throws {
        let server = ScriptedServer(.init(songs: 300))
        let former = try await synced(server)
        server.change { library in
            for album in 0..<14 { play(&library, album, at: "2024-03-01T00:00:\(album + 10)Z") }
        }
        let call = SyncCaller(server: server, environment: SyncWitness().environment)
        var heard = HeardAlbums()
        #expect(try await heard.find(call, former).count == 100)
        #expect(heard.list?.prefix(3) == ["al-13", "al-12", "al-11"])
        #expect(try await heard.find(call, former).count == 40)
        #expect(try await heard.find(call, former).isEmpty)
        server.change { play(&$0, 3, at: "2024-03-04T00:00:00Z") }
        #expect(try await heard.find(call, former).map(\.id).contains("so-32"))
        #expect(try await heard.find(call, former).isEmpty)
    }

    @Test func aCountOfPlaysIsEnough() async throws {
        let server = ScriptedServer(.init(songs: 50))
        server.change { play(&$0, 1, at: "", telling: false) }
        let former = try await synced(server)
        let call = SyncCaller(server: server, environment: SyncWitness().environment)
        var heard = HeardAlbums()
        #expect(try await heard.find(call, former).isEmpty)
        server.change { play(&$0, 1, at: "", telling: false) }
        server.change { play(&$0, 2, at: "", telling: false) }
        #expect(Set(try await heard.find(call, former).map(\.playCount)) == [0, 1, 2])
    }

    @Test func aServerWithoutAListOfPlaysIsNotAskedAgain() async throws {
        var habits = ScriptedServer.Habits()
        habits.hasRecentAlbums = false
        let server = ScriptedServer(.init(songs: 50), habits)
        let former = try await synced(server)
        let call = SyncCaller(server: server, environment: SyncWitness().environment)
        var heard = HeardAlbums()
        for _ in 0..<3 { #expect(try await heard.find(call, former).isEmpty) }
        #expect(heard.list == nil)
        #expect(server.calls.count == 1)
    }

    @Test func starsAreOneRequest() async throws {
        var habits = ScriptedServer.Habits()
        habits.hasStars = true
        var library = ScriptedServer.Library(songs: 50)
        library.albums[0].songs[3].isStarred = true
        library.albums[2].songs[5].rating = 4
        let server = ScriptedServer(library, habits)
        let former = try await synced(server)
        #expect(former.song(id: "so-25").map(former.userRating) == 4)
        server.change { library in
            library.albums[0].songs[3].isStarred = false
            library.albums[2].songs[5].isStarred = true
            library.albums[2].songs[5].playCount = 12
            library.albums[2].songs[5].rating = nil
        }
        // Asked, because a check that changes nothing else tells no end.
        let witness = await SyncWitness.run(server, configuration, stored: former, request: false)
        let last = try #require(witness.published.last)
        #expect(witness.published.count == 1)
        #expect(last.song(id: "so-25").map(last.playCount) == 12)
        #expect(last.song(id: "so-25").map(last.userRating) == 0)
        #expect(witness.results == [.started, .finished(didChange: false, through: 1)])
        #expect(methods(server).filter { $0 == "getStarred2" }.count == 1)
        #expect(!readsAll(server))
        #expect(last.info.lastSync == former.info.lastSync, "what the database shows is as old as it was")
        #expect(LibraryDifference.between(former, last) == .annotations)
        #expect(witness.refreshes.first?.starred?.songs.map(\.id) == ["so-25"])
        let stored = try LibrarySnapshot.open(file: configuration.imageFile)
        #expect(LibraryDifference.between(stored, last) == .none)

        // A star alone is no reason for another library.
        server.change { $0.albums[1].songs[0].isStarred = true }
        let again = await SyncWitness.run(server, configuration, stored: last, request: false)
        #expect(again.published.isEmpty)
        #expect(again.refreshes.first?.starred?.songs.count == 2)
    }

    @Test func aDifferenceIsFoundInEveryFact() throws {
        let records = LibraryFixture.records
        let seed = SeededNumbers.seed()
        var random = SeededNumbers(seed: seed)
        func library(_ change: (inout SongRecord) -> Void = { _ in }) throws -> LibrarySnapshot {
            var builder = LibraryBuilder()
            for var record in records.shuffled(using: &random) {
                if record.songID == "ff2" { change(&record) }
                builder.add(record)
            }
            return try builder.build(info: LibraryFixture.info, file: nil)
        }
        let former = try library()
        #expect(try LibraryDifference.between(former, library()) == .none)
        let changes: [(inout SongRecord) -> Void] = [
            { $0.songID = "other" }, { $0.uri = "else/where.flac" }, { $0.tags.append(TagValue(.mood, "x")) },
            { $0.tags.removeLast() }, { $0.duration = 1 }, { $0.lastModified = 1 }, { $0.added = 1 },
            { $0.format = AudioFormat(sampleRate: 8000, sampleFormat: .s8, channels: 1) }, { $0.size = 7 },
            { $0.suffix = "abc" }, { $0.contentType = "a/b" }, { $0.bitRate = 7 }, { $0.coverArt = "c" },
            { $0.albumID = "a" }, { $0.artistID = "a" }, { $0.replayGain = ReplayGain(trackGain: 1) },
        ]
        for (number, change) in changes.enumerated() {
            #expect(
                try LibraryDifference.between(former, library(change)) == .content,
                "change \(number), SHELV_SEED=\(seed)"
            )
        }
        let marks: [(inout SongRecord) -> Void] = [
            { $0.userRating = $0.userRating == 4 ? 3 : 4 }, { $0.playCount += 9 },
        ]
        for change in marks { #expect(try LibraryDifference.between(former, library(change)) == .annotations) }
    }
}
