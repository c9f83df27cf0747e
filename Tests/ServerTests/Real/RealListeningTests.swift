import SubsonicKit
import Support
import Testing

@testable import ShelvMPD

/// What is listened to, between an MPD client and supysonic, seen by another client of the server.
@Suite(.serialized)
struct RealListeningTests {
    private func stations(_ other: OtherClient) throws -> [String] {
        try other.call("getInternetRadioStations").content[.internetRadioStations]?[.internetRadioStation]?
            .elements.compactMap { RadioStation($0) }.map { "\($0.name) \($0.address)" } ?? []
    }

    @Test(.enabled(if: RealPeer.supysonic.isWanted, RealStage<SupysonicServer>.needs))
    func whatTheServerKeepsIsTheSameForOthers() throws {
        let library = try #require(ToneLibrary.shared)
        let stage = try RealStage(
            library,
            options: "mixes \"yes\"\nplay_queue_sync \"both\"\ninfinite_play \"similar\"\n"
        )
        let (server, other, instance) = (stage.server, stage.other, stage.instance)
        defer { server.stop() }
        let client = try instance.client()

        // Stations, both ways.
        #expect(try client.ask("playlistadd \"Radio Stations\" http://127.0.0.1:9/jazz#Jazz") == ["OK"])
        #expect(try stations(other) == ["Jazz http://127.0.0.1:9/jazz"])
        try other.call("createInternetRadioStation", [("streamUrl", "http://127.0.0.1:9/news"), ("name", "News")])
        let shown = try client.ask("listplaylistinfo \"Radio Stations\"")
        #expect(
            shown == [
                "file: http://127.0.0.1:9/jazz", "Name: Jazz", "file: http://127.0.0.1:9/news", "Name: News", "OK",
            ]
        )
        #expect(try client.ask("playlistdelete \"Radio Stations\" 0") == ["OK"])
        #expect(try stations(other) == ["News http://127.0.0.1:9/news"])

        // What plays; this server notes it by itself.
        #expect(try client.ask("load \"Mix: Shuffle All\" 0:1") == ["OK"])
        #expect(try client.value("playlistlength", of: "status") == "1")
        // One that plays long enough to be asked for.
        for command in ["clear", "add \"Queue/Ten/10 - Ten 10.ogg\"", "play"] {
            #expect(try client.ask(command) == ["OK"])
        }
        let title = try client.value("Title", of: "currentsong")
        let isShown = waitUntil(milliseconds: 20_000) {
            let entries = try? other.call("getNowPlaying").content[.nowPlaying]?[.entry]?.elements.compactMap {
                Song($0)
            }
            return entries?.contains { $0.title == title } == true
        }
        #expect(isShown)
        // It knows no similar songs, so the library goes on.
        #expect(try client.status { Int($0["playlistlength"] ?? "").map { $0 > 1 } ?? false } != nil)
        #expect(!instance.log.contains("error:"), "\(instance.log)")
        instance.stop()
    }
}
