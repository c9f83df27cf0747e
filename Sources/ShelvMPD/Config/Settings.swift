import Logging
import MPDProtocol
import Playback
import QueueEngine

/// The table of all options. Order and headings are those of the example file.
enum Settings {
    /// Options of one kind under a heading.
    struct Section: Sendable {
        var heading: String
        var settings: [Setting<Configuration>]
    }

    /// Names of blocks.
    static let serverBlock = "subsonic_server"
    static let outputBlock = "audio_output"

    /// Options outside of blocks, by heading.
    static let sections: [Section] = [
        Section(heading: "Where clients connect", settings: listening),
        Section(heading: "What clients may do", settings: permissions),
        Section(heading: "Limits", settings: limits),
        Section(heading: "Library and queue", settings: library),
        Section(heading: "Sound", settings: sound),
        Section(heading: "Files and log", settings: files),
    ]

    /// Options outside of blocks.
    static let global: [Setting<Configuration>] = sections.flatMap(\.settings)

    private static let listening: [Setting<Configuration>] = [
        .text(
            "bind_to_address",
            "\"any\", a host name or address with or without :PORT, or the absolute path of a Unix socket",
            default: "localhost and the user's socket",
            example: "any",
            isRepeatable: true,
            "Where to listen; repeat it for several places."
        ) { configuration, text, context throws(SettingRefusal) in
            // Ports are filled in when `port`, which may stand further down, is known.
            configuration.addresses.append(try ListenAddress.parse(text, context))
        },
        .integer("port", 1...65535, default: "6600", "TCP port where no other is given.") {
            $0.port = UInt16(clamping: $1)
        },
        .boolean(
            "zeroconf_enabled",
            default: true,
            "Whether clients on the network find the server by themselves, through Avahi, if they can reach it."
        ) { $0.isAnnounced = $1 },
        .text(
            "zeroconf_name",
            "a text of at most \(ServiceName.limit) bytes, in which %h stands for the name of the machine",
            default: "Music Player @ %h",
            "The name that they find it by."
        ) { configuration, text, _ throws(SettingRefusal) in
            guard text.utf8.count <= ServiceName.limit else { throw SettingRefusal() }
            configuration.announcedName = text
        },
    ]

    private static let permissions: [Setting<Configuration>] = [
        .text(
            "password",
            "PASSWORD@PERMISSIONS, where PERMISSIONS are some of \(permissionNames), separated by commas",
            example: "secret@read,add,player,control,admin",
            isRepeatable: true,
            isSecret: true,
            "A password and what it allows; repeat it for several."
        ) { configuration, text, _ throws(SettingRefusal) in
            guard let at = text.firstIndex(of: "@") else { throw SettingRefusal() }
            let rule = PasswordRule(
                password: Secret(String(text[..<at])),
                permissions: try permissions(in: text[text.index(after: at)...])
            )
            configuration.passwords.append(rule)
        }.atOnce,
        permissionList(
            "default_permissions",
            default: "all; with password or host_permissions: none",
            "What a client may do that has given no password.",
            \.defaultPermissions
        ).atOnce,
        permissionList(
            "local_permissions",
            default: "as default_permissions",
            "The same for clients at the Unix socket.",
            \.localPermissions
        ).atOnce,
        .text(
            "host_permissions",
            "\"HOST PERMISSIONS\", where HOST is a name, an address or a network as in 192.168.1.0/24 and PERMISSIONS are some of \(permissionNames), separated by commas",
            example: "192.168.1.20 read,add,player",
            isRepeatable: true,
            "The same for clients at an address or in a network; repeat it for several, of which the narrowest counts."
        ) { configuration, text, _ throws(SettingRefusal) in
            let parts = text.split(separator: " ", maxSplits: 1)
            guard parts.count == 2 else { throw SettingRefusal() }
            guard !parts[0].contains("/") || AddressRange(String(parts[0])) != nil else {
                throw SettingRefusal("\(parts[0]) is no network")
            }
            let rule = HostRule(host: String(parts[0]), permissions: try permissions(in: parts[1]))
            configuration.hostPermissions.append(rule)
        }.atOnce,
    ]

