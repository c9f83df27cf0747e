import CLinux
import Playback
import Support
import Synchronization
import Testing

@testable import ShelvMPD

/// What is told of what was listened to, by what the player reports and clients do.
@Suite struct ListeningTests {
    /// Writes down what it is told. Owned by the core, read by tests.
    private final class Witness: PlayObserver, Sendable {
        private let told = Mutex<[String]>([])
        let times = Mutex<[Int64]>([])

        func songWasPlayed(_ song: SongIdentity, at time: Int64) { note("played \(song.songID)", time) }
        func songWasSkipped(_ song: SongIdentity, at time: Int64) { note("skipped \(song.songID)", time) }

        private func note(_ text: String, _ time: Int64) {
            told.withLock { $0.append(text) }
            times.withLock { $0.append(time) }
        }

        func take() -> [String] {
            told.withLock { told in
                defer { told = [] }
                return told
            }
        }
    }

    /// A server whose player has begun the first of three songs of a minute.
    private final class Fixture {
        let server: TestServer
        let client: MPDTestClient
        let witness = Witness()
        let clock = Mutex<UInt64>(1_000_000_000)

        init(_ commands: String...) throws {
            server = try TestServer()
            client = try server.client()
            let witness = witness
            server.core.post { $0.playObservers.append(witness) }
            for command in ["add Alpha/First"] + commands { #expect(try client.ask(command) == ["OK"]) }
        }

        /// The player plays a song for some seconds and stands then. The test's clock is behind the real one.
        func plays(_ id: UInt64, _ seconds: Double, from start: Double = 0) {
            let times = clock.withLock { clock in
                defer { clock += UInt64(seconds * 1e9) }
                return (clock, clock + UInt64(seconds * 1e9))
            }
            func tell(_ elapsed: Double, _ time: UInt64, _ runs: Bool) {
                let position = PlaybackPosition(elapsed: .seconds(elapsed), time: time, advances: runs)
                server.player.report(.position(PlaybackID(id), position))
            }
            server.player.report(.started(PlaybackID(id)))
            tell(start, times.0, true)
            tell(start + seconds, times.1, false)
        }

        func told() throws -> [String] {
            _ = try client.ask("ping")
            return witness.take()
        }
    }

    @Test func aSongCountsAtItsHalf() throws {
        let fixture = try Fixture("play")
        fixture.plays(1, 29)
        #expect(try fixture.told() == [])
        fixture.plays(1, 2, from: 29)
        #expect(try fixture.told() == ["played First-1"])
        // As long ago as the player says.
        let start = fixture.witness.times.withLock { $0[0] }
        let expected = PlayTracker.wallClock - Int64(clamping: shelv_monotonic_now() / 1_000_000) + 1_000
        #expect(abs(start - expected) < 5_000)
        fixture.plays(1, 29, from: 31)
        fixture.server.player.report(.audible(PlaybackID(2)))
        #expect(try fixture.told() == [])
        fixture.plays(2, 60)
        #expect(try fixture.told() == ["played First-2"])
    }

    @Test func nextBeforeItCountsIsASkip() throws {
        let fixture = try Fixture("play")
        fixture.plays(1, 10)
        _ = try fixture.client.ask("next")
        #expect(try fixture.told() == ["skipped First-1"])
        // Not heard yet.
        _ = try fixture.client.ask("next")
        #expect(try fixture.told() == [])
    }

    @Test func nextAfterwardsIsNone() throws {
        let fixture = try Fixture("play")
        fixture.plays(1, 31)
        _ = try fixture.client.ask("next")
        #expect(try fixture.told() == ["played First-1"])
    }

    @Test func anotherChoiceIsASkipAndStopIsNone() throws {
        let fixture = try Fixture("play")
        fixture.plays(1, 10)
        _ = try fixture.client.ask("play 2")
        #expect(try fixture.told() == ["skipped First-1"])
        fixture.plays(3, 10)
        _ = try fixture.client.ask("stop")
        #expect(try fixture.told() == [])
        _ = try fixture.client.ask("play")
        fixture.plays(5, 10)
        _ = try fixture.client.ask("clear")
        #expect(try fixture.told() == ["skipped First-3"])
    }

    @Test func pausesAndJumpsDoNotCount() throws {
        let fixture = try Fixture("play")
        fixture.plays(1, 20)
        _ = try fixture.client.ask("pause 1")
        _ = try fixture.client.ask("pause 0")
        _ = try fixture.client.ask("seekcur 50")
        fixture.plays(1, 9, from: 50)
        #expect(try fixture.told() == [])
        fixture.plays(1, 1, from: 59)
        #expect(try fixture.told() == ["played First-1"])
    }

    @Test func eachRepetitionIsAPlay() throws {
        let fixture = try Fixture("single 1", "repeat 1", "play")
        fixture.plays(1, 60)
        fixture.server.player.report(.audible(PlaybackID(2)))
        fixture.plays(2, 60)
        #expect(try fixture.told() == ["played First-1", "played First-1"])
    }

    @Test func whatCannotBePlayedIsNotSkipped() throws {
        let fixture = try Fixture("play")
        fixture.plays(1, 10)
        fixture.server.player.report(.failed(PlaybackID(1), .permanent("damaged")))
        #expect(waitUntil(milliseconds: 5_000) { (try? fixture.client.value("song", of: "status")) == "1" })
        #expect(try fixture.told() == [])
    }

    @Test func aClockThatIsAheadDoesNoHarm() throws {
        let fixture = try Fixture("play")
        fixture.clock.withLock { $0 = shelv_monotonic_now() + 3_600_000_000_000 }
        fixture.plays(1, 31)
        #expect(try fixture.told() == ["played First-1"])
    }

    @Test func urlsAreNobodysSongs() throws {
        let fixture = try Fixture("clear", "add http://127.0.0.1/radio", "add Alpha/First", "play")
        fixture.plays(1, 10)
        fixture.server.player.report(.duration(PlaybackID(1), .seconds(60)))
        fixture.plays(1, 60)
        _ = try fixture.client.ask("next")
        #expect(try fixture.told() == [])
    }
}
