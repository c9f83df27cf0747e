import CSQLite
import Glibc
import Logging
import Support
import Synchronization
import Testing

@testable import ShelvMPD

/// The durable store, and what it does with files that it cannot use.
@Suite struct StoreTests {
    private func open(_ folder: TemporaryFolder, _ name: String = "store.sqlite", log: Log = .silent) throws -> Store {
        try Store(path: folder.path(name), log: log)
    }

    @Test func whatIsKeptIsThereAtTheNextStart() async throws {
        let folder = try #require(TemporaryFolder())
        let addresses = [ServerAddress(name: "a", url: "http://a"), ServerAddress(name: "b", url: "http://b")]
        var store = try open(folder, "new/folder/store.sqlite")
        let servers = try await store.identify(addresses)
        #expect(Set(servers).count == 2 && servers.allSatisfy { $0.text.utf8.count == 16 })
        store.keep("token", as: "auth", about: servers[0])
        store.keep("x", as: "gone", about: servers[0])
        store.keep(nil, as: "gone", about: servers[0])
        store.keepAliases(["old/ä.flac": "s1", "older": "s2"], of: servers[1])
        store.keepSetting("volume", "30")
        store.keepSetting("volume", "31")
        #expect(try await store.settings() == ["volume": "31"])
        store.close()

        store = try open(folder, "new/folder/store.sqlite")
        #expect(try await store.identify(addresses) == servers)
        #expect(try await store.facts(about: servers[0]) == ["auth": "token"])
        #expect(try await store.facts(about: servers[1]) == [:])
        #expect(try await store.aliases(of: servers[1]) == ["old/ä.flac": "s1", "older": "s2"])
        #expect(try await store.settings() == ["volume": "31"])
        store.close()
        store.close()
        #expect(folder.names == ["new"])
    }

    private func address(_ name: String, _ url: String, _ user: String = "u") -> ServerAddress {
        ServerAddress(name: name, url: "http://\(url)", user: user)
    }

    @Test func nobodyElseCanReadTheStore() async throws {
        let folder = try #require(TemporaryFolder())
        _ = unsafe chmod(folder.path, 0o755)
        func modes() -> [mode_t] {
            ["store", "store-wal", "store-shm"].map { name in
                var status = stat()
                return unsafe stat(folder.path(name), &status) == 0 ? status.st_mode & 0o777 : 0
            }
        }
        // A new one, and one that an earlier version has made.
        for _ in 0..<2 {
            let store = try Store(path: folder.path("store"), log: .silent)
            store.keepSetting("volume", "31")
            _ = try await store.settings()
            #expect(modes() == [0o600, 0o600, 0o600])
            store.close()
            _ = unsafe chmod(folder.path("store"), 0o644)
        }
    }

    @Test func aServerIsKnownAgain() async throws {
        let folder = try #require(TemporaryFolder())
        let store = try open(folder)
        defer { store.close() }
        let a = address("a", "a")
        let b = address("b", "b")
        let first = try await store.identify([a, b])
        // Order does not matter; a new name, or a new address, keeps the identity.
        #expect(try await store.identify([b, a]) == [first[1], first[0]])
        #expect(try await store.identify([address("x", "a"), b]) == first)
        #expect(try await store.identify([address("x", "y"), b]) == first)
        // Two blocks that have changed names are told by their addresses.
        #expect(try await store.identify([address("b", "y"), address("x", "b")]) == first)
        // A second block for the same address is another server.
        let twice = try await store.identify([address("one", "t"), address("two", "t")])
        #expect(Set(twice + first).count == 4)
        #expect(try await store.identify([address("two", "t")]) == [twice[1]])
    }

    @Test func anotherAccountIsNeverTakenForAKnownOne() async throws {
        let folder = try #require(TemporaryFolder())
        let store = try open(folder)
        defer { store.close() }
        let alice = try await store.identify([address("home", "a", "alice")])[0]
        var all: Set<ServerID> = [alice]
        for other in [("home", "a", "bob"), ("bob", "a", "bob2"), ("home", "b", "bob3"), ("home", "a", "Alice")] {
            all.insert(try await store.identify([address(other.0, other.1, other.2)])[0])
        }
        #expect(all.count == 5)
        #expect(try await store.identify([address("home", "a", "alice")]) == [alice])
        // With both accounts, too.
        let both = try await store.identify([address("home", "a", "bob"), address("second", "a", "alice")])
        #expect(both[0] != alice && both[1] == alice)
    }

    @Test func anAPIKeyIsTheAccountOfItsName() async throws {
        let folder = try #require(TemporaryFolder())
        let store = try open(folder)
        defer { store.close() }
        let home = try await store.identify([address("home", "a", "alice")])
        // A key in place of a password, and back.
        #expect(try await store.identify([address("home", "a", "")]) == home)
        #expect(try await store.identify([address("home", "a", "bob")]) != home)
        #expect(try await store.identify([address("home", "a", "alice")]) == home)
        // It may be anybody's where the name is another one.
        let key = try await store.identify([address("key", "k", "")])
        #expect(try await store.identify([address("other", "k", "")]) != key)
        #expect(try await store.identify([address("key", "m", "")]) == key)
        // Alice's or Bob's, who were both there: nobody knows.
        let unknown = try await store.identify([address("home", "a", "")])
        let bob = try await store.identify([address("home", "a", "bob")])
        #expect(Set(unknown + home + bob).count == 3)
    }

