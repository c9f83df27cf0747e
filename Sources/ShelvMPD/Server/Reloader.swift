import Logging

/// Reads the configuration again when it is asked to, on a thread of its own, and lets the server have what can change
/// while it runs. Owned by the core.
final class Reloader {
    private var source: ConfigurationSource
    private let destination: LogDestination
    private let log: Log
    private var thread: PlatformThread?
    /// It was asked for while it was under way.
    private var isWantedAgain = false

    /// - Parameter destination: where the log goes, a file that is opened anew.
    init(_ source: ConfigurationSource, _ destination: LogDestination, log: Log) {
        self.source = source
        self.destination = destination
        self.log = log
    }

    /// Begins to read; the server gets what has come of it later.
    func begin(_ server: Server) {
        guard thread == nil else {
            isWantedAgain = true
            return
        }
        server.serviceManager?.reloading()
        let (source, core) = (source, server.core)
        thread = PlatformThread(name: "reload") { [destination, log] in
            do throws(SystemError) { try destination.reopen() } catch { log.error("\(error)") }
            let result = Result { () throws(ConfigurationError) in try ConfigurationReload.read(source) }
            // Host names may have to be asked for.
            let access = (try? result.get()).map { AccessRules($0.configuration) }
            core.post { $0.reloader?.end($0, result, access) }
        }
    }

    private func end(
        _ server: Server,
        _ result: Result<ConfigurationReload, ConfigurationError>,
        _ access: AccessRules?
    ) {
        thread?.join()
        thread = nil
        switch result {
        case .success(let reload):
            source = reload.source
            if let access { server.reload(reload, access) }
        case .failure(let error):
            log.error("The configuration stays as it was:\n\(error)")
        }
        server.serviceManager?.ready(server.statusLine)
        if isWantedAgain {
            isWantedAgain = false
            begin(server)
        }
    }
}

extension Server {
    /// Takes over what a changed configuration says, as far as that is possible while it runs, and names the rest.
    func reload(_ reload: ConfigurationReload, _ access: AccessRules) {
        for notice in reload.notices { log.notice(notice) }
        var waiting = reload.waiting
        adopt(reload.configuration, access)
        log.setLevel(configuration.logLevel)
        for music in musicServers { music.scrobbler?.isEnabled = configuration.scrobbles }
        if let reloadServers {
            // In any case: a file with a password may say something else under the same name, and a server that could not
            // be used may be one that can.
            reloadServers(configuration.servers)
        } else if reload.changesServers {
            waiting.append(Settings.serverBlock)
        }
        log.notice(
            reload.changed.isEmpty
                ? "The configuration has been read again"
                : "The configuration has been read again: "
                    + reload.changed.joined(separator: ", ") + (reload.changed.count == 1 ? " has" : " have")
                    + " changed"
        )
        if !waiting.isEmpty {
            log.notice("These have changed and take effect after a restart: \(waiting.joined(separator: ", "))")
        }
    }
}
