import MPDProtocol
import Support
import Testing

@testable import ShelvMPD

/// Who may do what, by where he comes from and by the password that he gives.
@Suite struct AccessTests {
    /// Options about permissions, and what comes of them for a client of this machine.
    private static let rules = [
        [],
        ["password \"x@read,add\""],
        ["password \"x@control\"", "default_permissions \"read\""],
        ["default_permissions \"\""],
        ["default_permissions \"read\"", "local_permissions \"read,player,admin\""],
        ["local_permissions \"\""],
        ["host_permissions \"127.0.0.1 read,add\""],
        ["host_permissions \"127.0.0.1 read\"", "host_permissions \"127.0.0.1 admin\""],
        ["host_permissions \"10.9.8.7 read,add,player,control,admin\""],
        ["host_permissions \"::1 control\"", "password \"x@read\"", "local_permissions \"add\""],
        ["password \"x@read\"", "password \"x@admin\"", "password \"@player\"", "password \"y@z@read\""],
    ]

    /// All ways in, all passwords: the same permissions as in MPD, and the same words.
    @Test(.enabled(if: RealPeer.mpd.isWanted, "mpd is not installed"), arguments: rules.indices)
    func asARealMPD(_ index: Int) throws {
        // A password that holds an @ is refused by MPD, and so is the file.
        let lines = Self.rules[index].filter { !$0.contains("y@z") }
        let folder = try #require(TemporaryFolder())
        let pair = try AccessPair(lines, in: folder)
        for place in pair.places {
            let (ours, theirs) = (try pair.ours(at: place), try pair.theirs(at: place))
            for line in ["", "password x", "password wrong", "password \"\"", "password", "password x y"] {
                if !line.isEmpty { #expect(try ours.ask(line) == theirs.ask(line), "\(line) at \(place)") }
                let allowed = Set(try ours.ask("commands")).intersection(pair.common)
                #expect(try allowed == Set(theirs.ask("commands")).intersection(pair.common), "\(line) at \(place)")
                let refused = Set(try ours.ask("notcommands")).intersection(pair.common)
                #expect(try refused == Set(theirs.ask("notcommands")).intersection(pair.common), "\(line) at \(place)")
                for probe in ["add x y z", "setvol", "rm a b", "update a b", "outputset", "ping x"] {
                    #expect(try ours.ask(probe) == theirs.ask(probe), "\(line) at \(place)")
                }
                // One that may is told more than we have.
                let words = try theirs.ask("config")
                #expect(try ours.ask("config").last == words.last, "\(line) at \(place)")
                if !allowed.contains("command: kill") { #expect(try ours.ask("kill a") == theirs.ask("kill a")) }
            }
        }
    }

    @Test(arguments: [
        ("10.1.2.3", "10.1.2.3", true), ("10.1.2.3", "10.1.2.4", false), ("10.0.0.0/8", "10.1.2.3", true),
        ("10.7.7.7/8", "10.1.2.3", true), ("10.0.0.0/8", "11.1.2.3", false), ("0.0.0.0/0", "11.1.2.3", true),
        ("0.0.0.0/0", "::1", false), ("::/0", "11.1.2.3", true), ("fe80::/10", "febf::1", true),
        ("fe80::/10", "fec0::1", false), ("::ffff:10.1.2.3", "10.1.2.3", true),
        ("192.168.0.0/22", "192.168.3.255", true),
        ("192.168.0.0/22", "192.168.4.0", false), ("10.0.0.0/32", "10.0.0.0", true),
    ])
    func anAddressLiesInANetwork(_ network: String, _ address: String, _ isInside: Bool) throws {
        let network = try #require(AddressRange(network))
        #expect(try network.contains(#require(AddressRange(address))) == isInside)
    }

    @Test(arguments: ["", "x", "10.1.2", "10.1.2.3/", "10.1.2.3/33", "::/129", "10.1.2.3/-1", "10.1.2.3/8/8", "/8"])
    func whatIsNoNetworkIsNone(_ text: String) { #expect(AddressRange(text) == nil) }

    @Test func theNarrowestRuleCounts() throws {
        let wide = HostRule(host: "127.0.0.0/8", permissions: .read)
        let narrow = HostRule(host: "127.0.0.1", permissions: [.read, .player])
        let other = HostRule(host: "127.0.0.1", permissions: .all)
        for rules in [[wide, narrow, other], [narrow, other, wide]] {
            let server = try TestServer { $0.hostPermissions = rules }
            let client = try server.client()
            #expect(try client.ask("stop") == ["OK"])
            #expect(try client.ask("add x").first?.hasPrefix("ACK [4@0]") == true)
        }
    }

    @Test func newRulesHoldForClientsThatAreThere() throws {
        let server = try TestServer { configuration in
            configuration.passwords = [
                PasswordRule(password: Secret("a"), permissions: .all),
                PasswordRule(password: Secret("b"), permissions: .all),
            ]
        }
        let (stranger, a, b) = (try server.client(), try server.client(), try server.client())
        for (client, password) in [(a, "a"), (b, "b")] { #expect(try client.ask("password \(password)") == ["OK"]) }
        var rules = Configuration()
        rules.passwords = [PasswordRule(password: Secret("a"), permissions: .read)]
        rules.defaultPermissions = .player
        server.adopt(rules)
        #expect(try a.ask("status").last == "OK")
        #expect(try a.ask("stop").first?.hasPrefix("ACK [4@0]") == true)
        for client in [stranger, b] {
            #expect(try client.ask("stop") == ["OK"])
            #expect(try client.ask("status").first?.hasPrefix("ACK [4@0]") == true)
        }
    }

    @Test func fewerClientsAreLetInOnceThereIsALimit() throws {
        let server = try TestServer()
        let clients = try (0..<3).map { _ in try server.client() }
        var limits = Configuration()
        limits.maxConnections = 2
        server.adopt(limits)
        // Whoever comes in the same turn as those before may still be let in.
        #expect(try clients[0].ask("ping") == ["OK"])
        let refused = try MPDTestClient(port: server.port, readsGreeting: false)
        #expect(try refused.rest() == "")
        for client in clients { #expect(try client.ask("ping") == ["OK"]) }
    }

    @Test func killEndsTheServerWithoutAWord() throws {
        let server = try TestServer()
        let (client, other) = (try server.client(), try server.client())
        client.send("command_list_ok_begin\nping\nkill\nping\ncommand_list_end\nping\n")
        #expect(try client.rest() == "list_OK\n")
        #expect(try other.rest() == "")
        #expect(throws: MPDTestClient.Failure.cannotConnect) { try MPDTestClient(port: server.port) }
    }

    @Test func whoeverIsLetInFromElsewhereIsSaid() {
        func letsIn(_ configure: (inout Configuration) -> Void) -> Bool {
            var configuration = Configuration()
            configure(&configuration)
            return AccessRules(configuration).letsAnybodyIn
        }
        #expect(letsIn { _ in })
        #expect(letsIn { $0.defaultPermissions = [.read, .player] })
        #expect(!letsIn { $0.defaultPermissions = .read })
        #expect(!letsIn { $0.passwords = [PasswordRule(password: Secret("a"), permissions: .all)] })
        #expect(!letsIn { $0.hostPermissions = [HostRule(host: "10.0.0.1", permissions: .all)] })
    }
}