    @Test func aKeyInPlaceOfAPasswordMayMove() async throws {
        let folder = try #require(TemporaryFolder())
        let store = try open(folder)
        defer { store.close() }
        let home = try await store.identify([address("home", "a", "alice")])
        for url in ["a", "b", "c"] { #expect(try await store.identify([address("home", url, "")]) == home) }
    }

    /// Two servers as an earlier version kept them.
    private func serversWithoutUsers(in store: Store) async throws -> [ServerID] {
        let known = try await store.identify([address("a", "a"), address("b", "b")])
        try await store.write("an old store") { database throws(StoreError) in
            try database.run("UPDATE server SET user = NULL")
        }
        return known
    }

    @Test func whatAnEarlierVersionKeptIsNobodysLater() async throws {
        let folder = try #require(TemporaryFolder())
        let store = try open(folder)
        defer { store.close() }
        let known = try await serversWithoutUsers(in: store)
        // Only one of them is there at the first start.
        #expect(try await store.identify([address("a", "a", "v")]) == [known[0]])
        #expect(try await store.identify([address("a", "a", "v"), address("x", "b", "w")])[1] != known[1])
        #expect(try await store.identify([address("b", "b", "v")]) == [known[1]])
    }

    @Test func whatShowedTheFormerAccountShowsTheOneInItsPlace() async throws {
        let folder = try #require(TemporaryFolder())
        let store = try open(folder)
        defer { store.close() }
        let first = try await store.identify([address("a", "a"), address("b", "b")])
        try await store.keepSettings(["active_server": first[1].text, "mounts": "\(first[0].text) m"])
        let second = try await store.identify([address("a", "a", "v"), address("b", "b", "v")])
        let settings = try await store.settings()
        #expect(settings["active_server"] == second[1].text)
        #expect(settings["mounts"] == "\(second[0].text) m")
    }

    @Test func whatAnEarlierVersionKeptIsThePresentAccounts() async throws {
        let folder = try #require(TemporaryFolder())
        let store = try open(folder)
        defer { store.close() }
        let known = try await serversWithoutUsers(in: store)
        #expect(try await store.identify([address("a", "a", "v"), address("x", "b", "w")]) == known)
        #expect(try await store.identify([address("a", "a"), address("x", "b", "w")]).first != known[0])
    }

    @Test func jobsAreDoneInOrderAndOneFailureTakesNothingElseAlong() async throws {
        let folder = try #require(TemporaryFolder())
        let lines = Mutex<[String]>([])
        let store = try open(folder, log: Log { _, line in lines.withLock { $0.append(line) } })
        let outcomes = Mutex<[Bool]>([])
        for number in 0..<100 {
            store.submit(
                "number \(number)",
                { database throws(StoreError) in
                    try database.run("INSERT INTO setting VALUES (?, 'x')", .text("n\(number)"))
                    if number % 10 == 3 { try database.run("INSERT INTO nowhere VALUES (1)") }
                },
                whenDone: { result in
                    if case .success = result {
                        outcomes.withLock { $0.append(true) }
                    } else {
                        outcomes.withLock { $0.append(false) }
                    }
                }
            )
            // What was submitted before is seen, at any moment.
            if number == 50 { #expect(try await store.settings().count == 46) }
        }
        #expect(try await store.settings().count == 90)
        await store.flush()
        #expect(outcomes.withLock { $0 } == (0..<100).map { $0 % 10 != 3 })
        #expect(lines.withLock { $0.count } == 10)
        #expect(lines.withLock { $0.first } == "cannot keep number 3: a statement failed: no such table: nowhere")
        await #expect(throws: StoreError.self) {
            try await store.write("x") { database throws(StoreError) in try database.run("nonsense") }
        }
        await #expect(throws: StoreError.self) {
            _ = try await store.read { database throws(StoreError) in try database.rows("nonsense") }
        }
        store.close()
    }

    @Test func closingDoesWhatWasSubmittedAndRefusesTheRest() async throws {
        let folder = try #require(TemporaryFolder())
        var store = try open(folder)
        for number in 0..<1000 { store.keepSetting("n\(number)", "x") }
        store.close()
        let refused = Mutex(false)
        store.submit(
            "x",
            { _ throws(StoreError) in },
            whenDone: { if case .failure = $0 { refused.withLock { $0 = true } } }
        )
        #expect(refused.withLock { $0 })
        await #expect(throws: StoreError(.closed, "the store is closed")) { _ = try await store.settings() }
        store = try open(folder)
        #expect(try await store.settings().count == 1000)
        store.close()
        #expect(folder.names == ["store.sqlite", "store.sqlite.lock"])
    }

