/// Where files belong by the rules of systemd and of XDG, as far as the environment tells.
struct Directories: Sendable, Equatable {
    /// For what must survive, or nil where no home is known.
    var state: String?
    /// For what may be lost, or nil where no home is known.
    var cache: String?
    /// The Unix socket where clients look by themselves, or nil.
    var socket: String?
    /// Where a configuration is looked for, in this order.
    var configurations: [String]

    init(_ environment: Environment) {
        let home = environment.home
        func folder(_ systemd: String, _ xdg: String, _ fallback: String) -> String? {
            environment.firstDirectory(systemd)
                ?? environment.directory(xdg).map { $0 + "/shelvmpd" }
                ?? home.map { $0 + fallback + "/shelvmpd" }
        }
        state = folder("STATE_DIRECTORY", "XDG_STATE_HOME", "/.local/state")
        cache = folder("CACHE_DIRECTORY", "XDG_CACHE_HOME", "/.cache")
        // In a session the path is that of MPD, where newer clients look by themselves.
        socket =
            environment.firstDirectory("RUNTIME_DIRECTORY").map { $0 + "/socket" }
            ?? environment.directory("XDG_RUNTIME_DIR").map { $0 + "/mpd/socket" }
        let own = environment.directory("XDG_CONFIG_HOME") ?? home.map { $0 + "/.config" }
        configurations = (own.map { [$0 + "/shelvmpd/shelvmpd.conf"] } ?? []) + ["/etc/shelvmpd.conf"]
    }
}
