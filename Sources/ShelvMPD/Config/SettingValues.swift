import MPDProtocol

extension Settings {
    /// Names of permissions, in MPD's order.
    static let permissionWords = ["read", "add", "player", "control", "admin"]

    static var permissionNames: String { permissionWords.joined(separator: ", ") }

    /// Permissions separated by commas, with or without blanks; empty for none.
    static func permissions(in text: Substring) throws(SettingRefusal) -> Permissions {
        let list = text.split(separator: ",").map { $0.trimmingBlanks() }.joined(separator: ",")
        do throws(Permissions.UnknownName) {
            return try Permissions(list: list)
        } catch {
            let near = NearestName.of(error.name, among: permissionWords).map { "; did you mean \"\($0)\"?" } ?? ""
            // In `password`, the name may be the rest of a password that holds an @.
            throw SettingRefusal("there is no such permission\(near)")
        }
    }

    /// The tags of `metadata_to_use`. Source: MPD 0.24 `src/tag/Config.cxx`; "all" is ours.
    static func tags(in text: String, changing start: TagMask) throws(SettingRefusal) -> TagMask {
        guard text.lowercased() != "none" else { return [] }
        var mask = text.hasPrefix("+") || text.hasPrefix("-") ? start : []
        var adds = true
        for part in text.split(separator: ",") {
            var name = part.trimmingBlanks()
            // A sign holds for all names up to the next sign.
            if name.hasPrefix("+") || name.hasPrefix("-") {
                adds = name.hasPrefix("+")
                name.removeFirst()
            }
            let named: TagMask
            if name.lowercased() == "all" {
                named = .all
            } else if let tag = Tag(name: name.utf8) {
                named = TagMask(tag)
            } else if let near = NearestName.of(name, among: Tag.allCases.map(\.name)) {
                throw SettingRefusal("there is no tag \"\(name)\"; did you mean \"\(near)\"?")
            } else {
                throw SettingRefusal("there is no tag \"\(name)\"")
            }
            mask = adds ? mask.union(named) : mask.subtracting(named)
        }
        return mask
    }
}

extension ListenAddress {
    /// The port of an address that names none, until `port` is known.
    static let unknownPort: UInt16 = 0

    /// An address in one of the forms of `bind_to_address`.
    static func parse(_ text: String, _ context: SettingContext) throws(SettingRefusal) -> ListenAddress {
        if text.hasPrefix("/") || text.hasPrefix("~") || text.hasPrefix("$") {
            guard let path = try context.expand(text), path.hasPrefix("/") else { throw SettingRefusal() }
            // sun_path holds 108 bytes, its NUL included.
            guard path.utf8.count < 108 else { throw SettingRefusal("the path of a socket has at most 107 bytes") }
            return .unix(path: path)
        }
        if text.hasPrefix("@") {
            guard text.utf8.count > 1, text.utf8.count < 108 else { throw SettingRefusal() }
            return .abstract(name: String(text.dropFirst()))
        }
        let (host, port) = try hostAndPort(text)
        guard !host.isEmpty, host.utf8.allSatisfy({ $0 > 0x20 && $0 != UInt8(ascii: "/") }) else {
            throw SettingRefusal()
        }
        return host.lowercased() == "any" || host == "*" ? .any(port: port) : .host(host, port: port)
    }

    /// The same address with the port that `port` says, where it has none of its own.
    func withDefaultPort(_ port: UInt16) -> ListenAddress {
        switch self {
        case .any(ListenAddress.unknownPort): .any(port: port)
        case .host(let host, ListenAddress.unknownPort): .host(host, port: port)
        default: self
        }
    }

    /// `HOST`, `HOST:PORT`, `[V6]`, `[V6]:PORT` or a bare IPv6 address, which has several colons.
    private static func hostAndPort(_ text: String) throws(SettingRefusal) -> (String, UInt16) {
        var host = Substring(text)
        var port: Substring?
        if text.hasPrefix("[") {
            guard let close = text.firstIndex(of: "]") else { throw SettingRefusal() }
            host = text[..<close].dropFirst()
            let rest = text[close...].dropFirst()
            guard rest.isEmpty || rest.hasPrefix(":") else { throw SettingRefusal() }
            port = rest.isEmpty ? nil : rest.dropFirst()
        } else if let colon = text.firstIndex(of: ":"), colon == text.lastIndex(of: ":") {
            host = text[..<colon]
            port = text[colon...].dropFirst()
        }
        guard let port else { return (String(host), unknownPort) }
        guard let number = UInt16(port), number > 0 else {
            throw SettingRefusal("the port is a number from 1 to 65535")
        }
        return (String(host), number)
    }
}
