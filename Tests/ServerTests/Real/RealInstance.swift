import Glibc
import Support

/// The built program with a configuration and folders of its own, on a free port of loopback.
///
/// Its files live as long as the instance, its process until `stop`, so it can be started again on what it left.
final class RealInstance {
    let port: Int
    let folder: TemporaryFolder
    private(set) var process: TestProcess?

    /// Where the build has put the program: beside the tests.
    static let program: String = {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
        let own = String(decoding: buffer.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
        return (own.lastIndex(of: "/").map { String(own[...$0]) } ?? "") + "shelvmpd"
    }()

    /// An output that plays silence in real time.
    static let silence = """
        audio_output {
            type "null"
            name "Silence"
        }

        """

    /// Writes the configuration; `start` starts the program.
    /// - Parameter output: the blocks of outputs.
    /// - Throws: when there is no server to play from.
    convenience init(
        _ server: SupysonicServer?,
        output: (TemporaryFolder) -> String = { _ in RealInstance.silence }
    ) throws {
        guard let server else { throw RealFailure("supysonic does not start") }
        try self.init(url: server.url, user: server.user, password: server.password, output: output)
    }

    /// The same for any server.
    init(
        url: String,
        user: String,
        password: String,
        output: (TemporaryFolder) -> String = { _ in RealInstance.silence }
    ) throws {
        guard let folder = TemporaryFolder(), let port = freePort() else { throw RealFailure("no folder or no port") }
        self.folder = folder
        self.port = port
        let path = folder.write(
            "shelvmpd.conf",
            """
            bind_to_address "127.0.0.1"
            bind_to_address "\(folder.path("socket"))"
            port            "\(port)"
            log_level       "verbose"
            state_directory "\(folder.path("state"))"
            cache_directory "\(folder.path("cache"))"
            queue_mode      "mpd"
            mixes           "no"
            subsonic_server {
                name     "home"
                url      "\(url)"
                user     "\(user)"
                password "\(password)"
            }
            \(output(folder))
            """
        )
        unsafe chmod(path, 0o600)
    }

    deinit { stop() }

    var configuration: String { folder.path("shelvmpd.conf") }

    /// What it wrote to its log since it was started.
    var log: String { process?.errors ?? "" }

    /// Starts the program and waits until it answers.
    /// - Throws: when it does not, with what it said.
    func start() throws {
        guard let process = TestProcess([Self.program, "--config", configuration]) else {
            throw RealFailure("cannot start \(Self.program)")
        }
        self.process = process
        let answers = waitUntil { !process.isRunning || (try? MPDTestClient(port: port)) != nil }
        guard answers, process.isRunning else { throw RealFailure("no answer: \(process.errors)") }
    }

    /// Starts the program and waits until it has the whole library.
    func startAndSync(songs: Int) throws {
        try start()
        let client = try client()
        var isComplete = false
        while !isComplete {
            let hasAll = try client.value("songs", of: "stats") == "\(songs)"
            let isUpdating = try client.value("updating_db", of: "status") != nil
            isComplete = hasAll && !isUpdating
            if !isComplete { _ = try client.ask("idle database update") }
        }
    }

    /// Ends the program without a word.
    func kill() {
        process?.send(SIGKILL)
        _ = process?.wait()
    }

    /// Ends the program as a service manager does.
    func stop() { process?.stop() }

    /// A new client; no read of it takes longer than half a minute.
    func client() throws -> MPDTestClient { try MPDTestClient(port: port, timeout: 30) }
}

/// A real program did not do what a test builds on.
struct RealFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

extension MPDTestClient {
    /// Asks for the status until `condition` holds.
    /// - Returns: the status then, or nil when it did not come to hold in time.
    func status(within milliseconds: Int = 30_000, _ condition: ([String: String]) -> Bool) throws -> [String: String]?
    {
        let deadline = monotonicMilliseconds() + milliseconds
        while monotonicMilliseconds() < deadline {
            let status = try pairs(of: "status")
            if condition(status) { return status }
            usleep(20_000)
        }
        return nil
    }

    /// The reply of a command as a dictionary.
    func pairs(of command: String) throws -> [String: String] {
        try ask(command).reduce(into: [:]) { pairs, line in
            guard let colon = line.firstRange(of: ": ") else { return }
            pairs[String(line[..<colon.lowerBound])] = String(line[colon.upperBound...])
        }
    }
}

/// A server for all tests that only read from it, with the tone library behind it.
enum SharedServer {
    /// Nil when it cannot be started.
    static let supysonic: SupysonicServer? = {
        guard let library = ToneLibrary.shared, let server = SupysonicServer(music: library.path) else { return nil }
        atexit { SharedServer.supysonic?.stop() }
        return server
    }()
}
