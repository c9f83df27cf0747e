/// The numbers of `update`: MPD counts jobs from 1, and shows the one under way in `status`.
struct UpdateJobs {
    /// A job, and whether a client wanted everything read again; what comes of that counts as a change, as in MPD.
    struct Job: Equatable {
        let number: UInt32
        var rescans: Bool
    }

    private var current: Job?
    /// Servers that the job under way waits for, by the numbers of their references.
    var servers: Set<UInt64> = []
    /// The job that begins when that one has ended, with all requests that came meanwhile.
    private var queued: Job?
    private var last: UInt32 = 0

    /// The number of the job under way.
    var running: UInt32? { current?.number }

    /// A request: the number of the job that will answer it, and whether it begins now.
    mutating func request(rescans: Bool = false) -> (job: UInt32, begins: Bool) {
        guard current != nil else {
            let job = next(rescans)
            current = job
            return (job.number, true)
        }
        // Each request has a number of its own, as in MPD, where its job runs after those before. All are answered at once here,
        // and the first one's number is shown until then: who waits for a later one waits as long as a smaller one is shown.
        let job = next(rescans)
        queued = Job(number: queued?.number ?? job.number, rescans: rescans || queued?.rescans == true)
        return (job.number, false)
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
