import SubsonicKit

extension Settings {
    /// Options of a block `subsonic_server`.
    static let server = account + connection

    /// Those that say who and what.
    private static let account: [Setting<ServerConfiguration>] = [
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
            isRepeatable: true,
            "The server's address, as you open it in a browser; repeat it for further addresses of the same server, which are tried "
                + "in this order when those before them do not answer."
        ) { server, text, _ throws(SettingRefusal) in try server.add(address: try serverURL(text)) },
        .text("user", example: "me", "The user's name.") { server, text, _ in server.user = text },
        .text("password", example: "secret", isSecret: true, "The password; or use one of the next three.") {
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
            try server.setPassword(try secretFile(text, context))
        },
        .text(
            "password_command",
            "a command line for /bin/sh",
            example: "secret-tool lookup service music",
            "A command that writes the password to its standard output."
        ) { server, text, _ throws(SettingRefusal) in try server.setPassword(.command(text)) },
        .text(
            "password_env",
            "the name of a variable",
            example: "MUSIC_PASSWORD",
            "A variable of the environment that holds the password."
        ) { server, text, _ throws(SettingRefusal) in try server.setPassword(try variable(text)) },
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
            try server.setKey(try secretFile(text, context))
        },
        .text(
            "api_key_command",
            "a command line for /bin/sh",
            "A command that writes the API key to its standard output."
        ) { server, text, _ throws(SettingRefusal) in try server.setKey(.command(text)) },
        .text("api_key_env", "the name of a variable", "A variable of the environment that holds the API key.") {
            server,
            text,
            _ throws(SettingRefusal) in
            try server.setKey(try variable(text))
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

    /// Options of a block `subsonic_server` about the way there.
    private static let connection: [Setting<ServerConfiguration>] = [
        .path(
            "ca_file",
            example: "~/.config/shelvmpd/ca.pem",
            "A file with certificates (PEM) to trust besides the system's: of your own authority, or the server's own."
        ) { $0.certificateFile = $1 },
        .path(
            "client_certificate",
            example: "~/.config/shelvmpd/client.pem",
            "A certificate that the server wants to see (PEM, or PKCS #12 with the ending .p12 or .pfx)."
        ) { $0.clientCertificate = $1 },
        .path(
            "client_key",
            default: "the file of client_certificate",
            example: "~/.config/shelvmpd/client.key",
            "The key of that certificate (PEM)."
        ) { $0.clientKey = $1 },
        .text("client_key_password", isSecret: true, "What opens that key; or use one of the next two.") {
            server,
            text,
            _ throws(SettingRefusal) in
            try server.setKeyPassword(.literal(Secret(text)))
        },
        .text(
            "client_key_password_file",
            "an absolute path, or the name of a systemd credential",
            "A file whose first line opens the key."
        ) { server, text, context throws(SettingRefusal) in
            try server.setKeyPassword(try secretFile(text, context))
        },
        .text(
            "client_key_password_command",
            "a command line for /bin/sh",
            "A command that writes what opens the key to its standard output."
        ) { server, text, _ throws(SettingRefusal) in try server.setKeyPassword(.command(text)) },
        .text(
            "proxy",
            "\"none\", or an address such as http://proxy.example.org:3128 or socks5h://127.0.0.1:1080, with or without USER:PASSWORD@",
            default: "what the environment says",
            example: "socks5h://127.0.0.1:1080",
            isSecret: true,
            "The proxy to go through."
        ) { server, text, _ throws(SettingRefusal) in server.proxy = Secret(try proxy(text)) },
        .text(
            "header",
            "\"NAME: VALUE\"",
            example: "CF-Access-Client-Id: 0123",
            isRepeatable: true,
            isSecret: true,
            "A header line for each request, such as a gate in front of the server wants; repeat it for several."
        ) { server, text, _ throws(SettingRefusal) in
            let parts = text.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { throw SettingRefusal() }
            let (name, value) = (parts[0].trimmingBlanks(), parts[1].trimmingBlanks())
            if let refusal = ConnectionSettings.refusal(ofHeader: name, value) {
                throw SettingRefusal("it \(refusal)", hidesValue: true)
            }
            server.headers.append(HeaderLine(name: name, value: Secret(value)))
        },
    ]

    /// The name of a variable, as a shell has them.
    private static func variable(_ text: String) throws(SettingRefusal) -> SecretSource {
        let isName = text.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x5F
        }
        guard isName, let first = text.utf8.first, !(0x30...0x39).contains(first) else {
            // Somebody may have written the secret itself.
            throw SettingRefusal("a name has letters, digits and _", hidesValue: true)
        }
        return .variable(text)
    }

    /// The address of a proxy as libcurl takes it, empty for none.
    private static func proxy(_ text: String) throws(SettingRefusal) -> String {
        if text.lowercased() == "none" { return "" }
        let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]
        guard let range = text.firstRange(of: "://"), schemes.contains(text[..<range.lowerBound].lowercased()) else {
            let beginnings = SettingContext.list(schemes.map { $0 + "://" })
            throw SettingRefusal("it begins with \(beginnings)", hidesValue: true)
        }
        let place = text[range.upperBound...]
        guard !place.isEmpty, place.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw SettingRefusal("without blanks", hidesValue: true)
        }
        // What libcurl cannot read it repeats, so it must not get it.
        let at = place.lastIndex(of: "@")
        if let at, place[..<at].contains(where: { "/?#@".contains($0) }) {
            throw SettingRefusal(
                "in a password a / is written %2F, and so are ? (%3F), # (%23) and @ (%40)",
                hidesValue: true
            )
        }
        var host = place[(at.map { place.index(after: $0) } ?? place.startIndex)...]
        if host.hasSuffix("/") { host.removeLast() }
        guard !host.contains(where: { "/?#".contains($0) }) else {
            throw SettingRefusal("a host with a port, without a path", hidesValue: true)
        }
        guard (try? ServerURL("http://\(host)")) != nil else {
            throw SettingRefusal("a host name with a port from 0 to 65535 comes behind the password", hidesValue: true)
        }
        return text
    }

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
            let letters = rest.utf8.contains { $0 >= 0x80 }
            throw SettingRefusal(
                letters
                    ? "letters beyond a to z are written xn--… in a host's name (idn2 NAME tells it) and %C3%BC in a path"
                    : "without blanks, ? and #",
                hidesValue: true
            )
        }
        let host = rest.prefix { $0 != "/" }
        guard !host.isEmpty, !host.hasPrefix(":") else { throw SettingRefusal() }
        var url = scheme + rest
        while url.hasSuffix("/") { url.removeLast() }
        if url.lowercased().hasSuffix("/rest") { url.removeLast("/rest".count) }
        while url.hasSuffix("/") { url.removeLast() }
        return url
    }

    /// A path, or the name of a systemd credential.
    private static func secretFile(_ text: String, _ context: SettingContext) throws(SettingRefusal) -> SecretSource {
        if !text.contains("/"), !text.hasPrefix("~"), !text.hasPrefix("$") { return .credential(text) }
        guard let path = try context.expand(text), path.hasPrefix("/") else { throw SettingRefusal() }
        return .file(path)
    }
}

extension ServerConfiguration {
    fileprivate mutating func setPassword(_ source: SecretSource) throws(SettingRefusal) {
        guard password == nil else {
            throw SettingRefusal(
                "the password has been given already; use one of password, password_file, password_command, password_env"
            )
        }
        password = source
    }

    fileprivate mutating func add(address: String) throws(SettingRefusal) {
        if url.isEmpty {
            url = address
            return
        }
        guard address != url, !alternatives.contains(address) else {
            throw SettingRefusal("the address has been given already")
        }
        alternatives.append(address)
    }

    fileprivate mutating func setKeyPassword(_ source: SecretSource) throws(SettingRefusal) {
        guard clientKeyPassword == nil else {
            throw SettingRefusal(
                "it has been given already; use one of client_key_password, client_key_password_file, "
                    + "client_key_password_command"
            )
        }
        clientKeyPassword = source
    }

    fileprivate mutating func setKey(_ source: SecretSource) throws(SettingRefusal) {
        guard apiKey == nil else {
            throw SettingRefusal(
                "the API key has been given already; use one of api_key, api_key_file, api_key_command, api_key_env"
            )
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
