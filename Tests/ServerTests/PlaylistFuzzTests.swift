import Glibc
import QueueEngine
import SubsonicKit
import Support
import Synchronization
import Testing

@testable import ShelvMPD

/// Random edits by a client, while the server fails, is away, or this process ends: in the end the server has what the
/// client did, once and in order.
///
/// `SHELV_SEED` repeats a run; `SHELV_SOAK` makes many.
@Suite struct PlaylistFuzzTests {
    private static let isLong = unsafe getenv("SHELV_SOAK") != nil

    @Test(arguments: ScriptedPlaylists.Habits.all.indices)
    func serverHasWhatTheClientDid(_ index: Int) async throws {
        let (name, habits) = ScriptedPlaylists.Habits.all[index]
        for round in 0..<(SeededNumbers.wantedSeed != nil ? 1 : Self.isLong ? 30 : 2) {
            // Always the same in short runs; the long ones look for new ones.
            let fixed = UInt64(100 * index + round + 1)
            let seed = SeededNumbers.seed(usually: Self.isLong ? nil : fixed)
            try await run(habits, seed: seed, label: "\(name), round \(round), SHELV_SEED=\(seed)")
        }
    }

    private func run(_ habits: ScriptedPlaylists.Habits, seed: UInt64, label: String) async throws {
        var random = SeededRandom(seed: seed)
        let folder = try #require(TemporaryFolder())
        let remote = ScriptedPlaylists(habits)
        let faults = Mutex((random: SeededRandom(seed: seed ^ 1), isAway: false, chance: 0))
        remote.onCall { _, _ in
            faults.withLock { faults in
                if faults.isAway { return .before }
                guard Int.random(in: 0..<100, using: &faults.random) < faults.chance else { return nil }
                return Bool.random(using: &faults.random) ? .before : .after
            }
        }
        var server = try await PlaylistServer(folder, remote)
        var client = try server.client()
        var model = PlaylistModel(songs: PlaylistServer.songs)
        for _ in 0..<(Self.isLong ? 150 : 60) {
            switch Int.random(in: 0..<20, using: &random) {
            case 0: faults.withLock { $0.isAway.toggle() }
            case 1:
                let chance = [0, 0, 20, 50].randomElement(using: &random) ?? 0
                faults.withLock { $0.chance = chance }
            case 2:
                server.kill()
                server = try await PlaylistServer(folder, remote)
                client = try server.client()
            case 3:
                // As if time had passed: what waits is tried again.
                server.server.onCore { $0.playlists.pace.serverAnswers() }
            default:
                let command = model.edit(&random)
                #expect(try client.ask(command) == ["OK"], "\(label): \(command)")
            }
            #expect(try client.playlists() == model.text, "\(label)")
        }
        faults.withLock { ($0.isAway, $0.chance) = (false, 0) }
        #expect(await server.settle(), "\(label): it never comes to rest")
        let wanted = model.text
        // An empty list whose making was not confirmed is not found where such are not listed: it may be there twice.
        let there = remote.lists.filter { !habits.hidesEmpty || !$0.songs.isEmpty }
            .map { "\($0.name): \($0.songs.joined(separator: " "))" }.sorted()
        #expect(there == wanted.filter { !habits.hidesEmpty || !$0.hasSuffix(": ") }, "\(label)")
        #expect(await server.refresh(), "\(label)")
        #expect(try client.playlists() == wanted, "\(label)")
        #expect(remote.connectionsBroken == 0, "\(label)")
        server.kill()
        // The next start knows the same without asking.
        remote.onCall { _, _ in .before }
        let next = try await PlaylistServer(folder, remote)
        #expect(try next.client().playlists() == wanted, "\(label)")
        next.kill()
    }
}
