import Glibc
import MPDProtocol

/// The addresses where clients connect, and who answers there.
enum ClientCheck {
    static func run(_ configuration: Configuration, _ report: CheckReport) {
        let runs = tellServer(configuration, report)
        for address in configuration.addresses { look(address, configuration, runs: runs, report) }
        tellDiscovery(report)
    }

    /// Whether a server runs by this configuration, and what it says.
    private static func tellServer(_ configuration: Configuration, _ report: CheckReport) -> Bool {
        let connection: ServerConnection
        do throws(ServerConnectionError) {
            connection = try ServerConnection(configuration, allowing: .read)
        } catch {
            report.add(.notice("It does not run: \(error)", "shelvmpd starts it, or systemctl --user start shelvmpd"))
            return false
        }
        guard let sync = try? SyncProgress(reply: connection.ask("shelv_sync")) else {
            report.add(
                .bad(
                    "What answers is another server, such as mpd, or does not let us ask",
                    "End it (systemctl --user disable --now mpd.service mpd.socket), or set port"
                )
            )
            return false
        }
        if configuration.servers.contains(where: { $0.name == sync.server }) {
            report.add(.good("It runs: \(sync.songs) songs of \(sync.server), \(sync.state)"))
        } else {
            report.add(
                .notice(
                    "What runs is a ShelvMPD with another configuration: \(sync.songs) songs of \(sync.server)",
                    "Start it again if this configuration is newer, or set port"
                )
            )
        }
        if let message = sync.message { report.add(.notice("It says: \(message)")) }
        let status = (try? connection.ask("status"))?.compactMap(ServerConnection.pair) ?? []
        if let error = status.first(where: { $0.0 == "error" }) {
            report.add(.notice("It says: \(error.1)"))
        }
        return true
    }

    private static func look(
        _ address: ListenAddress,
        _ configuration: Configuration,
        runs: Bool,
        _ report: CheckReport
    ) {
        switch address {
        case .any(let port): look(host: nil, port, configuration, runs: runs, report)
        case .host(let host, let port): look(host: host, port, configuration, runs: runs, report)
        case .unix(let path):
            let folder = Files.folder(of: path)
            if Files.exists(path) {
                report.add(
                    runs
                        ? .good("Socket \(path)")
                        : .notice("\(path) is there already", "It is taken over at the start, if nobody listens")
                )
            } else if Files.exists(folder), unsafe access(folder, W_OK) != 0 {
                let problem = SystemError("cannot make \(path)", code: errno)
                report.add(.bad("\(problem)", "Look at the folder's rights, or change bind_to_address"))
            } else {
                report.add(.good("Socket \(path)"))
            }
        case .abstract(let name): report.add(.good("Socket @\(name)"))
        }
    }

    private static func look(
        host: String?,
        _ port: UInt16,
        _ configuration: Configuration,
        runs: Bool,
        _ report: CheckReport
    ) {
        let place = "\(host.map { $0.contains(":") ? "[\($0)]" : $0 } ?? "any address"), port \(port)"
        do {
            for listener in try Listener.tcp(host: host, port: Int(port)) { listener.close() }
            report.add(.good("Free: \(place)"))
        } catch let error as BindError where error.reason == SystemError.text(of: EADDRINUSE) {
            if runs {
                report.add(.good("Served: \(place)"))
            } else {
                let other = TCPAddress.greeting(host: host ?? "localhost", port: port)
                let who = other.hasPrefix("OK MPD") ? "mpd or another server for its clients" : "another program"
                report.add(
                    .bad(
                        "In use by \(who): \(place)",
                        other.hasPrefix("OK MPD")
                            ? "End it (systemctl --user disable --now mpd.service mpd.socket; the same without --user), or set port"
                            : "See who it is (ss -ltnp), or set port"
                    )
                )
            }
        } catch {
            let advice = "Use an address of this machine in bind_to_address"
            // Of the default addresses one is enough.
            report.add(configuration.usesDefaultAddresses ? .notice("\(error)") : .bad("\(error)", advice))
        }
    }

    private static func tellDiscovery(_ report: CheckReport) {
        let runs = ["/run/avahi-daemon/socket", "/var/run/avahi-daemon/socket"].contains { Files.exists($0) }
        report.add(
            runs
                ? .good("Avahi runs, so clients can find servers in the network")
                : .notice("Avahi does not run, so clients find this server only by its address")
        )
    }
}
