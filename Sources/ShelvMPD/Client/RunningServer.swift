import MPDProtocol

/// What the server that runs by a configuration knows of its Subsonic servers.
enum RunningServer {
    struct Row: Sendable, Equatable {
        var name = ""
        var isActive = false
        var songs = 0
    }

    /// Nil when none runs, or it does not say.
    static func servers(of configuration: Configuration) -> [Row]? {
        guard let connection = try? ServerConnection(configuration, allowing: .admin),
            let reply = try? connection.ask("shelv_server list")
        else { return nil }
        var rows: [Row] = []
        for (key, value) in reply.compactMap(ServerConnection.pair) {
            if key == "server" { rows.append(Row(name: value)) }
            guard !rows.isEmpty else { continue }
            if key == "active" { rows[rows.count - 1].isActive = value == "1" }
            if key == "songs" { rows[rows.count - 1].songs = Int(value) ?? 0 }
        }
        return rows
    }

    /// Lets it read its blocks again; without one there is nobody to tell.
    /// - Parameter path: the configuration that it should go by.
    static func reload(_ configuration: Configuration, at path: String, _ console: Console) {
        guard let connection = try? ServerConnection(configuration, allowing: .admin) else { return }
        do throws(ServerConnectionError) {
            let answer = try connection.ask("shelv_server file").compactMap(ServerConnection.pair)
            let file = answer.first { $0.0 == "file" }?.1 ?? ""
            guard Files.realPath(file) == Files.realPath(path) else {
                console.write("The running server has not read it: it runs by another configuration, \(file)\n")
                return
            }
            _ = try connection.ask("shelv_server reload")
            console.write("The running server has read it\n")
        } catch {
            console.write("The running server has not taken it over (\(error)); start it again\n")
        }
    }
}
