import Glibc
import Library
import Support
import Testing

@testable import ShelvMPD

/// Random commands of several clients in several rooms, against a naive model and beside a real MPD.
@Suite struct PartitionModelTests {
    /// What rooms are, said as simply as can be.
    private struct Model {
        struct Output: Equatable {
            var name: String
            var isEnabled = true
            var isDummy = false
        }

        struct Room {
            var songs: [String] = []
            var `repeat` = 0
            var volume = 100
            var outputs: [Output] = []

            var hasVolume: Bool { outputs.contains { !$0.isDummy } }
        }

        struct Client {
            var room = "default"
            var pending: Set<String> = []
        }

        var names = ["default"]
        var rooms = ["default": Room(outputs: outputNames.map { Output(name: $0) })]
        var clients = [Client(), Client(), Client()]

        static let outputNames = ["a", "b", "c"]
        private static let order = ["playlist", "player", "mixer", "output", "options", "partition"]

        mutating func tell(_ room: String?, _ events: String...) {
            for index in clients.indices where room == nil || clients[index].room == room {
                clients[index].pending.formUnion(events)
            }
        }

        /// The words of a command that is carried out for a client; what is answered.
        mutating func take(_ client: Int, _ words: [String]) -> [String] {
            let name = clients[client].room
            guard var room = rooms[name] else { return [] }
            defer { if rooms[name] != nil { rooms[name] = room } }
            func refuse(_ code: Int, _ text: String) -> [String] { ["ACK [\(code)@0] {\(words[0])} \(text)"] }
            switch words[0] {
            case "add":
                room.songs.append(words[1])
                tell(name, "playlist")
            case "clear":
                room.songs = []
                tell(name, "playlist")
            case "repeat":
                let value = Int(words[1]) ?? 0
                if value != room.repeat { tell(name, "options") }
                room.repeat = value
            case "setvol":
                guard room.hasVolume else { return refuse(5, "No mixer") }
                room.volume = Int(words[1]) ?? 0
                tell(name, "mixer")
            case "enableoutput", "disableoutput", "toggleoutput":
                let index = Int(words[1]) ?? 0
                guard room.outputs.indices.contains(index) else { return refuse(50, "No such audio output") }
                let value = words[0] == "toggleoutput" ? !room.outputs[index].isEnabled : words[0] == "enableoutput"
                guard value != room.outputs[index].isEnabled else { break }
                room.outputs[index].isEnabled = value
                tell(name, "output")
                if !room.outputs[index].isDummy { tell(name, "mixer") }
            case "partition":
                guard rooms[words[1]] != nil else { return refuse(50, "partition does not exist") }
                guard words[1] != name else { break }
                clients[client].room = words[1]
                clients[client].pending.formUnion(Self.order.dropLast())
            case "listpartitions": return names.map { "partition: \($0)" } + ["OK"]
            case "newpartition":
                guard rooms[words[1]] == nil else { return refuse(56, "name already exists") }
                names.append(words[1])
                rooms[words[1]] = Room()
                tell(nil, "partition")
            case "delpartition":
                guard let gone = rooms[words[1]] else { return refuse(50, "no such partition") }
                if words[1] == "default" { return refuse(5, "cannot delete the default partition") }
                if clients.contains(where: { $0.room == words[1] }) { return refuse(5, "partition still has clients") }
                if gone.outputs.contains(where: { !$0.isDummy }) { return refuse(5, "partition still has outputs") }
                names.removeAll { $0 == words[1] }
                rooms[words[1]] = nil
                tell(nil, "partition")
            case "moveoutput":
                if room.outputs.contains(where: { $0.name == words[1] && !$0.isDummy }) { break }
                for other in names where other != name {
                    guard let index = rooms[other]?.outputs.firstIndex(where: { $0.name == words[1] && !$0.isDummy }),
                        let output = rooms[other]?.outputs[index]
                    else { continue }
                    rooms[other]?.outputs[index] = Output(name: words[1], isEnabled: false, isDummy: true)
                    if !room.hasVolume { room.volume = rooms[other]?.volume ?? 0 }
                    if let place = room.outputs.firstIndex(where: { $0.name == words[1] }) {
                        room.outputs[place] = output
                    } else {
                        room.outputs.append(output)
                    }
                    tell(nil, "output")
                    return ["OK"]
                }
                return refuse(50, "No such output")
            case "outputs":
                return room.outputs.enumerated().flatMap { id, output in
                    [
                        "outputid: \(id)", "outputname: \(output.name)", "plugin: \(output.isDummy ? "dummy" : "null")",
                        "outputenabled: \(output.isEnabled ? 1 : 0)",
                    ]
                } + ["OK"]
            case "status":
                return (room.hasVolume ? ["volume: \(room.volume)"] : []) + [
                    "repeat: \(room.repeat)", "partition: \(name)", "playlistlength: \(room.songs.count)", "OK",
                ]
            case "playlist": return room.songs.enumerated().map { "\($0):file: \($1)" } + ["OK"]
            case "idle":
                defer { clients[client].pending = [] }
                return Self.order.filter(clients[client].pending.contains).map { "changed: \($0)" } + ["OK"]
            default: return []
            }
            return ["OK"]
        }

