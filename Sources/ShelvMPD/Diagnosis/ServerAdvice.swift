import SubsonicKit

/// What to do when a server cannot be used.
enum ServerAdvice {
    static let path =
        "Add the server's path, if it has one (Airsonic: /airsonic; Nextcloud: /index.php/apps/music/subsonic; "
        + "Funkwhale: /api/subsonic), or look whether its Subsonic API is switched on"
    static let song = "Look whether the server finds its files, and whether the user may stream"

    private static let gate =
        "Something in front of the server asks for a login of its own: add header \"Authorization: Basic …\", or "
        + "except /rest there"
    private static let proxy =
        "Look at the option proxy: whether a proxy runs at that address, reaches the server, and wants a user and a password "
        + "(http://user:password@host:port)"
    private static let certificate = "The server wants a certificate of yours: client_certificate and client_key"

    /// What to do where something answers that is no Subsonic server; nil where its status says nothing.
    static func advice(_ answer: AddressAnswer) -> String? {
        if answer.wantsCertificate { return certificate }
        return switch answer.head.status {
        case 401, 403: gate
        case 407: proxy
        case 429: "Try again later; the server, or what stands in front of it, has had enough of questions"
        case 500...599: "Look at the server's log, and at what stands in front of it; it may be starting"
        default: nil
        }
    }

    /// Why no answer came.
    /// - Parameter hasProxy: whether a proxy is configured: then names are looked up by it, and nothing else is connected to.
    static func line(_ error: TransportError, at url: ServerURL, hasProxy: Bool) -> CheckLine {
        switch error.step {
        case .resolve, .connect:
            let isProxys = hasProxy || error.message.lowercased().contains("proxy")
            return isProxys
                ? .bad("The proxy does not lead there: \(error)", proxy) : direct(error)
        case .tls: return .bad("There is no trusted connection: \(error)", tls(error.message, at: url))
        case .send, .receive: return .bad("There is no answer: \(error)", receive(error, at: url))
        case .cancelled, .local: return .bad("\(error)", local(error.message))
        }
    }

    /// Why there is no connection, without a proxy.
    private static func direct(_ error: TransportError) -> CheckLine {
        switch error.step {
        case .resolve:
            .bad("The name is not known: \(error)", "Look at the spelling, and whether this machine has a network")
        default:
            .bad(
                "Nobody answers there: \(error)",
                "Look whether the server runs, at its port (Navidrome 4533, gonic 4747, Airsonic 4040 or 8080, LMS 5082), "
                    + "and at firewalls"
            )
        }
    }

    /// Why logging in did not succeed.
    static func line(_ error: SubsonicError, of server: SubsonicServer) -> CheckLine {
        switch error {
        case .transport(let error): return line(error, at: server.url, hasProxy: server.hasProxy)
        case .http(status: 401, _), .http(status: 403, _): return .bad("The login is refused: \(error)", gate)
        case .http(status: 407, _): return .bad("The proxy refuses: \(error)", proxy)
        case .http: return .bad("The server is in trouble: \(error)", "Look at the server's log")
        case .decoding: return .bad("The answer cannot be read: \(error)", "Look at the server's log")
        case .server(let failure):
            let advice =
                switch failure.code {
                case 40:
                    "Look at user and password; Nextcloud and Ampache give out passwords or keys of their own for Subsonic"
                case 41, 42: "Try auth \"password\", or an API key"
                case 43: "Give either an API key or user and password, not both"
                case 44: "Make a new API key at the server"
                case 50: "The account may not do this; look at its rights at the server"
                case 10: "Try auth \"password\"; the server does not understand the login"
                case 20, 30: "The versions do not fit; update the server"
                case 60: "The server's trial period is over"
                default: "Look at the server's log"
                }
            return .bad("The login is refused: \(error)", advice)
        }
    }

    private static func tls(_ message: String, at url: ServerURL) -> String {
        let text = message.lowercased()
        if text.contains("self-signed") || text.contains("self signed") || text.contains("unable to get local issuer") {
            let host = host(message, at: url)
            return "If it is your own certificate, save it and name it as ca_file: openssl s_client -connect \(host) "
                + "-showcerts </dev/null | openssl x509 > ca.pem"
        }
        if text.contains("expired") || text.contains("not yet valid") {
            return "Look at the clock of this machine (date), else renew the server's certificate"
        }
        if text.contains("match") || text.contains("subject name") {
            return "The certificate is for another name: use that name in url"
        }
        if text.contains("client.pem") || text.contains("private key") || text.contains("client cert") {
            return "Look at client_certificate, client_key and the password of the key"
        }
        if text.contains("certificate required") || text.contains("handshake failure")
            || text.contains("bad certificate")
        {
            return certificate
        }
        if text.contains("wrong version number") || text.contains("packet length too long")
            || text.contains("ssl_error_syscall") || text.contains("unexpected eof")
        {
            return "The server does not speak TLS at this port: use http://, or its port for https"
        }
        if text.contains("cafile") || text.contains("certificate file") || text.contains("error setting") {
            return "Look whether ca_file is there, readable, and in PEM"
        }
        return "Look at the server's certificate and at ca_file"
    }

    /// Host and port that failed, which are others than those of `url` after a redirect; the message begins with them.
    private static func host(_ message: String, at url: ServerURL) -> String {
        let origin = message.firstRange(of: ": ").map { message[..<$0.lowerBound] } ?? ""
        let base = origin.hasPrefix("https://") ? origin : url.base[...]
        let place = base.split(separator: "/").dropFirst().first ?? ""
        return place.hasSuffix("]") || !place.contains(":") ? "\(place):443" : String(place)
    }

    private static func receive(_ error: TransportError, at url: ServerURL) -> String {
        if error.mayWantOtherScheme(at: url.base) { return "The port may want https://" }
        return "Look whether this is the server's port, and at its log"
    }

    private static func local(_ message: String) -> String {
        if message.contains("in clear") {
            return "Use https, an API key, or allow_plain_password \"yes\" if you trust the network"
        }
        if message.contains("leads to") { return "Use the address that it leads to as url, if you trust it" }
        return "Look at url and at the options of the way there"
    }
}

extension SubsonicServer {
    /// Whether its block names a proxy.
    var hasProxy: Bool { connection.proxy.map { !$0.isEmpty } ?? false }
}
