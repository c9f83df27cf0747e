import Glibc
import Support
import Testing

/// The real program, killed in the middle of its first sync, goes on where it was.
@Suite(.enabled(if: SyntheticServer.script != nil, "there are no tools in SHELV_SHARED or ../shared"))
struct KilledSyncTests {
    @Test func aKillDoesNotStartTheFirstSyncOver() throws {
        let server = try #require(SyntheticServer(["--songs", "4000", "--quirk", "page-cap-100"]))
        defer { server.stop() }
        server.control("fault?match=search3&action=latency&ms=150")
        let folder = try #require(TemporaryFolder())
        let port = try #require(freePort())
        let conf = folder.write(
            "conf",
            """
            bind_to_address "127.0.0.1"
            port "\(port)"
            log_level "verbose"
            state_directory "\(folder.path("state"))"
            cache_directory "\(folder.path("cache"))"
            subsonic_server {
                name "test"
                url "\(server.url)"
                user "test"
                password "test"
            }
            audio_output {
                type "null"
                name "null"
            }
            """
        )
        unsafe chmod(conf, 0o600)
        let first = try #require(TestProcess([KilledServer.program, "--config", conf]))
        // Shown from the first page on, while the job runs.
        var seen = 0
        _ = waitUntil(milliseconds: 30_000) {
            guard let client = try? MPDTestClient(port: port) else { return false }
            seen = (try? client.value("songs", of: "stats")).flatMap { $0 }.flatMap { Int($0) } ?? 0
            let isUpdating = (try? client.value("updating_db", of: "status")).flatMap { $0 } != nil
            return seen > 0 && seen < 4000 && isUpdating
        }
        #expect(seen > 0 && seen < 4000)
        #expect(waitUntil(milliseconds: 30_000) { first.errors.contains("test: 1200 songs") }, "\(first.errors)")
        first.send(SIGKILL)
        _ = first.wait()
        let before = server.control("log?endpoint=search3&clear=1").split(separator: "songCount").count
        #expect(before > 10)
        let second = try #require(TestProcess([KilledServer.program, "--config", conf]))
        defer { second.stop() }
        #expect(waitUntil(milliseconds: 60_000) { second.errors.contains("test: 4000 songs in") }, "\(second.errors)")
        #expect(second.errors.contains("songs of an interrupted sync"), "\(second.errors)")
        let client = try MPDTestClient(port: port)
        #expect(try client.value("songs", of: "stats") == "4000")
        #expect(Set(try client.ask("listall").filter { $0.hasPrefix("file: ") }).count == 4000)
    }
}
