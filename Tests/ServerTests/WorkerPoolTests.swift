import Library
import Playback
import SubsonicKit
import Support
import Synchronization
import Testing

@testable import ShelvMPD

/// Work for clients that leave before it is begun, or while it is done.
@Suite struct WorkerPoolTests {
    /// A pool whose only thread is held.
    private func heldPool() -> (WorkerPool, TestGate) {
        let (pool, gate, begun) = (WorkerPool(count: 1), TestGate(), TestGate())
        pool.submit {
            begun.open()
            gate.wait(timeout: 20_000)
        }
        begun.wait(timeout: 20_000)
        return (pool, gate)
    }

    @Test func whatIsWantedByNobodyIsNotBegun() {
        let (pool, gate) = heldPool()
        defer { pool.shutdown() }
        let done = Mutex<[Int]>([])
        let askers = (0..<1000).map { _ in Asker() }
        for (number, asker) in askers.enumerated() {
            pool.submit(for: asker) { done.withLock { $0.append(number) } }
        }
        for (number, asker) in askers.enumerated() where number % 250 != 0 {
            asker.leave()
            pool.noteDeparture()
        }
        // What they left is let go of though nothing was begun.
        #expect(pool.waitingCount < 100)
        let last = TestGate()
        pool.submit { last.open() }
        gate.open()
        last.wait(timeout: 20_000)
        #expect(done.withLock { $0 } == [0, 250, 500, 750])
    }

    @Test func whoHasEndedSendingComesAfterTheOthers() {
        let (pool, gate) = heldPool()
        defer { pool.shutdown() }
        let done = Mutex<[String]>([])
        let (silent, present, last) = (Asker(), Asker(), TestGate())
        pool.submit(for: silent) {
            done.withLock { $0.append("silent") }
            last.open()
        }
        pool.submit(for: present) { done.withLock { $0.append("present") } }
        silent.fallSilent()
        gate.open()
        last.wait(timeout: 20_000)
        #expect(done.withLock { $0 } == ["present", "silent"])
    }

    @Test func whoHasEndedSendingHasHisTurnThoughOthersKeepComing() {
        let (pool, gate) = heldPool()
        defer { pool.shutdown() }
        let done = Mutex((others: 0, isServed: false))
        let (silent, present, last) = (Asker(), Asker(), TestGate())
        pool.submit(for: silent) {
            done.withLock { $0.isServed = true }
            last.open()
        }
        // Always the next one before the last one is done.
        @Sendable func comeAgain() {
            let (others, isServed) = done.withLock { done in
                done.others += 1
                return done
            }
            if !isServed, others < 2000 { pool.submit(for: present) { comeAgain() } }
        }
        for _ in 0..<2 { pool.submit(for: present) { comeAgain() } }
        silent.fallSilent()
        gate.open()
        last.wait(timeout: 20_000)
        #expect(done.withLock { $0.isServed && $0.others < 100 }, "\(done.withLock { $0 })")
    }

