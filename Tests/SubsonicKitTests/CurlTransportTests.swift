import SubsonicKit
import Support
import Synchronization
import Testing

@Suite("CurlTransport over loopback")
struct CurlTransportTests {
    @Test("A whole answer with status, headers and peer; the connection is kept")
    func wholeAnswer() async throws {
        let server = try #require(HTTPTestServer { .json("{\"path\": \"\($0.path)\"}") })
        defer { server.stop() }
        let transport = try CurlTransport()
        for path in ["/a", "/b", "/c"] {
            let response = try await transport.send(HTTPRequest(url: server.url + path + "?t=secret"))
            #expect(response.head.status == 200)
            #expect(response.head.value(of: "content-type") == "application/json")
            #expect(response.head.isLoopback)
            #expect(response.head.effectiveURL == server.url + path)
            #expect(String(decoding: response.body, as: UTF8.self) == "{\"path\": \"\(path)\"}")
        }
        #expect(server.connectionCount == 1)
        #expect(server.requests[0].value(of: "user-agent") == "ShelvMPD/0.1")
        #expect(server.requests[0].value(of: "accept-encoding") == "gzip, deflate")
        #expect(server.requests[0].query == "t=secret")
    }
}
