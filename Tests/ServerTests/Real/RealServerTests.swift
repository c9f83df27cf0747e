import Support
import Testing

/// What the tests rely on: the tone library, and Debian's supysonic with it.
@Suite(.enabled(if: RealPeer.supysonic.isWanted, "supysonic, gunicorn or ffmpeg is not installed"))
struct RealServerTests {
    @Test func theToneLibraryIsServed() throws {
        let library = try #require(ToneLibrary.shared)
        #expect(library.songs.count > 20)
        #expect(library.song("Gapless/One Tone/01 - Part 1.flac")?.frequency == 500)
        let server = try #require(SupysonicServer(music: library.path))
        let query = "u=demo&p=demo&v=1.10.2&c=test&f=json&query=&artistCount=0&albumCount=0&songCount=500"
        let answer = try #require(TestProcess.run(["curl", "-sS", "\(server.url)/rest/search3.view?\(query)"]))
        #expect(answer.end == .exited(0), "\(answer.errors)")
        for song in library.songs where song.path.utf8.allSatisfy({ $0 < 0x80 && $0 != UInt8(ascii: "\"") }) {
            #expect(answer.output.contains("\"path\":\"\(song.path)\""), "\(song.path)")
        }
        #expect(answer.output.split(separator: "\"path\":").count == library.songs.count + 1)
        server.stop()
        // Its last process may be a moment later than its first one.
        #expect(waitUntil { TestProcess.run(["curl", "-sS", server.url])?.end == .exited(7) })
    }
}
