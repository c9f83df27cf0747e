import Support
import Synchronization
import Testing

@testable import SubsonicKit

/// What a server may need of the connection, with real TLS.
@Suite("Connection settings")
struct ConnectionTests {
    private static func step(
        _ transport: CurlTransport,
        _ url: String,
        _ settings: ConnectionSettings
    ) async -> TransportError? {
        var request = HTTPRequest(url: url)
        request.connection = settings
        do throws(TransportError) {
            let response = try await transport.send(request)
            return response.head.status == 200 ? nil : TransportError(.local, "status \(response.head.status)")
        } catch {
            return error
        }
    }

    @Test("Certificates: an own authority, the server's own, another name, none")
    func authorities() async throws {
        let server = try #require(HTTPTestServer { _ in .json("ok") })
        defer { server.stop() }
        let front = try #require(TLSFront(to: server.port))
        defer { front.stop() }
        let transport = try CurlTransport()
        let authority = ConnectionSettings(certificateFile: front.file("ca.pem"))
        let alone = ConnectionSettings(certificateFile: front.file("alone.pem"))
        #expect(await Self.step(transport, front.url, ConnectionSettings())?.step == .tls)
        #expect(await Self.step(transport, front.url, authority) == nil)
        #expect(await Self.step(transport, front.url, alone)?.step == .tls)
        #expect(await Self.step(transport, front.aloneURL, alone) == nil)
        #expect(await Self.step(transport, front.aloneURL, authority)?.step == .tls)
        // The certificate is for the address, not for the name.
        let named = front.url.replacing("127.0.0.1", with: "localhost")
        #expect(await Self.step(transport, named, authority)?.step == .tls)
        let missing = ConnectionSettings(certificateFile: front.file("none.pem"))
        let error = await Self.step(transport, front.url, missing)
        #expect(error?.step == .tls && error?.message.contains("none.pem") == true, "\(String(describing: error))")
    }

    @Test("A server that wants to see a certificate")
    func clientCertificates() async throws {
        let server = try #require(HTTPTestServer { _ in .json("ok") })
        defer { server.stop() }
        let front = try #require(TLSFront(to: server.port, wantsClient: true))
        defer { front.stop() }
        let transport = try CurlTransport()
        let none = ConnectionSettings(certificateFile: front.file("ca.pem"))
        var pem = none
        pem.clientCertificate = front.file("client.pem")
        pem.clientKey = front.file("client.key")
        pem.clientKeyPassword = "sesame"
        var archive = none
        archive.clientCertificate = front.file("client.p12")
        archive.clientKeyPassword = "sesame"
        var wrong = pem
        wrong.clientKeyPassword = "wrong"
        // The wrong one first: a connection that stands needs no key.
        for (settings, isWell) in [(none, false), (wrong, false), (pem, true), (archive, true)] {
            let error = await Self.step(transport, front.url, settings)
            #expect(isWell ? error == nil : error?.step == .tls, "\(String(describing: error))")
            #expect(error?.message.contains("sesame") != true)
        }
        #expect(server.requests.count == 2)
    }

    @Test("Header lines and proxies count for calls and for sound; nothing of them is shown")
    func headersAndProxies() async throws {
        let proxy = try #require(
            HTTPTestServer { request in
                request.method == "CONNECT"
                    ? HTTPTestResponse(status: 403)
                    : .json(#"{"subsonic-response":{"status":"ok","version":"1.16.1"}}"#)
            }
        )
        defer { proxy.stop() }
        let transport = try CurlTransport()
        var server = SubsonicServer(
            id: "1",
            name: "home",
            url: try ServerURL("http://music.invalid/sub"),
            credentials: Credentials(user: "me", password: "sesame")
        )
        server.connection.proxy = proxy.url
        server.connection.headers = [("X-Gate", "open sesame")]
        let client = SubsonicClient(server, transport: transport)
        _ = try await client.ping()
        _ = try await transport.send(client.streamRequest(songID: "1"))
        _ = try await transport.send(client.mediaRequest("getCoverArt", [("id", "1")]))
        let names = proxy.requests.map { $0.path }
        #expect(names == ["ping", "stream", "getCoverArt"].map { "http://music.invalid/sub/rest/\($0).view" })
        #expect(proxy.requests.allSatisfy { $0.value(of: "x-gate") == "open sesame" })
        var dumped = ""
        dump(server, to: &dumped)
        #expect(!"\(server) \(server.connection) \(dumped)".contains("sesame"))

        // A password in clear goes through no proxy, not even one of this machine.
        server.mode = .password
        let clear = SubsonicClient(server, transport: transport)
        let error = await #expect(throws: SubsonicError.self) { try await clear.ping() }
        #expect(error?.description.contains("not sent in clear through a proxy") == true)
        #expect(proxy.requests.count == 3)

        // A proxy that does not connect is a place that cannot be reached.
        let refused = await Self.step(transport, "https://music.invalid/", server.connection)
        #expect(refused?.step == .connect, "\(String(describing: refused))")
        // libcurl repeats what it cannot read.
        let unreadable = ConnectionSettings(proxy: "http://me:pa/sesame@host:3128")
        let misread = await Self.step(transport, "http://music.invalid/", unreadable)
        #expect(misread != nil && misread?.message.contains("sesame") == false, "\(String(describing: misread))")
        var none = ConnectionSettings(proxy: "")
        none.headers = []
        #expect(await Self.step(transport, proxy.url, none) == nil)
    }

    @Test("What can be a header line")
    func headerLines() {
        let table: [(String, String, Bool)] = [
            ("X-A", "b", true), ("Host", "music", true), ("Authorization", "Basic x", true), ("X A", "b", false),
            ("", "b", false), ("X-A", "", false), ("X-A", "b\r\nX-B: c", false), ("range", "bytes=0-", false),
            ("Content-Length", "1", false), ("X-Ä", "b", false), ("X-A", "ä", true),
        ]
        for (name, value, isWell) in table {
            #expect((ConnectionSettings.refusal(ofHeader: name, value) == nil) == isWell, "\(name): \(value)")
        }
    }
}