    private static let limits: [Setting<Configuration>] = [
        .integer(
            "max_connections",
            1...1_000_000,
            default: "as many as the limit of open files allows",
            example: "100",
            "Clients at the same time; further ones are turned away."
        ) { $0.maxConnections = $1 }.atOnce,
        .integer(
            "connection_timeout",
            0...31_536_000,
            unit: "seconds",
            zero: "never",
            default: "60",
            "How long a client may say nothing outside of idle before it is disconnected."
        ) { $0.connectionTimeout = $1 == 0 ? nil : .seconds($1) }.atOnce,
        .integer(
            "max_command_list_size",
            1...1_048_576,
            unit: "KiB",
            default: "2048",
            "Size of a command list."
        ) { $0.maxCommandListSize = $1 * 1024 }.atOnce,
        .integer(
            "max_output_buffer_size",
            1...1_048_576,
            unit: "KiB",
            default: "8192",
            "How much of its replies a client may leave unread before it is disconnected; a single reply may be larger."
        ) { $0.maxOutputBufferSize = $1 * 1024 }.atOnce,
        .integer(
            "max_playlist_length",
            0...10_000_000,
            unit: "songs",
            zero: "no limit",
            default: "0",
            "Length of the queue and of a stored playlist."
        ) { $0.maxPlaylistLength = $1 == 0 ? nil : $1 },
    ]

    private static let library: [Setting<Configuration>] = [
        .text(
            "metadata_to_use",
            "\"none\", \"all\" or tag names separated by commas, all with + or - to change the default",
            default: "all,-comment",
            "The tags that clients can see."
        ) { configuration, text, _ throws(SettingRefusal) in
            configuration.metadataToUse = try tags(in: text, changing: configuration.metadataToUse)
        },
        .integer(
            "refresh_interval",
            0...31_536_000,
            unit: "seconds",
            zero: "only at the start and by the command update",
            default: "300",
            "How often to ask the servers whether their libraries have changed."
        ) { $0.refreshInterval = $1 == 0 ? nil : .seconds($1) },
        .boolean(
            "shelves",
            default: true,
            "Whether there is a folder Shelves with albums lately added, played and so on."
        ) { $0.showsShelves = $1 },
        .boolean(
            "playlists",
            default: true,
            "Whether clients see and edit the servers' playlists, and can store playlists at all."
        ) { $0.showsPlaylists = $1 },
        .boolean(
            "favorites",
            default: true,
            "Whether clients see and set stars: the playlist and the shelf Favorites, the stickers starred and like."
        ) { $0.showsFavorites = $1 },
        .text(
            "cover_size",
            "\"original\", or a number of pixels from 16 to 10000",
            default: "1000",
            "The length that the server shall scale the longer edge of covers to; \"original\" leaves them as they are."
        ) { configuration, text, _ throws(SettingRefusal) in
            if text.lowercased() == "original" {
                configuration.coverSize = nil
                return
            }
            guard text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let size = Int(text), 16...10_000 ~= size else {
                throw SettingRefusal()
            }
            configuration.coverSize = size
        },
        .integer(
            "cover_cache_size",
            0...100_000_000,
            unit: "MiB",
            zero: "none is kept",
            default: "512",
            "How much the covers and lyrics of one server may take in cache_directory; those go first that were not asked for the longest."
        ) { $0.coverCacheLimit = Int64($1) << 20 },
        .boolean(
            "lyrics",
            default: true,
            "Whether readcomments asks the server for the lyrics of a song."
        ) { $0.showsLyrics = $1 }.atOnce,
        .boolean(
            "scrobble",
            default: true,
            "Whether the server is told what is heard, and what was."
        ) { $0.scrobbles = $1 }.atOnce,
        .choice(
            "play_queue_sync",
            ["no": PlayQueueKeeper.Mode?.none, "save": .save, "both": .both],
            default: "no",
            "Whether the queue is saved at the server, so that other devices can take it over; \"both\" also takes theirs over at the start."
        ) { $0.playQueueSync = $1 },
        .boolean(
            "mixes",
            default: true,
            "Whether there are mixes of new, much played and lately played songs among the stored playlists."
        ) { $0.showsMixes = $1 },
        .choice(
            "infinite_play",
            ["no": false, "similar": true],
            default: "no",
            "Whether similar songs are added when the queue runs out."
        ) { $0.playsOn = $1 },
        .choice(
            "queue_mode",
            ["three_tier": QueueMode.threeTier, "mpd": .mpd],
            default: "three_tier",
            "Whether the queue has the tiers Play Next, album queue and user queue, or is that of MPD."
        ) { $0.queueMode = $1 },
        .choice(
            "jump",
            ["move": JumpMode.move, "pointer": .pointer],
            default: "move",
            "Whether an entry that is started further down moves up, so that nothing is skipped, or is jumped to as in MPD."
        ) { $0.jump = $1 },
        .boolean(
            "restore_paused",
            default: true,
            "Whether a song that played when the server ended is paused at its place after the next start, or plays on."
        ) { $0.restorePaused = $1 }.atOnce,
    ]

