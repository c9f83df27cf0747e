import Testing

@testable import SubsonicKit

@Suite("MD5 and encodings")
struct MD5Tests {
    @Test("RFC 1321's vectors, and the example of the Subsonic documentation")
    func vectors() {
        let vectors = [
            ("", "d41d8cd98f00b204e9800998ecf8427e"),
            ("a", "0cc175b9c0f1b6a831c399e269772661"),
            ("abc", "900150983cd24fb0d6963f7d28e17f72"),
            ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
            ("abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"),
            ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "d174ab98d277d9f5a5611c2c9f419d9f"),
            (String(repeating: "1234567890", count: 8), "57edf4a22be3c955ac49da2e2107b67a"),
            ("sesame" + "c19b2d", "26719a1196d2a940705a59634eb18eab"),
            ("pässwörd", "12841e4ba5e37d2fbfc78458c6714ade"),
        ]
        for (text, digest) in vectors {
            #expect(MD5.hexDigest(of: Array(text.utf8)) == digest, "\(text)")
        }
    }

    @Test("Only unreserved characters stay as they are")
    func percent() {
        #expect(PercentEncoding.encode("AZaz09-._~") == "AZaz09-._~")
        #expect(PercentEncoding.encode("a b+c&d=e;f/g?h#%") == "a%20b%2Bc%26d%3De%3Bf%2Fg%3Fh%23%25")
        #expect(PercentEncoding.encode("é😀") == "%C3%A9%F0%9F%98%80")
        #expect(PercentEncoding.encode("\u{0}\n\u{7F}") == "%00%0A%7F")
        #expect(PercentEncoding.query([("id", "1"), ("id", "pl-YQ=="), ("q", "")]) == "id=1&id=pl-YQ%3D%3D&q=")
        for text in ["", "a%2", "%zz", "100%", "%41%42", "é"] {
            #expect(PercentEncoding.decode(PercentEncoding.encode(text)) == text)
        }
        #expect(PercentEncoding.decode("%41%4") == "A%4")
    }

    @Test("RFC 4648's vectors")
    func base64() {
        let vectors = [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ]
        for (text, encoded) in vectors { #expect(Base64.encode(Array(text.utf8)) == encoded) }
    }

    @Test("Hexadecimal of UTF-8")
    func hex() {
        #expect(Hex.encode("sesame".utf8) == "736573616d65")
        #expect(Hex.encode("ü\u{0}".utf8) == "c3bc00")
    }
}
