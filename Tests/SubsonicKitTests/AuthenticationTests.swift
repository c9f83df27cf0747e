import Logging
import Synchronization
import Testing

@testable import SubsonicKit

@Suite("Authentication")
struct AuthenticationTests {
    /// A server that knows some ways: what it answers to a request signed another way.
    private static func transport(_ answers: [String: HTTPResponse]) -> ScriptedTransport {
        ScriptedTransport { request, _ in answers[request.way] ?? .failed(40, "Wrong username or password") }
    }

    private static func server(
        _ mode: AuthenticationMode = .auto,
        user: String = "me",
        password: String? = "sesame",
        key: String? = nil,
        allows: Bool = false
    ) throws -> SubsonicServer {
        SubsonicServer(
            id: "1",
            name: "home",
            url: try ServerURL("http://music.example.org/sub"),
            credentials: Credentials(user: user, password: password, apiKey: key),
            mode: mode,
            allowsPlainPassword: allows
        )
    }

    private struct Case {
        var name: String
        var mode = AuthenticationMode.auto
        var user = "me"
        var password: String? = "sesame"
        var key: String?
        var answers: [String: HTTPResponse]
        /// The ways of the requests of two calls of `getMusicFolders`.
        var ways: String
        var working: AuthenticationMethod?
        var error: SubsonicError?
    }

    @Test("Which way is tried, when the next one is, and what is remembered")
    func fallback() async throws {
        let table = [
            Case(name: "token works", answers: ["t": .ok], ways: "tt", working: .token),
            Case(name: "supysonic", answers: ["t": .failed(10), "p": .ok], ways: "tpp", working: .password),
            Case(name: "nextcloud", answers: ["t": .failed(41), "p": .ok], ways: "tpp", working: .password),
            Case(name: "lms", answers: ["t": .failed(42), "p": .ok], ways: "tpp", working: .password),
            Case(
                name: "wrong password",
                answers: [:],
                ways: "tt",
                error: .server(ServerFailure(code: 40, message: "Wrong username or password"))
            ),
            Case(
                name: "supysonic, wrong password",
                answers: ["t": .failed(10)],
                ways: "tpp",
                error: .server(ServerFailure(code: 40, message: "Wrong username or password"))
            ),
            Case(
                name: "a parameter is really missing",
                answers: ["t": .failed(10, "q"), "p": .failed(10, "r")],
                ways: "tptp",
                error: .server(ServerFailure(code: 10, message: "q"))
            ),
            Case(
                name: "token only",
                mode: .token,
                answers: ["t": .failed(41)],
                ways: "tt",
                error: .server(ServerFailure(code: 41, message: "no"))
            ),
            Case(name: "password only", mode: .password, answers: ["p": .ok], ways: "pp", working: .password),
            Case(name: "api key", mode: .apikey, key: "k", answers: ["k": .ok], ways: "kk", working: .apikey),
            Case(name: "api key as password", mode: .apikey, answers: ["k": .ok], ways: "kk", working: .apikey),
            Case(name: "api key without user", user: "", answers: ["k": .ok], ways: "kk", working: .apikey),
            Case(name: "api key first", key: "k", answers: ["k": .ok], ways: "kk", working: .apikey),
            Case(
                name: "api key unknown",
                key: "k",
                answers: ["k": .failed(10), "t": .ok],
                ways: "ktt",
                working: .token
            ),
            Case(
                name: "api key unknown, no tokens",
                key: "k",
                answers: ["k": .failed(10), "t": .failed(10), "p": .ok],
                ways: "ktpp",
                working: .password
            ),
            Case(
                name: "bad api key",
                key: "k",
                answers: ["k": .failed(44)],
                ways: "kk",
                error: .server(ServerFailure(code: 44, message: "no"))
            ),
            Case(
                name: "not found is no refusal",
                answers: ["t": .failed(70)],
                ways: "tt",
                working: .token,
                error: .server(ServerFailure(code: 70, message: "no"))
            ),
        ]
        for row in table {
            let transport = Self.transport(row.answers)
            let server = try Self.server(row.mode, user: row.user, password: row.password, key: row.key)
            let client = SubsonicClient(server, transport: transport)
            for _ in 0..<2 {
                do {
                    _ = try await client.call("getMusicFolders", [])
                    #expect(row.error == nil, "\(row.name)")
                } catch {
                    #expect(error == row.error, "\(row.name)")
                }
            }
            #expect(transport.requests.map(\.way).joined() == row.ways, "\(row.name)")
            #expect(client.workingAuthentication == row.working, "\(row.name)")
        }
    }

