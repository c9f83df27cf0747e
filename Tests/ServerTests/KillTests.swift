import Glibc
import Support
import Testing

@testable import ShelvMPD

/// The real program, killed while a client edits and plays. `SHELV_SOAK` makes it two hundred times.
@Suite struct KillTests {
    /// The queue and the options as a client sees them.
    private struct View: Equatable {
        var ids: [String]
        var song: String?
        var options: [String]
        var isStopped: Bool
    }

    /// A view, and when it was the present one.
    private struct Moment {
        var view: View
        /// Before the edit that led to it, and after the client had seen it; monotonic milliseconds.
        var begin: Int
        var end: Int
        var elapsed: Double?
        /// Whether the edit began a song or moved in it.
        var isJump: Bool
    }

    @Test func theQueueIsConsistentAndAtMostASecondOld() async throws {
        let server = try #require(try await KilledServer())
        defer { server.stop() }
        let seed = SeededNumbers.seed()
        var random = SeededNumbers(seed: seed)
        var history: [Moment] = []
        var killed = 0
        var slowest = 0
        var uris: [String: String] = [:]
        for round in 0..<(unsafe getenv("SHELV_SOAK") == nil ? 10 : 200) {
            let comment: Comment = "SHELV_SEED=\(seed), round \(round)"
            let process = try #require(server.start())
            defer { process.stop() }
            let client = try #require(server.client(process), comment)
            try Self.checkConsistency(client, &uris, comment)
            let found = try Self.look(client, since: monotonicMilliseconds(), isJump: false)
            if round > 0 { Self.compare(found, history, killed: killed, slack: 2 * slowest, comment) }

            history = [found]
            slowest = 0
            if !found.view.isStopped { _ = try client.ask("pause 0") }
            let end = monotonicMilliseconds() + Int.random(in: 50...2200, using: &random)
            repeat {
                let begin = monotonicMilliseconds()
                let (line, isJump) = Self.edit(found.view.ids.count, &random)
                _ = try client.ask(line)
                history.append(try Self.look(client, since: begin, isJump: isJump))
                slowest = max(slowest, monotonicMilliseconds() - begin)
                usleep(.random(in: 0...60_000, using: &random))
            } while monotonicMilliseconds() < end
            process.send(SIGKILL)
            killed = monotonicMilliseconds()
            #expect(process.wait() == .signalled(SIGKILL))
            #expect(!process.errors.contains("cannot be used"), comment)
        }
    }

    /// The state must be one of those that were there within the last second.
    private static func compare(
        _ found: Moment,
        _ history: [Moment],
        killed: Int,
        slack: Int,
        _ comment: Comment
    ) {
        let limit = killed - 1000 - slack
        let oldest = history.lastIndex { $0.end <= limit } ?? 0
        let candidates = history[oldest...]
        #expect(candidates.contains { $0.view == found.view }, comment)
        // How far the song had played, where nothing but time moved it within that second.
        guard !candidates.dropFirst().contains(where: \.isJump), let last = history.last, !found.view.isStopped,
            let first = candidates.first?.elapsed, let elapsed = found.elapsed, let latest = last.elapsed
        else { return }
        #expect(elapsed >= first - 0.1, comment)
        #expect(elapsed <= latest + Double(killed - last.begin) / 1000 + 0.5, comment)
    }

    private static func look(_ client: MPDTestClient, since begin: Int, isJump: Bool) throws -> Moment {
        let ids = try client.ask("plchangesposid 0").filter { $0.hasPrefix("Id: ") }
        let status = try client.ask("status")
        func value(_ key: String) -> String? {
            status.first { $0.hasPrefix(key + ": ") }.map { String($0.dropFirst(key.count + 2)) }
        }
        let options = ["volume", "repeat", "random", "single", "consume"].map { "\($0) \(value($0) ?? "")" }
        let view = View(ids: ids, song: value("songid"), options: options, isStopped: value("state") == "stop")
        return Moment(
            view: view,
            begin: begin,
            end: monotonicMilliseconds(),
            elapsed: value("elapsed").flatMap { Double($0) },
            isJump: isJump
        )
    }

