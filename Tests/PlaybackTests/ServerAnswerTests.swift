import SubsonicKit
import Support
import Testing

@testable import Playback

struct ServerAnswerTests {
    struct Row: CustomTestStringConvertible {
        var testDescription: String
        var status: Int
        var headers: [(String, String)] = []
        var rangeStart: Int64?
        var answer: ServerAnswer
    }

    private static let rows = [
        Row(
            testDescription: "whole file",
            status: 200,
            headers: [("content-length", "10")],
            answer: .audio(offset: 0, total: 10)
        ),
        Row(testDescription: "unknown length", status: 200, answer: .audio(offset: 0, total: nil)),
        Row(
            testDescription: "coded body",
            status: 200,
            headers: [("content-length", "10"), ("content-encoding", "gzip")],
            answer: .audio(offset: 0, total: nil)
        ),
        Row(
            testDescription: "whole file for a range",
            status: 200,
            headers: [("content-length", "10")],
            rangeStart: 5,
            answer: .audio(offset: 0, total: 10)
        ),
        Row(
            testDescription: "range",
            status: 206,
            headers: [("content-range", "bytes 5-9/10")],
            rangeStart: 5,
            answer: .audio(offset: 5, total: 10)
        ),
        Row(
            testDescription: "range of untold length",
            status: 206,
            headers: [("content-range", "bytes 5-9/*")],
            rangeStart: 5,
            answer: .audio(offset: 5, total: nil)
        ),
        Row(
            testDescription: "a later range than asked",
            status: 206,
            headers: [("content-range", "bytes 7-9/10")],
            rangeStart: 5,
            answer: .rangeRefused(total: nil)
        ),
        Row(
            testDescription: "range without a header",
            status: 206,
            rangeStart: 5,
            answer: .audio(offset: 5, total: nil)
        ),
        Row(
            testDescription: "beyond the end",
            status: 416,
            headers: [("content-range", "bytes */3")],
            rangeStart: 5,
            answer: .rangeRefused(total: 3)
        ),
        Row(testDescription: "400 to a range", status: 400, rangeStart: 5, answer: .rangeRefused(total: nil)),
        Row(
            testDescription: "absurd numbers",
            status: 206,
            headers: [("content-range", "bytes 5-9/99999999999999999999999")],
            rangeStart: 5,
            answer: .audio(offset: 5, total: nil)
        ),
        Row(
            testDescription: "JSON",
            status: 200,
            headers: [("content-type", "application/json"), ("content-length", "9")],
            answer: .doubtful(offset: 0, total: 9)
        ),
        Row(
            testDescription: "empty",
            status: 200,
            headers: [("content-length", "0")],
            answer: .broken(ServerAnswer.emptiness)
        ),
        Row(
            testDescription: "a refusal with a document",
            status: 401,
            headers: [("content-type", "application/json")],
            answer: .explained(.failed(.transport("the server refuses access (HTTP 401)")))
        ),
        Row(
            testDescription: "busy",
            status: 429,
            headers: [("retry-after", "7")],
            answer: .retry("the server answers with HTTP 429", after: .seconds(7))
        ),
    ]

    @Test(arguments: rows)
    func readsTheHead(row: Row) {
        let head = HTTPHead(status: row.status, headers: row.headers.map { (name: $0.0, value: $0.1) })
        #expect(ServerAnswer(head, rangeStart: row.rangeStart) == row.answer)
    }

    @Test func tellsDocumentsFromAudio() {
        #expect(ErrorDocument.isText(Array("  {".utf8)) == true)
        #expect(ErrorDocument.isText([0xEF, 0xBB, 0xBF, 0x3C]) == true)
        #expect(ErrorDocument.isText(Array("fLaC".utf8)) == false)
        #expect(ErrorDocument.isText(Array(" \r\n".utf8)) == nil)
        #expect(ErrorDocument.isText([]) == nil)
    }

