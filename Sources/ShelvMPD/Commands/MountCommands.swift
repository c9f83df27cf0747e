import Library
import MPDProtocol

/// “Mounts and neighbors” of MPD's protocol document: the configured Subsonic servers.
enum MountCommands {
    static let rows: [Command] = [
        Command(
            "mount",
            .admin,
            args: 2...2,
            "Shows the library of another configured server as a folder.",
            .background(mount),
            difference: "Takes `subsonic://NAME`, a name or a url; a path that the library has already is busy."
        ),
        Command("unmount", .admin, args: 1...1, "Shows a mounted library no longer.", .background(unmount)),
        Command(
            "listmounts",
            .read,
            args: 0...0,
            "Lists the servers whose libraries are shown.",
            .core(list),
            difference:
                "Tells the url of each server, the active one's with an empty path: it is no path of this machine."
        ),
        Command(
            "listneighbors",
            .read,
            args: 0...0,
            "Lists the configured servers that could be mounted.",
            .core(listNeighbors),
            difference: """
                Names configured servers, not those that answer on the network: an address alone lacks user and password.
                """
        ),
    ]

    /// Whether a command makes no sense with one server, as in an MPD that can mount nothing and looks for nobody.
    static func isForSeveralServers(_ name: String) -> Bool {
        rows.contains { $0.name == name } && name != "listmounts"
    }

    private static func mount(_: CommandContext, _ arguments: Arguments) throws -> LibraryPlan {
        let path = arguments[0]
        guard !path.isEmpty, !path.contains(UInt8(ascii: "/")), path.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }),
            let text = String(validating: path, as: UTF8.self), text != ".", text != "..", text.utf8.count <= 255
        else { throw ServerChangeError.badMountPoint }
        let uri = arguments.text(1)
        return LibraryPlan(cost: 0) { .serverChange(.mount(path: text, uri: uri)) }
    }

    private static func unmount(_: CommandContext, _ arguments: Arguments) throws -> LibraryPlan {
        if arguments[0].isEmpty { throw ServerChangeError.badMountPoint }
        let path = arguments.text(0)
        return LibraryPlan(cost: 0) { .serverChange(.unmount(path: path)) }
    }

    private static func list(_ context: CommandContext, _: Arguments, _ reply: inout Reply) {
        let server = context.server
        for (path, music) in [("", server.active)] + server.mounts.map({ ($0.path, $0.music) }) {
            reply.pair("mount", untrusted: path)
            if !music.url.isEmpty { reply.pair("storage", untrusted: music.url) }
        }
    }

    /// With one server there is nobody beside it, as in an MPD without plugins that look for neighbors.
    private static func listNeighbors(_ context: CommandContext, _: Arguments, _ reply: inout Reply) throws {
        guard context.server.musicServers.count > 1 else { throw ACK(.unknown, "No neighbor plugin configured") }
        for music in context.server.musicServers where !music.isAttached {
            reply.pair("neighbor", untrusted: "subsonic://\(music.name)")
            reply.pair("name", untrusted: music.name)
        }
    }
}
