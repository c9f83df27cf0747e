/// The numbers of `update`: MPD counts jobs from 1, and shows the one under way in `status`.
struct UpdateJobs {
    /// A job, and whether a client wanted everything read again; what comes of that counts as a change, as in MPD.
    struct Job: Equatable {
        let number: UInt32
        var rescans: Bool
    }

    /// What a job waits for.
    enum Awaited: Hashable {
        /// A comparison that is under way, asked for or not.
        case comparison
        /// The comparison that answers this request, which may not have begun yet. 0: the next one, since nobody could be asked.
        case request(UInt64)
        /// What a shelf takes from the server; each fetch has a number of its own.
        case shelves(UInt64)
        /// A library, by its number, that clients do not see yet.
        case library(UInt64)
    }

    private struct Expectation: Hashable {
        /// The number of a server's reference.
        let server: UInt64
        let what: Awaited
    }

    private var current: Job?
    private var expectations: Set<Expectation> = []
    /// The job that begins when that one has ended, with all requests that came meanwhile.
    private var queued: Job?
    private var last: UInt32 = 0
    private var lastFetch: UInt64 = 0

    /// The number of the job under way.
    var running: UInt32? { current?.number }

    /// Whether the job under way is to read everything again; nil while there is none.
    var rescans: Bool? { current?.rescans }

    /// Whether nothing is waited for.
    var isSettled: Bool { expectations.isEmpty }

    /// A request: the number of the job that will answer it, and whether it begins now.
    mutating func request(rescans: Bool = false) -> (job: UInt32, begins: Bool) {
        let job = next(rescans)
        guard current != nil else {
            current = job
            return (job.number, true)
        }
        // Each request has a number of its own, as in MPD, where its job runs after those before. All are answered at once here,
        // and the first one's number is shown until then: who waits for a later one waits as long as a smaller one is shown.
        queued = Job(number: queued?.number ?? job.number, rescans: rescans || queued?.rescans == true)
        return (job.number, false)
    }

    /// The job under way does not end before this has.
    /// - Parameter server: the number of a server's reference.
    mutating func expect(_ what: Awaited, of server: UInt64) {
        expectations.insert(Expectation(server: server, what: what))
    }

    /// The job under way does not end before a fetch for shelves has.
    /// - Returns: the number of the fetch.
    mutating func expectShelves(of server: UInt64) -> UInt64 {
        lastFetch += 1
        expect(.shelves(lastFetch), of: server)
        return lastFetch
    }

    /// Whether the job under way waits for this.
    func isExpected(_ what: Awaited, of server: UInt64) -> Bool {
        expectations.contains(Expectation(server: server, what: what))
    }

    /// A comparison has ended, which answers all requests up to this one.
    mutating func settleComparison(through request: UInt64, of server: UInt64) {
        expectations = expectations.filter { expectation in
            guard expectation.server == server else { return true }
            switch expectation.what {
            case .comparison: return false
            case .request(let number): return number > request
            case .shelves, .library: return true
            }
        }
    }

    /// Something else that was waited for has ended.
    mutating func settle(_ what: Awaited, of server: UInt64) {
        expectations.remove(Expectation(server: server, what: what))
    }

    /// Nothing more comes of a server.
    mutating func settleAll(of server: UInt64) {
        expectations = expectations.filter { $0.server != server }
    }

    /// The job under way has ended, and the queued one begins. Returns both.
    mutating func end() -> (ended: Job?, begun: Job?) {
        defer {
            current = queued
            queued = nil
        }
        return (current, queued)
    }

    private mutating func next(_ rescans: Bool) -> Job {
        last = last >= 1 << 15 ? 1 : last + 1
        return Job(number: last, rescans: rescans)
    }
}