    @Test("Without credentials nothing is sent")
    func nothing() async throws {
        for mode in AuthenticationMode.allCases {
            let transport = Self.transport([:])
            let client = SubsonicClient(try Self.server(mode, user: "", password: nil), transport: transport)
            await #expect(throws: SubsonicError.self) { try await client.call("ping", []) }
            #expect(transport.requests.isEmpty)
        }
    }

    @Test("What worked is used again from the start")
    func remembered() async throws {
        let transport = Self.transport(["p": .ok])
        let client = SubsonicClient(try Self.server(), transport: transport, remembered: .password)
        _ = try await client.call("ping", [])
        #expect(transport.requests.map(\.way) == ["p"])
        // The configuration wins over memory.
        let strict = SubsonicClient(try Self.server(.token), transport: transport, remembered: .password)
        await #expect(throws: SubsonicError.self) { try await strict.call("ping", []) }
        #expect(transport.requests.last?.way == "t")
    }

    @Test("Error 10 after a success is the request's own fault, error 41 is not")
    func confirmed() async throws {
        let script = Mutex<[HTTPResponse]>([.ok, .failed(10), .failed(41), .ok])
        let transport = ScriptedTransport { _, _ in script.withLock { $0.removeFirst() } }
        let client = SubsonicClient(try Self.server(), transport: transport)
        _ = try await client.call("ping", [])
        await #expect(throws: SubsonicError.server(ServerFailure(code: 10, message: "no"))) {
            try await client.call("search3", [])
        }
        _ = try await client.call("ping", [])
        #expect(transport.requests.map(\.way).joined() == "tttp")
    }

    @Test("The success of a method that needs no credentials proves nothing")
    func open() async throws {
        let transport = ScriptedTransport { request, number in
            number == 0 ? .ok : request.way == "p" ? .ok : .failed(10)
        }
        let client = SubsonicClient(try Self.server(), transport: transport)
        _ = try await client.call("getOpenSubsonicExtensions", [])
        #expect(client.workingAuthentication == nil)
        _ = try await client.call("getMusicFolders", [])
        #expect(transport.requests.map(\.way).joined() == "ttp")
    }

    @Test("Passwords in clear are confidential unless allowed; tokens and keys are not")
    func confidential() throws {
        let transport = Self.transport([:])
        let table: [(AuthenticationMode, Bool, Bool)] = [
            (.password, false, true), (.password, true, false), (.token, false, false), (.apikey, false, false),
        ]
        for (mode, allows, expected) in table {
            let client = SubsonicClient(try Self.server(mode, allows: allows), transport: transport)
            #expect(client.streamRequest(songID: "1").isConfidential == expected)
        }
    }

    @Test("A password that may not be sent: the message says why it would have been, and the token stays in use")
    func refused() async throws {
        let transport = ScriptedTransport { (request, _) throws(TransportError) in
            if request.isConfidential { throw TransportError(.local, "not in clear") }
            return .failed(41, "no tokens")
        }
        let client = SubsonicClient(try Self.server(), transport: transport)
        await #expect {
            try await client.call("ping", [])
        } throws: { error in
            let text = "\(error)"
            return text.contains("no tokens") && text.contains("41") && text.contains("not in clear")
        }
        #expect(client.streamRequest(songID: "1").way == "t")
        #expect(transport.requests.count == 2)
    }

    @Test("The fallback is told once, by name of the server and without secrets")
    func notice() async throws {
        let lines = Mutex<[String]>([])
        let log = Log(level: .debug) { level, line in
            if level >= .notice { lines.withLock { $0.append(line) } }
        }
        let transport = Self.transport(["t": .failed(41, "LDAP user me sesame"), "p": .ok])
        let client = SubsonicClient(try Self.server(), transport: transport, log: log)
        await withTaskGroup { group in
            for _ in 0..<20 { group.addTask { _ = try? await client.call("ping", []) } }
        }
        let said = lines.withLock { $0 }
        #expect(said.count == 1)
        #expect(said.first?.contains("home") == true)
        #expect(said.first?.contains("sesame") == false)
    }

    @Test("Salts are fresh, tokens fit them, and the fixed parameters are there")
    func parameters() throws {
        let client = SubsonicClient(try Self.server(), transport: Self.transport([:]))
        var salts: Set<String> = []
        for _ in 0..<50 {
            let request = client.mediaRequest("getCoverArt", [("id", "al-1 2"), ("size", "300")], rangeStart: 7)
            let parameters = request.encodedParameters
            let salt = try #require(parameters["s"])
            salts.insert(salt)
            #expect(parameters["t"] == MD5.hexDigest(of: Array("sesame\(salt)".utf8)))
            #expect(parameters["u"] == "me" && parameters["p"] == nil)
            #expect(parameters["v"] == "1.13.0" && parameters["c"] == "ShelvMPD" && parameters["f"] == "json")
            #expect(parameters["id"] == "al-1%202" && parameters["size"] == "300")
            #expect(request.rangeStart == 7)
            #expect(request.description == "http://music.example.org/sub/rest/getCoverArt.view")
        }
        #expect(salts.count == 50)
        #expect(salts.allSatisfy { $0.count == 32 })
        let stream = client.streamRequest(songID: "tr=1")
        #expect(stream.encodedParameters["format"] == "raw" && stream.encodedParameters["id"] == "tr%3D1")
        let plain = SubsonicClient(try Self.server(.password), transport: Self.transport([:]))
        #expect(plain.streamRequest(songID: "1").encodedParameters["p"] == "enc%3A736573616d65")
    }

    @Test("A form holds all parameters and the address none; the user's Basic authentication goes along")
    func form() async throws {
        let transport = Self.transport(["t": .ok])
        var server = try Self.server()
        server.url = try ServerURL("https://proxy:pw@h")
        let client = SubsonicClient(server, transport: transport)
        _ = try await client.call("savePlayQueue", [("id", "1"), ("id", "2")], post: true)
        let request = try #require(transport.requests.first)
        #expect(request.url == "https://h/rest/savePlayQueue.view")
        #expect(request.form?.hasSuffix("&v=1.13.0&c=ShelvMPD&f=json&id=1&id=2") == true)
        #expect(request.headers.first?.value == "Basic " + Base64.encode(Array("proxy:pw".utf8)))
        #expect(request.isConfidential)
    }

    @Test("No text of credentials, servers or errors shows a secret")
    func secrets() throws {
        let credentials = Credentials(user: "me", password: "sesame", apiKey: "keykey")
        var server = try Self.server()
        server.credentials = credentials
        var dumped = ""
        dump(server, to: &dumped)
        for text in [
            "\(credentials)", String(reflecting: credentials), "\(server)", String(reflecting: server), dumped,
        ] {
            #expect(!text.contains("sesame") && !text.contains("keykey"), "\(text)")
        }
        #expect(credentials.scrubbed("GET /rest?p=enc:736573616d65&x=sesame keykey") == "GET /rest?p=***&x=*** ***")
    }

    @Test("A stream that is refused is asked again the other way, once")
    func media() throws {
        let client = SubsonicClient(try Self.server(), transport: Self.transport([:]))
        let first = client.streamRequest(songID: "1")
        #expect(first.way == "t")
        #expect(!client.triesOtherAuthentication(after: .server(ServerFailure(code: 70, message: "")), of: first))
        #expect(!client.triesOtherAuthentication(after: .http(status: 500, retryAfter: nil), of: first))
        #expect(client.triesOtherAuthentication(after: .server(ServerFailure(code: 10, message: "")), of: first))
        let second = client.streamRequest(songID: "1")
        #expect(second.way == "p")
        // A request that was signed before the change.
        #expect(client.triesOtherAuthentication(after: .server(ServerFailure(code: 10, message: "")), of: first))
        #expect(!client.triesOtherAuthentication(after: .server(ServerFailure(code: 10, message: "")), of: second))
    }
}
