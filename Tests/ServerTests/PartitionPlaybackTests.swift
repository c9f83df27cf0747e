import Library
import MPDProtocol
import Playback
import Support
import Synchronization
import Testing

@testable import ShelvMPD

/// What clients see of a player that reports what real ones do, in their order and out of it.
@Suite struct PartitionPlaybackTests {
    /// A server that plays the first song of an album of three; the player has been told to load it.
    private static func playing() throws -> (TestServer, MPDTestClient, PlaybackID) {
        let server = try TestServer()
        let client = try server.client()
        #expect(try client.ask("add Alpha/First") == ["OK"])
        #expect(try client.ask("play") == ["OK"])
        let calls = server.player.takeCalls()
        #expect(
            calls == [
                .load(PlaybackID(1), key: "First-1", at: .zero, paused: false),
                .preload(PlaybackID(2), key: "First-2"),
            ]
        )
        server.player.report(.started(PlaybackID(1)))
        return (server, client, PlaybackID(1))
    }

    @Test func showsACommandedChangeAtOnce() throws {
        let (_, client, _) = try Self.playing()
        let status = try client.ask("status")
        #expect(status.contains("state: play"))
        #expect(status.contains("song: 0"))
        #expect(status.contains("duration: 60.000"))
        #expect(status.contains("nextsong: 1"))
        #expect(try client.ask("currentsong").first == "file: Alpha/First/01.flac")
    }

    @Test func followsThePreloadedSongWhenItIsHeard() throws {
        let (server, client, _) = try Self.playing()
        server.player.report(.audible(PlaybackID(2)))
        #expect(try client.value("song", of: "status") == "1")
        // The player has gone on by itself: it is only told what comes then.
        #expect(server.player.takeCalls() == [.preload(PlaybackID(3), key: "First-3")])
    }

    /// The goal is 30 ms from the sound to the client; this is the way from the player.
    @Test func anIdleClientHearsOfTheNextSongAtOnce() throws {
        let (server, _, _) = try Self.playing()
        let client = try server.client()
        client.send("idle player\n")
        let begin = monotonicMilliseconds()
        server.player.report(.audible(PlaybackID(2)))
        #expect(try client.reply() == ["changed: player", "OK"])
        let time = monotonicMilliseconds() - begin
        #expect(time < 500, "\(time) ms")
    }

    @Test func theErrorOfALostDeviceGoesWhenItIsBack() throws {
        let (server, client, _) = try Self.playing()
        server.player.report(.output(index: 0, problem: "gone"))
        #expect(try client.value("error", of: "status") == "test: gone")
        #expect(try client.value("state", of: "status") == "play")
        server.player.report(.output(index: 0, problem: nil))
        #expect(try client.value("error", of: "status") == nil)
        // Told once: who clears it does not see it again.
        server.player.report(.output(index: 0, problem: "gone"))
        #expect(try client.ask("clearerror") == ["OK"])
        server.player.report(.output(index: 0, problem: "gone"))
        #expect(try client.value("error", of: "status") == nil)
        // What has been told since stays.
        server.player.report(.starving(PlaybackID(1), message: "no server"))
        server.player.report(.output(index: 0, problem: nil))
        #expect(try client.value("error", of: "status") == "no server")
    }

    @Test func hasSongsFetchedThatComeLater() throws {
        let server = try TestServer { $0.songsAhead = 2 }
        let client = try server.client()
        #expect(try client.ask("add Alpha/First") == ["OK"])
        #expect(try client.ask("play") == ["OK"])
        #expect(server.player.takeCalls().last == .fetchAhead(["First-3"]))
        #expect(try client.ask("setvol 50") == ["OK"])
        #expect(!server.player.takeCalls().contains { if case .fetchAhead = $0 { true } else { false } })
        #expect(try client.ask("move 2 1") == ["OK"])
        #expect(server.player.takeCalls().last == .fetchAhead(["First-2"]))
        #expect(try client.ask("stop") == ["OK"])
        #expect(server.player.takeCalls().last == .fetchAhead([]))
    }

    @Test func stopsBehindTheLastSong() throws {
        let (server, client, playback) = try Self.playing()
        #expect(try client.ask("delete 1:") == ["OK"])
        server.player.report(.ended(playback, .endOfFile))
        let status = try client.ask("status")
        #expect(status.contains("state: stop"))
        #expect(!status.contains { $0.hasPrefix("song: ") })
    }

    @Test func dropsReportsOfSongsThatAreGone() throws {
        let (server, client, stale) = try Self.playing()
        _ = try client.ask("next")
        server.player.report(.ended(stale, .endOfFile))
        server.player.report(.failed(stale, .permanent("late")))
        server.player.report(.starving(stale, message: "late"))
        server.player.report(.duration(stale, .seconds(7)))
        let status = try client.ask("status")
        #expect(status.contains("song: 1"))
        #expect(status.contains("duration: 60.000"))
        #expect(!status.contains { $0.hasPrefix("error: ") })
    }

    @Test func keepsTheSongWhileBytesAreMissing() throws {
        let (server, client, playback) = try Self.playing()
        server.player.report(.starving(playback, message: "the server is away"))
        #expect(try client.value("error", of: "status") == "the server is away")
        #expect(try client.value("state", of: "status") == "play")
        #expect(try client.value("song", of: "status") == "0")
        server.player.report(.recovered(playback))
        #expect(try client.value("error", of: "status") == nil)
    }

    @Test func clearErrorClears() throws {
        let (server, client, playback) = try Self.playing()
        server.player.report(.starving(playback, message: "the server is away"))
        #expect(try client.ask("clearerror") == ["OK"])
        #expect(try client.value("error", of: "status") == nil)
    }

    /// The player has let go of it, so it does not move on; else `play` would go on at another place.
    @Test func staysAtItsPlaceWhenTheServerIsGivenUp() throws {
        let (server, client, playback) = try Self.playing()
        let now = UInt64(clamping: Instant.now.nanoseconds)
        server.player.report(.position(playback, PlaybackPosition(elapsed: .seconds(7), time: now, advances: true)))
        server.player.report(.failed(playback, .transport("away")))
        let advances = Mutex<Bool?>(nil)
        server.core.post { server in
            let loaded = server.defaultPartition.loaded
            advances.withLock { $0 = loaded?.position.advances }
        }
        #expect(try client.value("state", of: "status") == "pause")
        #expect(advances.withLock { $0 } == false)
    }

    /// An address may hold a password or a token; neither is told, here or in the log.
    @Test func anAddressThatCannotBePlayedIsNamedWithoutSecrets() throws {
        let server = try TestServer()
        let client = try server.client()
        #expect(try client.ask("add http://ann:s3cret@127.0.0.1/radio?token=s3cret") == ["OK"])
        #expect(try client.ask("play") == ["OK"])
        server.player.report(.failed(PlaybackID(1), .permanent("nobody answers")))
        #expect(try client.value("error", of: "status") == "Cannot play http://127.0.0.1/radio: nobody answers")
    }

    @Test func passesOverASongThatCannotBePlayed() throws {
        let (server, client, playback) = try Self.playing()
        server.player.report(.failed(playback, .permanent("not on the server")))
        #expect(
            try client.value("error", of: "status") == "Cannot play Alpha/First/01.flac: not on the server"
        )
        #expect(try client.value("song", of: "status") == "0")
        // A moment later; each change of the player is told.
        var changes = 0
        while try client.value("song", of: "status") == "0", changes < 5 {
            client.send("idle player\n")
            _ = try client.reply()
            changes += 1
        }
        #expect(try client.value("song", of: "status") == "1")
    }

    @Test func countsElapsedFromWhatThePlayerSaid() throws {
        let (server, client, playback) = try Self.playing()
        server.player.report(
            .position(playback, PlaybackPosition(elapsed: .milliseconds(12_345), time: 0, advances: false))
        )
        server.player.report(.format(playback, DecodedFormat(sampleRate: 48000, bits: "f", channels: 2)))
        server.player.report(.bitRate(playback, 320))
        let status = try client.ask("status")
        #expect(status.contains("elapsed: 12.345"))
        #expect(status.contains("time: 12:60"))
        #expect(status.contains("audio: 48000:f:2"))
        #expect(status.contains("bitrate: 320"))
    }

    @Test func seeksRelativeToWhatIsHeard() throws {
        let (server, client, playback) = try Self.playing()
        server.player.report(
            .position(playback, PlaybackPosition(elapsed: .seconds(20), time: 0, advances: false))
        )
        #expect(try client.ask("seekcur -5") == ["OK"])
        #expect(try client.ask("seekcur +1.5") == ["OK"])
        #expect(server.player.takeCalls() == [.seek(.seconds(15)), .seek(.milliseconds(16_500))])
        #expect(try client.value("elapsed", of: "status") == "16.500")
    }

    @Test func whatThePlayerSaidBeforeASeekIsNoNews() throws {
        let (server, client, playback) = try Self.playing()
        let report = { (seconds: Int, seeks: UInt64) in
            let position = PlaybackPosition(elapsed: .seconds(seconds), time: 0, advances: false, seeks: seeks)
            server.player.report(.position(playback, position))
        }
        report(20, 0)
        #expect(try client.ask("seekcur 30") == ["OK"])
        #expect(try client.ask("seekcur 40") == ["OK"])
        // The player has taken the first of the two by now.
        report(30, 1)
        #expect(try client.value("elapsed", of: "status") == "40.000")
        #expect(try client.ask("seekcur -5") == ["OK"])
        #expect(server.player.takeCalls().last == .seek(.seconds(35)))
        report(35, 3)
        report(36, 3)
        #expect(try client.value("elapsed", of: "status") == "36.000")
    }

    @Test func tellsThePlayerWhenAnEditChangesWhatComes() throws {
        let (server, client, _) = try Self.playing()
        #expect(try client.ask(#"addid "loose.mp3" +0"#).last == "OK")
        #expect(server.player.takeCalls() == [.preload(PlaybackID(3), key: "loose")])
        #expect(try client.ask("delete 1:") == ["OK"])
        #expect(server.player.takeCalls() == [.cancelPreload])
    }

    @Test func volumeGoesToThePlayerAndStays() throws {
        let (server, client, _) = try Self.playing()
        #expect(try client.ask("setvol 30") == ["OK"])
        #expect(try client.ask("volume -5") == ["OK"])
        server.player.report(.audible(PlaybackID(2)))
        #expect(try client.value("volume", of: "status") == "25")
        #expect(server.player.takeCalls().prefix(2) == [.volume(30), .volume(25)])
    }

    // MARK: The commit window

    @Test func nextInTheCommitWindowIsTheSongThatComesAnyway() throws {
        let (server, client, _) = try Self.playing()
        server.player.report(.committed(PlaybackID(2)))
        #expect(try client.ask("next") == ["OK"])
        let status = try client.ask("status")
        #expect(status.contains("song: 1"))
        #expect(status.contains("elapsed: 0.000"))
        #expect(status.contains("nextsong: 2"))
        server.player.report(.audible(PlaybackID(2)))
        #expect(try client.value("song", of: "status") == "1")
        // Nothing was loaded; the player only hears what comes after that.
        #expect(server.player.takeCalls() == [.preload(PlaybackID(3), key: "First-3")])
    }

    @Test func nextTwiceInTheCommitWindowSkipsOne() throws {
        let (server, client, _) = try Self.playing()
        server.player.report(.committed(PlaybackID(2)))
        #expect(try client.ask("next") == ["OK"])
        #expect(try client.ask("next") == ["OK"])
        #expect(server.player.takeCalls().first == .load(PlaybackID(3), key: "First-3", at: .zero, paused: false))
        server.player.report(.audible(PlaybackID(2)))
        #expect(try client.value("song", of: "status") == "2")
    }

    @Test func anEditInTheCommitWindowLoadsTheRightSong() throws {
        let (server, client, _) = try Self.playing()
        server.player.report(.committed(PlaybackID(2)))
        #expect(try client.ask("delete 1") == ["OK"])
        #expect(server.player.takeCalls().first == .load(PlaybackID(3), key: "First-3", at: .zero, paused: false))
        server.player.report(.audible(PlaybackID(2)))
        #expect(try client.value("songid", of: "status") == "3")
    }

    @Test func anEditThatComesBeforeTheCommitIsOnlyAnotherPreload() throws {
        let (server, client, _) = try Self.playing()
        #expect(try client.ask("delete 1") == ["OK"])
        server.player.report(.committed(PlaybackID(2)))
        #expect(server.player.takeCalls() == [.preload(PlaybackID(3), key: "First-3")])
        #expect(try client.value("song", of: "status") == "0")
        server.player.report(.committed(PlaybackID(3)))
        server.player.report(.audible(PlaybackID(3)))
        #expect(try client.value("songid", of: "status") == "3")
    }

    @Test func anEditWhileHeldInTheCommitWindowDoesNotCutTheSong() throws {
        let (server, client, _) = try Self.playing()
        server.player.report(.committed(PlaybackID(2)))
        #expect(try client.ask("pause 1") == ["OK"])
        #expect(try client.ask("delete 1") == ["OK"])
        #expect(try client.ask("pause 0") == ["OK"])
        #expect(server.player.takeCalls() == [.pause(true), .preload(PlaybackID(3), key: "First-3"), .pause(false)])
        #expect(try client.value("song", of: "status") == "0")
    }

    @Test func aSongThatFailsAfterNextInTheCommitWindowDoesNotHoldTheNextOneUp() throws {
        let (server, client, first) = try Self.playing()
        server.player.report(.committed(PlaybackID(2)))
        #expect(try client.ask("next") == ["OK"])
        server.player.report(.failed(first, .permanent("broken at its end")))
        #expect(try client.value("song", of: "status") == "1")
        #expect(server.player.takeCalls().first == .load(PlaybackID(3), key: "First-2", at: .zero, paused: false))
    }

    // MARK: Parts and gain

    @Test func playsThePartThatRangeIDChose() throws {
        let (server, client, _) = try Self.playing()
        #expect(try client.ask("rangeid 2 10:25.5") == ["OK"])
        #expect(server.player.takeCalls() == [.preload(PlaybackID(3), key: "First-2")])
        let source = try #require(server.player.source(PlaybackID(3)))
        #expect(source.start == .seconds(10))
        #expect(source.end == .milliseconds(25_500))
        server.player.report(.audible(PlaybackID(3)))
        server.player.report(
            .position(PlaybackID(3), PlaybackPosition(elapsed: .seconds(14), time: 0, advances: false))
        )
        let status = try client.ask("status")
        #expect(status.contains("elapsed: 4.000"))
        #expect(status.contains("duration: 15.500"))
        #expect(status.contains("time: 4:16"))
        #expect(try client.ask("seekcur 2") == ["OK"])
        #expect(server.player.takeCalls().last == .seek(.seconds(12)))
        let record = try client.ask("currentsong")
        #expect(record[1] == "Range: 10.000-25.500")
        #expect(record.contains("Time: 16"))
        #expect(record.contains("duration: 15.500"))
        #expect(try client.ask("rangeid 2 1:2") == ["ACK [4@0] {rangeid} Cannot edit the current song"])
    }

    @Test func songsArePlayedWithTheChosenGainAtOnce() throws {
        var records = LibraryFixture.records
        records[0].replayGain = ReplayGain(trackGain: -3, albumGain: -6)
        records[1].replayGain = ReplayGain(trackGain: 5, trackPeak: 0.8)
        let server = try TestServer(records)
        let client = try server.client()
        #expect(try client.ask("add Alpha/First") == ["OK"])
        #expect(try client.ask("play") == ["OK"])
        #expect(server.player.source(PlaybackID(1))?.gain == nil)
        _ = server.player.takeCalls()
        func levels() -> [Float?] {
            server.player.takeCalls().compactMap { if case .gain(_, let gain) = $0 { gain?.level } else { nil } }
        }
        #expect(try client.ask("replay_gain_mode auto") == ["OK"])
        let album = levels()
        // The second one has no album gain: the track's, and no louder than the peak allows.
        #expect(album.count == 2 && album[0] == -6 && abs((album[1] ?? 0) - 1.938) < 0.001)
        #expect(try client.ask("random 1") == ["OK"])
        #expect(levels().first == -3)
        #expect(try client.ask("random 0") == ["OK"])
        #expect(try client.ask("play 0") == ["OK"])
        #expect(server.player.source(PlaybackID(1))?.gain == nil)
        _ = server.player.takeCalls()
        #expect(try client.ask("replay_gain_mode off") == ["OK"])
        let calls = server.player.takeCalls()
        #expect(calls.count == 2 && calls.allSatisfy { if case .gain(_, nil) = $0 { true } else { false } })
        #expect(try client.ask("replay_gain_status") == ["replay_gain_mode: off", "OK"])
    }

    @Test(
        arguments: [
            (ReplayGainMode.off, false, nil), (.track, false, -3), (.album, false, -6), (.auto, false, -6),
            (.auto, true, -3),
        ] as [(ReplayGainMode, Bool, Float?)]
    )
    func choosesTheGain(mode: ReplayGainMode, isRandom: Bool, wanted: Float?) {
        var settings = SoundSettings(replayGain: mode)
        let song = ReplayGain(trackGain: -3, albumGain: -6)
        #expect(settings.gain(of: song, isRandom: isRandom)?.level == wanted)
        let other = settings.gain(of: ReplayGain(fallbackGain: -7), isRandom: isRandom)
        #expect(other?.level == (mode == .off ? nil : -7))
        #expect((other?.byTags == nil) == (mode == .off))
        settings.loudness = LoudnessRules(preamp: 2, missingPreamp: -4)
        #expect(settings.gain(of: song, isRandom: isRandom)?.level == wanted.map { $0 + 2 })
        #expect(settings.gain(of: nil, isRandom: isRandom)?.level == (mode == .off ? nil : -4))
    }
}
