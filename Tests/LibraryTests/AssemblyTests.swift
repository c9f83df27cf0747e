import MPDProtocol
import SubsonicKit
import Support
import Synchronization
import Testing

@testable import Library

/// A library that is collected while its songs arrive is the one that is made of them at once.
struct AssemblyTests {
    private let folder = SyncFolder()

    private func bytes(_ name: String) throws -> [UInt8] {
        let file = try SpoolFile(path: "\(folder.path)/\(name)")
        return try file.read(count: Int(file.size), at: 0)
    }

    /// Songs whose paths are URIs.
    private var songs: [SpooledSong] {
        LibraryFixture.records.map { record in
            var record = record
            let path = record.uri
            record.uri = ""
            return SpooledSong(record: record, path: path, folder: 0)
        }
    }

    private func spool(_ name: String, _ songs: [SpooledSong], page: Int) throws -> SongSpool {
        var spool = try SongSpool(path: "\(folder.path)/\(name)", purpose: "test")
        for start in stride(from: 0, to: songs.count, by: page) {
            // Some come twice.
            let part = songs[max(0, start - 2)..<min(start + page, songs.count)]
            try spool.append(SpoolBlock(key: "\(start)", songs: Array(part)))
        }
        return spool
    }

    @Test(arguments: [1, 7, 500])
    func theImageIsTheSame(page: Int) async throws {
        let songs = songs
        let assembly = LibraryAssembly(former: nil, folderNames: [""])
        var collected = try spool("spool", songs, page: page)
        let view = collected.view
        #expect(collected.songCount == songs.count)
        let library = try await assembly.build(
            view,
            draft: collected.takeDraft(),
            info: LibraryFixture.info,
            file: "\(folder.path)/collected"
        )
        #expect(library.lost == 0)

        var builder = LibraryBuilder()
        for record in LibraryFixture.records { builder.add(record) }
        _ = try builder.build(info: library.snapshot.info, file: "\(folder.path)/built")
        #expect(try bytes("collected") == bytes("built"))

        _ = try await assembly.build(
            view,
            draft: try view.draft(),
            info: LibraryFixture.info,
            file: "\(folder.path)/read"
        )
        #expect(try bytes("collected") == bytes("read"))

        // What an interrupted sync has left.
        var taken = try SongSpool(path: "\(folder.path)/spool", purpose: "test")
        #expect(taken.songCount == songs.count)
        _ = try await assembly.build(
            taken.view,
            draft: taken.takeDraft(),
            info: LibraryFixture.info,
            file: "\(folder.path)/resumed"
        )
        #expect(try bytes("collected") == bytes("resumed"))
    }

    @Test func songsInOnePlaceAreAllThere() async throws {
        var songs = Array(songs.prefix(3))
        for index in songs.indices { songs[index].path = "A/x.mp3" }
        var spool = try spool("spool", songs, page: 2)
        let view = spool.view
        let library = try await LibraryAssembly(former: nil, folderNames: [""]).build(
            view,
            draft: spool.takeDraft(),
            info: LibraryFixture.info,
            file: nil
        )
        let uris = songs.compactMap { library.snapshot.song(id: $0.record.songID) }
            .map { String(decoding: library.snapshot.uri($0), as: UTF8.self) }
        #expect(uris.count == 3)
        #expect(Set(uris).count == 3)
        #expect(uris.contains("A/x.mp3"))
    }

    @Test(arguments: [1, 3])
    func answersDoNotPileUp(width: Int) async throws {
        struct Counts {
            var asked = 0
            var answered = 0
            var read = 0
            var mostAsked = 0
            var mostUnread = 0
        }
        let counts = Mutex(Counts())
        let run = PageRun(width: width) { (page) async throws(SubsonicError) -> Int in
            counts.withLock { counts in
                counts.asked += 1
                counts.mostAsked = max(counts.mostAsked, counts.asked - counts.answered)
            }
            await Task.yield()
            counts.withLock { counts in
                counts.answered += 1
                counts.mostUnread = max(counts.mostUnread, counts.answered - counts.read)
            }
            return page.offset < 1000 ? page.count : 0
        } read: { (_, items) -> Int in
            counts.withLock { $0.read += 1 }
            return items
        }
        var cursor = PageCursor(pageSize: 10)
        var items = 0
        try await run.run(&cursor) { _, count in
            items += count
            return (count, count)
        }
        let found = counts.withLock { $0 }
        #expect(items == 1000)
        #expect(found.asked == found.read)
        #expect(found.mostAsked <= width)
        #expect(found.mostUnread <= width + 4)
    }

    @Test func partsAreShownWhereTheRestTakesLong() {
        #expect(LibrarySync.isWorthAPart(2000, of: nil, after: .seconds(2)))
        #expect(LibrarySync.isWorthAPart(2000, of: 100_000, after: .seconds(2)))
        #expect(!LibrarySync.isWorthAPart(60_000, of: 100_000, after: .seconds(60)))
        #expect(!LibrarySync.isWorthAPart(40_000, of: 100_000, after: .seconds(2)))
    }
}
