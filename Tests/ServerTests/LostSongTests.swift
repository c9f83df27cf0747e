import Library
import Playback
import QueueEngine
import Support
import Testing

@testable import ShelvMPD

/// What comes after the network or the device has failed for good: the player has let go of the song, and whatever the
/// listener asks for next must bring it back.
@Suite struct LostSongTests {
    /// A server whose first song was lost while it played from second 20 on.
    private static func lost() throws -> (TestServer, MPDTestClient) {
        let server = try TestServer()
        let client = try server.client()
        #expect(try client.ask("add Alpha/First") == ["OK"])
        #expect(try client.ask("play") == ["OK"])
        let song = PlaybackID(1)
        server.player.report(.started(song))
        let now = UInt64(clamping: Instant.now.nanoseconds)
        server.player.report(.position(song, PlaybackPosition(elapsed: .seconds(20), time: now, advances: true)))
        server.player.report(.failed(song, .transport("the server refuses access")))
        #expect(try client.value("state", of: "status") == "pause")
        #expect(try client.value("error", of: "status") == "the server refuses access")
        _ = server.player.takeCalls()
        return (server, client)
    }

    private static func milliseconds(_ client: MPDTestClient) throws -> Duration {
        let text = try #require(try client.value("elapsed", of: "status"))
        return .milliseconds(try #require(Int64(text.filter { $0 != "." })))
    }

    /// The only load among some calls.
    private static func load(_ calls: [FakePlayer.Call]) throws -> (PlaybackID, String, Duration, Bool) {
        let loads = calls.compactMap { call in
            if case .load(let id, let key, let position, let paused) = call { (id, key, position, paused) } else { nil }
        }
        #expect(loads.count == 1)
        return try #require(loads.first)
    }

    @Test(arguments: ["play", "pause 0", "pause", "playid"])
    func goesOnAtItsPlace(command: String) throws {
        let (server, client) = try Self.lost()
        let place = try Self.milliseconds(client)
        #expect(place >= .seconds(20))
        #expect(try client.ask(command) == ["OK"])
        let calls = server.player.takeCalls()
        let (id, key, position, paused) = try Self.load(calls)
        #expect(key == "First-1" && !paused)
        // It has stood there since it was lost; `status` shows milliseconds.
        #expect(position >= place && position - place < .milliseconds(1))
        #expect(calls.dropFirst() == [.preload(PlaybackID(4), key: "First-2")])
        let status = try client.ask("status")
        #expect(status.contains("state: play") && status.contains("nextsong: 1"))
        #expect(!status.contains { $0.hasPrefix("error: ") })
        // From now on it is a song like others.
        server.player.report(.started(id))
        #expect(try client.ask("pause 1") == ["OK"])
        #expect(try client.ask("pause 0") == ["OK"])
        #expect(server.player.takeCalls() == [.pause(true), .pause(false)])
        server.player.report(.audible(PlaybackID(4)))
        #expect(try client.value("song", of: "status") == "1")
    }

    @Test func seeksWhilePaused() throws {
        let (server, client) = try Self.lost()
        #expect(try client.ask("seekcur 5") == ["OK"])
        let (_, key, position, paused) = try Self.load(server.player.takeCalls())
        #expect(key == "First-1" && position == .seconds(5) && paused)
        #expect(try client.value("elapsed", of: "status") == "5.000")
        #expect(try client.value("error", of: "status") == nil)
        #expect(try client.ask("play") == ["OK"])
        #expect(server.player.takeCalls() == [.pause(false)])
    }

    @Test func seeksBackFromItsPlace() throws {
        let (server, client) = try Self.lost()
        let place = try Self.milliseconds(client)
        #expect(try client.ask("seekcur -5") == ["OK"])
        let position = try Self.load(server.player.takeCalls()).2 + .seconds(5)
        #expect(position >= place && position - place < .milliseconds(1))
    }

    @Test(arguments: [("next", "First-2"), ("previous", "First-1"), ("play 2", "First-3")])
    func goesElsewhere(command: String, key: String) throws {
        let (server, client) = try Self.lost()
        #expect(try client.ask(command) == ["OK"])
        let load = try Self.load(server.player.takeCalls())
        #expect(load.1 == key && load.2 == .zero && !load.3)
    }

    /// What is edited meanwhile holds when the song is back.
    @Test func theNextSongIsWhatIsNextThen() throws {
        let (server, client) = try Self.lost()
        #expect(try client.ask("delete 1") == ["OK"])
        #expect(server.player.takeCalls().isEmpty)
        #expect(try client.ask("play") == ["OK"])
        let calls = server.player.takeCalls()
        #expect(calls.contains { if case .preload(_, "First-3") = $0 { true } else { false } })
        #expect(!calls.contains { if case .preload(_, "First-2") = $0 { true } else { false } })
    }

    /// The player was at the next song already, as it is some tenths of a second before the listener.
    @Test func aSongLostNearItsEndIsBegunAgainThere() throws {
        let server = try TestServer()
        let client = try server.client()
        #expect(try client.ask("add Alpha/First") == ["OK"])
        #expect(try client.ask("play") == ["OK"])
        let song = PlaybackID(1)
        server.player.report(.position(song, PlaybackPosition(elapsed: .seconds(59), time: 0, advances: false)))
        server.player.report(.committed(PlaybackID(2)))
        server.player.report(.failed(song, .transport("the audio device has gone")))
        _ = server.player.takeCalls()
        #expect(try client.ask("delete 1") == ["OK"])
        #expect(try client.ask("play") == ["OK"])
        let load = try Self.load(server.player.takeCalls())
        #expect(load.1 == "First-1" && load.2 == .seconds(59))
    }

    /// Paused before it failed, it is paused still; only the song is gone.
    @Test func aSongThatIsLostWhilePausedGoesOnToo() throws {
        let server = try TestServer()
        let client = try server.client()
        #expect(try client.ask("add Alpha/First") == ["OK"])
        #expect(try client.ask("play") == ["OK"])
        #expect(try client.ask("pause 1") == ["OK"])
        server.player.report(.failed(PlaybackID(1), .transport("no more room on the disk")))
        #expect(try client.value("state", of: "status") == "pause")
        _ = server.player.takeCalls()
        #expect(try client.ask("pause 0") == ["OK"])
        let load = try Self.load(server.player.takeCalls())
        #expect(load.1 == "First-1" && load.2 == .zero && !load.3)
    }

    /// It may be lost as often as it likes; late reports of earlier attempts mean nothing.
    @Test func eachAttemptMayFail() throws {
        let (server, client) = try Self.lost()
        let place = try Self.milliseconds(client)
        for _ in 0..<3 {
            #expect(try client.ask("play") == ["OK"])
            let (id, _, position, _) = try Self.load(server.player.takeCalls())
            #expect(position >= place && position - place < .milliseconds(1))
            server.player.report(.failed(PlaybackID(1), .transport("late")))
            #expect(try client.value("error", of: "status") == nil)
            server.player.report(.failed(id, .transport("refused again")))
            #expect(try client.value("error", of: "status") == "refused again")
            #expect(try client.value("state", of: "status") == "pause")
        }
    }

    @Test func itsPlaceOutlivesTheProgram() async throws {
        let folder = try #require(TemporaryFolder())
        var server = try await PersistentServer(folder)
        var client = try server.client()
        #expect(try client.ask("add Alpha/First") == ["OK"])
        #expect(try client.ask("play") == ["OK"])
        let song = PlaybackID(1)
        server.player.report(.started(song))
        server.player.report(.position(song, PlaybackPosition(elapsed: .seconds(20), time: 0, advances: false)))
        server.player.report(.failed(song, .transport("the server refuses access")))
        #expect(try client.value("state", of: "status") == "pause")
        server.end()

        server = try await PersistentServer(folder)
        client = try server.client()
        let status = try client.ask("status")
        #expect(status.contains("state: pause") && status.contains("elapsed: 20.000") && status.contains("song: 0"))
        let load = try Self.load(server.player.takeCalls())
        #expect(load.1 == "First-1" && load.2 == .seconds(20) && load.3)
        #expect(try client.ask("play") == ["OK"])
        #expect(server.player.takeCalls() == [.pause(false)])
        server.end()
    }
}