    /// A thousand clients ask for what takes long and are gone: nothing of it is left, and who stays gets an answer.
    @Test func aThousandClientsThatAskAndLeaveLeaveNothingToDo() throws {
        let server = try TestServer((0..<3000).map { SongRecord(songID: "\($0)", uri: "Folder/\($0).flac") })
        let (stays, gate) = (try server.client(), TestGate())
        defer { gate.open() }
        let held = Mutex(0)
        server.core.post { server in
            for _ in 0..<2 {
                server.workers.submit {
                    held.withLock { $0 += 1 }
                    gate.wait(timeout: 60_000)
                }
            }
        }
        #expect(waitUntil { held.withLock { $0 } == 2 })
        // With the greeting unread, to close is to reset.
        var leavers = try (0..<1000).map { _ in try MPDTestClient(port: server.port, readsGreeting: false) }
        for leaver in leavers { leaver.send("search \"(file =~ '(x+x+)+y')\"\n") }
        let jobs = Mutex(0)
        let isAllWaiting = waitUntil {
            server.core.post { server in
                let now = server.workers.waitingCount
                jobs.withLock { $0 = now }
            }
            return (try? stays.ask("ping")) == ["OK"] && jobs.withLock { $0 } == leavers.count
        }
        #expect(isAllWaiting, "\(jobs.withLock { $0 })")
        leavers = []
        let seen = Mutex((connections: Int.max, jobs: Int.max))
        let isQuiet = waitUntil(milliseconds: 20_000) {
            server.core.post { server in
                let now = (connections: server.connections.count, jobs: server.workers.waitingCount)
                seen.withLock { $0 = now }
            }
            return (try? stays.ask("ping")) == ["OK"] && seen.withLock { $0.connections == 1 && $0.jobs <= 32 }
        }
        #expect(isQuiet, "\(seen.withLock { $0 })")
        stays.send("search \"(file =~ '9{3}')\"\n")
        gate.open()
        #expect(
            try stays.reply() == ["file: Folder/1999.flac", "file: Folder/2999.flac", "file: Folder/999.flac", "OK"]
        )
    }

    /// It may still read: what it asked is answered, after what others ask.
    @Test func aClientThatHasEndedSendingIsAnswered() throws {
        let server = try TestServer((0..<3000).map { SongRecord(songID: "\($0)", uri: "Folder/\($0).flac") })
        let (first, second, gate) = (try server.client(), try server.client(), TestGate())
        defer { gate.open() }
        server.core.post { server in
            for _ in 0..<2 { server.workers.submit { gate.wait(timeout: 60_000) } }
        }
        first.send("search \"(file =~ '9{3}')\"\nping\n")
        first.finishSending()
        let isKnown = Mutex(false)
        #expect(
            waitUntil(milliseconds: 20_000) {
                server.core.post { server in
                    let known = server.connections.values.contains { $0.asker.hasSaidAll }
                    isKnown.withLock { $0 = known }
                }
                return (try? second.ask("ping")) == ["OK"] && isKnown.withLock { $0 }
            }
        )
        gate.open()
        let files = "file: Folder/1999.flac\nfile: Folder/2999.flac\nfile: Folder/999.flac\n"
        #expect(try first.rest() == files + "OK\nOK\n")
    }

    /// Pictures that only clients want who have gone are not asked for; those that anybody still wants are.
    @Test func picturesForNobodyAreNotFetched() {
        let fetched = Mutex<[String]>([])
        let held = Mutex<[@Sendable (CoverFetch) -> Void]>([])
        let arrivals = Mutex<[@Sendable (Covers) -> Void]>([])
        let covers = Covers(files: nil, post: { action in arrivals.withLock { $0.append(action) } }) {
            source,
            whenDone in
            fetched.withLock { $0.append(source.text) }
            held.withLock { $0.append(whenDone) }
        }
        let (leaver, stayer) = (Asker(), Asker())
        var told = 0
        for number in 0..<Covers.requestsAtOnce {
            covers.find([.art("early \(number)")], for: stayer) { _ in told += 1 }
        }
        for number in 0..<1000 {
            covers.find([.art("late \(number)"), .art("instead \(number)")], for: leaver) { _ in told += 1 }
        }
        covers.find([.art("late 500")], for: stayer) { _ in told += 1 }
        leaver.leave()
        while let whenDone = held.withLock({ $0.popLast() }) {
            whenDone(.none)
            let actions = arrivals.withLock { arrivals in
                defer { arrivals = [] }
                return arrivals
            }
            for action in actions { action(covers) }
        }
        #expect(fetched.withLock { Set($0) } == Set((0..<4).map { "art early \($0)" } + ["art late 500"]))
        #expect(told == 5)
    }

    /// A playlist whose server says nothing, and a client that does not wait for it: the request ends with the client.
    @Test func whatNobodyWaitsForIsNotFetchedOn() throws {
        let (gate, asked, ended) = (TestGate(), TestGate(), TestGate())
        let slow = try #require(
            HTTPTestServer { _ in
                asked.open()
                gate.wait(timeout: 60_000)
                return HTTPTestResponse()
            }
        )
        let transport = try CurlTransport()
        defer {
            gate.open()
            slow.stop()
            transport.shutdown()
        }
        let server = try TestServer()
        _ = try server.client().ask("ping")
        server.core.post { server in
            server.fetchPlaylist = { address, whenDone in
                RemotePlaylist.fetch(address, by: transport) { result in
                    whenDone(result)
                    ended.open()
                }
            }
        }
        do {
            let leaver = try MPDTestClient(port: server.port, readsGreeting: false)
            leaver.send("load \(slow.url)/list.m3u\n")
            #expect(asked.wait(timeout: 20_000))
        }
        // Sooner than the request would be given up.
        #expect(ended.wait(timeout: 8_000))
        #expect(try server.client().ask("ping") == ["OK"])
    }
}