    @Test func findsTheErrorInADocument() {
        func judge(_ text: String) -> ServerAnswer { ErrorDocument.judge(Array(text.utf8)) }
        #expect(
            judge(#"{"subsonic-response":{"error":{"message":"gone \u0001","code":70}}}"#)
                == .failed(.permanent("the server does not have this song any more (error 70: gone )"))
        )
        #expect(judge(#"<error code="50"/>"#) == .failed(.transport("the server refuses access (error 50)")))
        #expect(judge(#"{"error":{"code":"0","message":"busy"}}"#) == .broken("the server answers with error 0: busy"))
        #expect(judge("<html>Log in</html>") == .broken("the server sends a page instead of audio"))
        // A gate's own codes mean nothing here.
        let gone = ServerAnswer.denied(.permanent("gone"))
        #expect(ErrorDocument.judge(Array(#"{"code":40}"#.utf8), status: gone) == gone)
        for text in ["", "code", "code:", "{\"code\":", "code=\"x\""] {
            #expect(judge(text) == .broken("the server sends a page instead of audio"))
        }
    }
}

struct SampleConverterTests {
    @Test func roundsAndClips() throws {
        var converter = SampleConverter(try #require(PCMFormat(sampleRate: 8000, sample: .s16, channels: 1)))
        let samples: [Float] = [0, 1, -1, 2, -2, .nan, .infinity, 0.5 / 32768, 1.5 / 32768]
        let block = SampleBlock(load: 1, rate: 8000, channels: 1, frames: samples.count, samples: samples)
        let values = firstChannel(converter.convert(block, gain: 1), channels: 1)
        #expect(values == [0, 32767, -32768, 32767, -32768, 0, 32767, 0, 2])
    }

    @Test(arguments: [PCMFormat.Sample.s24, .s32, .float])
    func writesFourBytes(sample: PCMFormat.Sample) throws {
        var converter = SampleConverter(try #require(PCMFormat(sampleRate: 8000, sample: sample, channels: 2)))
        let block = SampleBlock(load: 1, rate: 8000, channels: 2, frames: 1, samples: [0.5, -0.5])
        let bytes = converter.convert(block, gain: 1)
        switch sample {
        case .s24: #expect(bytes == [0, 0, 0x40, 0, 0, 0, 0xC0, 0xFF])
        case .s32: #expect(bytes == [0, 0, 0, 0x40, 0, 0, 0, 0xC0])
        case .float: #expect(bytes == [0, 0, 0, 0x3F, 0, 0, 0, 0xBF])
        case .s16: Issue.record("not asked")
        }
    }

    @Test func resamplesOverBordersOfBlocks() throws {
        var converter = SampleConverter(try #require(PCMFormat(sampleRate: 44_100, sample: .s16, channels: 1)))
        let tone = Tone(1000, frames: 48_000, rate: 48_000, channels: 1)
        var bytes: [UInt8] = []
        for start in stride(from: 0, to: 48_000, by: 1000) {
            let samples = tone.samples[start..<(start + 1000)].map { Float($0) / 32768 }
            bytes += converter.convert(
                SampleBlock(load: 1, rate: 48_000, channels: 1, frames: 1000, samples: samples),
                gain: 1
            )
        }
        bytes += converter.finish(gain: 1)
        let values = firstChannel(bytes, channels: 1)
        #expect(abs(values.count - 44_100) <= 1)
        #expect(abs(strength(of: 1000, in: values[...]) - 16000.0 / 32768) < 0.01)
    }

    @Test func readsFormats() {
        #expect(PCMFormat("44100:16:2")?.frameSize == 4)
        #expect(PCMFormat("48000:f:2")?.description == "48000:f:2")
        for text in [
            "", "44100", "44100:16", "44100:17:2", "44100:16:0", "44100:16:9", "1:16:2", "44100:16:2:1", "a:b:c",
        ] {
            #expect(PCMFormat(text) == nil, "\(text)")
        }
    }
}
