internal import CCrypto

/// MD5 by libcrypto: the hash of token authentication, not a protection of anything else.
enum MD5 {
    /// The 32 lower-case hex digits of the hash; nil where the system forbids MD5 even outside its FIPS module.
    static func hexDigest(of bytes: [UInt8]) -> String? {
        // By name with "-fips", so that a system-wide FIPS policy, which hides EVP_md5, does not matter.
        guard let algorithm = unsafe EVP_MD_fetch(nil, "MD5", "-fips") else { return nil }
        defer { unsafe EVP_MD_free(algorithm) }
        var digest = [UInt8](repeating: 0, count: 16)
        var length: UInt32 = 0
        let result = unsafe bytes.withUnsafeBufferPointer { input in
            unsafe EVP_Digest(input.baseAddress, input.count, &digest, &length, algorithm, nil)
        }
        return result == 1 && length == 16 ? Hex.encode(digest) : nil
    }
}

/// Lower-case hexadecimal digits.
enum Hex {
    static func encode(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}
