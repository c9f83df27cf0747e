import Logging
import MPDProtocol
import Playback
import QueueEngine
import Testing

@testable import ShelvMPD

/// What options mean, and what is said about wrong ones.
@Suite struct ConfigurationTests {
    static let server = "subsonic_server {\n url \"http://127.0.0.1:4533/\"\n user me\n password secret\n}\n"
    static let environment = Environment(["HOME": "/home/me", "XDG_RUNTIME_DIR": "/run/user/1000"])

    private func read(
        _ text: String,
        _ environment: Environment = ConfigurationTests.environment
    ) throws(ConfigurationError) -> ConfigurationReader.Result {
        let file = ConfigFile.parse("f") { _ throws(SystemError) in Array(text.utf8) }
        return try ConfigurationReader.read(file, path: "f", environment: environment)
    }

    private func configuration(_ text: String, _ environment: Environment = ConfigurationTests.environment) throws
        -> Configuration
    {
        try read(text + "\n" + ConfigurationTests.server, environment).configuration
    }

    /// What a text means, with a server added.
    static func configuration(_ text: String) throws -> Configuration { try ConfigurationTests().configuration(text) }

    /// The problems of a text to which a server is added.
    private func problems(_ text: String) -> [String] {
        do throws(ConfigurationError) {
            _ = try read(text + "\n" + ConfigurationTests.server)
            return []
        } catch {
            return error.problems.map(\.description)
        }
    }

    @Test func aServerIsEnough() throws {
        let result = try read(ConfigurationTests.server)
        var expected = Configuration()
        expected.addresses = [
            .host("127.0.0.1", port: 6600), .host("::1", port: 6600), .unix(path: "/run/user/1000/mpd/socket"),
        ]
        expected.stateDirectory = "/home/me/.local/state/shelvmpd"
        expected.stateFile = "/home/me/.local/state/shelvmpd/store.sqlite"
        expected.cacheDirectory = "/home/me/.cache/shelvmpd"
        expected.outputs = [OutputConfiguration(name: "default", kind: .device(driver: nil, device: nil))]
        var server = ServerConfiguration()
        server.name = "127.0.0.1:4533"
        server.url = "http://127.0.0.1:4533"
        server.user = "me"
        server.password = .literal(Secret("secret"))
        server.place = Place(file: "f", line: 1)
        expected.servers = [server]
        #expect(result.configuration == expected)
        #expect(result.notices.isEmpty)
    }

