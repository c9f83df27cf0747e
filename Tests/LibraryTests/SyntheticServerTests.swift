import Glibc
import SubsonicKit
import Support
import Synchronization
import Testing

@testable import Library

/// Whole syncs over HTTP against a synthetic server with the habits and the faults of real ones.
@Suite(
    .enabled(if: SyntheticServer.script != nil, "there are no tools in SHELV_SHARED or ../shared"),
    .serialized
)
struct SyntheticServerTests {
    private static let isLong = unsafe getenv("SHELV_SOAK") != nil

    /// A client of its own for each sync, as after a start.
    private func client(_ server: SyntheticServer, apiKey: String? = nil) throws -> (SubsonicClient, CurlTransport) {
        let transport = try CurlTransport()
        let description = SubsonicServer(
            id: "id",
            name: "test",
            url: try ServerURL(server.url),
            credentials: Credentials(user: "test", password: "test", apiKey: apiKey)
        )
        return (SubsonicClient(description, transport: transport), transport)
    }

    /// Waits a thousandth of what is asked for; the clock tells as if it had been all of it.
    private static func hasty(_ witness: SyncWitness) -> SyncEnvironment {
        var environment = witness.environment
        environment.sleep = { duration in
            witness.state.withLock { state in
                state.sleeps.append(duration)
                state.now += duration
            }
            try await ContinuousClock().sleep(for: min(duration / 1000, .milliseconds(20)))
        }
        return environment
    }

    private func sync(
        _ server: SyntheticServer,
        in folder: SyncFolder,
        stored: LibrarySnapshot? = nil,
        rounds: Int = 1,
        request: Bool? = nil,
        apiKey: String? = nil,
        change: @escaping @Sendable (Int) -> Void = { _ in }
    ) async throws -> SyncWitness {
        let (client, transport) = try client(server, apiKey: apiKey)
        defer { transport.shutdown() }
        let configuration = LibrarySyncConfiguration(serverID: "id", serverName: "test", directory: folder.path)
        return await SyncWitness.run(
            client,
            configuration,
            stored: stored,
            rounds: rounds,
            request: request,
            environment: Self.hasty,
            change: change
        )
    }

    // MARK: Habits