        /// The program ends and is started again: all clients are new, and outputs are in the order of the configuration.
        mutating func restart() {
            clients = [Client(), Client(), Client()]
            var isEnabled: [String: Bool] = [:]
            for room in rooms.values {
                for output in room.outputs where !output.isDummy { isEnabled[output.name] = output.isEnabled }
            }
            for name in names {
                let mine = Set((rooms[name]?.outputs ?? []).filter { !$0.isDummy }.map(\.name))
                rooms[name]?.outputs = Self.outputNames.compactMap { output in
                    if mine.contains(output) { return Output(name: output, isEnabled: isEnabled[output] ?? true) }
                    return name == "default" ? Output(name: output, isEnabled: false, isDummy: true) : nil
                }
            }
        }
    }

    private static let names = ["default", "k1", "k2", "k3"]

    private static func command(_ random: inout SeededNumbers, isShared: Bool) -> [String] {
        func name() -> String { names.randomElement(using: &random) ?? "" }
        func number(_ limit: Int) -> String { String(Int.random(in: 0..<limit, using: &random)) }
        switch Int.random(in: 0..<24, using: &random) {
        case 0, 1, 2: return ["newpartition", name()]
        case 3, 4: return ["delpartition", name()]
        case 5, 6, 7, 8: return ["partition", name()]
        case 9, 10, 11: return ["moveoutput", (Model.outputNames + ["d"]).randomElement(using: &random) ?? ""]
        case 12:
            return [["enableoutput", "disableoutput", "toggleoutput"].randomElement(using: &random) ?? "", number(5)]
        case 13: return ["repeat", number(2)]
        case 14: return isShared ? ["clear"] : ["setvol", number(101)]
        case 15:
            return isShared
                ? ["listpartitions"] : ["add", LibraryFixture.records[Int.random(in: 0..<3, using: &random)].uri]
        case 16: return ["clear"]
        case 17: return ["listpartitions"]
        case 18: return ["outputs"]
        case 19: return ["status"]
        case 20: return isShared ? ["outputs"] : ["playlist"]
        default: return ["idle"]
        }
    }

    private static var isSoak: Bool { unsafe getenv("SHELV_SOAK") != nil }

    /// What a client is answered; of `status` what `keys` name.
    private static func ask(_ client: MPDTestClient, _ words: [String], keys: [String]) throws -> [String] {
        if words[0] == "idle" {
            client.send("idle\nnoidle\n")
            return try client.reply()
        }
        let reply = try client.ask(([words[0]] + words.dropFirst().map { "\"\($0)\"" }).joined(separator: " "))
        guard words[0] == "status" else { return reply }
        return reply.filter { line in line == "OK" || keys.contains { line.hasPrefix($0 + ": ") } }
    }

