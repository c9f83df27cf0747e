import Glibc
import Support
import Testing

@testable import ShelvMPD

/// How clients on the network find the server: a real Avahi, asked by its own program.
@Suite(.enabled(if: RealPeer.avahi.isWanted, "avahi-daemon, avahi-browse or dbus-daemon is missing"))
struct DiscoveryTests {
    /// What is announced: names by port.
    private func found(_ avahi: PrivateAvahi) -> [Int: String] {
        let words = ["avahi-browse", "--resolve", "--parsable", "--terminate", "_mpd._tcp"]
        let output = TestProcess.run(words, environment: avahi.environment, milliseconds: 20_000)?.output ?? ""
        return output.split(separator: "\n").reduce(into: [:]) { found, line in
            let fields = line.split(separator: ";", omittingEmptySubsequences: false)
            guard fields.first == "=", fields.count > 8, let port = Int(fields[8]) else { return }
            found[port] = String(fields[3])
        }
    }

    @Test func isFoundWhateverComesAndGoes() async throws {
        let folder = try #require(TemporaryFolder())
        let avahi = PrivateAvahi(in: folder)
        defer { avahi.stop() }
        let (one, two) = (try #require(await KilledServer()), try #require(await KilledServer()))
        for server in [one, two] {
            let text = String(decoding: contents(of: server.folder.path("conf")) ?? [], as: UTF8.self)
            let open = text.replacing("\"127.0.0.1\"", with: "\"0.0.0.0\"") + "\nzeroconf_name \"Room @ %h\"\n"
            server.folder.write("conf", open)
        }
        defer { for server in [one, two] { server.stop() } }
        // Neither is needed.
        let first = try #require(one.start(avahi.environment))
        defer { first.stop() }
        #expect(one.client(first) != nil, "\(first.errors)")
        #expect(first.errors.contains("Whoever reaches 0.0.0.0:\(one.port) can control the music"))
        #expect(avahi.startBus() && avahi.startDaemon(), "\(avahi.errors)")
        #expect(waitUntil { found(avahi)[one.port] != nil }, "\(first.errors) \(avahi.errors)")

        // The second one of the same name gets another.
        let second = try #require(two.start(avahi.environment))
        defer { second.stop() }
        var names: [Int: String] = [:]
        let areBothThere = waitUntil {
            names = found(avahi)
            return names.count == 2
        }
        #expect(areBothThere && Set(names.values).count == 2, "\(names) \(second.errors)")
        let host = ServiceName.host().split(separator: "-").first.map(String.init) ?? ""
        #expect(names.values.allSatisfy { $0.hasPrefix("Room") && $0.contains(host) }, "\(names)")

        avahi.stopDaemon()
        #expect(avahi.startDaemon(), "\(avahi.errors)")
        #expect(waitUntil { Set(found(avahi).keys) == [one.port, two.port] }, "\(first.errors)")
        first.send(SIGTERM)
        #expect(first.wait(milliseconds: 10_000) == .exited(0), "\(first.errors)")
        #expect(waitUntil { Set(found(avahi).keys) == [two.port] }, "\(found(avahi))")
    }
}

/// What a service is called.
@Suite struct ServiceNameTests {
    @Test(arguments: [
        ("Music Player @ %h", "box", "Music Player @ box"), ("%h%h", "a", "a%h"), ("plain", "box", "plain"),
        ("%h", String(repeating: "é", count: 40), String(repeating: "é", count: 31)), ("%", "x", "%"),
    ])
    func hostsAreFilledIn(_ pattern: String, _ host: String, _ name: String) {
        #expect(ServiceName.expand(pattern, host: host) == name)
    }
}
