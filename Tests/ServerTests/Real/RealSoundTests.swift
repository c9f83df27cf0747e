import Support
import Testing

/// The sound that comes out, sample by sample.
@Suite(.enabled(if: RealPeer.supysonic.isWanted, "supysonic, gunicorn or ffmpeg is not installed"))
struct RealSoundTests {
    /// Songs of whole seconds at 44100 Hz; the first two are one sine, cut in two.
    private static let paths = [
        "Gapless/One Tone/01 - Part 1.flac",
        "Gapless/One Tone/02 - Part 2.flac",
        "Alpha Band/First Light/01 - Intro.flac",
        "Gamma Trio/The Long Box/1-01 - Box 11.mp3",
        "Queue/Short/01 - Short 01.ogg",
    ]

    @Test func theFileHoldsTheRightTonesInOrderWithoutAGap() throws {
        let library = try #require(ToneLibrary.shared)
        let songs = try Self.paths.map { path in try #require(library.song(path)) }
        let instance = try RealInstance(SharedServer.supysonic) { folder in
            """
            audio_output {
                type   "file"
                name   "Samples"
                path   "\(folder.path("samples"))"
                format "44100:16:2"
                timed  "no"
            }

            """
        }
        try instance.startAndSync(songs: library.songs.count)
        let client = try instance.client()
        for path in Self.paths { #expect(try client.ask("add \"\(path)\"") == ["OK"]) }
        #expect(try client.ask("play") == ["OK"])
        let end = try client.status { $0["state"] == "stop" }
        #expect(end?["error"] == nil)
        try #require(end != nil, "it does not come to an end: \(instance.log)")
        instance.stop()

        let samples = firstChannel(try #require(contents(of: instance.folder.path("samples"))))
        #expect(samples.count == songs.reduce(0) { $0 + Int($1.seconds) * 44100 })
        // Without loss, so sample by sample as another decoder reads the files.
        var lossless: [Int16] = []
        for path in Self.paths.prefix(3) {
            let raw = instance.folder.path("raw")
            let words = ["ffmpeg", "-v", "error", "-y", "-i", "\(library.path)/\(path)", "-f", "s16le", raw]
            #expect(TestProcess.run(words)?.end == .exited(0))
            lossless += firstChannel(try #require(contents(of: raw)))
        }
        #expect(samples.starts(with: lossless))
        var start = 0
        for song in songs {
            let end = min(samples.count, start + Int(song.seconds) * 44100)
            // Whole seconds of whole frequencies: everything else is far below.
            let piece = samples[min(start, end)..<end]
            #expect(strength(of: song.frequency, in: piece) > 0.28, "\(song.path)")
            for other in songs where other.frequency != song.frequency {
                #expect(strength(of: other.frequency, in: piece) < 0.01, "\(other.frequency) in \(song.path)")
            }
            start = end
        }
        // Over the joint it is one tone: a gap, a jump or a repetition of some samples would be heard and seen here.
        let joint = 2 * 44100
        #expect(strength(of: 500, in: samples[(joint - 882)..<(joint + 882)]) > 0.29)
        let period = 441  // five periods of 500 Hz
        // A slip by one sample would make it some 700.
        let differences = ((joint - 2000)..<(joint + 2000)).map { index in
            abs(Int(samples[index]) - Int(samples[index - period]))
        }
        #expect(differences.max() ?? .max < 20)
    }
}