    /// Positions without a gap, ids once, each id still the song that it was, the current song where it is said to be.
    private static func checkConsistency(
        _ client: MPDTestClient,
        _ uris: inout [String: String],
        _ comment: Comment
    ) throws {
        var ids: [String] = []
        var file = ""
        for line in try client.ask("playlistinfo") {
            if line.hasPrefix("file: ") { file = line }
            if line.hasPrefix("Pos: ") { #expect(line == "Pos: \(ids.count)", comment) }
            if line.hasPrefix("Id: ") {
                ids.append(String(line.dropFirst(4)))
                if let known = uris.updateValue(file, forKey: line) { #expect(known == file, comment) }
            }
        }
        #expect(Set(ids).count == ids.count, comment)
        if let song = try client.value("song", of: "status").flatMap({ Int($0) }) {
            let id = try client.value("songid", of: "status")
            #expect(ids.indices.contains(song) && ids[song] == id, comment)
        }
    }

    private static func edit(_ length: Int, _ random: inout SeededNumbers) -> (line: String, isJump: Bool) {
        let folder = KilledServer.folders.randomElement(using: &random) ?? ""
        let song = "\"\(folder)/\(Int.random(in: 1...50, using: &random)).wav\""
        func position() -> Int { Int.random(in: 0..<max(1, length), using: &random) }
        switch Int.random(in: 0..<24, using: &random) {
        case 0: return ("clear", true)
        case 1: return ("add \"\(folder)\"", false)
        case 2: return ("add \"\"", false)
        case 3, 4, 5: return ("add \(song)", false)
        case 6: return ("addid \(song) +0", false)
        case 7: return ("addid \(song) 0", false)
        case 8: return ("delete \(position())", true)
        case 9: return ("move \(position()) \(position())", false)
        case 10: return ("prio 5 \(position())", false)
        case 11: return ("next", true)
        case 12: return ("previous", true)
        case 13: return ("random 1", true)
        case 14: return ("random 0", true)
        case 15: return ("setvol \(position() % 101)", false)
        case 16: return ("consume \(position() % 2)", false)
        case 17: return ("repeat \(position() % 2)", false)
        case 18: return ("seekcur 100", true)
        default: return ("play \(position())", true)
        }
    }

    @Test func theOverviewShowsTheLiveQueue() async throws {
        let server = try #require(try await KilledServer())
        defer { server.stop() }
        let configuration = server.folder.path("conf")
        let words = [KilledServer.program, "queue", "--config", configuration]
        let before = try #require(TestProcess.run(words))
        #expect(before.end == .exited(1) && before.output.isEmpty)
        #expect(before.errors.hasPrefix("shelvmpd: no server answers at 127.0.0.1:"))

        let process = try #require(server.start())
        defer { process.stop() }
        let client = try #require(server.client(process))
        #expect(try #require(TestProcess.run(words)).output == "The queue is empty.\n")
        for line in [
            "add \"Artist 0/Album/1.wav\"", "add \"Artist 0/Album/2.wav\"", "add \"Artist 0/Album/3.wav\"", "play 1",
            "addid \"Artist 1/Album/1.wav\" +0", "add \"Artist 2/Album/1.wav\"", "pause 1", "seekcur 63",
        ] {
            #expect(try client.ask(line).last == "OK", "\(line)")
        }
        let shown = try #require(TestProcess.run(words))
        #expect(
            shown.output == """
                History
                  0  1  Artist 0 – Title 1
                Current (paused, 1:03 of 10:00)
                  1  2  Artist 0 – Title 2
                Play Next
                  2  4  Artist 1 – Title 1  [prio 1]
                Album queue
                  3  3  Artist 0 – Title 3
                User queue
                  4  5  Artist 2 – Title 1

                """
        )
        #expect(shown.end == .exited(0) && shown.errors.isEmpty)
    }
}
