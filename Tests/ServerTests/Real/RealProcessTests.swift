import Glibc
import Support
import Testing

/// The process as its user and its service manager see it.
@Suite(.enabled(if: RealPeer.supysonic.isWanted, "supysonic, gunicorn or ffmpeg is not installed"))
struct RealProcessTests {
    @Test func endsCleanlyOnSIGTERM() throws {
        let instance = try RealInstance(SharedServer.supysonic)
        try instance.start()
        let client = try instance.client()
        #expect(try client.ask("ping") == ["OK"])
        #expect(unsafe access(instance.folder.path("socket"), F_OK) == 0)
        instance.process?.send(SIGTERM)
        #expect(instance.process?.wait(milliseconds: 10_000) == .exited(0), "\(instance.log)")
        #expect(unsafe access(instance.folder.path("socket"), F_OK) != 0)
        #expect(try client.rest() == "")
        #expect(throws: MPDTestClient.Failure.cannotConnect) { try MPDTestClient(port: instance.port) }
    }

    @Test func endsAtOnceWhileTheSubsonicServerSaysNothing() throws {
        let server = try #require(SharedServer.supysonic)
        let gate = TestGate()
        let silent = try #require(
            HTTPTestServer { _ in
                gate.wait()
                return HTTPTestResponse()
            }
        )
        defer {
            gate.open()
            silent.stop()
        }
        let instance = try RealInstance(server)
        let configuration = String(decoding: contents(of: instance.configuration) ?? [], as: UTF8.self)
        instance.folder.write("shelvmpd.conf", configuration.replacing(server.url, with: silent.url))
        try instance.start()
        instance.process?.send(SIGTERM)
        #expect(instance.process?.wait(milliseconds: 10_000) == .exited(0), "\(instance.log)")
    }

    /// Where nothing is said of addresses: who cannot have the port does not go to the half of it that is free.
    @Test func makesTheSessionsSocketAndTakesTheWholePort() throws {
        let instance = try RealInstance(SharedServer.supysonic)
        let lines = String(decoding: contents(of: instance.configuration) ?? [], as: UTF8.self).split(separator: "\n")
        let text = lines.filter { !$0.hasPrefix("bind_to_address") }.joined(separator: "\n")
        let path = instance.folder.write("first.conf", text)
        let second = instance.folder.write("second.conf", text.replacing("/state\"", with: "/state2\""))
        let environment = ["XDG_RUNTIME_DIR": instance.folder.path, "RUNTIME_DIRECTORY": ""]
        let program = RealInstance.program
        let process = try #require(TestProcess([program, "--config", path], environment: environment))
        defer { process.stop() }
        #expect(waitUntil { (try? MPDTestClient(port: instance.port)) != nil }, "\(process.errors)")
        #expect(unsafe access(instance.folder.path("mpd/socket"), F_OK) == 0, "\(process.errors)")
        let session = try #require(TemporaryFolder())
        let twin = TestProcess.run([program, "--config", second], environment: ["XDG_RUNTIME_DIR": session.path])
        #expect(twin?.end == .exited(1), "\(twin?.errors ?? "")")
        #expect(twin?.errors.contains("Cannot listen on 127.0.0.1:\(instance.port): Address already in use") == true)
    }

    @Test func saysThatThePortIsTaken() throws {
        let instance = try RealInstance(SharedServer.supysonic)
        try instance.start()
        let program = RealInstance.program
        let twin = try #require(TestProcess.run([program, "--config", instance.configuration]))
        #expect(twin.end == .exited(1))
        #expect(twin.errors.contains("another shelvmpd keeps its state in the same file"), "\(twin.errors)")
        // With another state it would not even know of the first one.
        let text = String(decoding: contents(of: instance.configuration) ?? [], as: UTF8.self)
        let path = instance.folder.write("second.conf", text.replacing("/state\"", with: "/state2\""))
        let second = try #require(TestProcess.run([program, "--config", path]))
        #expect(second.end == .exited(1))
        #expect(
            second.errors.contains("Cannot listen on 127.0.0.1:\(instance.port): Address already in use"),
            "\(second.errors)"
        )
        // The socket still belongs to the first one.
        #expect(unsafe access(instance.folder.path("socket"), F_OK) == 0)
        #expect(try instance.client().ask("ping") == ["OK"])
    }

    @Test func checksItsConfigurationAndTellsItsVersion() throws {
        let instance = try RealInstance(SharedServer.supysonic)
        let check = try #require(
            TestProcess.run([RealInstance.program, "--config", instance.configuration, "--check-config"])
        )
        #expect(check.end == .exited(0))
        #expect(check.output == "\(instance.configuration): no mistakes\n")
        let broken = instance.folder.write("broken.conf", "prot \"6600\"\n")
        let refusal = try #require(TestProcess.run([RealInstance.program, "--config", broken, "--check-config"]))
        #expect(refusal.end == .exited(1))
        #expect(refusal.errors.contains("\(broken):1:") && refusal.errors.contains("port"), "\(refusal.errors)")
        let version = try #require(TestProcess.run([RealInstance.program, "--version"]))
        #expect(version.end == .exited(0))
        #expect(version.output.hasPrefix("ShelvMPD "), "\(version.output)")
    }
}
