/// How the network is used on the way to one server: whom to trust, who we are, through what, with which header lines.
///
/// Goes with each request to that server, and so with none to others. Shows nothing as text, because most of it may be
/// secret.
public struct ConnectionSettings: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A PEM file with certificates to trust besides the system's: of an authority, or the server's own.
    public var certificateFile: String?
    /// The certificate that we show: PEM, or PKCS #12 when its name ends with `.p12` or `.pfx`.
    public var clientCertificate: String?
    /// Its key; nil where that is in the same file.
    public var clientKey: String?
    /// What opens the key.
    public var clientKeyPassword: String?
    /// The address of a proxy; empty for none, also where the environment names one; nil for what the environment says.
    public var proxy: String?
    /// Further lines of each request, such as a gate in front of the server wants.
    public var headers: [(name: String, value: String)]

    public init(
        certificateFile: String? = nil,
        clientCertificate: String? = nil,
        clientKey: String? = nil,
        clientKeyPassword: String? = nil,
        proxy: String? = nil,
        headers: [(name: String, value: String)] = []
    ) {
        self.certificateFile = certificateFile
        self.clientCertificate = clientCertificate
        self.clientKey = clientKey
        self.clientKeyPassword = clientKeyPassword
        self.proxy = proxy
        self.headers = headers
    }

    public var description: String { "***" }
    public var debugDescription: String { "***" }
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// Whether the certificate's file holds its key, too, in a form that must be named.
    var isPKCS12: Bool {
        let name = clientCertificate?.lowercased() ?? ""
        return name.hasSuffix(".p12") || name.hasSuffix(".pfx")
    }

    /// Why `name` and `value` make no header line that may be added, as the end of a sentence; nil when they do.
    public static func refusal(ofHeader name: String, _ value: String) -> String? {
        let isToken = { (byte: UInt8) in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
        guard !name.isEmpty, name.utf8.allSatisfy(isToken) else { return "has no name that a header can have" }
        guard !value.isEmpty else { return "has no value" }
        guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return "holds a control character" }
        let own = [
            "range", "accept-encoding", "content-length", "content-type", "transfer-encoding", "expect", "connection",
        ]
        return own.contains(name.lowercased()) ? "is one that the program sets itself" : nil
    }
}
