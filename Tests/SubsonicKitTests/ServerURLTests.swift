import Testing

@testable import SubsonicKit

@Suite("Addresses of servers")
struct ServerURLTests {
    @Test("Every spelling of an address leads to one base")
    func bases() throws {
        let table = [
            ("http://h", "http://h"),
            ("HTTP://Music.Example.ORG", "http://Music.Example.ORG"),
            (" https://h/music/ ", "https://h/music"),
            ("https://h/music/rest/", "https://h/music"),
            ("https://h/rest", "https://h"),
            ("https://h/forest", "https://h/forest"),
            ("https://h:4533/@me", "https://h:4533/@me"),
            ("https://h//", "https://h"),
            ("https://h/index.php/apps/music/subsonic", "https://h/index.php/apps/music/subsonic"),
            ("https://h/a b/ü", "https://h/a%20b/%C3%BC"),
            ("https://h/a%20b", "https://h/a%20b"),
            ("https://h?u=me&p=secret#x", "https://h"),
            ("https://me:secret@h:444/x", "https://h:444/x"),
            ("http://[::1]:4533/", "http://[::1]:4533"),
            ("[::1]", "http://[::1]"),
            ("[2001:db8::1]:4533", "https://[2001:db8::1]:4533"),
            ("localhost:4533", "http://localhost:4533"),
            ("h:4533", "http://h:4533"),
            ("127.0.0.1:4533/rest/", "http://127.0.0.1:4533"),
            ("192.168.1.7", "http://192.168.1.7"),
            ("nas.local:4040", "http://nas.local:4040"),
            ("8.8.8.8", "https://8.8.8.8"),
            ("music.example.org/sub", "https://music.example.org/sub"),
            ("http://127.0.0.1:0", "http://127.0.0.1:0"),
        ]
        for (text, base) in table {
            let url = try ServerURL(text)
            #expect(url.base == base, "\(text)")
            #expect(url.isSchemeGuessed == !text.contains("://"), "\(text)")
        }
    }

    @Test("What cannot be an address is refused with a sentence that names the trouble and no secret")
    func problems() {
        let table = [
            ("", "no host name"),
            ("   ", "no host name"),
            ("http://", "no host name"),
            ("http:///music", "no host name"),
            ("ftp://h", "ftp://"),
            ("http://h:70000", "70000"),
            ("http://h:x", "h:x"),
            ("http://h h", "character"),
            ("http://::1:4533", "brackets"),
            ("http://[::1", "[::1"),
            ("http://[h]", "no IPv6"),
            ("http://:4533", ":4533"),
            ("http://me:secret@/", "no host name"),
            ("http://me:secret@h:x/?p=secret", "h:x"),
            ("http://me:secret/x@h/", "%2F"),
        ]
        for (text, part) in table {
            #expect {
                _ = try ServerURL(text)
            } throws: { error in
                let message = String(describing: error)
                return message.contains(part) && !message.contains("secret")
            }
        }
    }

    @Test("A user name and password in the address become a header, and show nowhere")
    func userInfo() throws {
        let url = try ServerURL("https://me%40x:s%C3%A4cret@h/")
        #expect(url.authorization == "Basic " + Base64.encode(Array("me@x:säcret".utf8)))
        #expect(!"\(url)".contains("cret"))
    }

    @Test("Redacted addresses have no query, fragment, user or password")
    func redaction() {
        let table = [
            ("http://h/rest/ping.view?u=a&t=b", "http://h/rest/ping.view"),
            ("http://u:p@h/x#y", "http://h/x"),
            ("http://u:p@w@h/x", "http://h/x"),
            ("u:p@h/x@y", "h/x@y"),
            ("http://h/a@b?c", "http://h/a@b"),
            ("", ""),
        ]
        for (url, shown) in table { #expect(HTTPRequest(url: url).description == shown) }
    }

    @Test("Texts from elsewhere repeat nothing of what makes a request ours")
    func redactedTexts() {
        let table = [
            ("failed for /rest/ping.view?u=me&t=0f3a&s=9b1c&v=1", "failed for /rest/ping.view?u=me&t=***&s=***&v=1"),
            ("p=enc:73&amp;apiKey=k.e-y~_ x", "p=***&amp;apiKey=*** x"),
            ("{\"t\":\"0f3a\",\"s\": \"9b\",\"u\":\"me\"}", "{\"t\":\"***\",\"s\": \"***\",\"u\":\"me\"}"),
            ("t%3D0f3a%26s%3D9b%26v", "t%3D***%26s%3D***%26v"),
            (
                "Unsupported proxy syntax in 'http://me:pa/SE'CR@ET@host:3128'",
                "Unsupported proxy syntax in 'http://***@host:3128'"
            ),
            ("socks5h://u:p@h and http://h/x at 5", "socks5h://***@h and http://h/x at 5"),
            ("Wrong password: it's 10 s, cost=3, tops=4", "Wrong password: it's 10 s, cost=3, tops=4"),
            ("", ""),
        ]
        for (text, shown) in table { #expect(Redaction.text(text) == shown) }
        #expect(ServerFailure(code: 0, message: "no t=0f3a").message == "no t=***")
    }

    @Test("Redirects stay on the host and never leave TLS")
    func redirects() throws {
        let table: [(String, String, Bool)] = [
            ("http://h/a", "http://h/b", true),
            ("http://h/a", "https://h/a", true),
            ("http://h:80/a", "https://H:4443/a", true),
            ("https://h/a", "http://h/a", false),
            ("http://h/a", "http://other/a", false),
            ("https://h/a", "https://h.evil/a", false),
            ("https://h/a", "https://h@evil/a", false),
        ]
        for (from, to, allowed) in table {
            let from = try #require(HTTPOrigin(from))
            let to = try #require(HTTPOrigin(to))
            #expect(from.allowsRedirect(to: to) == allowed, "\(from) to \(to)")
        }
        #expect(HTTPOrigin("ftp://h") == nil)
        #expect(HTTPOrigin("file:///etc/passwd") == nil)
    }

    @Test("Loopback addresses")
    func loopback() {
        for address in ["127.0.0.1", "127.255.0.9", "::1", "::ffff:127.0.0.1"] {
            #expect(HTTPOrigin.isLoopbackAddress(address), "\(address)")
        }
        for address in ["", "128.0.0.1", "10.0.0.1", "::2", "127.0.0.1.example.org", "127.1.2.300", "::ffff:10.0.0.1"] {
            #expect(!HTTPOrigin.isLoopbackAddress(address), "\(address)")
        }
    }
}
