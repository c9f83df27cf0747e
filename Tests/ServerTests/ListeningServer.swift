import CLinux
import Library
import Logging
import MPDProtocol
import Playback
import SubsonicKit
import Support
import Synchronization

@testable import ShelvMPD

/// A whole server with a store in a folder that tells a scripted server what is listened to. Made again on the same folder
/// it is the next start.
///
/// Songs are called `a` to `z`, and so are their ids and URIs; each has a minute. The player's clock is the test's own.
final class ListeningServer {
    let remote: ScriptedListener
    let server: PersistentServer
    let client: MPDTestClient
    let witness = PlayWitness()
    private let work: [Task<Void, Never>]
    /// What the player has, as far as it was told.
    private(set) var current: PlaybackID?
    private var next: PlaybackID?

    /// The time of the player's reports, in nanoseconds; goes on over restarts.
    static let clock = Mutex<UInt64>(1_000_000_000)

    static let songs = (UInt8(ascii: "a")...UInt8(ascii: "z")).map { String(UnicodeScalar($0)) }

    /// - Parameters:
    ///   - queue: whether the queue is kept at the server.
    ///   - configure: does more on the core before the first command.
    init(
        _ folder: TemporaryFolder,
        _ remote: ScriptedListener,
        scrobbles: Bool = true,
        queue: PlayQueueKeeper.Mode? = nil,
        configure: @escaping @Sendable (Server) -> Void = { _ in }
    ) async throws {
        self.remote = remote
        // The library must be that of the server that the store knows.
        let first = try Store(path: folder.path("store.sqlite"), log: .silent)
        let id = try await first.identify([ServerAddress(name: "test", url: "http://test")])[0]
        first.close()
        server = try await PersistentServer(folder, Self.records, serverID: id.text)
        client = try server.client()
        let store = server.store
        let saved = try await SavedScrobbles.load(from: store, server: id)
        let journal = try await JournalWriter.opening(store, server: id)
        let (core, witness) = (server.core, witness)
        let facts = try await store.facts(about: id)
        let courier = PlayQueueCourier(remote, mark: facts[PlayQueueCourier.markFact] ?? "", log: .silent) { mark in
            store.keep(mark, as: PlayQueueCourier.markFact, about: id)
        }
        server.onCore { server in
            let journal = journal()
            server.journal = journal
            if scrobbles { server.scrobbler = Scrobbler(saved, journal) }
            server.playObservers.append(witness)
            server.askSimilar = { seed, whenDone in
                Task { whenDone(await remote.similarSongs(to: seed, count: SimilarSongs.count)) }
            }
            let stations = StationPlaylist(of: server.active) { job, whenDone in
                Task {
                    do throws(SubsonicError) {
                        whenDone(.success(try await remote.carryOut(job)))
                    } catch {
                        whenDone(.failure(error))
                    }
                }
            }
            server.stations = stations
            server.playlists.add(virtual: stations)
            configure(server)
            guard let queue else { return }
            server.playQueue = PlayQueueKeeper(queue, server)
            let playlist = QueuePlaylist(server: "test", of: server) { courier.fetch($0) }
            server.playlists.add(virtual: playlist)
        }
        work = [
            Task {
                await ScrobbleCourier(remote, id: id, store: store, log: .silent).work(for: MusicServer.Reference(core))
            },
            Task { await courier.work(for: MusicServer.Reference(core)) },
        ]
        follow()
    }

    static let records = songs.map { name in
        SongRecord(
            songID: name,
            uri: name,
            tags: [
                TagValue(.title, "Title \(name)"), TagValue(.artist, name < "n" ? "Anna" : "Bert"),
                TagValue(.genre, "aeiou".contains(name) ? "Vowel" : "Consonant"),
            ],
            duration: 60_000,
            artistID: name < "n" ? "ar-1" : "ar-2"
        )
    }

    /// Takes a command, which must succeed.
    func ask(_ command: String) throws -> Bool {
        let isWell = try client.ask(command).last == "OK"
        follow()
        return isWell
    }

