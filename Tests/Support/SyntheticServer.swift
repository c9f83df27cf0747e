import Glibc

/// A synthetic Subsonic server of any size with the habits of many real ones: `tools/fake_subsonic.py` of the folder that
/// `SHELV_SHARED` names, by default `../shared`. Tests with it are skipped, visibly, where it is not.
public final class SyntheticServer: Sendable {
    /// `http://127.0.0.1:PORT`
    public let url: String
    /// What it said when it was ready: JSON.
    public let description: String
    private let process: TestProcess

    /// The script's path; nil where there is none.
    public static let script: String? = {
        let shared = unsafe getenv("SHELV_SHARED").map { unsafe String(cString: $0) } ?? PackageFolder.path("../shared")
        let path = "\(shared)/tools/fake_subsonic.py"
        return unsafe access(path, R_OK) == 0 && TestProcess.find("python3") != nil ? path : nil
    }()

    /// Starts it, user and password "test", and waits until it answers; nil when it does not.
    public init?(_ arguments: [String]) {
        guard let script = Self.script else { return nil }
        let command = ["python3", "-B", script, "--port", "0", "--formats", "wav", "--scan-seconds", "0.1"]
        guard let process = TestProcess(command + arguments) else { return nil }
        _ = waitUntil(milliseconds: 60_000) { process.output.contains("\n") || !process.isRunning }
        guard let line = process.output.split(separator: "\n").first(where: { $0.hasPrefix("READY ") }),
            let port = Self.number("port", in: String(line))
        else { return nil }
        self.process = process
        description = String(line)
        url = "http://127.0.0.1:\(port)"
    }

    /// How many songs it has.
    public var songs: Int { Self.number("songs", in: control("config")) ?? -1 }

    /// Tells its control plane something; the answer is JSON, empty when there was none.
    @discardableResult
    public func control(_ command: String) -> String {
        let method = command == "config" || command.hasPrefix("log") || command == "stats" ? "GET" : "POST"
        return TestProcess.run(["curl", "-sS", "-X", method, "\(url)/_control/\(command)"])?.output ?? ""
    }

    /// Ends it at once: asked to, it waits for its connections.
    public func stop() {
        process.send(SIGKILL)
        process.stop()
    }

    /// What `--list-quirks` prints: the names of quirks and of profiles.
    public static let habits: (quirks: [String], profiles: [String]) = {
        guard let script, let output = TestProcess.run(["python3", "-B", script, "--list-quirks"])?.output else {
            return ([], [])
        }
        let lines = output.split(separator: "\n").map { $0.split(separator: " ") }
        return (
            lines.compactMap { $0.first.map(String.init) }.filter { !$0.hasPrefix("--") },
            lines.filter { $0.first == "--profile" && $0.count > 1 }.map { String($0[1]) }
        )
    }()

    private static func number(_ name: String, in json: String) -> Int? {
        guard let start = json.firstRange(of: "\"\(name)\":")?.upperBound else { return nil }
        return Int(json[start...].drop { $0 == " " }.prefix { $0.isNumber })
    }
}
