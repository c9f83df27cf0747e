import SubsonicKit

extension SubsonicServer {
    /// A server as the configuration has it. Reads the passwords, which may take its time.
    /// - Throws: a sentence for the user: no password, an address that is none.
    init(_ server: ServerConfiguration, id: String) throws {
        self.init(
            id: id,
            name: server.name,
            url: try ServerURL(server.url),
            credentials: Credentials(
                user: server.user,
                password: try server.password?.read().revealed,
                apiKey: try server.apiKey?.read().revealed
            ),
            mode: AuthenticationMode(server.authentication),
            allowsPlainPassword: server.allowsPlainPassword
        )
        alternatives = try server.alternatives.map { url throws(ServerURL.Problem) in try ServerURL(url) }
        connection = try ConnectionSettings(server)
    }
}

extension ConnectionSettings {
    /// The way to a server as the configuration has it. Reads the key's password.
    init(_ server: ServerConfiguration) throws(SecretError) {
        self.init(
            certificateFile: server.certificateFile,
            clientCertificate: server.clientCertificate,
            clientKey: server.clientKey,
            clientKeyPassword: try server.clientKeyPassword?.read().revealed,
            proxy: server.proxy?.revealed,
            headers: server.headers.map { ($0.name, $0.value.revealed) }
        )
    }
}

extension AuthenticationMode {
    init(_ authentication: ServerConfiguration.Authentication) {
        switch authentication {
        case .auto: self = .auto
        case .token: self = .token
        case .apikey: self = .apikey
        case .password: self = .password
        }
    }
}