    @Test func everyGlobalOptionIsTakenOver() throws {
        let result = try configuration(
            """
            bind_to_address "any"
            bind_to_address "::1"
            bind_to_address "music.example:7000"
            bind_to_address "[2001:db8::1]:7001"
            bind_to_address "~/socket"
            bind_to_address "@abstract"
            port "6601"
            password "a@read"
            password "b@read,add,control"
            default_permissions "read, add"
            local_permissions ""
            host_permissions "10.0.0.1 read,player"
            max_connections 5
            connection_timeout 0
            max_command_list_size 4
            max_output_buffer_size 16
            max_playlist_length 20
            metadata_to_use "artist,Title"
            refresh_interval 0
            queue_mode mpd
            jump pointer
            state_directory "/s"
            state_file "/x/y"
            cache_directory "$XDG_RUNTIME_DIR/c/"
            tap_library "$HOME/tap.so"
            log_level verbose
            """
        )
        #expect(
            result.addresses == [
                .any(port: 6601), .host("::1", port: 6601), .host("music.example", port: 7000),
                .host("2001:db8::1", port: 7001), .unix(path: "/home/me/socket"), .abstract(name: "abstract"),
            ]
        )
        #expect(!result.usesDefaultAddresses)
        #expect(result.passwords.map(\.password.revealed) == ["a", "b"])
        #expect(result.passwords.map(\.permissions) == [.read, [.read, .add, .control, .player]])
        #expect(result.defaultPermissions == [.read, .add])
        #expect(result.localPermissions == [])
        #expect(result.hostPermissions == [HostRule(host: "10.0.0.1", permissions: [.read, .player])])
        #expect(result.maxConnections == 5)
        #expect(result.connectionTimeout == nil)
        #expect(result.maxCommandListSize == 4096)
        #expect(result.maxOutputBufferSize == 16384)
        #expect(result.maxPlaylistLength == 20)
        #expect(result.metadataToUse == [TagMask(.artist), TagMask(.title)])
        #expect(result.refreshInterval == nil)
        #expect(result.queueMode == .mpd)
        #expect(result.jump == .pointer)
        #expect(result.stateDirectory == "/s")
        #expect(result.stateFile == "/x/y")
        #expect(result.cacheDirectory == "/run/user/1000/c")
        #expect(result.tapLibrary == "/home/me/tap.so")
        #expect(result.logLevel == .debug)
    }

    @Test func tagsAreNamedAddedAndTakenAway() throws {
        #expect(try configuration("metadata_to_use none").metadataToUse == [])
        #expect(try configuration("metadata_to_use all").metadataToUse == .all)
        #expect(try configuration("metadata_to_use +comment").metadataToUse == .all)
        #expect(
            try configuration("metadata_to_use \"-artist, album,+comment\"").metadataToUse
                == TagMask.all.subtracting([TagMask(.artist), TagMask(.album)])
        )
        #expect(
            problems("metadata_to_use artst") == [
                "f:1: metadata_to_use cannot be \"artst\": there is no tag \"artst\"; did you mean \"Artist\"?; allowed is "
                    + "\"none\", \"all\" or tag names separated by commas, all with + or - to change the default"
            ]
        )
    }

    @Test func serversAndTheirPasswords() throws {
        let environment = Environment(["HOME": "/h"])
        let servers = try read(
            """
            subsonic_server {
                name "a"
                url "https://a.example/music/rest/"
                user "u"
                password_file "~/pw"
                auth "token"
                allow_plain_password yes
                music_folders " Music , 2 "
            }
            subsonic_server {
                name "b"
                url "HTTP://b.example"
                user "u"
                password_command "pass show b # c"
            }
            subsonic_server {
                url "http://c.example:80"
                api_key_file "key"
                auth "apikey"
            }
            """,
            environment
        ).configuration.servers
        #expect(servers.map(\.name) == ["a", "b", "c.example:80"])
        #expect(servers.map(\.url) == ["https://a.example/music", "http://b.example", "http://c.example:80"])
        #expect(servers[0].password == .file("/h/pw"))
        #expect(servers[0].authentication == .token)
        #expect(servers[0].allowsPlainPassword)
        #expect(servers[0].musicFolders == ["Music", "2"])
        #expect(servers[1].password == .command("pass show b # c"))
        #expect(servers[2].apiKey == .credential("key"))
    }

    @Test func outputsBecomeThoseOfThePlayer() throws {
        let result = try configuration(
            """
            audio_output {
                type "null"
                name "none"
                mixer_type "software"
            }
            audio_output {
                type "fifo"
                name "f"
                path "/tmp/f"
                format "48000:f:2"
                apply_volume yes
            }
            audio_output {
                type "file"
                path "/tmp/g"
                enabled "no"
                timed "no"
            }
            audio_output {
                type "pulse"
                sink "there"
            }
            """
        )
        let format = try #require(PCMFormat("48000:f:2"))
        let standard = try #require(PCMFormat("44100:16:2"))
        #expect(
            result.outputs == [
                OutputConfiguration(name: "none", kind: .null),
                OutputConfiguration(name: "f", kind: .fifo(path: "/tmp/f", format: format), appliesVolume: true),
                OutputConfiguration(name: "file", kind: .file(path: "/tmp/g", format: standard), enabled: false),
                OutputConfiguration(name: "pulse", kind: .device(driver: "pulse", device: "there")),
            ]
        )
        #expect(!result.isTimed)
    }

    @Test func mistakesAreToldTogetherInTheOrderOfTheFile() {
        #expect(
            problems("audio_output {\n typ \"null\"\n}\nprot 1\nport 0\nport {\n}\naudio_output x") == [
                "f:2: there is no option typ in audio_output; did you mean type?",
                "f:4: there is no option prot; did you mean port?",
                "f:5: port cannot be \"0\"; allowed is a number from 1 to 65535",
                "f:6: port is an option and no block; write port \"…\"",
                "f:8: audio_output begins a block; write audio_output { and its options on the lines below",
            ]
        )
    }

    @Test func eachWrongValueIsExplained() {
        let cases: [(text: String, part: String)] = [
            ("port 65536", "allowed is a number from 1 to 65535"),
            ("port -1", "allowed is a number from 1 to 65535"),
            ("port 99999999999999999999", "allowed is a number from 1 to 65535"),
            ("port \"\"", "cannot be \"\""),
            ("connection_timeout 1s", "allowed is a number of seconds from 0 to 31536000; 0: never"),
            ("log_level verbos", "did you mean \"verbose\"?"),
            ("log_level x", "allowed is \"error\", \"notice\""),
            ("queue_mode tiers", "allowed is \"three_tier\" or \"mpd\""),
            ("state_directory \"relative/x\"", "allowed is an absolute path or one that begins with ~/"),
            ("state_directory \"$PATH/x\"", "only $HOME and $XDG_… can begin a path"),
            ("cache_directory \"$XDG_NONE/x\"", "$XDG_NONE is not set"),
            ("bind_to_address \"[::1\"", "allowed is \"any\""),
            ("bind_to_address \"a:b\"", "the port is a number"),
            ("bind_to_address \"a:0\"", "the port is a number"),
            ("bind_to_address \"/\(String(repeating: "x", count: 120))\"", "at most 107 bytes"),
            ("default_permissions reed", "did you mean \"read\"?"),
            ("host_permissions localhost", "allowed is \"HOST PERMISSIONS\""),
            ("audio_output {\ntype nul\n}", "did you mean \"null\"?"),
            ("audio_output {\ntype fifo\n}", "an output of type \"fifo\" needs a path"),
            ("audio_output {\ntype null\npath /x\n}", "path is for the types \"fifo\" and \"file\""),
            ("audio_output {\ntype null\nformat 44100:16:2\n}", "format is for the types"),
            ("audio_output {\ndevice x\n}", "device is for the types of a certain sound system"),
            ("audio_output {\ntimed no\n}", "timed \"no\" is for outputs without a device"),
            ("audio_output {\ntype file\npath /x\nformat 44100:17:2\n}", "RATE:BITS:CHANNELS"),
            ("audio_output {\nenabled maybe\n}", "allowed is \"yes\" or \"no\""),
            (
                "audio_output {\ntype null\n}\naudio_output {\ntype null\n}",
                "another audio_output with the name \"null\""
            ),
            ("audio_output {\ntype null\ntype null\n}", "type in audio_output has been given already (f:2)"),
            ("subsonic_sever {\n}", "there is no block subsonic_sever; did you mean subsonic_server?"),
            ("nonsense {\n}", "there are subsonic_server and audio_output"),
            ("subsonic_server {\nurl ftp://x\n}", "allowed is an address such as"),
            ("subsonic_server {\nurl http://\n}", "allowed is an address such as"),
            ("subsonic_server {\nuser x\npassword y\n}", "needs a url"),
            ("subsonic_server {\nurl http://x\n}", "needs a user and a password, or an api_key"),
            ("subsonic_server {\nurl http://x\nauth apikey\n}", "needs an api_key"),
            ("subsonic_server {\nurl http://x\nuser y\nauth token\n}", "needs a user and a password"),
            ("subsonic_server {\nurl http://x\nuser y\npassword z\npassword_file /z\n}", "has been given already"),
            ("subsonic_server {\nurl http://x\nname \"a/b\"\n}", "no /"),
            (ConfigurationTests.server, "another subsonic_server with the name"),
        ]
        for (text, part) in cases {
            let found = problems(text)
            #expect(found.count == 1, "\(text): \(found)")
            #expect(found.first?.contains(part) == true, "\(text): \(found)")
        }
    }

    @Test func noMessageShowsASecret() {
        let cases = [
            "password \"hidden\"", "password \"hidden@reed\"", "password \"a@hidden@read\"",
            "password \"x\" \"hidden\"",
            "subsonic_server {\nurl http://me:hidden@x\n}", "subsonic_server {\nurl http://x/?p=hidden\n}",
            "subsonic_server {\nurl http://x\nuser y\npassword z\npassword hidden\n}",
            "subsonic_server {\nurl http://x\napi_key hidden\nauth token\n}", "passwrd \"hidden@read\"",
            "subsonic_server {\nurl http://x\npaswrod hidden\n}",
        ]
        for text in cases {
            let found = problems(text)
            #expect(!found.isEmpty, "\(text)")
            #expect(!found.joined().contains("hidden"), "\(found)")
        }
        #expect("\(Secret("hidden"))" == "***")
        #expect(String(reflecting: Secret("hidden")) == "***")
        #expect("\(SecretSource.literal(Secret("hidden")))".contains("hidden") == false)
        var dumped = ""
        dump(PasswordRule(password: Secret("hidden"), permissions: .all), to: &dumped)
        #expect(!dumped.contains("hidden"))
    }

    @Test func optionsOfMPDAreAcceptedWithTheirReason() throws {
        let text =
            (MPDOptions.global.keys.sorted().map { "\($0) \"x\"" }
            + MPDOptions.blocks.keys.sorted().map { "\($0) {\n x y\n}" }
            + ["audio_output {"] + MPDOptions.output.keys.sorted().map { "\($0) \"x\"" } + ["}"]).joined(
                separator: "\n"
            )
        let result = try read(text + "\n" + ConfigurationTests.server)
        #expect(result.notices.count == MPDOptions.global.count + MPDOptions.blocks.count + MPDOptions.output.count)
        let notices = try read("music_directory \"/m\"\n" + ConfigurationTests.server).notices
        #expect(
            notices.map(\.description) == ["f:1: music_directory is not used: the music comes from Subsonic servers"]
        )
    }

    @Test func aLaterOptionReplacesAnEarlierOne() throws {
        let result = try read("port 1\nport 2\n" + ConfigurationTests.server)
        #expect(result.configuration.port == 2)
        #expect(result.notices.map(\.description) == ["f:2: port replaces that of f:1"])
    }

    @Test func nothingWithoutAServer() {
        #expect(throws: ConfigurationError.self) { try self.read("port 1") }
    }

    @Test func foldersFollowSystemdThenXDGThenHome() {
        let home = Directories(Environment(["HOME": "/h"]))
        #expect(home.state == "/h/.local/state/shelvmpd")
        #expect(home.cache == "/h/.cache/shelvmpd")
        #expect(home.socket == nil)
        #expect(home.configurations == ["/h/.config/shelvmpd/shelvmpd.conf", "/etc/shelvmpd.conf"])

        let xdg = Directories(
            Environment([
                "HOME": "/h", "XDG_STATE_HOME": "/x/s", "XDG_CACHE_HOME": "relative", "XDG_CONFIG_HOME": "/x/c",
                "XDG_RUNTIME_DIR": "/x/r",
            ])
        )
        #expect(xdg.state == "/x/s/shelvmpd")
        #expect(xdg.cache == "/h/.cache/shelvmpd")
        #expect(xdg.socket == "/x/r/mpd/socket")
        #expect(xdg.configurations.first == "/x/c/shelvmpd/shelvmpd.conf")

        let systemd = Directories(
            Environment([
                "HOME": "/h", "XDG_STATE_HOME": "/x/s", "STATE_DIRECTORY": "/var/lib/a:/var/lib/b",
                "CACHE_DIRECTORY": "/var/cache/a", "RUNTIME_DIRECTORY": "/run/a",
            ])
        )
        #expect(systemd.state == "/var/lib/a")
        #expect(systemd.cache == "/var/cache/a")
        #expect(systemd.socket == "/run/a/socket")

        let nothing = Directories(Environment([:]))
        #expect(nothing.state == nil && nothing.cache == nil && nothing.configurations == ["/etc/shelvmpd.conf"])
        #expect(Directories(Environment([:], accountHome: "/acc")).state == "/acc/.local/state/shelvmpd")
    }

    @Test func withoutAHomeTheFoldersMustBeNamed() throws {
        let nowhere = Environment([:])
        do throws(ConfigurationError) {
            _ = try read(ConfigurationTests.server, nowhere)
            Issue.record("accepted")
        } catch {
            #expect(
                error.problems.map(\.message) == [
                    "there is no home directory to keep the state in; set state_directory",
                    "there is no home directory for the cache; set cache_directory",
                ]
            )
        }
        let named = try read("state_directory /s\ncache_directory /c\n" + ConfigurationTests.server, nowhere)
            .configuration
        #expect(named.stateFile == "/s/store.sqlite")
    }

    @Test func nearNamesAreThoseWithFewEdits() {
        #expect(NearestName.distance(Array("abcd".utf8), Array("abdc".utf8)) == 1)
        #expect(NearestName.distance(Array("".utf8), Array("abc".utf8)) == 3)
        #expect(NearestName.distance(Array("kitten".utf8), Array("sitting".utf8)) == 3)
        #expect(NearestName.of("max_conections", among: ["max_connections", "port"]) == "max_connections")
        #expect(NearestName.of("zzz", among: ["port", "jump"]) == nil)
        #expect(NearestName.of(String(repeating: "x", count: 1000), among: ["port"]) == nil)
    }

    @Test func everyOptionIsDescribedOnceAndInFull() {
        func check<Target>(_ settings: [Setting<Target>]) {
            #expect(Set(settings.map(\.name)).count == settings.count)
            for setting in settings {
                #expect(setting.summary.hasSuffix("."), "\(setting.name)")
                #expect(!setting.allowed.isEmpty && !setting.allowed.hasSuffix("."), "\(setting.name)")
            }
        }
        check(Settings.global)
        check(Settings.server)
        check(Settings.output)
        for name in Settings.global.map(\.name) { #expect(MPDOptions.global[name] == nil, "\(name)") }
        for name in Settings.output.map(\.name) { #expect(MPDOptions.output[name] == nil, "\(name)") }
    }

    @Test func theDefaultsInTheTableAreThoseOfTheProgram() throws {
        let bare = try configuration("")
        for setting in Settings.global {
            guard let text = setting.defaultText, !text.contains(" "), !text.hasPrefix("$") else { continue }
            var spelled = try configuration("\(setting.name) \"\(text)\"")
            spelled.usesDefaultAddresses = bare.usesDefaultAddresses
            #expect(spelled == bare, "\(setting.name)")
        }
        for setting in Settings.output {
            guard let text = setting.defaultText, !text.contains(" "), setting.name != "format" else { continue }
            let spelled = try configuration("audio_output {\n\(setting.name) \"\(text)\"\n}")
            #expect(spelled.outputs == bare.outputs && spelled.isTimed == bare.isTimed, "\(setting.name)")
        }
    }

    @Test func theExampleFileIsRightAsItStandsAndWithAllItsOptions() throws {
        let text = SettingsText.exampleFile()
        let plain = try read(text)
        #expect(plain.notices.isEmpty)
        #expect(plain.configuration.servers.map(\.name) == ["home"])
        // Every example by itself must be allowed; together some contradict each other.
        for line in text.split(separator: "\n") where line.hasPrefix("#") && line.contains("\"") {
            let option = line.drop { $0 == "#" }
            let name = String(option.trimmingBlanks().prefix { $0 != " " })
            guard Settings.global.contains(where: { $0.name == name }), !option.hasPrefix(" "),
                !option.contains("Default")
            else { continue }
            if name == "local_permissions" || !option.contains("…") {
                let value = Settings.global.first { $0.name == name }?.defaultText ?? ""
                if value.contains(" ") && option.contains(value) { continue }
                #expect(problems(String(option)) == [], "\(option)")
            }
        }
    }

    @Test func theWayToAServerIsConfigured() throws {
        let text = """
            subsonic_server {
                url "https://a.example.org/music/"
                url "http://192.168.1.2:4533"
                user me
                password_env MUSIC_PASSWORD
                ca_file "~/ca.pem"
                client_certificate /c.pem
                client_key /c.key
                client_key_password_command "pass key"
                proxy "socks5h://u:p@127.0.0.1:1080"
                header "X-Gate: a: b"
                header "X-Other:c"
            }
            """
        let server = try #require(try read(text).configuration.servers.first)
        #expect(server.url == "https://a.example.org/music")
        #expect(server.alternatives == ["http://192.168.1.2:4533"])
        #expect(server.password == .variable("MUSIC_PASSWORD"))
        #expect(server.certificateFile == "/home/me/ca.pem")
        #expect(server.clientCertificate == "/c.pem" && server.clientKey == "/c.key")
        #expect(server.clientKeyPassword == .command("pass key"))
        #expect(server.proxy == Secret("socks5h://u:p@127.0.0.1:1080"))
        #expect(server.headers.map(\.name) == ["X-Gate", "X-Other"])
        #expect(server.headers.map(\.value.revealed) == ["a: b", "c"])
        #expect(server.secretFiles == ["/c.key"])
        var dumped = ""
        dump(server, to: &dumped)
        #expect(!dumped.contains("a: b") && !dumped.contains("u:p"))
        for (line, part) in [
            ("url https://b\nurl https://b", "given already"), ("proxy secret:3128", "it begins with"),
            ("proxy \"http://me:pa/secret@host:3128\"", "written %2F"),
            ("proxy \"http://me:secret#x@host\"", "written %2F"), ("proxy \"http://me:secret?x@host\"", "written %2F"),
            ("proxy \"http://me:secret@host:31280000\"", "host name"),
            ("proxy \"http://me:secret@host:port\"", "host name"), ("proxy \"http://me:secret@\"", "host name"),
            ("proxy \"http://me:secret@::1:80\"", "host name"), ("proxy \"http://host/secret\"", "without a path"),
            ("header secret", "NAME: VALUE"), ("header \"Range: secret\"", "sets itself"),
            ("password_env \"secret word\"", "letters, digits"), ("url https://u:secret@b", "options of their own"),
            ("client_key /secret", "needs a client_certificate"),
        ] {
            let block = "subsonic_server {\nuser me\n\(line)\n" + (line.hasPrefix("url") ? "" : "url https://c\n")
            let password = line.hasPrefix("password") ? "" : "password x\n"
            let error = #expect(throws: ConfigurationError.self) { try read(block + password + "}\n") }
            #expect(error?.description.contains(part) == true, "\(String(describing: error))")
            #expect(error?.description.contains("secret") == false, "\(String(describing: error))")
        }
    }
}
