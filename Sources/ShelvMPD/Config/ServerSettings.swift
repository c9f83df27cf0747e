import SubsonicKit

extension Settings {
    /// Options of a block `subsonic_server`.
    static let server: [Setting<ServerConfiguration>] = [
        .text(
            "name",
            default: "the host of url",
            example: "home",
            "A name of your choice; what is known about the server is kept under it."
        ) { server, text, _ throws(SettingRefusal) in
            guard text.count <= 64, text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") }) else {
                throw SettingRefusal("a name has at most 64 characters and no /")
            }
            server.name = text
        },
        .text(
            "url",
            "an address such as https://music.example.org or http://127.0.0.1:4533/path",
            example: "https://music.example.org",
            "The server's address, as you open it in a browser."
        ) { server, text, _ throws(SettingRefusal) in server.url = try serverURL(text) },
        .text("user", example: "me", "The user's name.") { server, text, _ in server.user = text },
        .text("password", example: "secret", isSecret: true, "The password; or use one of the next two.") {
            server,
            text,
            _ throws(SettingRefusal) in
            try server.setPassword(.literal(Secret(text)))
        },
        .text(
            "password_file",
            "an absolute path, or the name of a systemd credential",
            example: "~/.config/shelvmpd/password",
            "A file whose first line is the password."
        ) { server, text, context throws(SettingRefusal) in
            try server.setPassword(.file(try credentialPath(text, context)))
        },
        .text(
            "password_command",
            "a command line for /bin/sh",
            example: "secret-tool lookup service music",
            "A command that writes the password to its standard output."
        ) { server, text, _ throws(SettingRefusal) in try server.setPassword(.command(text)) },
        .text("api_key", isSecret: true, "An API key, for servers that give them out, in place of user and password.") {
            server,
            text,
            _ throws(SettingRefusal) in
            try server.setKey(.literal(Secret(text)))
        },
        .text(
            "api_key_file",
            "an absolute path, or the name of a systemd credential",
            "A file whose first line is the API key."
        ) { server, text, context throws(SettingRefusal) in
            try server.setKey(.file(try credentialPath(text, context)))
        },
        .choice(
            "auth",
            [
                "auto": ServerConfiguration.Authentication.auto, "token": .token, "apikey": .apikey,
                "password": .password,
            ],
            default: "auto",
            "How to log in: \"auto\" uses the API key if there is one, else a token, else the password where the server says "
                + "that it knows no tokens."
        ) { $0.authentication = $1 },
        .boolean(
            "allow_plain_password",
            default: false,
            "Whether the password itself may be sent to a server on another machine, where the network can read it if url is "
                + "http."
        ) { $0.allowsPlainPassword = $1 },
        .text(
            "format",
            "\"raw\", or the server's name of a format",
            default: "raw",
            example: "opus",
            "Which format the server shall turn songs into; \"raw\" leaves them as they are."
        ) { server, text, _ throws(SettingRefusal) in
            guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { throw SettingRefusal() }
            if text == "raw" { return }
            server.transcoding = Transcoding(format: text, maximumBitRate: server.transcoding?.maximumBitRate)
        },
        .integer(
            "max_bit_rate",
            0...10_000,
            unit: "kbit/s",
            zero: "no limit",
            default: "0",
            "How many bits a second songs may take; the server turns those with more into something smaller."
        ) { server, rate in
            guard rate > 0 else { return }
            server.transcoding = Transcoding(format: server.transcoding?.format, maximumBitRate: rate)
        },
        .integer(
            "first_byte_timeout",
            1...3600,
            unit: "seconds",
            default: "20",
            "How long the first byte of a song may take until it is asked for anew; a slow transcoder needs more."
        ) { $0.firstByteTimeout = .seconds($1) },
        .integer(
            "stall_timeout",
            1...3600,
            unit: "seconds",
            default: "10",
            "How long a song may stop coming until the rest is asked for anew."
        ) { $0.stallTimeout = .seconds($1) },
        .text(
            "music_folders",
            "names or ids of the server's music folders, separated by commas",
            default: "all",
            example: "Music,Audiobooks",
            "The music folders to show."
        ) { server, text, _ throws(SettingRefusal) in
            server.musicFolders = text.split(separator: ",").map { $0.trimmingBlanks() }.filter { !$0.isEmpty }
            guard !server.musicFolders.isEmpty else { throw SettingRefusal() }
        },
    ]

    /// The address without final slashes and without `/rest`.
    private static func serverURL(_ text: String) throws(SettingRefusal) -> String {
        guard !text.contains("@") else {
            throw SettingRefusal("user and password have options of their own", hidesValue: true)
        }
        let scheme = ["http://", "https://"].first { text.lowercased().hasPrefix($0) }
        guard let scheme else { throw SettingRefusal() }
        let rest = text.dropFirst(scheme.count)
        // A query may hold a token.
        guard rest.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), !rest.contains("?"), !rest.contains("#") else {
            throw SettingRefusal("without blanks, ? and #", hidesValue: true)
        }
        let host = rest.prefix { $0 != "/" }
        guard !host.isEmpty, !host.hasPrefix(":") else { throw SettingRefusal() }
        var url = scheme + rest
        while url.hasSuffix("/") { url.removeLast() }
        if url.lowercased().hasSuffix("/rest") { url.removeLast("/rest".count) }
        while url.hasSuffix("/") { url.removeLast() }
        return url
    }

    /// A path, or the name of a file in systemd's folder of credentials.
    private static func credentialPath(_ text: String, _ context: SettingContext) throws(SettingRefusal) -> String {
        if !text.contains("/"), !text.hasPrefix("~"), !text.hasPrefix("$") {
            guard let folder = context.environment.directory("CREDENTIALS_DIRECTORY") else {
                throw SettingRefusal("a name without / is that of a systemd credential, and there are none")
            }
            return folder + "/" + text
        }
        guard let path = try context.expand(text), path.hasPrefix("/") else { throw SettingRefusal() }
        return path
    }
}

extension ServerConfiguration {
    fileprivate mutating func setPassword(_ source: SecretSource) throws(SettingRefusal) {
        guard password == nil else {
            throw SettingRefusal(
                "the password has been given already; use one of password, password_file, password_command"
            )
        }
        password = source
    }

    fileprivate mutating func setKey(_ source: SecretSource) throws(SettingRefusal) {
        guard apiKey == nil else {
            throw SettingRefusal("the API key has been given already; use one of api_key and api_key_file")
        }
        apiKey = source
    }
}

extension StringProtocol {
    /// Without the spaces and tabs at both ends.
    func trimmingBlanks() -> String {
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        return String(drop(while: isBlank).reversed().drop(while: isBlank).reversed())
    }
}
