import CLinux
import Glibc
import SubsonicKit

/// Finds the addresses of a name, to tell them.
enum NameLookup {
    /// Tells the addresses of the host in `url`, unless it is an address itself. Blocks.
    static func tell(_ url: ServerURL, _ report: CheckReport) {
        let authority = url.base.split(separator: "/").dropFirst().first ?? ""
        guard !authority.hasPrefix("[") else { return }
        let host = String(authority.prefix { $0 != ":" })
        guard !host.utf8.allSatisfy({ ($0 >= 0x30 && $0 <= 0x39) || $0 == UInt8(ascii: ".") }) else { return }
        let addresses = addresses(of: host)
        // Else the request says why not.
        if !addresses.isEmpty { report.add(.good("\(host) is \(addresses.joined(separator: ", "))")) }
    }

    /// In numbers, each once.
    static func addresses(of host: String) -> [String] {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(host, nil, &hints, &found) == 0, let first = unsafe found else { return [] }
        defer { unsafe freeaddrinfo(first) }
        var result: [String] = []
        var next: UnsafeMutablePointer<addrinfo>? = unsafe first
        while let info = unsafe next {
            unsafe next = info.pointee.ai_next
            var text = [CChar](repeating: 0, count: 256)
            let size = socklen_t(text.count)
            guard
                unsafe getnameinfo(info.pointee.ai_addr, info.pointee.ai_addrlen, &text, size, nil, 0, NI_NUMERICHOST)
                    == 0
            else { continue }
            let address = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            if !result.contains(address) { result.append(address) }
        }
        return result
    }
}
