import Glibc
import SubsonicKit
import Support
import Synchronization
import Testing

@Suite("CurlTransport: whole answers")
struct CurlTransportTests {
    private static func text(_ response: HTTPResponse) -> String { String(decoding: response.body, as: UTF8.self) }

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
            #expect(Self.text(response) == "{\"path\": \"\(path)\"}")
        }
        #expect(server.connectionCount == 1)
        #expect(server.requests[0].value(of: "user-agent") == "ShelvMPD/0.1")
        #expect(server.requests[0].value(of: "accept-encoding") == "gzip, deflate")
        #expect(server.requests[0].query == "t=secret")
    }

    @Test("All ways to tell the length, no body, odd statuses, interim answers")
    func framings() async throws {
        let server = try #require(
            HTTPTestServer { request in
                var response = HTTPTestResponse(status: 200, headers: [("X-One", " a "), ("X-one", "b: c")])
                switch request.path {
                case "/chunked":
                    response.steps = [.bytes(Array("abc".utf8)), .bytes(Array("def".utf8))]
                    response.framing = .chunked
                case "/close":
                    response.steps = [.bytes(Array("abcdef".utf8))]
                    response.framing = .untilClose
                case "/interim":
                    response.steps = [.bytes(Array("abcdef".utf8))]
                    response.stepsBefore = [
                        .bytes(Array("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n".utf8))
                    ]
                case "/nothing": response.status = 204
                case "/teapot": response.status = 418
                default: response.steps = [.bytes(Array("abcdef".utf8))]
                }
                return response
            }
        )
        defer { server.stop() }
        let transport = try CurlTransport()
        for path in ["/length", "/chunked", "/close", "/interim"] {
            let response = try await transport.send(HTTPRequest(url: server.url + path))
            #expect(Self.text(response) == "abcdef", "\(path)")
            #expect(response.head.status == 200)
            #expect(response.head.headers.filter { $0.name == "x-one" }.map(\.value) == ["a", "b: c"])
            #expect(response.head.value(of: "link") == nil)
        }
        for (path, status) in [("/nothing", 204), ("/teapot", 418)] {
            let response = try await transport.send(HTTPRequest(url: server.url + path))
            #expect(response.head.status == status && response.body.isEmpty)
        }
    }

    @Test("Compressed answers arrive unpacked, and broken ones are an error")
    func compression() async throws {
        let packed: [UInt8] = [
            31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 75, 206, 207, 45, 40, 74, 45, 46, 78, 77, 81, 72, 30, 110, 76, 0, 164, 22,
            250, 233, 220, 0, 0, 0,
        ]
        let server = try #require(
            HTTPTestServer { request in
                let bytes = request.path == "/broken" ? packed.reversed() : packed
                return HTTPTestResponse(headers: [("Content-Encoding", "gzip")], body: bytes)
            }
        )
        defer { server.stop() }
        let transport = try CurlTransport()
        let response = try await transport.send(HTTPRequest(url: server.url))
        #expect(Self.text(response) == String(repeating: "compressed ", count: 20))
        let broken = await #expect(throws: TransportError.self) {
            try await transport.send(HTTPRequest(url: server.url + "/broken"))
        }
        #expect(broken?.step == .receive)
    }

    @Test("A form is posted whole, without waiting for permission")
    func form() async throws {
        let server = try #require(HTTPTestServer { .json("\($0.body.count)") })
        defer { server.stop() }
        let transport = try CurlTransport()
        let form = (0..<200_000).map { "id=\($0)" }.joined(separator: "&")
        let response = try await transport.send(HTTPRequest(url: server.url + "/x", form: form))
        #expect(Self.text(response) == "\(form.utf8.count)")
        let request = try #require(server.requests.first)
        #expect(request.method == "POST" && request.value(of: "expect") == nil)
        #expect(request.value(of: "content-type") == "application/x-www-form-urlencoded")
        #expect(request.body == Array(form.utf8))
    }

    @Test("An answer larger than allowed is refused")
    func largeBody() async throws {
        let server = try #require(HTTPTestServer { _ in HTTPTestResponse(body: [UInt8](repeating: 65, count: 50_000)) })
        defer { server.stop() }
        let transport = try CurlTransport(CurlTransportOptions(maximumBody: 49_999))
        let error = await #expect(throws: TransportError.self) {
            try await transport.send(HTTPRequest(url: server.url))
        }
        #expect(error?.step == .local && error?.message.contains("49999") == true)
    }

    @Test("A request may want less than the transport allows")
    func smallBody() async throws {
        let server = try #require(HTTPTestServer { _ in HTTPTestResponse(body: [UInt8](repeating: 65, count: 50_000)) })
        defer { server.stop() }
        let transport = try CurlTransport()
        var request = HTTPRequest(url: server.url)
        request.maximumBody = 49_999
        let small = request
        let error = await #expect(throws: TransportError.self) {
            try await transport.send(small)
        }
        #expect(error?.step == .local && error?.message.contains("49999") == true)
        request.maximumBody = 50_000
        let response = try await transport.send(request)
        #expect(response.body.count == 50_000)
    }

    @Test("A bomb of zeros is given up where the limit is, and not unpacked to its end")
    func packedBomb() async throws {
        // 64 KiB of zeros in 96 bytes.
        let member: [UInt8] =
            [
                31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 237, 193, 1, 1, 0, 0, 0, 128, 144, 254, 175, 238, 8, 10,
            ] + [UInt8](repeating: 0, count: 63) + [106, 235, 142, 151, 215, 0, 0, 1, 0]
        let server = try #require(
            HTTPTestServer { _ in
                HTTPTestResponse(headers: [("Content-Encoding", "gzip")], body: member)
            }
        )
        defer { server.stop() }
        let transport = try CurlTransport(CurlTransportOptions(maximumBody: 60_000))
        let error = await #expect(throws: TransportError.self) {
            try await transport.send(HTTPRequest(url: server.url))
        }
        #expect(error?.step == .local && error?.message.contains("60000") == true, "\(String(describing: error))")
    }

    @Test("A head without end is given up, before the answer, in it, and behind it")
    func endlessHeads() async throws {
        let interim = Array(
            repeating: "HTTP/1.1 103 Early Hints\r\nLink: </\(String(repeating: "a", count: 900))>\r\n\r\n",
            count: 400
        )
        let trailers = Array(repeating: "X: \(String(repeating: "b", count: 900))\r\n", count: 400)
        let server = try #require(
            HTTPTestServer { request in
                var response = HTTPTestResponse(body: [65])
                switch request.path {
                case "/before": response.stepsBefore = [.bytes(Array(interim.joined().utf8))]
                case "/in": response.headers = (0..<400).map { ("X-\($0)", String(repeating: "c", count: 900)) }
                default:
                    let body =
                        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nA\r\n0\r\n\(trailers.joined())\r\n"
                    response.stepsBefore = [.bytes(Array(body.utf8)), .close]
                }
                return response
            }
        )
        defer { server.stop() }
        let transport = try CurlTransport()
        for path in ["/before", "/in", "/behind"] {
            let error = await #expect(throws: TransportError.self, "\(path)") {
                try await transport.send(HTTPRequest(url: server.url + path))
            }
            #expect(
                error.map { [.local, .receive].contains($0.step) } == true,
                "\(path): \(String(describing: error))"
            )
        }
    }

    @Test("An answer that comes a byte at a time is given up")
    func drip() async throws {
        let server = try #require(
            HTTPTestServer { _ in
                var response = HTTPTestResponse()
                // The pauses are the server's.
                response.steps = (0..<2000).flatMap { _ in [.bytes([65]), .act { usleep(3000) }] }
                return response
            }
        )
        defer { server.stop() }
        let transport = try CurlTransport(CurlTransportOptions(slownessLimit: .zero))
        let error = await #expect(throws: TransportError.self) {
            try await transport.send(HTTPRequest(url: server.url, stallTimeout: .milliseconds(200)))
        }
        #expect(error?.step == .receive && error?.message.contains("slowly") == true, "\(String(describing: error))")
    }

    @Test("IPv6")
    func ipv6() async throws {
        guard let server = HTTPTestServer(address: "::1", { _ in .json("6") }) else { return }
        defer { server.stop() }
        let response = try await CurlTransport().send(HTTPRequest(url: server.url + "/x"))
        #expect(Self.text(response) == "6" && response.head.isLoopback)
        #expect(response.head.effectiveURL == server.url + "/x")
    }

    @Test("A password in clear goes to loopback")
    func confidential() async throws {
        let server = try #require(HTTPTestServer { _ in .json("ok") })
        defer { server.stop() }
        let transport = try CurlTransport()
        for host in ["127.0.0.1", "localhost"] {
            let url = "http://\(host):\(server.port)/"
            let response = try await transport.send(HTTPRequest(url: url, isConfidential: true))
            #expect(Self.text(response) == "ok")
        }
    }

    // MARK: Redirects

    @Test("Redirects inside the host are followed, with the form where HTTP says so")
    func redirects() async throws {
        let other = try #require(HTTPTestServer { .json("\($0.method) \($0.path) \($0.body.count)") })
        defer { other.stop() }
        let target = other.url
        let server = try #require(
            HTTPTestServer { request in
                switch request.path {
                case "/relative": .redirect(to: "there?u=1", status: 301)
                case "/port": .redirect(to: target + "/moved?u=1", status: 308)
                case "/see": .redirect(to: "/there", status: 303)
                case "/keep": .redirect(to: "/there", status: 302)
                default: .json("\(request.method) \(request.path) \(request.body.count)")
                }
            }
        )
        defer { server.stop() }
        let transport = try CurlTransport()
        let table: [(path: String, form: String?, text: String, place: String)] = [
            ("/relative", nil, "GET /there 0", server.url + "/there"),
            ("/port", nil, "GET /moved 0", other.url + "/moved"),
            ("/port", "a=b", "POST /moved 3", other.url + "/moved"),
            ("/keep", "a=b", "POST /there 3", server.url + "/there"),
            ("/see", "a=b", "GET /there 0", server.url + "/there"),
        ]
        for row in table {
            let response = try await transport.send(HTTPRequest(url: server.url + row.path, form: row.form))
            #expect(Self.text(response) == row.text)
            #expect(response.head.effectiveURL == row.place)
            #expect(response.head.status == 200)
        }
    }

    @Test("Redirects to other hosts, other protocols and in circles end with a clear error and no secret")
    func refusedRedirects() async throws {
        let server = try #require(
            HTTPTestServer { request in
                switch request.path {
                case "/host":
                    .redirect(
                        to: "http://localhost:\(request.value(of: "host")?.split(separator: ":").last ?? "")/x?t=secret"
                    )
                case "/file": .redirect(to: "file:///etc/passwd")
                case "/junk": .redirect(to: "http://")
                default: .redirect(to: request.path + "x?t=secret")
                }
            }
        )
        defer { server.stop() }
        let transport = try CurlTransport()
        for path in ["/host", "/file", "/junk", "/circle"] {
            let error = await #expect(throws: TransportError.self) {
                try await transport.send(HTTPRequest(url: server.url + path + "?t=secret"))
            }
            #expect(error?.step == .local, "\(path): \(String(describing: error))")
            #expect(error?.message.contains("secret") == false)
        }
        // The circle ends after five redirects.
        #expect(server.requests.count == 3 + 6)
    }

    @Test("304 and a redirect without a place are answers")
    func noRedirects() async throws {
        let server = try #require(
            HTTPTestServer { request in
                request.path == "/304"
                    ? HTTPTestResponse(status: 304, headers: [("Location", "/x")]) : HTTPTestResponse(status: 302)
            }
        )
        defer { server.stop() }
        let transport = try CurlTransport()
        for (path, status) in [("/304", 304), ("/302", 302)] {
            let response = try await transport.send(HTTPRequest(url: server.url + path))
            #expect(response.head.status == status)
        }
    }

    // MARK: Failures

    @Test("Every failure has its step, names the server, and hides the query")
    func failures() async throws {
        let body = [UInt8](repeating: 65, count: 100_000)
        let server = try #require(
            HTTPTestServer { request in
                var response = HTTPTestResponse(body: body)
                switch request.path {
                case "/reset": return response.interrupted(after: 50_000, by: .reset)
                case "/close": return response.interrupted(after: 50_000, by: .close)
                case "/chunk":
                    response = response.interrupted(after: 50_000, by: .close)
                    response.framing = .chunked
                case "/nothing": response.stepsBefore = [.close]
                case "/early": response.stepsBefore = [.reset]
                default: response.stepsBefore = [.bytes(Array("SSH-2.0-OpenSSH\r\n\r\n".utf8)), .close]
                }
                return response
            }
        )
        defer { server.stop() }
        let transport = try CurlTransport()
        let free = try #require(HTTPTestServer { _ in .json("") })
        free.stop()
        let table: [(String, TransportError.Step)] = [
            (free.url, .connect),
            (server.url + "/reset", .receive),
            (server.url + "/close", .receive),
            (server.url + "/chunk", .receive),
            (server.url + "/nothing", .receive),
            (server.url + "/early", .receive),
            (server.url + "/ssh", .receive),
            ("https://127.0.0.1:\(server.port)", .tls),
            ("ftp://127.0.0.1", .local),
            ("http://", .local),
            ("", .local),
            ("http://127.0.0.1:99999/", .local),
            ("http://a b/", .local),
        ]
        for (url, step) in table {
            let error = await #expect(throws: TransportError.self) {
                try await transport.send(HTTPRequest(url: url + "?t=secret"))
            }
            #expect(error?.step == step, "\(url): \(String(describing: error))")
            #expect(error?.message.contains("secret") == false)
            #expect(error?.message.isEmpty == false)
        }
    }

    @Test("A server that falls silent, before the first byte or after, is given up")
    func stalls() async throws {
        let gates = Mutex<[TestGate]>([])
        let server = try #require(
            HTTPTestServer { request in
                let gate = TestGate()
                gates.withLock { $0.append(gate) }
                var response = HTTPTestResponse(body: [UInt8](repeating: 65, count: 1000))
                if request.path == "/first" { response.stepsBefore = [.wait(gate)] }
                return request.path == "/middle" ? response.interrupted(after: 500, by: .wait(gate)) : response
            }
        )
        defer {
            for gate in gates.withLock({ $0 }) { gate.open() }
            server.stop()
        }
        let transport = try CurlTransport()
        // The second must be long enough for a loaded machine to send the first bytes.
        let table = [("/first", "no answer", Duration.milliseconds(50)), ("/middle", "stopped", .seconds(1))]
        for (path, words, timeout) in table {
            let error = await #expect(throws: TransportError.self) {
                try await transport.send(HTTPRequest(url: server.url + path, stallTimeout: timeout))
            }
            #expect(error?.step == .receive && error?.message.contains(words) == true, "\(String(describing: error))")
        }
        let response = try await transport.send(HTTPRequest(url: server.url, stallTimeout: .seconds(20)))
        #expect(response.body.count == 1000)
    }

    @Test("Connecting that hangs is given up in time")
    func connectTimeout() async throws {
        let deaf = try #require(DeafListener())
        let transport = try CurlTransport()
        let error = await #expect(throws: TransportError.self) {
            try await transport.send(HTTPRequest(url: deaf.url, connectTimeout: .milliseconds(50)))
        }
        #expect(error?.step == .connect, "\(String(describing: error))")
    }

    @Test("A connection that the server closed meanwhile is replaced without an error")
    func staleConnection() async throws {
        let server = try #require(
            HTTPTestServer { request in
                var response = HTTPTestResponse.json("\(request.connection)")
                // Promises to keep the connection, and does not.
                if request.path == "/last" { response.steps.append(.close) }
                return response
            }
        )
        defer { server.stop() }
        let transport = try CurlTransport()
        for _ in 0..<5 {
            _ = try await transport.send(HTTPRequest(url: server.url + "/last"))
            _ = try await transport.send(HTTPRequest(url: server.url + "/next"))
        }
        #expect(server.connectionCount == 6)
    }
}
