import CLinux
import Glibc
import MPDProtocol

/// Who may do what: passwords and the permissions of those who gave none.
///
/// Source: MPD 0.24 `src/Permission.cxx`; networks as in 0.25.
struct AccessRules: Sendable {
    private let passwords: [PasswordRule]
    private let standard: Permissions
    private let local: Permissions
    /// The narrowest first; of equal ones the one that was given first.
    private let hosts: [(range: AddressRange, permissions: Permissions)]

    /// Resolves the host names of `host_permissions` once, now, which may take its time.
    init(_ configuration: Configuration) {
        passwords = configuration.passwords
        // Without any password there is nothing to protect; with one, or with permissions for certain hosts, the others
        // have none. Hosts have nothing to do with the local socket.
        let open: Permissions = configuration.passwords.isEmpty ? .all : []
        standard = configuration.defaultPermissions ?? (configuration.hostPermissions.isEmpty ? open : [])
        local = configuration.localPermissions ?? configuration.defaultPermissions ?? open
        let ranges = configuration.hostPermissions.flatMap { rule in
            Self.ranges(of: rule.host).map { ($0, rule.permissions) }
        }
        hosts = ranges.enumerated().sorted { ($1.element.0.bits, $0.offset) < ($0.element.0.bits, $1.offset) }
            .map { (range: $0.element.0, permissions: $0.element.1) }
    }

    /// What a password allows, or nil if nobody has it.
    func permissions(password: [UInt8]) -> Permissions? {
        passwords.first { $0.password.revealed.utf8.elementsEqual(password) }?.permissions
    }

    /// What a client may do that has given no password.
    func initialPermissions(_ descriptor: CInt, isLocal: Bool) -> Permissions {
        if isLocal { return local }
        guard !hosts.isEmpty, let peer = Self.peer(of: descriptor) else { return standard }
        return hosts.first { $0.range.contains(peer) }?.permissions ?? standard
    }

    /// Whether whoever reaches a TCP port may do more than look around.
    var letsAnybodyIn: Bool { !standard.subtracting(.read).isEmpty }

    private static func ranges(of host: String) -> [AddressRange] {
        if let range = AddressRange(host) { return [range] }
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(host, nil, &hints, &found) == 0, let first = unsafe found else { return [] }
        defer { unsafe freeaddrinfo(first) }
        var result: [AddressRange] = []
        var next: UnsafeMutablePointer<addrinfo>? = unsafe first
        while let info = unsafe next {
            if let range = unsafe AddressRange(info.pointee.ai_addr) { result.append(range) }
            unsafe next = info.pointee.ai_next
        }
        return result
    }

    private static func peer(of descriptor: CInt) -> AddressRange? {
        unsafe socketName(of: descriptor, getpeername) { address, _ in unsafe AddressRange(address) }
    }
}

/// Reads what `getsockname` or `getpeername` tells about a socket; nil when it has no such end.
func socketName<Result>(
    of descriptor: CInt,
    _ ask: (CInt, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<socklen_t>?) -> CInt,
    _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Result?
) -> Result? {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return unsafe withUnsafeMutablePointer(to: &storage) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
            guard unsafe ask(descriptor, pointer, &length) == 0 else { return nil }
            return unsafe body(pointer, length)
        }
    }
}

/// The address as digits, `::ffff:` of an IPv4 client on an IPv6 socket left out; nil for other families.
func numericAddress(_ address: UnsafeMutablePointer<sockaddr>?, _ length: socklen_t) -> String? {
    var buffer = [CChar](repeating: 0, count: 64)
    guard unsafe getnameinfo(address, length, &buffer, 64, nil, 0, NI_NUMERICHOST) == 0 else { return nil }
    let text = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return text.hasPrefix("::ffff:") ? String(text.dropFirst(7)) : text
}
