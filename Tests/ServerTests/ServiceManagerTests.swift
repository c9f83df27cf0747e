import Glibc
import Support
import Testing

@testable import ShelvMPD

/// What systemd is told, and what it hands over.
@Suite struct ServiceManagerTests {
    /// The real program, on a file and on an abstract socket: ready, alive, reading again, ending.
    @Test(arguments: [true, false])
    func isToldHowWeAre(_ isFile: Bool) async throws {
        let server = try #require(await KilledServer())
        defer { server.stop() }
        let path = isFile ? server.folder.path("notify") : "@shelvmpd-test-notify-\(getpid())"
        let socket = try #require(DatagramSocket(path))
        let process = try #require(server.start(["NOTIFY_SOCKET": path, "WATCHDOG_USEC": "200000"]))
        defer { process.stop() }
        let songs = 50 * KilledServer.folders.count
        #expect(socket.next(with: "READY=1")?.contains("STATUS=Serving \(songs) songs") == true, "\(process.errors)")
        #expect(server.client(process) != nil)
        for _ in 0..<3 { #expect(socket.next(with: "WATCHDOG=1") != nil) }
        process.send(SIGHUP)
        #expect(socket.next(with: "RELOADING=1")?.contains("MONOTONIC_USEC=") == true)
        #expect(socket.next(with: "READY=1") != nil)
        process.send(SIGTERM)
        #expect(socket.next(with: "STOPPING=1") != nil)
        #expect(process.wait(milliseconds: 10_000) == .exited(0), "\(process.errors)")
    }

    @Test func aCoreThatIsStuckSaysNothing() throws {
        let folder = try #require(TemporaryFolder())
        let socket = try #require(DatagramSocket(folder.path("notify")))
        let environment = Environment(["NOTIFY_SOCKET": folder.path("notify"), "WATCHDOG_USEC": "40000"])
        let manager = try #require(ServiceManager(environment))
        let server = try TestServer()
        // What is posted before there is a server gets lost.
        let client = try server.client()
        defer { client.server = nil }
        server.core.post { $0.report(to: manager) }
        #expect(socket.next(with: "WATCHDOG=1") != nil)
        let (isStuck, mayGoOn) = (Semaphore(), Semaphore())
        server.core.post { _ in
            isStuck.signal()
            mayGoOn.wait()
        }
        isStuck.wait()
        // What was said before.
        while socket.next(within: 0) != nil {}
        #expect(socket.next(within: 200) == nil)
        mayGoOn.signal()
        #expect(socket.next(with: "WATCHDOG=1") != nil)
    }

    @Test func theWatchdogMayBeMeantForAnother() throws {
        func interval(_ variables: [String: String]) -> Duration? {
            let socket = ["NOTIFY_SOCKET": "/run/x"]
            return ServiceManager(Environment(variables.merging(socket) { $1 }), process: 7)?.watchdogInterval
        }
        #expect(interval([:]) == nil)
        #expect(interval(["WATCHDOG_USEC": "3000000"]) == .milliseconds(1500))
        #expect(interval(["WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "7"]) == .milliseconds(1500))
        #expect(interval(["WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "8"]) == nil)
        for wrong in ["0", "-5", "x", ""] { #expect(interval(["WATCHDOG_USEC": wrong]) == nil) }
        #expect(ServiceManager(Environment(["NOTIFY_SOCKET": "vsock:2:1"])) == nil)
        #expect(ServiceManager(Environment([:])) == nil)
    }

    /// Opens a TCP and a Unix socket, and becomes the program with them as a service manager would.
    private static let activator = """
        import os, socket, sys
        tcp = socket.create_server(("127.0.0.1", int(sys.argv[1])))
        local = socket.socket(socket.AF_UNIX)
        local.bind(sys.argv[2])
        local.listen()
        other = socket.socket()
        passed = {"listening": [tcp, local], "other": [tcp, other]}[sys.argv[3]]
        # Out of the way first: one may stand where another belongs.
        copies = [os.dup2(s.fileno(), 50 + n, inheritable=False) for n, s in enumerate(passed)]
        for number, copy in enumerate(copies):
            os.dup2(copy, 3 + number, inheritable=True)
        os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(passed)))
        os.execv(sys.argv[4], sys.argv[4:])
        """

    private func start(_ server: KilledServer, port: Int, _ kind: String) -> TestProcess? {
        let words = ["/usr/bin/python3", "-c", Self.activator, "\(port)", server.folder.path("passed"), kind]
        return TestProcess(words + [KilledServer.program, "--config", server.folder.path("conf")])
    }

    @Test func socketsThatArePassedReplaceOurOwn() async throws {
        let server = try #require(await KilledServer())
        defer { server.stop() }
        let port = try #require(freePort())
        let process = try #require(start(server, port: port, "listening"))
        defer { process.stop() }
        let isThere = waitUntil { (try? MPDTestClient(port: port, readsGreeting: false)) != nil || !process.isRunning }
        #expect(isThere)
        let client = try MPDTestClient(port: port)
        #expect(try client.ask("config") == ["ACK [4@0] {config} Command only permitted to local clients"])
        let local = try MPDTestClient(.path(server.folder.path("passed")))
        #expect(try local.ask("config") == ["pcre: 1", "OK"])
        #expect(throws: MPDTestClient.Failure.cannotConnect) { try MPDTestClient(port: server.port) }
        process.send(SIGTERM)
        #expect(process.wait(milliseconds: 10_000) == .exited(0), "\(process.errors)")
        // The file belongs to who has made it.
        #expect(unsafe access(server.folder.path("passed"), F_OK) == 0)
    }

    @Test func whatIsNoListeningSocketIsRefused() async throws {
        let server = try #require(await KilledServer())
        defer { server.stop() }
        let port = try #require(freePort())
        let process = try #require(start(server, port: port, "other"))
        #expect(process.wait(milliseconds: 10_000) == .exited(1))
        #expect(
            process.errors.contains("Cannot listen on descriptor 4: it is no listening stream socket"),
            "\(process.errors)"
        )
    }

    @Test func socketsForAnotherProcessAreNotOurs() throws {
        let mine = ["LISTEN_PID": "7", "LISTEN_FDS": "1"]
        #expect(try SocketActivation.listeners(Environment(mine), process: 8).isEmpty)
        for count in ["0", "-1", "x", ""] {
            let none = Environment(mine.merging(["LISTEN_FDS": count]) { $1 })
            #expect(try SocketActivation.listeners(none, process: 7).isEmpty)
        }
    }
}
