import Glibc
import Support

@testable import ShelvMPD

/// A real MPD and a server of ours with the same rules, on sockets of all kinds.
final class AccessPair {
    /// Where one can connect to both.
    enum Place: Sendable { case ipv4, ipv6, file, abstract }

    /// Lines about commands that both know.
    let common: Set<String>
    let places: [Place]
    private let server: TestServer
    private let process: TestProcess
    private let ports: (theirs: Int, ours6: Int)
    private let folder: TemporaryFolder
    private let abstractName: String

    init(_ lines: [String], in folder: TemporaryFolder) throws {
        self.folder = folder
        guard let port = freePort() else { throw RealFailure("no port") }
        abstractName = "shelvmpd-test-\(getpid())-\(port)"
        // A machine may lack IPv6.
        let six = try? Listener.tcp(host: "::1", port: 0).first
        var addresses = ["127.0.0.1:\(port)", folder.path("mpd"), "@\(abstractName)-mpd"]
        if six != nil { addresses.append("[::1]:\(port)") }
        places = six == nil ? [.ipv4, .file, .abstract] : [.ipv4, .ipv6, .file, .abstract]
        _ = unsafe mkdir(folder.path("playlists"), 0o755)
        // Without these MPD has fewer commands.
        let files = ["playlist_directory": "playlists", "sticker_file": "stickers", "log_file": "log"]
        let settings = files.map { "\($0) \"\(folder.path($1))\"" }
        let outputs = "zeroconf_enabled \"no\"\naudio_output {\n type \"null\"\n name \"n\"\n}\n"
        let text = (lines + settings + addresses.map { "bind_to_address \"\($0)\"" }).joined(separator: "\n")
        let path = folder.write("mpd.conf", text + "\n" + outputs)
        guard let process = TestProcess(["mpd", "--no-daemon", path]) else { throw RealFailure("no mpd") }
        self.process = process
        guard waitUntil({ (try? MPDTestClient(port: port)) != nil || !process.isRunning }), process.isRunning else {
            throw RealFailure("mpd does not start: \(process.errors)")
        }
        let rules = try ConfigurationTests.configuration(lines.joined(separator: "\n"))
        server = try TestServer { configuration in
            configuration.passwords = rules.passwords
            configuration.defaultPermissions = rules.defaultPermissions
            configuration.localPermissions = rules.localPermissions
            configuration.hostPermissions = rules.hostPermissions
        }
        ports = (port, six?.port ?? 0)
        let local = [try Listener.unix(path: folder.path("ours")), try Listener.unix(path: "@\(abstractName)-ours")]
        try server.listen(local + (six.map { [$0] } ?? []))
        let client = try MPDTestClient(port: port)
        let theirs = Set(try client.ask("commands") + client.ask("notcommands"))
        // What the installed MPD is too old for is not compared, nor what it hides because it has no such plugin.
        let dependent = ["mount", "unmount", "listneighbors"]
        let names = CommandTable.standard.rows.map(\.name).filter { !dependent.contains($0) }
        common = theirs.intersection(names.map { "command: \($0)" })
    }

    deinit { process.stop() }

    /// A client of ours.
    func ours(at place: Place) throws -> MPDTestClient {
        switch place {
        case .ipv4: try server.client()
        case .ipv6: try MPDTestClient(.loopback6(port: ports.ours6))
        case .file: try MPDTestClient(.path(folder.path("ours")))
        case .abstract: try MPDTestClient(.path("@\(abstractName)-ours"))
        }
    }

    /// A client of MPD's.
    func theirs(at place: Place) throws -> MPDTestClient {
        switch place {
        case .ipv4: try MPDTestClient(port: ports.theirs)
        case .ipv6: try MPDTestClient(.loopback6(port: ports.theirs))
        case .file: try MPDTestClient(.path(folder.path("mpd")))
        case .abstract: try MPDTestClient(.path("@\(abstractName)-mpd"))
        }
    }
}
