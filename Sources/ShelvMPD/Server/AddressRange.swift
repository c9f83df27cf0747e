import CLinux
import Glibc

/// Addresses that begin with the same bits: a single one, or a network.
///
/// All are those of IPv6; an IPv4 address stands as `::ffff:a.b.c.d`, as on a socket that takes both.
struct AddressRange: Sendable, Hashable {
    /// Sixteen; those behind `bits` are zero.
    private let bytes: [UInt8]
    /// How many of them count, of 128.
    let bits: Int

    private static let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]

    private init(_ bytes: [UInt8], bits: Int) {
        self.bytes = bytes.enumerated().map { index, byte in
            let kept = min(8, max(0, bits - 8 * index))
            return byte & ~UInt8(truncatingIfNeeded: 0xFF >> kept)
        }
        self.bits = bits
    }

    /// `ADDRESS` or `ADDRESS/BITS`, with an address in digits; nil for anything else.
    init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = parts.first.map(String.init) else { return nil }
        var four = [UInt8](repeating: 0, count: 4)
        var sixteen = [UInt8](repeating: 0, count: 16)
        let width: Int
        if unsafe inet_pton(AF_INET, address, &four) == 1 {
            width = 32
            sixteen = Self.mapped + four
        } else if unsafe inet_pton(AF_INET6, address, &sixteen) == 1 {
            width = 128
        } else {
            return nil
        }
        var kept = width
        if parts.count == 2 {
            guard parts[1].utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let number = Int(parts[1]),
                0...width ~= number
            else { return nil }
            kept = number
        }
        self.init(sixteen, bits: kept + 128 - width)
    }

    /// The single address of a socket's end; nil for other families than those of the internet.
    init?(_ address: UnsafeMutablePointer<sockaddr>?) {
        guard let address = unsafe address else { return nil }
        switch Int32(unsafe address.pointee.sa_family) {
        case AF_INET:
            let four = unsafe UnsafeRawPointer(address).load(as: sockaddr_in.self).sin_addr
            self.init(unsafe Self.mapped + withUnsafeBytes(of: four) { unsafe Array($0) }, bits: 128)
        case AF_INET6:
            let sixteen = unsafe UnsafeRawPointer(address).load(as: sockaddr_in6.self).sin6_addr
            self.init(unsafe withUnsafeBytes(of: sixteen) { unsafe Array($0) }, bits: 128)
        default: return nil
        }
    }

    /// Whether all addresses of another range lie in this one.
    func contains(_ other: AddressRange) -> Bool {
        other.bits >= bits && AddressRange(other.bytes, bits: bits).bytes == bytes
    }

    /// The addresses of this machine that only itself can reach.
    static let loopback = [AddressRange(mapped + [127, 0, 0, 0], bits: 104), AddressRange(loopback6, bits: 128)]

    private static let loopback6 = [UInt8](repeating: 0, count: 15) + [1]

    var isLoopback: Bool { Self.loopback.contains { $0.contains(self) } }
}