    @Test func aDamagedFileIsKeptAside() async throws {
        // Cuts and overwrites at many places; whatever SQLite notices at the start must lead to a working new store.
        let origin = try #require(TemporaryFolder())
        let store = try open(origin)
        for number in 0..<200 { store.keepSetting("n\(number)", String(repeating: "x", count: 100)) }
        store.close()
        let whole = try #require(contents(of: origin.path("store.sqlite")))
        var keptAside = 0
        for place in stride(from: 0, to: whole.count, by: max(1, whole.count / 16)) {
            var torn = whole
            for index in place..<min(place + 256, whole.count) { torn[index] ^= 0x5A }
            for bytes in [torn, Array(whole[..<place])] {
                let folder = try #require(TemporaryFolder())
                folder.write("store.sqlite", bytes)
                let lines = Mutex<[String]>([])
                let store = try open(folder, log: Log { _, line in lines.withLock { $0.append(line) } })
                try await store.write("x") { database throws(StoreError) in
                    try database.run("INSERT OR REPLACE INTO setting VALUES ('new', 'x')")
                }
                store.close()
                if folder.names.contains("store.sqlite.damaged-1") {
                    keptAside += 1
                    #expect(contents(of: folder.path("store.sqlite.damaged-1")) == bytes)
                    #expect(
                        lines.withLock {
                            $0.last?.hasSuffix(
                                "it is kept as \(folder.path)/store.sqlite.damaged-1, and a new one begins"
                            )
                        } == true
                    )
                }
            }
        }
        #expect(keptAside > 8)
    }

    @Test func aFileOfALaterVersionIsKeptAside() async throws {
        let folder = try #require(TemporaryFolder())
        var store = try open(folder)
        store.keepSetting("a", "b")
        try await store.write("x") { database throws(StoreError) in try database.run("PRAGMA user_version = 1000") }
        store.close()
        let lines = Mutex<[String]>([])
        store = try open(folder, log: Log { _, line in lines.withLock { $0.append(line) } })
        #expect(try await store.settings() == [:])
        store.close()
        let path = folder.path("store.sqlite")
        #expect(
            lines.withLock { $0 } == [
                "\(path) was made by a later version; it is kept as \(path).later-1, and a new one begins"
            ]
        )
    }

    @Test func filesOfOtherProgramsAreLeftAlone() throws {
        let folder = try #require(TemporaryFolder())
        folder.write("state", "sw_volume: 100\naudio_device_state:1:x\nstate: stop\n")
        #expect(
            throws: StoreError(.foreign, "\(folder.path("state")) is the state of an MPD; choose another state_file")
        ) {
            try open(folder, "state")
        }
        do {
            let other = try Database(path: folder.path("other"))
            try other.run("CREATE TABLE sticker (x)")
        }
        let before = contents(of: folder.path("other"))
        do throws(StoreError) {
            _ = try Store(path: folder.path("other"), log: .silent)
            Issue.record("opened")
        } catch {
            #expect(error.kind == .foreign)
        }
        #expect(contents(of: folder.path("other")) == before)
    }

    @Test func whereThereCanBeNoStoreTheReasonIsSaid() throws {
        let folder = try #require(TemporaryFolder())
        folder.write("file", "x")
        let cases = [
            ("file/store", "cannot make the folder"), ("file/a/store", "cannot make the folder"), ("", "cannot"),
        ]
        for (name, part) in cases {
            do throws(StoreError) {
                _ = try Store(path: folder.path(name), log: .silent)
                Issue.record("opened \(name)")
            } catch {
                #expect(error.description.contains(part), "\(error)")
            }
        }
    }

    @Test func twoProcessesCannotShareAFile() throws {
        let folder = try #require(TemporaryFolder())
        let store = try open(folder)
        do throws(StoreError) {
            _ = try Store(path: folder.path("store.sqlite"), log: .silent)
            Issue.record("opened twice")
        } catch {
            #expect(error.kind == .busy)
        }
        store.close()
        try open(folder).close()
    }

    @Test func aFullDiskIsSaidAndPassesOver() async throws {
        let folder = try #require(TemporaryFolder())
        let store = try open(folder)
        defer { store.close() }
        _ = try await store.read { database throws(StoreError) in try database.rows("PRAGMA max_page_count = 20") }
        let long = String(repeating: "x", count: 200_000)
        do {
            try await store.write("much") { database throws(StoreError) in
                try database.run("INSERT INTO setting VALUES ('long', ?)", .text(long))
            }
            Issue.record("kept")
        } catch let error as StoreError {
            #expect(error.kind == .full)
        }
        _ = try await store.read { database throws(StoreError) in try database.rows("PRAGMA max_page_count = 10000") }
        store.keepSetting("long", long)
        #expect(try await store.settings() == ["long": long])
    }

    @Test func valuesComeBackAsTheyWere() async throws {
        let folder = try #require(TemporaryFolder())
        let store = try open(folder)
        defer { store.close() }
        let values: [SQLValue] = [
            .null, .integer(.min), .integer(.max), .real(1.5), .text(""), .text("a\u{0}ü"), .blob([]), .blob([0, 255]),
        ]
        let read = try await store.read { database throws(StoreError) in
            var read: [SQLValue] = []
            for value in values { read += try database.rows("SELECT ?", value).first ?? [] }
            return read
        }
        #expect(read == values)
    }
}
