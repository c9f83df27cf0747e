/// The numbers of `update`: MPD counts jobs from 1, and shows the one under way in `status`.
struct UpdateJobs {
    /// The job under way.
    private(set) var running: UInt32?
    /// The job that begins when that one has ended, with all requests that came meanwhile.
    private var queued: UInt32?
    private var last: UInt32 = 0

    /// A request: the number of the job that will answer it, and whether it begins now.
    mutating func request() -> (job: UInt32, begins: Bool) {
        if running == nil {
            last = next(last)
            running = last
            return (last, true)
        }
        if let queued { return (queued, false) }
        last = next(last)
        queued = last
        return (last, false)
    }

    /// The job under way has ended. Returns whether another one begins.
    mutating func end() -> Bool {
        running = queued
        queued = nil
        return running != nil
    }

    private func next(_ job: UInt32) -> UInt32 { job >= 1 << 15 ? 1 : job + 1 }
}
