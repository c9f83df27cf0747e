import Glibc
import Library
import Logging
import Support
import Synchronization
import Testing

@testable import ShelvMPD

/// How pictures are kept, and how they are fetched when many want them, or the server is away.
@Suite struct CoverCacheTests {
    @Test func manyAskersMakeOneRequest() throws {
        let picture = CoverServer.picture(1, count: 500)
        let subsonic = try #require(CoverServer { _ in CoverServer.answer(picture) })
        defer { subsonic.stop() }
        let gate = subsonic.hold(CoverServer.answer(picture))
        let server = try TestServer(CoverServer.records(1), covers: subsonic.covers())
        let clients = try (0..<50).map { _ in try server.client() }
        for client in clients { client.send("albumart \"Artist/Album 0/song-0.flac\" 0\n") }
        #expect(waitUntil { subsonic.requests() == 1 })
        // Nobody else waits for that.
        #expect(try server.client().ask("status").last == "OK")
        gate.open()
        for client in clients { #expect(try client.binaryReply().bytes == picture) }
        #expect(subsonic.requests() == 1)
    }

    /// 500 clients, or one that has as many connections, ask for 500 covers at once.
    @Test func fiveHundredAtOnceDelayNoStatus() throws {
        let picture = CoverServer.picture(1, count: 30_000)
        let open = Mutex((now: 0, most: 0))
        let subsonic = try #require(
            CoverServer { _ in
                open.withLock {
                    $0.now += 1
                    $0.most = max($0.most, $0.now)
                }
                usleep(2000)
                open.withLock { $0.now -= 1 }
                return CoverServer.answer(picture)
            }
        )
        defer { subsonic.stop() }
        let server = try TestServer(CoverServer.records(500), covers: subsonic.covers())
        let clients = try (0..<500).map { _ in try server.client() }
        let other = try server.client()
        for (number, client) in clients.enumerated() {
            client.send("albumart \"Artist/Album \(number)/\" 0\n")
        }
        // While they are fetched.
        while subsonic.requests() < 400 { #expect(try other.ask("status").last == "OK") }
        for client in clients { #expect(try client.binaryReply().bytes?.count == 8192) }
        #expect(subsonic.requests() == 500)
        #expect(open.withLock { $0.most } <= Covers.requestsAtOnce)
    }

    @Test func aClientThatLeavesIsNotMissed() throws {
        let subsonic = try #require(CoverServer { _ in CoverServer.missing })
        defer { subsonic.stop() }
        let gate = subsonic.hold(CoverServer.answer(CoverServer.picture(1, count: 100)))
        let server = try TestServer(CoverServer.records(1), covers: subsonic.covers())
        let client = try server.client()
        do {
            let other = try server.client()
            other.send("albumart \"Artist/Album 0/\" 0\n")
            #expect(waitUntil { subsonic.requests() == 1 })
        }
        gate.open()
        #expect(try client.picture("albumart", "Artist/Album 0/").bytes.count == 100)
        #expect(subsonic.requests() == 1)
    }

    /// A list that edits, and then waits for a cover, keeps nobody from editing.
    @Test func aListThatWaitsForACoverHoldsUpNoEdits() throws {
        let subsonic = try #require(CoverServer { _ in CoverServer.missing })
        defer { subsonic.stop() }
        let gate = subsonic.hold(CoverServer.answer(CoverServer.picture(1, count: 100)))
        let server = try TestServer(CoverServer.records(2), covers: subsonic.covers())
        let (client, other) = (try server.client(), try server.client())
        client.send("command_list_begin\nclear\nalbumart \"Artist/Album 0/\" 0\nadd Artist\ncommand_list_end\n")
        #expect(waitUntil { subsonic.requests() == 1 })
        #expect(try other.ask("add Artist") == ["OK"])
        gate.open()
        #expect(try client.binaryReply().lines.last == "OK")
        #expect(try other.value("playlistlength", of: "status") == "4")
    }

    // MARK: Disk

    @Test func whatWasFetchedIsThereAfterARestartWithoutTheServer() throws {
        let folder = try #require(TemporaryFolder())
        let picture = CoverServer.picture(1, count: 20_000)
        let subsonic = try #require(CoverServer { _ in CoverServer.answer(picture) })
        defer { subsonic.stop() }
        let directory = folder.path("covers/home")
        func start() throws -> TestServer {
            let files = CoverFiles(directory: directory, size: nil, limit: 1 << 30, log: .silent)
            return try TestServer(CoverServer.records(2), covers: subsonic.covers(files: files))
        }
        var client = try start().client()
        #expect(try client.picture("albumart", "Artist/Album 0/").bytes == picture)
        #expect(waitUntil { CoverServer.keptCovers(in: directory) == 1 })
        subsonic.http.stop()
        client = try start().client()
        #expect(try client.picture("albumart", "Artist/Album 0/").bytes == picture)
        #expect(try client.picture("readpicture", "Artist/Album 0/song-0.flac").bytes == picture)
        // What is not there is told at once, and the server is left alone for a while.
        for path in ["Artist/Album 1/", "Artist/Album 1/song-1.flac"] {
            #expect(try client.picture("albumart", path).ack == "ACK [50@0] {albumart} No file exists")
        }
        #expect(try client.ask("readpicture \"Artist/Album 1/song-1.flac\" 0") == ["OK"])
    }

    @Test func aFolderThatWasRemovedIsMadeAnew() throws {
        let folder = try #require(TemporaryFolder())
        let subsonic = try #require(CoverServer { _ in CoverServer.answer(CoverServer.picture(1, count: 5000)) })
        defer { subsonic.stop() }
        let directory = folder.path("cache/covers/home")
        let files = CoverFiles(directory: directory, size: nil, limit: 1 << 30, log: .silent)
        let client = try TestServer(CoverServer.records(2), covers: subsonic.covers(files: files)).client()
        #expect(try client.picture("albumart", "Artist/Album 0/").bytes.count == 5000)
        #expect(waitUntil { TemporaryFolder.names(in: directory).count == 1 })
        try #require(unsafe rename(folder.path("cache"), folder.path("gone")) == 0)
        #expect(try client.picture("albumart", "Artist/Album 1/").bytes.count == 5000)
        #expect(waitUntil { TemporaryFolder.names(in: directory).count == 1 })
    }

    @Test func damagedAndForeignFilesAreFetchedAgain() throws {
        let folder = try #require(TemporaryFolder())
        let picture = CoverServer.picture(1, count: 5000)
        let cover = Cover(bytes: picture, type: "image/png", fetched: Int64(time(nil)))
        let key = CoverSource.art("art-0").text
        let whole = CoverFileForm.bytes(of: cover, key)
        #expect(CoverFileForm.cover(in: whole, of: key) == cover)
        #expect(CoverFileForm.cover(in: whole, of: "art other") == nil)
        for count in [0, 1, 16, 40, whole.count / 2, whole.count - 1] {
            #expect(CoverFileForm.cover(in: Array(whole[..<count]), of: key) == nil)
        }
        var changed = whole
        changed[whole.count / 2] ^= 1
        _ = folder.write("covers/" + CoverFileForm.name(of: key), changed)
        _ = folder.write("covers/left.cover.new", [1, 2, 3])
        let subsonic = try #require(CoverServer { _ in CoverServer.answer(picture) })
        defer { subsonic.stop() }
        let files = CoverFiles(directory: folder.path("covers"), size: nil, limit: 1 << 30, log: .silent)
        let server = try TestServer(CoverServer.records(1), covers: subsonic.covers(files: files))
        #expect(try server.client().picture("albumart", "Artist/Album 0/").bytes == picture)
        #expect(subsonic.requests() == 1)
        #expect(
            waitUntil {
                contents(of: folder.path("covers/" + CoverFileForm.name(of: key))).map {
                    CoverFileForm.cover(in: $0, of: key) != nil
                } == true
            }
        )
        #expect(TemporaryFolder.names(in: folder.path("covers")).count == 1)
    }

    @Test func thoseNotUsedForTheLongestTimeGoFirst() throws {
        let folder = try #require(TemporaryFolder())
        let directory = folder.path("covers")
        let sources = (0..<20).map { CoverSource.art("art-\($0)") }
        let cover = Cover(bytes: CoverServer.picture(1, count: 50_000), type: "image/png", fetched: 1)
        for (age, source) in sources.enumerated() {
            let path = folder.write(
                "covers/" + CoverFileForm.name(of: source.text),
                CoverFileForm.bytes(of: cover, source.text)
            )
            var times = [timeval(tv_sec: 1_000_000 + age, tv_usec: 0), timeval(tv_sec: 1_000_000 + age, tv_usec: 0)]
            unsafe utimes(path, &times)
        }
        // The oldest one is used once more.
        var files = CoverFiles(directory: directory, size: nil, limit: 1 << 30, log: .silent)
        #expect(read(sources[0], files) == cover)
        files.shutdown()
        files = CoverFiles(directory: directory, size: nil, limit: 550_000, log: .silent)
        #expect(read(sources[0], files) != nil)
        #expect(read(sources[19], files) != nil)
        #expect(read(sources[1], files) == nil)
        #expect(read(sources[9], files) == nil)
        for number in 20..<40 { files.write(.art("art-\(number)"), cover) }
        #expect(read(.art("art-39"), files) != nil)
        #expect(read(sources[10], files) == nil)
        let size = CacheFolder.list(directory).reduce(0) { $0 + $1.length }
        #expect(size <= 550_000 && size > 300_000)
        // One that is larger than all of the room is not kept, and nothing goes for it.
        files.write(.art("huge"), Cover(bytes: CoverServer.picture(1, count: 600_000), type: "", fetched: 1))
        #expect(read(.art("huge"), files) == nil)
        #expect(read(.art("art-39"), files) != nil)
        files.shutdown()
    }

    private func read(_ source: CoverSource, _ files: CoverFiles) -> Cover? {
        let result = Mutex<Cover??>(nil)
        files.read(source) { cover in result.withLock { $0 = .some(cover) } }
        guard waitUntil({ result.withLock { $0 != nil } }) else { return nil }
        return result.withLock { $0 ?? nil }
    }

    @Test func memoryIsBounded() {
        var memory = CoverMemory(limit: 10_100)
        let cover = Cover(bytes: [UInt8](repeating: 1, count: 2000), type: "", fetched: 1)
        for number in 0..<4 { memory.insert(cover, .art("\(number)")) }
        #expect(memory[.art("0")] != nil)
        memory.insert(cover, .art("4"))
        #expect(memory[.art("0")] == nil || memory[.art("1")] == nil)
        #expect(memory[.art("4")] != nil)
        // Two clients that read one in pieces, in turn, shall not have it read anew for each piece.
        memory.insert(Cover(bytes: [UInt8](repeating: 1, count: 20_000), type: "", fetched: 1), .art("5"))
        #expect(memory[.art("5")] != nil && memory[.art("4")] == nil)
        memory.insert(cover, .art("6"))
        #expect(memory[.art("5")] == nil && memory[.art("6")] != nil)
    }

    // MARK: Away

    /// The server is left alone longer after each failure, and asked again after that.
    @Test func failuresMakeLongerPauses() throws {
        let subsonic = try #require(CoverServer { _ in HTTPTestResponse(status: 500) })
        defer { subsonic.stop() }
        let now = Mutex(Instant(nanoseconds: 1_000_000_000_000))
        let clock = Covers.Clock(now: { now.withLock { $0 } })
        let server = try TestServer(CoverServer.records(1), covers: subsonic.covers(clock: clock))
        let client = try server.client()
        let command = "albumart \"Artist/Album 0/\" 0"
        var former = 0
        for pause in [5, 10, 15] {
            #expect(try client.ask(command) == ["ACK [50@0] {albumart} No file exists"])
            #expect(subsonic.requests() == former + 3)
            former = subsonic.requests()
            now.withLock { $0 = $0.advanced(by: .seconds(pause - 1)) }
            #expect(try client.ask(command) == ["ACK [50@0] {albumart} No file exists"])
            #expect(subsonic.requests() == former)
            now.withLock { $0 = $0.advanced(by: .seconds(1)) }
        }
        subsonic.answer { _ in CoverServer.answer(CoverServer.picture(1, count: 60)) }
        #expect(try client.picture("albumart", "Artist/Album 0/").pieces == [60])
    }
}