    /// The answer to a command that waits for the remote server, which runs on the few threads that tests must not hold.
    func answer(_ command: String) async throws -> [String] {
        // Nobody else uses the client meanwhile: this waits.
        nonisolated(unsafe) let client = client
        let lines = try await withCheckedThrowingContinuation {
            (continuation: CheckedContinuation<[String], any Error>) in
            let thread = TestThread {
                continuation.resume(with: Result { try unsafe client.ask(command) })
            }
            if thread == nil { continuation.resume(throwing: MPDTestClient.Failure.cannotConnect) }
        }
        follow()
        return lines
    }

    /// The player plays for some seconds, and stands then unless it goes on.
    func plays(_ seconds: Double, from start: Double = 0) {
        guard let current else { return }
        let times = Self.clock.withLock { clock in
            defer { clock += UInt64((seconds + 2) * 1e9) }
            return (clock, clock + UInt64(seconds * 1e9))
        }
        func tell(_ elapsed: Double, _ time: UInt64, _ runs: Bool) {
            let position = PlaybackPosition(elapsed: .seconds(elapsed), time: time, advances: runs)
            server.player.report(.position(current, position))
        }
        server.player.report(.started(current))
        tell(start, times.0, true)
        tell(start + seconds, times.1, false)
    }

    /// The song is over; the next one is heard, if there is one.
    func ends() throws {
        if let next {
            server.player.report(.audible(next))
        } else if let current {
            server.player.report(.ended(current, .endOfFile))
        }
        if next != nil { current = next }
        next = nil
        _ = try ask("ping")
    }

    /// The server is gone for so long that the player lets go of the song.
    func fails() throws {
        if let current { server.player.report(.failed(current, .transport("the server is away"))) }
        _ = try ask("ping")
    }

    /// Notes what the player was told.
    private func follow() {
        for call in server.player.takeCalls() {
            switch call {
            case .load(let id, _, _, _): (current, next) = (id, nil)
            case .preload(let id, _): next = id
            case .cancelPreload: next = nil
            case .stop: (current, next) = (nil, nil)
            default: break
            }
        }
    }

    /// Waits until everything is told, however often the server does not answer; false when that takes too long.
    func settle() async -> Bool {
        let deadline = monotonicMilliseconds() + 20_000
        while monotonicMilliseconds() < deadline {
            let isDone = server.onCore { server -> Bool in
                guard let scrobbler = server.scrobbler else { return true }
                scrobbler.pace.serverAnswers()
                return scrobbler.waiting.isEmpty && !scrobbler.pace.isUnderWay
            }
            if isDone == true { return true }
            try? await Task.sleep(for: .milliseconds(2))
        }
        return false
    }

    /// What the next start does not hear of any more: the process ends without doing anything more.
    func kill() {
        for task in work { task.cancel() }
        server.kill()
    }

    /// Ends in the middle: what the store has not written yet is lost. The next start is in the other folder.
    func killHard(leaving other: TemporaryFolder, from folder: TemporaryFolder) {
        let names = ["store.sqlite", "store.sqlite-wal"]
        let paths = names.map { ($0, folder.path($0)) }
        // What it sends from here on, a process that is dead could not send.
        remote.cut(true)
        defer { remote.cut(false) }
        server.onCore { server in
            for (name, path) in paths {
                if let bytes = try? Files.read(path, limit: 64 << 20) { other.write(name, bytes) }
            }
            server.core.loop.stop()
        }
        kill()
    }
}

/// Writes down what was listened to. Told on the core, read by tests.
final class PlayWitness: PlayObserver, Sendable {
    private let state = Mutex<(played: [ScriptedListener.Play], skipped: [String])>(([], []))

    func songWasPlayed(_ song: SongIdentity, at time: Int64) {
        state.withLock { $0.played.append(.init(songID: song.songID, time: time)) }
    }

    func songWasSkipped(_ song: SongIdentity, at time: Int64) { state.withLock { $0.skipped.append(song.songID) } }

    var played: [ScriptedListener.Play] { state.withLock { $0.played } }
    var skipped: [String] { state.withLock { $0.skipped } }
}