    /// Before 0.24, MPD tells of outputs in all partitions, and of their mixers but when `toggleoutput` turns one on.
    private static func isComparable(_ line: String) -> Bool { line != "changed: output" && line != "changed: mixer" }

    /// Through restarts, in order or as after a power cut that leaves time for the last save.
    @Test func roomsFollowTheModel() async throws {
        let seed = SeededNumbers.seed()
        var random = SeededNumbers(seed: seed)
        let folder = try #require(TemporaryFolder())
        let outputs = Model.outputNames.map { OutputState(name: $0, plugin: "null", isEnabled: true) }
        var model = Model()
        for round in 0..<(Self.isSoak ? 200 : 5) {
            let server = try await PersistentServer(folder, outputs: outputs)
            let clients = try (0..<3).map { _ in try server.client() }
            for step in 0..<120 {
                let client = Int.random(in: 0..<3, using: &random)
                let words = Self.command(&random, isShared: false)
                let answer = try Self.ask(
                    clients[client],
                    words,
                    keys: ["volume", "repeat", "partition", "playlistlength"]
                )
                let comment: Comment = "SHELV_SEED=\(seed), round \(round), step \(step): \(client) \(words)"
                try #require(answer == model.take(client, words), comment)
            }
            if Bool.random(using: &random) {
                #expect(server.settle())
                server.kill()
            } else {
                server.end()
            }
            model.restart()
        }
    }

    /// The same commands here and there; but for those on songs and volumes, of which the two have different ones.
    @Test(.enabled(if: RealPeer.mpd.isWanted, "mpd is not installed"))
    func roomsAreAsInMPD() throws {
        let seed = SeededNumbers.seed()
        var random = SeededNumbers(seed: seed)
        let folder = try #require(TemporaryFolder())
        let port = try #require(freePort())
        _ = unsafe mkdir(folder.path("music"), 0o755)
        let outputs = Model.outputNames.map {
            "audio_output {\n    type \"null\"\n    name \"\($0)\"\n    mixer_type \"software\"\n}\n"
        }
        let configuration = folder.write(
            "mpd.conf",
            """
            music_directory "\(folder.path("music"))"
            db_file "\(folder.path("database"))"
            bind_to_address "127.0.0.1"
            port "\(port)"
            auto_update "no"
            zeroconf_enabled "no"

            """ + outputs.joined()
        )
        let process = try #require(TestProcess(["mpd", "--no-daemon", configuration]))
        defer { process.stop() }
        func reference() throws -> MPDTestClient {
            var client: MPDTestClient?
            #expect(
                waitUntil(milliseconds: 20_000) {
                    client = try? MPDTestClient(port: port)
                    return client != nil || !process.isRunning
                }
            )
            return try #require(client, "\(process.errors)")
        }
        let server = try TestServer(
            outputs: Model.outputNames.map { OutputState(name: $0, plugin: "null", isEnabled: true) }
        )
        let theirs = try (0..<3).map { _ in try reference() }
        // The first thing that it does is to make its database.
        #expect(waitUntil { (try? theirs[0].value("updating_db", of: "status")) == .some(nil) })
        for client in theirs { _ = try Self.ask(client, ["idle"], keys: []) }
        let ours = try (0..<3).map { _ in try server.client() }
        let keys = ["repeat", "random", "single", "consume", "partition", "playlistlength", "state"]
        for step in 0..<(Self.isSoak ? 20_000 : 600) {
            let client = Int.random(in: 0..<3, using: &random)
            let words = Self.command(&random, isShared: true)
            let expected = try Self.ask(theirs[client], words, keys: keys).filter(Self.isComparable)
            // MPD tells events a moment later.
            for client in theirs { _ = try client.ask("ping") }
            let answer = try Self.ask(ours[client], words, keys: keys).filter(Self.isComparable)
            try #require(answer == expected, "SHELV_SEED=\(seed), step \(step): \(client) \(words)")
        }
    }
}