    private static let files: [Setting<Configuration>] = [
        .path(
            "state_directory",
            default: "$XDG_STATE_HOME/shelvmpd",
            example: "/var/lib/shelvmpd",
            "Folder of what must survive a restart."
        ) { $0.stateDirectory = $1 },
        .path(
            "state_file",
            default: "store.sqlite in state_directory",
            example: "/var/lib/shelvmpd/store.sqlite",
            "The database in which that is kept."
        ) { $0.stateFile = $1 },
        .path(
            "cache_directory",
            default: "$XDG_CACHE_HOME/shelvmpd",
            example: "/var/cache/shelvmpd",
            "Folder of what may be lost: copies of the libraries, sound, covers."
        ) { $0.cacheDirectory = $1 },
        .path(
            "tap_library",
            default: "libshelvtap.so beside the program or in its library folder",
            example: "/usr/lib/shelvmpd/libshelvtap.so",
            "The plugin that copies the sound to outputs of type fifo and file."
        ) { $0.tapLibrary = $1 },
        .text(
            "log_file",
            "an absolute path or one that begins with ~/, or \"syslog\"",
            default: "standard error",
            example: "~/.local/state/shelvmpd/log",
            "Where the log goes; a file is opened anew by SIGHUP."
        ) { configuration, text, context throws(SettingRefusal) in
            if text == "syslog" {
                configuration.logDestination = .system
                return
            }
            guard let path = try context.expand(text), path.hasPrefix("/") else { throw SettingRefusal() }
            configuration.logDestination = .file(path)
        },
        .choice(
            "log_level",
            ["error": LogLevel.error, "notice": .notice, "info": .info, "debug": .debug],
            // MPD's other words. Its warnings are notices here.
            aliases: ["warning": .notice, "default": .notice, "secure": .info, "verbose": .debug],
            default: "notice",
            "The least important messages of the log."
        ) { $0.logLevel = $1 }.atOnce,
    ]

    private static func permissionList(
        _ name: String,
        default defaultText: String,
        _ summary: String,
        _ path: any WritableKeyPath<Configuration, Permissions?> & Sendable
    ) -> Setting<Configuration> {
        Setting(
            name: name,
            allowed: "some of \(permissionNames), separated by commas, or nothing",
            defaultText: defaultText,
            example: "read",
            summary: summary
        ) { configuration, text, _ throws(SettingRefusal) in
            configuration[keyPath: path] = try permissions(in: text[...])
        }
    }
}
