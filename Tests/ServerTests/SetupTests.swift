import Glibc
import Support
import Testing

@testable import ShelvMPD
@testable import SubsonicKit

/// `shelvmpd setup`, `server` and the steps by which they test a server.
@Suite struct SetupTests {
    /// A small server that knows one user, below a path.
    private static func server(_ path: String = "", kind: String = "navidrome") throws -> HTTPTestServer {
        try #require(
            HTTPTestServer { request in
                guard request.path.hasPrefix("\(path)/rest/") else { return .html("<html>hello</html>", status: 404) }
                let method = request.path.dropFirst(path.count + 6).dropLast(5)
                if method == "getOpenSubsonicExtensions" {
                    return ok(kind, #""openSubsonicExtensions":[{"name":"formPost","versions":[1]}]"#)
                }
                guard request.parameter("u") == "me", let salt = request.parameter("s"),
                    request.parameter("t") == MD5.hexDigest(of: Array("sesame\(salt)".utf8))
                else { return failed(request.parameter("u") == nil ? 10 : 40, kind) }
                switch method {
                case "ping": return ok(kind)
                case "getUser": return ok(kind, #""user":{"username":"me","adminRole":true}"#)
                case "getMusicFolders":
                    return ok(kind, #""musicFolders":{"musicFolder":[{"id":1,"name":"Music\u001b[2J"}]}"#)
                case "search3": return ok(kind, #""searchResult3":{"song":[{"id":"1","title":"One"}]}"#)
                case "stream": return .file([UInt8](repeating: 0x55, count: 10_000), for: request)
                default: return failed(70, kind)
                }
            }
        )
    }

    private static func ok(_ kind: String, _ content: String = "") -> HTTPTestResponse {
        let more = content.isEmpty ? "" : ",\(content)"
        return .json(
            #"{"subsonic-response":{"status":"ok","version":"1.16.1","type":"\#(kind)","serverVersion":"0.5","openSubsonic":true\#(more)}}"#
        )
    }

    private static func failed(_ code: Int, _ kind: String) -> HTTPTestResponse {
        .json(
            #"{"subsonic-response":{"status":"failed","version":"1.16.1","type":"\#(kind)","error":{"code":\#(code),"message":"no"}}}"#
        )
    }

    private static func mode(_ path: String) -> mode_t {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }

    private static func text(_ path: String) -> String { String(decoding: contents(of: path) ?? [], as: UTF8.self) }

    @Test func theDialogueTestsEachStepAndWritesPrivateFiles() async throws {
        let server = try Self.server()
        defer { server.stop() }
        let folder = try #require(TemporaryFolder())
        let environment = Environment(["HOME": folder.path])
        let terminal = ScriptedConsole([server.url, "", "me", "sesame", ""])
        #expect(try await terminal.run(["setup"], environment) == .success)
        #expect(terminal.rest.isEmpty && terminal.hidden == ["sesame"])
        let path = folder.path(".config/shelvmpd/shelvmpd.conf")
        for line in [
            "Connected at 127.0.0.1", "A Subsonic server answers",
            "It is navidrome (0.5, protocol 1.16.1, OpenSubsonic)",
            "User and password are accepted, by token", "me is an administrator", "Music folders: Music [2J",
            "OpenSubsonic extensions: formPost", "A song's first bytes come", "Parts of songs can be fetched",
            "Wrote \(path)",
        ] { #expect(terminal.written.contains(line), "\(line) in \(terminal.written)") }
        #expect(!terminal.written.contains("FAIL") && !terminal.written.contains("sesame"))
        #expect(Self.mode(path) == 0o600 && Self.mode(folder.path(".config/shelvmpd")) == 0o700)
        let result = try ConfigurationReader.load(path, environment: environment)
        #expect(result.notices.isEmpty)
        let configured = try #require(result.configuration.servers.first)
        #expect(configured.name == "home" && configured.url == server.url && configured.user == "me")
        guard case .file(let secret)? = configured.password else {
            Issue.record("no file of a password")
            return
        }
        #expect(Self.mode(secret) == 0o600 && Self.text(secret) == "sesame\n")
        #expect(!Self.text(path).contains("sesame"))

        // What is there stays, unless it is said otherwise.
        let again = ScriptedConsole(["n"])
        #expect(try await again.run(["setup"], environment) == .failure)
        await #expect(throws: CommandFailure.self) {
            try await ScriptedConsole(hasKeyboard: false).run(["setup", "--yes", "--url", server.url], environment)
        }
        let before = Self.text(path)
        let words = ["setup", "--replace", "--yes", "--url", server.url, "--user", "me", "--password-file", secret]
        #expect(try await ScriptedConsole(hasKeyboard: false).run(words, environment) == .success)
        #expect(Self.text(path + ".old") == before && Self.text(path).contains(secret))
        // Again: the first one is kept, too.
        let second = Self.text(path)
        #expect(try await ScriptedConsole(hasKeyboard: false).run(words, environment) == .success)
        #expect(Self.text(path + ".old") == before && Self.text(path + ".old.2") == second)
        // Whoever is on the machine can see the words of a running command.
        let open = server.url.replacing("http://", with: "http://me:sesame@")
        for words in [["setup", "--replace", "--yes"], ["server", "add", "x"]] {
            let terminal = ScriptedConsole(hasKeyboard: false)
            await #expect(throws: CommandFailure.self, "\(words)") {
                try await terminal.run(words + ["--url", open], environment)
            }
            #expect(!terminal.written.contains("sesame"))
        }
        #expect(Self.text(path) == second)
    }

    @Test func aHostNameIsEnoughAndFoldersAreFound() async throws {
        let server = try Self.server("/music")
        defer { server.stop() }
        let folder = try #require(TemporaryFolder())
        let password = folder.write("pw", "sesame\n")
        unsafe chmod(password, 0o600)
        let terminal = ScriptedConsole(hasKeyboard: false)
        let words = [
            "setup", "--config", folder.path("c/shelvmpd.conf"), "--url", "127.0.0.1:\(server.port)/", "--user", "me",
            "--password-file", password, "--yes",
        ]
        #expect(try await terminal.run(words, Environment(["HOME": folder.path])) == .success)
        #expect(terminal.written.contains("There is one at \(server.url)/music"))
        #expect(Self.text(folder.path("c/shelvmpd.conf")).contains("\"\(server.url)/music\""))
        // Not from https to http, unless somebody says so.
        var secured = words
        secured[4] = "https://127.0.0.1:\(server.port)"
        secured[2] = folder.path("other.conf")
        await #expect(throws: CommandFailure.self) {
            try await ScriptedConsole(hasKeyboard: false).run(secured, Environment(["HOME": folder.path]))
        }
        // Nobody was told who we are before the server was found.
        let strangers = server.requests.filter { !$0.path.hasPrefix("/music/") }
        #expect(!strangers.isEmpty && strangers.allSatisfy { $0.parameter("u") == nil })
    }

    @Test func anotherHostIsUsedOnlyWhereItIsWritten() async throws {
        let server = try Self.server()
        defer { server.stop() }
        let mover = try #require(
            HTTPTestServer { .redirect(to: "http://localhost:\(server.port)\($0.path)?\($0.query)") }
        )
        defer { mover.stop() }
        let folder = try #require(TemporaryFolder())
        let environment = Environment(["HOME": folder.path])
        let words = [
            "setup", "--url", mover.url, "--user", "me", "--password-file", folder.write("pw", "sesame\n"), "--yes",
        ]
        let silent = ScriptedConsole(hasKeyboard: false)
        await #expect(throws: CommandFailure.self) { try await silent.run(words, environment) }
        #expect(silent.written.contains("leads to http://localhost:\(server.port), another host"), "\(silent.written)")
        // Who is asked writes the other address, or another one.
        let asked = ScriptedConsole(["localhost:\(server.port)", ""])
        #expect(try await asked.run(words + ["--name", "home"], environment) == .success)
        let written = Self.text(folder.path(".config/shelvmpd/shelvmpd.conf"))
        #expect(written.contains("\"http://localhost:\(server.port)\""))
        #expect(mover.requests.allSatisfy { $0.parameter("u") == nil })
        #expect(server.requests.contains { $0.parameter("u") == "me" })
    }

