import CLinux
import Glibc
import MPDProtocol

/// A connection to the server that runs by a configuration, for subcommands: blocking, with patience for ten seconds.
final class ServerConnection {
    private let descriptor: CInt
    private var received: [UInt8] = []

    /// Connects to the first of the configured addresses that answers, local sockets first: they need no password
    /// most often.
    /// - Throws: `ServerConnectionError`, a sentence for the user.
    init(_ configuration: Configuration) throws(ServerConnectionError) {
        let addresses =
            configuration.addresses.filter(\.isLocalSocket) + configuration.addresses.filter { !$0.isLocalSocket }
        var connected: CInt?
        for address in addresses where connected == nil { connected = Self.connect(address) }
        guard let descriptor = connected else {
            let names = addresses.map(\.shown)
            throw ServerConnectionError("no server answers at \(SettingContext.list(names))")
        }
        self.descriptor = descriptor
        var patience = timeval(tv_sec: 10, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, size)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, size)
        guard try line().starts(with: "OK MPD ".utf8) else { throw ServerConnectionError("what answers is no MPD") }
    }

    /// The same, with the first configured password that allows what is wanted.
    convenience init(
        _ configuration: Configuration,
        allowing permissions: Permissions
    ) throws(ServerConnectionError) {
        try self.init(configuration)
        if let rule = configuration.passwords.first(where: { $0.permissions.isSuperset(of: permissions) }) {
            _ = try ask("password \(Self.quoted(rule.password.revealed))")
        }
    }

    deinit { close(descriptor) }

    /// An argument of a command.
    static func quoted(_ text: String) -> String {
        "\"" + text.flatMap { $0 == "\"" || $0 == "\\" ? ["\\", $0] : [$0] } + "\""
    }

    /// A line `key: value` of a reply.
    static func pair(_ line: [UInt8]) -> (String, String)? {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let key = String(decoding: line[..<colon], as: UTF8.self)
        return (key, String(decoding: line[(colon + 1)...].drop { $0 == 0x20 }, as: UTF8.self))
    }

    /// Refuses what the server would take for more than one command, or for none: nothing can stand for a line feed in it.
    static func check(_ command: String) throws(ServerConnectionError) {
        let bytes = command.utf8
        if bytes.contains(where: { $0 == UInt8(ascii: "\n") || $0 == 0 }) {
            throw ServerConnectionError(
                "it holds a line feed or a zero byte, which no command can carry",
                isRefusal: true
            )
        }
        if bytes.count > LineDecoder.maximumLineLength {
            throw ServerConnectionError("it is longer than a command may be", isRefusal: true)
        }
    }

    /// Sends a command and gives the lines of its reply, without the `OK`.
    /// - Throws: `ServerConnectionError`, also for a command that cannot be sent as one line.
    func ask(_ command: String) throws(ServerConnectionError) -> [[UInt8]] {
        try Self.check(command)
        var rest = Array("\(command)\n".utf8)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes {
                unsafe send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw ServerConnectionError("the server has closed the connection") }
            rest = rest.dropFirst(count)
        }
        var lines: [[UInt8]] = []
        while true {
            let line = try line()
            if line == Array("OK".utf8) { return lines }
            if line.starts(with: "ACK ".utf8) {
                let text = line.firstIndex(of: UInt8(ascii: "}")).map { line[($0 + 1)...].dropFirst() } ?? line[...]
                throw ServerConnectionError(
                    "the server says: \(String(decoding: text, as: UTF8.self))",
                    isRefusal: true
                )
            }
            lines.append(line)
        }
    }

    private var next = 0

    private func line() throws(ServerConnectionError) -> [UInt8] {
        var searched = next
        while true {
            if let end = received[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { next = end + 1 }
                return Array(received[next..<end])
            }
            received.removeFirst(next)
            next = 0
            searched = received.count
            guard Files.readSome(descriptor, into: &received) > 0 else {
                throw ServerConnectionError("the server does not answer")
            }
        }
    }

    private static func connect(_ address: ListenAddress) -> CInt? {
        switch address {
        case .any(let port): connect(host: "localhost", port)
        case .host(let host, let port): connect(host: host, port)
        case .unix(let path): connect(socket: path)
        case .abstract(let name): connect(socket: "@" + name)
        }
    }

    private static func connect(socket path: String) -> CInt? {
        guard let (name, length) = Listener.unixAddress(path) else { return nil }
        var address = name
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        let isConnected = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe Glibc.connect(descriptor, $0, length) == 0
            }
        }
        if isConnected { return descriptor }
        close(descriptor)
        return nil
    }

    /// A connection to the first address of a host that answers; nil if none does. The caller closes it.
    static func connect(host: String, _ port: UInt16) -> CInt? {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(host, String(port), &hints, &found) == 0, let first = unsafe found else { return nil }
        defer { unsafe freeaddrinfo(first) }
        var next: UnsafeMutablePointer<addrinfo>? = unsafe first
        while let info = unsafe next {
            unsafe next = info.pointee.ai_next
            let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
            let descriptor = unsafe socket(info.pointee.ai_family, kind, 0)
            guard descriptor >= 0 else { continue }
            if unsafe Glibc.connect(descriptor, info.pointee.ai_addr, info.pointee.ai_addrlen) == 0 {
                return descriptor
            }
            close(descriptor)
        }
        return nil
    }
}

/// Why a server cannot be asked; a sentence without its full stop.
struct ServerConnectionError: Error, Sendable, Equatable, CustomStringConvertible {
    let description: String
    /// Whether only this one command is refused, and the connection goes on.
    let isRefusal: Bool

    init(_ description: String, isRefusal: Bool = false) {
        self.description = description
        self.isRefusal = isRefusal
    }
}

extension ListenAddress {
    fileprivate var isLocalSocket: Bool {
        switch self {
        case .unix, .abstract: true
        case .any, .host: false
        }
    }

    /// For messages.
    fileprivate var shown: String {
        switch self {
        case .any(let port): "localhost:\(port)"
        case .host(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(let path): path
        case .abstract(let name): "@\(name)"
        }
    }
}
