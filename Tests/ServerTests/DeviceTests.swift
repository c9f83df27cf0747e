import Playback
import Support
import Testing

@testable import ShelvMPD

/// Outputs that are found, not configured.
struct DeviceTests {
    private let air = AudioDevice(driver: "pulse", device: "air", description: "Kitchen")
    private let hall = AudioDevice(driver: "pulse", device: "hall", description: "test")

    private func names(_ client: MPDTestClient) throws -> [String] {
        try client.ask("outputs").filter { !$0.hasPrefix("outputid") && $0 != "OK" }
    }

    @Test func devicesAreOutputsWithLastingIDs() throws {
        let server = try TestServer()
        let client = try server.client()
        let configured = ["outputname: test", "plugin: null", "outputenabled: 1"]
        _ = server.player.takeCalls()
        client.send("idle output\n")
        server.player.report(.devices([air, hall]))
        #expect(try client.reply() == ["changed: output", "OK"])
        let kitchen = ["outputname: Kitchen", "plugin: pulse", "outputenabled: 0"]
        // Its name is taken.
        let second = ["outputname: test (pulse/hall)", "plugin: pulse", "outputenabled: 0"]
        #expect(try names(client) == configured + kitchen + second)
        #expect(
            server.player.takeCalls() == [
                .putOutput("Kitchen", at: 1, false), .putOutput("test (pulse/hall)", at: 2, false),
            ]
        )

        // One that goes keeps its place.
        server.player.report(.devices([hall]))
        #expect(try names(client) == configured + kitchen + ["attribute: problem=not connected"] + second)
        server.player.report(.devices([hall, air]))
        #expect(try names(client) == configured + kitchen + second)
        #expect(server.player.takeCalls().isEmpty)
    }

    /// One device plays at a time.
    @Test func whoTurnsADeviceOnTurnsTheOtherOff() throws {
        let server = try TestServer()
        let client = try server.client()
        server.player.report(.devices([air]))
        _ = try client.ask("ping")
        _ = server.player.takeCalls()
        #expect(try client.ask("enableoutput 1") == ["OK"])
        let enabled = try client.ask("outputs").filter { $0.hasPrefix("outputenabled") }
        #expect(enabled == ["outputenabled: 0", "outputenabled: 1"])
        #expect(server.player.takeCalls() == [.output(0, false), .output(1, true)])
    }

    @Test func theyComeBackInTheirOrder() async throws {
        let folder = try #require(TemporaryFolder())
        var server = try await PersistentServer(folder, findsDevices: true)
        var client = try server.client()
        server.player.report(.devices([air, hall]))
        #expect(try client.ask("enableoutput 2") == ["OK"])
        server.end()
        server = try await PersistentServer(folder, findsDevices: true)
        client = try server.client()
        #expect(
            try client.ask("outputs").filter { $0.hasPrefix("outputname") || $0.hasPrefix("outputenabled") } == [
                "outputname: test", "outputenabled: 1", "outputname: Kitchen", "outputenabled: 0",
                "outputname: test (pulse/hall)", "outputenabled: 1",
            ]
        )
        server.player.report(.devices([hall]))
        #expect(
            try client.ask("outputs").filter { $0.hasPrefix("attribute") } == ["attribute: problem=not connected"]
        )
        server.end()
    }
}
