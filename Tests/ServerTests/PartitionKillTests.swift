import Glibc
import Support
import Testing

@testable import ShelvMPD

/// The real program with several rooms, killed while clients build, fill and remove them. `SHELV_SOAK` makes it a hundred
/// times.
@Suite struct PartitionKillTests {
    /// Which rooms there are, and in which each output is.
    private struct Plan: Equatable {
        var rooms: [String]
        var homes: [String: String]
    }

    /// What is in a room.
    private struct Room: Equatable {
        var ids: [String]
        var options: [String]
    }

    /// Something that clients saw, and when.
    private struct Seen<Value> {
        var value: Value
        var end: Int
    }

    private static let outputs = ["one", "two", "three"]

    @Test func roomsAreConsistentAndAtMostASecondOld() async throws {
        let server = try #require(try await KilledServer(outputs: Self.outputs))
        defer { server.stop() }
        let seed = SeededNumbers.seed()
        var random = SeededNumbers(seed: seed)
        var plans: [Seen<Plan>] = []
        var rooms: [String: [Seen<Room>]] = [:]
        var killed = 0
        var slowest = 0
        for round in 0..<(unsafe getenv("SHELV_SOAK") == nil ? 4 : 100) {
            let comment: Comment = "SHELV_SEED=\(seed), round \(round)"
            let process = try #require(server.start())
            defer { process.stop() }
            let client = try #require(server.client(process), comment)
            let (plan, found) = try Self.look(client)
            #expect(plan.rooms.first == "default" && Set(plan.homes.keys) == Set(Self.outputs), comment)
            if round > 0 {
                let limit = killed - 1000 - 2 * slowest
                #expect(Self.since(limit, plans).contains { $0.value == plan }, comment)
                for (name, room) in found {
                    // Its making may be older than what was seen of it, and the first save younger.
                    let candidates = Self.since(limit, rooms[name] ?? []).map(\.value)
                    #expect(candidates.contains(room), "\(comment) \(name) \(room) \(candidates.count)")
                }
            }
            let now = monotonicMilliseconds()
            plans = [Seen(value: plan, end: now)]
            rooms = found.mapValues { [Seen(value: $0, end: now)] }
            slowest = 0
            let end = now + Int.random(in: 100...1800, using: &random)
            repeat {
                let begin = monotonicMilliseconds()
                for line in Self.act(&random) { _ = try client.ask(line) }
                let (plan, found) = try Self.look(client)
                let now = monotonicMilliseconds()
                plans.append(Seen(value: plan, end: now))
                for (name, room) in found { rooms[name, default: []].append(Seen(value: room, end: now)) }
                slowest = max(slowest, now - begin)
            } while monotonicMilliseconds() < end
            process.send(SIGKILL)
            killed = monotonicMilliseconds()
            #expect(process.wait() == .signalled(SIGKILL))
            #expect(!process.errors.contains("cannot be used"), comment)
        }
    }

    /// What was there at a moment, and all that came after it.
    private static func since<Value>(_ limit: Int, _ history: [Seen<Value>]) -> ArraySlice<Seen<Value>> {
        history[(history.lastIndex { $0.end <= limit } ?? 0)...]
    }

    private static func look(_ client: MPDTestClient) throws -> (Plan, [String: Room]) {
        let names = try client.ask("listpartitions").dropLast().map { String($0.dropFirst("partition: ".count)) }
        var plan = Plan(rooms: names, homes: [:])
        var rooms: [String: Room] = [:]
        for name in names {
            #expect(try client.ask("partition \(name)") == ["OK"])
            var output = ""
            for line in try client.ask("outputs") {
                if line.hasPrefix("outputname: ") { output = String(line.dropFirst("outputname: ".count)) }
                if line == "plugin: null" {
                    #expect(plan.homes.updateValue(name, forKey: output) == nil)
                }
            }
            let status = try client.ask("status")
            let options = status.filter { line in
                ["repeat:", "random:", "consume:", "song:"].contains { line.hasPrefix($0) }
            }
            rooms[name] = Room(
                ids: try client.ask("plchangesposid 0").filter { $0.hasPrefix("Id: ") },
                options: options
            )
        }
        #expect(try client.ask("partition default") == ["OK"])
        return (plan, rooms)
    }

    private static func act(_ random: inout SeededNumbers) -> [String] {
        let room = ["default", "k1", "k2", "k3"].randomElement(using: &random) ?? ""
        let song = "\"\(KilledServer.folders[0])/\(Int.random(in: 1...50, using: &random)).wav\""
        let output = outputs.randomElement(using: &random) ?? ""
        let act =
            switch Int.random(in: 0..<12, using: &random) {
            case 0, 1, 2: "newpartition \(room)"
            case 3: "delpartition \(room)"
            case 4, 5: "moveoutput \(output)"
            case 6: "clear"
            case 7: "repeat \(Int.random(in: 0...1, using: &random))"
            case 8: "play"
            default: "add \(song)"
            }
        return act.hasPrefix("delpartition") ? [act] : ["partition \(room)", act, "partition default"]
    }
}