    @Test func everyProfileGivesItsWholeLibrary() async throws {
        let profiles = SyntheticServer.habits.profiles
        #expect(profiles.count >= 10)
        for profile in profiles {
            let server = try #require(
                SyntheticServer(["--profile", profile, "--songs", Self.isLong ? "20000" : "520"])
            )
            let folder = SyncFolder()
            let witness = try await sync(server, in: folder)
            let last = witness.published.last
            #expect(last?.songCount == server.songs, "\(profile): \(witness.results)")
            #expect(last?.info.isComplete == true, "\(profile)")
            // Growth is seen, and a quiet second look changes nothing.
            server.control("library?grow=7")
            let grown = try await sync(server, in: folder, stored: last, request: true)
            #expect(grown.published.last?.songCount == server.songs, "\(profile): \(grown.results)")
            let quiet = try await sync(server, in: folder, stored: grown.published.last, request: false)
            #expect(quiet.results.last == .finished(didChange: false, through: 1), "\(profile): \(quiet.results)")
            server.stop()
        }
    }

    /// Ids and paths are settled when the server starts.
    private static func needsOwnServer(_ quirk: String) -> Bool { quirk.hasSuffix("-ids") || quirk.hasSuffix("-paths") }

    /// Quirks with which no library can be had, and a part of what is said then.
    private static let hopeless = ["xml-only": "XML"]

    @Test func everyQuirkGivesTheWholeLibraryOrAReason() async throws {
        let quirks = SyntheticServer.habits.quirks
        #expect(quirks.count >= 65)
        let songs = Self.isLong ? "6000" : "520"
        let shared = try #require(SyntheticServer(["--songs", songs, "--api-key", "key"]))
        for quirk in quirks {
            let ownsServer = Self.needsOwnServer(quirk)
            let own = ownsServer ? SyntheticServer(["--songs", songs, "--quirk", quirk]) : nil
            if ownsServer { #expect(own != nil) }
            let server = own ?? shared
            if !ownsServer {
                server.control("quirk?clear=1")
                server.control("quirk?add=\(quirk)")
            }
            let witness = try await sync(server, in: SyncFolder(), apiKey: quirk == "apikey-only" ? "key" : nil)
            if let part = Self.hopeless[quirk] {
                guard case .failed(let message, _, _)? = witness.results.last else {
                    Issue.record("\(quirk): \(witness.results)")
                    continue
                }
                #expect(message.contains(part) && !message.contains("\n"), "\(quirk): \(message)")
            } else {
                #expect(witness.published.last?.songCount == server.songs, "\(quirk): \(witness.results)")
                #expect(witness.published.last?.info.isComplete == true, "\(quirk)")
            }
            own?.stop()
        }
        shared.stop()
    }

    // MARK: Faults

    /// Actions with what makes them short enough for a test.
    private static let faults = [
        "latency&ms=20&jitter=20", "hang&ms=50", "reset", "close", "status&code=500", "status&code=503&retry_after=1",
        "status&code=429&retry_after=1", "status&code=502&body=oops", "error&code=0&message=odd",
        "error&code=70&message=gone", "auth", "html", "empty", "invalid_json", "truncate&at=0.5",
        "wrong_length&delta=-7", "wrong_length&delta=9", "drip&bytes=20000&ms=1", "huge&mb=2", "redirect&to=/nowhere",
    ]

    private func records(_ library: LibrarySnapshot) -> [String: SongRecord] {
        var records: [String: SongRecord] = [:]
        for place in 0..<library.songCount {
            var record = library.record(SongIndex(rawValue: UInt32(place)))
            // Which of two songs with one path has the plain URI depends on what was there before.
            record.uri = ""
            records[record.songID] = record
        }
        return records
    }

    @Test func faultsCostTimeAndNothingElse() async throws {
        let seed = SeededNumbers.seed()
        var random = SeededNumbers(seed: seed)
        // What it keeps of its answers outlives a reset, and is given again when the library counts as many changes.
        let server = try #require(
            SyntheticServer([
                "--songs", Self.isLong ? "1500" : "420", "--quirk", "page-cap-100", "--page-cache-mb", "0",
            ])
        )
        defer { server.stop() }
        for run in 0..<(Self.isLong ? 200 : 6) {
            let name = Comment(rawValue: "seed \(seed), run \(run)")
            server.control("faults/clear")
            server.control("reset?what=library")
            let folder = SyncFolder()
            let hasFormer = random.next() % 3 > 0
            var former: LibrarySnapshot?
            if hasFormer {
                former = try await sync(server, in: folder).published.last
                server.control("library?grow=\(random.next() % 60)")
                if random.next() % 2 == 0 { server.control("library?hide_album=\(random.next() % 20)") }
            }
            var rules: [String] = []
            for _ in 0...(random.next() % 3) {
                let fault = Self.faults[Int(random.next() % UInt64(Self.faults.count))]
                let method = ["*", "search3", "getAlbum*", "get*", "ping"][Int(random.next() % 5)]
                let chance = ["1.0", "0.5", "0.1"][Int(random.next() % 3)]
                rules.append("match=\(method)&p=\(chance)&after=\(random.next() % 20)&action=\(fault)")
                server.control("fault?" + (rules.last ?? ""))
            }
            let formerCount = former?.songCount
            let witness = try await sync(server, in: folder, stored: former, rounds: 1, request: true)
            var shown = witness.published.last(where: \.info.isComplete) ?? former
            if case .failed? = witness.results.last {
                #expect(witness.published.allSatisfy { !$0.info.isComplete }, name)
                #expect(shown?.songCount == formerCount, name)
            }
            server.control("faults/clear")
            let rest = try await sync(server, in: folder, stored: shown, request: true)
            guard case .finished? = rest.results.last else {
                Issue.record("\(name) \(rules): the next attempt gave \(rest.results)")
                continue
            }
            shown = rest.published.last(where: \.info.isComplete) ?? shown
            let library = try #require(shown, name)
            let clean = try #require(try await sync(server, in: SyncFolder()).published.last, name)
            let (found, expected) = (records(library), records(clean))
            #expect(found.count == library.songCount, name)
            #expect(Set(found.keys) == Set(expected.keys), "\(name) \(rules) \(witness.results) \(rest.results)")
            #expect(found == expected, "\(name) \(rules)")
        }
    }
}
