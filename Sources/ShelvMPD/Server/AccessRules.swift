import CLinux
import Glibc
import MPDProtocol

/// Who may do what: passwords and the permissions of those who gave none.
///
/// Source: MPD 0.24 `src/Permission.cxx`.
struct AccessRules: Sendable {
    private let passwords: [(password: Secret, permissions: Permissions)]
    private let standard: Permissions
    private let local: Permissions
    /// Numeric addresses.
    private let hosts: [(address: String, permissions: Permissions)]

    /// Resolves the host names of `host_permissions` once, now.
    init(_ configuration: Configuration) {
        passwords = configuration.passwords.map { ($0.password, $0.permissions) }
        // Without any password there is nothing to protect; with one, or with permissions for certain hosts, the others
        // have none.
        let isOpen = configuration.passwords.isEmpty && configuration.hostPermissions.isEmpty
        standard = configuration.defaultPermissions ?? (isOpen ? .all : [])
        local = configuration.localPermissions ?? standard
        hosts = configuration.hostPermissions.flatMap { rule in
            Self.addresses(of: rule.host).map { ($0, rule.permissions) }
        }
    }

    /// What a password allows, or nil if nobody has it.
    func permissions(password: [UInt8]) -> Permissions? {
        passwords.first { $0.password.revealed.utf8.elementsEqual(password) }?.permissions
    }

    /// What a new client may do.
    func initialPermissions(_ descriptor: CInt, isLocal: Bool) -> Permissions {
        if isLocal { return local }
        guard !hosts.isEmpty, let peer = Self.peerAddress(descriptor) else { return standard }
        return hosts.first { $0.address == peer }?.permissions ?? standard
    }

    private static func addresses(of host: String) -> [String] {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(host, nil, &hints, &found) == 0, let first = unsafe found else { return [] }
        defer { unsafe freeaddrinfo(first) }
        var result: [String] = []
        var next: UnsafeMutablePointer<addrinfo>? = unsafe first
        while let info = unsafe next {
            if let text = unsafe numericAddress(info.pointee.ai_addr, info.pointee.ai_addrlen) { result.append(text) }
            unsafe next = info.pointee.ai_next
        }
        return result
    }

    private static func peerAddress(_ descriptor: CInt) -> String? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                guard unsafe getpeername(descriptor, pointer, &length) == 0 else { return nil }
                return unsafe numericAddress(pointer, length)
            }
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