    @Test func whatFailsSaysWhatToDo() async throws {
        let server = try Self.server()
        defer { server.stop() }
        let stranger = try #require(HTTPTestServer { _ in .html("<html>Welcome</html>") })
        defer { stranger.stop() }
        let mover = try #require(
            HTTPTestServer { .redirect(to: "http://localhost:\(server.port)\($0.path)?\($0.query)") }
        )
        defer { mover.stop() }
        let front = try #require(TLSFront(to: server.port))
        defer { front.stop() }
        let deaf = try #require(freePort())
        let table: [(url: String, password: String, line: String, advice: String)] = [
            (server.url, "wrong", "The login is refused: no (Subsonic error 40)", "Look at user and password"),
            (stranger.url, "sesame", "No Subsonic server answers", "Add the server's path"),
            (mover.url, "sesame", "That is another host", "if you trust it"),
            (front.url, "sesame", "There is no trusted connection", "openssl s_client"),
            (
                front.url.replacing("https", with: "http"), "sesame", "There is no answer",
                "Write url \"\(front.url)\": that port speaks TLS"
            ),
            (
                "https://127.0.0.1:\(server.port)", "sesame", "There is no trusted connection",
                "Write url \"\(server.url)\": a Subsonic server answers there"
            ),
            (
                "https://127.0.0.1:\(stranger.port)", "sesame", "There is no trusted connection", "does not speak TLS"
            ),
            ("http://127.0.0.1:\(deaf)", "sesame", "Nobody answers there", "4533"),
            ("http://music.invalid", "sesame", "The name is not known", "spelling"),
        ]
        let transport = try CurlTransport()
        for (url, password, line, advice) in table {
            let description = SubsonicServer(
                id: "",
                name: "home",
                url: try ServerURL(url),
                credentials: Credentials(user: "me", password: password)
            )
            let terminal = ScriptedConsole()
            let report = CheckReport(terminal.console.write)
            #expect(await ServerCheck(server: description, transport: transport, report: report).run() == false)
            #expect(terminal.written.contains("[FAIL] \(line)"), "\(url): \(terminal.written)")
            #expect(terminal.written.contains(advice), "\(url): \(terminal.written)")
            #expect(!terminal.written.contains("sesame"))
        }
    }

    @Test func whatStandsBeforeTheServerIsNamed() async throws {
        let pages: [(status: Int, body: String, advice: String)] = [
            (401, "<html>Login</html>", "Authorization: Basic"), (403, "no", "Authorization: Basic"),
            (407, "", "option proxy"), (503, "busy", "server's log"), (404, "", "Add the server's path"),
            (400, "<title>400 No required SSL certificate was sent</title>", "client_certificate"),
        ]
        let transport = try CurlTransport()
        func check(_ url: String, proxy: String? = nil, _ advice: String) async throws {
            var description = SubsonicServer(
                id: "",
                name: "home",
                url: try ServerURL(url),
                credentials: Credentials(user: "me", password: "sesame")
            )
            description.connection.proxy = proxy
            let terminal = ScriptedConsole()
            let report = CheckReport(terminal.console.write)
            #expect(await ServerCheck(server: description, transport: transport, report: report).run() == false)
            #expect(terminal.written.contains(advice), "\(advice): \(terminal.written)")
        }
        for page in pages {
            let server = try #require(HTTPTestServer { _ in .html(page.body, status: page.status) })
            defer { server.stop() }
            try await check(server.url, page.advice)
        }
        let deaf = try #require(freePort())
        try await check("http://music.invalid", proxy: "http://127.0.0.1:\(deaf)", "The proxy does not lead there")
        try await check("http://music.invalid", proxy: "http://proxy.invalid:1", "The proxy does not lead there")
        // After a redirect another port has the certificate.
        let server = try Self.server()
        defer { server.stop() }
        let front = try #require(TLSFront(to: server.port))
        defer { front.stop() }
        let mover = try #require(HTTPTestServer { .redirect(to: "\(front.url)\($0.path)?\($0.query)") })
        defer { mover.stop() }
        try await check(mover.url, "openssl s_client -connect \(front.url.dropFirst(8)) ")
    }

    @Test func onlyACertificateOrARefusalShowsTLS() {
        let table: [(message: String, shows: Bool)] = [
            ("https://h: TLS failed: SSL certificate problem: self-signed certificate", true),
            ("https://h: TLS failed: SSL: no alternative certificate subject name matches target host name", true),
            ("https://h: TLS failed: OpenSSL/3: sslv3 alert handshake failure", true),
            ("https://h: TLS failed: OpenSSL SSL_connect: Connection reset by peer in connection to h:1", false),
            ("https://h: TLS failed: OpenSSL SSL_connect: SSL_ERROR_SYSCALL in connection to h:1", false),
            ("https://h: TLS failed: OpenSSL/3: wrong version number", false),
            ("https://h: TLS timed out: SSL connection timeout", false),
        ]
        for (message, shows) in table {
            #expect(TransportError(.tls, message).showsTLS == shows, "\(message)")
            #expect(!TransportError(.receive, message).showsTLS)
        }
    }

    @Test func oneAddressOfSeveralIsEnough() async throws {
        let server = try Self.server()
        defer { server.stop() }
        let other = try Self.server(kind: "gonic")
        defer { other.stop() }
        let deaf = "http://127.0.0.1:\(try #require(freePort()))"
        let transport = try CurlTransport()
        for (urls, isWell, line) in [
            ([deaf, server.url], true, "[note] Nobody answers there"),
            ([server.url, deaf], true, "[note] Nobody answers there"),
            ([deaf, deaf + "/x"], false, "[FAIL] None of its addresses answers"),
            ([server.url, other.url], false, "[FAIL] The addresses are not of one server"),
        ] {
            var description = SubsonicServer(
                id: "",
                name: "home",
                url: try ServerURL(urls[0]),
                credentials: Credentials(user: "me", password: "sesame")
            )
            description.alternatives = [try ServerURL(urls[1])]
            let terminal = ScriptedConsole()
            let report = CheckReport(terminal.console.write)
            #expect(await ServerCheck(server: description, transport: transport, report: report).run() == isWell)
            #expect(terminal.written.contains(line) && report.failures == (isWell ? 0 : 1), "\(terminal.written)")
        }
    }

    @Test func addressesAreGuessed() throws {
        let table: [(text: String, first: [String])] = [
            (
                "music.example.org",
                ["https://music.example.org", "http://music.example.org", "https://music.example.org:4533"]
            ),
            ("http://h/sub/rest/", ["http://h/sub", "https://h/sub"]),
            ("h:4533", ["https://h:4533", "http://h:4533"]),
            ("https://u:p%40@h/x?y#z", ["https://h/x", "http://h/x"]),
            ("[::1]:80", ["https://[::1]:80", "http://[::1]:80"]),
            ("::1", ["https://[::1]", "http://[::1]", "https://[::1]:4533"]),
            ("http://fe80::1/x", ["http://[fe80::1]/x"]),
        ]
        for (text, first) in table {
            let guess = try #require(AddressGuess(text))
            #expect(Array(guess.addresses.prefix(first.count)) == first, "\(text)")
        }
        #expect(AddressGuess("https://u:p%40@h")?.user == "u" && AddressGuess("https://u:p%40@h")?.password == "p@")
        for text in ["", "ftp://h", "a b", "https://", "http:///x"] { #expect(AddressGuess(text) == nil, "\(text)") }
    }

    @Test func datesOfHeads() {
        #expect(HTTPDate.seconds("Sun, 06 Nov 1994 08:49:37 GMT") == 784_111_777)
        #expect(HTTPDate.seconds("Thu, 29 Feb 2024 00:00:00 GMT") == 1_709_164_800)
        #expect(HTTPDate.seconds("Thu, 01 Jan 1970 00:00:00 GMT") == 0)
        for text in ["", "yesterday", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Xyz 1994 08:49:37 GMT"] {
            #expect(HTTPDate.seconds(text) == nil)
        }
    }

    // MARK: server

    private static let file = """
        # My own words.
        port 6601
        subsonic_server {   # the first
          name  one
          url "http://127.0.0.1:1"   # here
          user "me"
          password "a # \\" b"
        }

        audio_output {\r
            type null\r
            name "x"\r
        }

        subsonic_server {
            name     "two"
            url      "http://127.0.0.1:2"
            user     "me"
            password "b"
        }
        # The end.
        """

    @Test func blocksAreEditedInPlace() async throws {
        let folder = try #require(TemporaryFolder())
        let environment = Environment(["HOME": folder.path])
        let real = folder.write("real.conf", Self.file)
        unsafe chmod(real, 0o640)
        let path = folder.path("c.conf")
        #expect(unsafe symlink(real, path) == 0)
        func run(_ words: String...) async throws -> String {
            let terminal = ScriptedConsole(hasKeyboard: false)
            #expect(try await terminal.run(["server"] + words + ["--config", path], environment) == .success)
            return terminal.written
        }
        var wanted = Self.file
        #expect(try await run("list").contains("one  http://127.0.0.1:1  me"))
        _ = try await run(
            "edit",
            "one",
            "--url",
            "http://127.0.0.1:3",
            "--url",
            "http://127.0.0.1:4",
            "--password-env",
            "PW"
        )
        wanted = wanted.replacing(
            "  url \"http://127.0.0.1:1\"   # here\n",
            with: "  url \"http://127.0.0.1:3\"   # here\n  url \"http://127.0.0.1:4\"\n"
        ).replacing("  password \"a # \\\" b\"\n", with: "  password_env \"PW\"\n")
        #expect(Self.text(real) == wanted)
        _ = try await run(
            "edit",
            "two",
            "--set-file",
            "header=\(folder.write("a", "X-A: b\nmore"))",
            "--set-file",
            "header=~/\(folder.write("b", "X-B: c\r\n").split(separator: "/").last ?? "")",
            "--name",
            "deux",
            "--unset",
            "user",
            "--user",
            "you"
        )
        wanted = wanted.replacing("\"two\"", with: "\"deux\"").replacing(
            "    user     \"me\"\n    password \"b\"\n",
            with: "    password \"b\"\n    header   \"X-A: b\"\n    header   \"X-B: c\"\n    user     \"you\"\n"
        )
        let edited = Self.text(real)
        #expect(edited.split(separator: "\n").sorted() == wanted.split(separator: "\n").sorted())
        #expect(edited.hasPrefix("# My own words.\nport 6601\n") && edited.hasSuffix("}\n# The end."))
        #expect(edited.contains("audio_output {\r\n    type null\r\n"))
        for name in ["a", "b"] { #expect(unsafe unlink(folder.path(name)) == 0) }
        _ = try await run("edit", "deux", "--unset", "header")
        _ = try await run(
            "add",
            "three",
            "--url",
            "http://127.0.0.1:5",
            "--user",
            "me",
            "--password-command",
            "echo \"x\"",
            "--no-test"
        )
        #expect(Self.text(real).contains("# The end.\n\nsubsonic_server {\n    name"))
        _ = try await run("remove", "deux", "--yes")
        let rest = Self.text(real)
        #expect(!rest.contains("deux") && rest.contains("}\n\n# The end."), "\(rest)")
        let configuration = try ConfigurationReader.load(path, environment: environment).configuration
        #expect(configuration.servers.map(\.name) == ["one", "three"])
        #expect(configuration.servers[0].alternatives == ["http://127.0.0.1:4"])
        #expect(configuration.servers[1].password == .command("echo \"x\""))
        #expect(Self.mode(real) == 0o640)
        var status = stat()
        #expect(unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
        #expect(folder.names == ["c.conf", "real.conf"])

        // Everybody on the machine sees what stands behind --set.
        for secret in [
            "header=X-A: s3cret", "password=s3cret", "client_key_password=s3cret", "proxy=http://u:s3cret@h:1",
        ] {
            let failure = await #expect(throws: CommandFailure.self) {
                try await ScriptedConsole().run(
                    ["server", "edit", "one", "--set", secret, "--config", path],
                    environment
                )
            }
            let name = String(secret.prefix { $0 != "=" })
            #expect(failure?.description.contains("--set-file \(name)=FILE") == true)
            #expect(failure?.description.contains("s3cret") == false)
        }
        #expect(Self.text(real) == rest)
        for hasKeyboard in [true, false] {
            let words = ["--set", "proxy=http://h:1", "--set-file", "header=-", "--set-file", "header=-"]
            let terminal = ScriptedConsole(["X-A: 1", "X-B: 2"], hasKeyboard: hasKeyboard)
            #expect(
                try await terminal.run(["server", "edit", "one"] + words + ["--config", path], environment) == .success
            )
            #expect(terminal.hidden == (hasKeyboard ? ["X-A: 1", "X-B: 2"] : []) && !terminal.written.contains("X-A"))
            let server = try ConfigurationReader.load(path, environment: environment).configuration.servers[0]
            #expect(server.headers.map(\.value.revealed) == ["1", "2"])
            _ = try await run("edit", "one", "--unset", "proxy", "--unset", "header")
        }
        for words in [["--set-file", "header=-"], ["--set-file", "header=/no/where"], ["--set-file", "nope=-"]] {
            await #expect(throws: CommandFailure.self, "\(words)") {
                try await ScriptedConsole().run(["server", "edit", "one"] + words + ["--config", path], environment)
            }
        }
        #expect(Self.text(real) == rest)

        // What would not be understood is not written.
        for words in [
            ["edit", "one", "--set", "url=ftp://x"], ["edit", "one", "--unset", "password_env"], ["edit", "no"],
            ["edit", "one", "--set", "nope=1"], ["edit", "one"], ["remove", "none", "--yes"], ["use", "three"],
        ] {
            await #expect(throws: (any Error).self, "\(words)") {
                try await ScriptedConsole().run(["server"] + words + ["--config", path], environment)
            }
        }
        #expect(Self.text(real) == rest)
    }

    @Test func serversThatAreAddedAtOnceAreAllThere() async throws {
        let folder = try #require(TemporaryFolder())
        let environment = Environment(["HOME": folder.path])
        let path = folder.write("c.conf", Self.file)
        let names = (1...8).map { "new\($0)" }
        try await withThrowingTaskGroup(of: ShelvMPD.ExitStatus.self) { group in
            for name in names {
                group.addTask {
                    let words = ["server", "add", name, "--url", "http://127.0.0.1:5", "--user", "me"]
                    return try await ScriptedConsole(["secret of \(name)"]).run(
                        words + ["--no-test", "--config", path],
                        environment
                    )
                }
            }
            for try await status in group { #expect(status == .success) }
        }
        let servers = try ConfigurationReader.load(path, environment: environment).configuration.servers
        #expect(servers.map(\.name).sorted() == (names + ["one", "two"]).sorted())
        for server in servers where names.contains(server.name) {
            #expect(try server.password?.read().revealed == "secret of \(server.name)")
        }
    }

    @Test func whatIsNotThereMayBeIncluded() async throws {
        let folder = try #require(TemporaryFolder())
        let environment = Environment(["HOME": folder.path])
        let path = folder.write("c.conf", "include_optional \"nope.conf\"\n" + Self.file)
        let words = ["server", "edit", "one", "--set", "stall_timeout=20", "--config", path]
        #expect(try await ScriptedConsole(hasKeyboard: false).run(words, environment) == .success)
        #expect(Self.text(path).contains("stall_timeout"))
        _ = folder.write("c.conf", "include \"nope.conf\"\n" + Self.file)
        await #expect(throws: ConfigurationError.self) {
            try await ScriptedConsole(hasKeyboard: false).run(words, environment)
        }
    }

    @Test func anEditMeansWhatWasWritten() async throws {
        let folder = try #require(TemporaryFolder())
        let environment = Environment(["HOME": folder.path])
        let path = folder.write("c.conf", Self.file)
        let secret = folder.write("pw", "sesame\n")
        let here = try #require(Files.realPath("."))
        let relative = here.split(separator: "/").map { _ in "../" }.joined() + secret.dropFirst()
        func run(_ words: String...) async throws -> String {
            let terminal = ScriptedConsole(hasKeyboard: false)
            let status = try await terminal.run(["server", "edit"] + words + ["--config", path], environment)
            #expect(status == .success, "\(words)")
            return terminal.written
        }
        // The daemon has another folder.
        _ = try await run("two", "--password-file", relative)
        #expect(Self.text(path).contains("password_file \"\(Files.realPath(secret) ?? "")\""))
        _ = try await run("one", "--api-key-file", relative)
        #expect(Self.text(path).contains("api_key_file \"\(Files.realPath(secret) ?? "")\""))
        let before = Self.text(path)
        #expect(try await run("two", "--unset", "header").contains("Nothing"))
        for words in [
            ["two", "--unset", "pasword_file"], ["two", "--password-file", "no/such/file"],
            // That would be another server, which knows nothing of the songs of this one.
            ["two", "--name", "three", "--url", "http://127.0.0.1:9"],
        ] {
            await #expect(throws: CommandFailure.self, "\(words)") {
                try await ScriptedConsole(hasKeyboard: false).run(
                    ["server", "edit"] + words + ["--config", path],
                    environment
                )
            }
        }
        #expect(Self.text(path) == before)
        _ = try await run("two", "--name", "three", "--url", "http://127.0.0.1:2", "--url", "http://127.0.0.1:9")
        #expect(Self.text(path).contains("\"http://127.0.0.1:9\""))
    }
}
