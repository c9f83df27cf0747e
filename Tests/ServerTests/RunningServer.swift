import Glibc
import Support

/// The program itself, started as a user starts it, with a configuration and folders of its own.
final class RunningServer: Sendable {
    let port: Int
    let folder: TemporaryFolder
    private let process: TestProcess

    /// Starts the program in front of a Subsonic server and waits until it answers; nil when it does not.
    /// - Parameters:
    ///   - folder: That of an earlier run, to go on with its state and cache.
    ///   - output: The lines of the block `audio_output`.
    init?(_ server: SupysonicServer, folder: TemporaryFolder? = nil, output: String = "type \"null\"") {
        guard let folder = folder ?? TemporaryFolder(), let port = freePort() else { return nil }
        self.folder = folder
        self.port = port
        let path = folder.write(
            "shelvmpd.conf",
            """
            bind_to_address "127.0.0.1"
            port "\(port)"
            state_directory "\(folder.path("state"))"
            cache_directory "\(folder.path("cache"))"
            subsonic_server {
                name "test"
                url "\(server.url)"
                user "\(server.user)"
                password "\(server.password)"
            }
            audio_output {
                \(output)
            }

            """
        )
        guard let process = TestProcess([RunningServer.program, "--config", path]) else { return nil }
        self.process = process
        guard waitUntil({ !process.isRunning || (try? MPDTestClient(port: port)) != nil }), process.isRunning else {
            return nil
        }
    }

    /// Beside the tests' own program.
    private static var program: String {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
        let path = String(decoding: buffer.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
        return (path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ".") + "/shelvmpd"
    }

    /// What it wrote to its log so far.
    var log: String { process.errors }

    /// Whether it still runs.
    var isRunning: Bool { process.isRunning }

    /// Ends it as a service manager does, and gives its status, or nil when it does not end.
    func stop() -> TestProcess.End? {
        process.send(SIGTERM)
        return process.wait(milliseconds: 20_000)
    }

    /// Output of mpc, or nil when it failed.
    func mpc(_ words: String...) -> String? {
        let run = TestProcess.run(["mpc", "-h", "127.0.0.1", "-p", String(port)] + words)
        return run?.end == .exited(0) ? run?.output : nil
    }

    /// Waits until a field of `status` or another command has a value.
    func wait(for key: String, of command: String = "status", _ isThere: (String?) -> Bool) -> Bool {
        waitUntil {
            guard let client = try? MPDTestClient(port: self.port) else { return false }
            guard let value = try? client.value(key, of: command) else { return isThere(nil) }
            return isThere(value)
        }
    }
}
