import SubsonicKit

/// When something is tried at a Subsonic server: one job at a time, what comes together goes together, and after a failure
/// it is waited, longer each time, unless the server is known to answer again. Owned by the core, as is who has it.
final class DeliveryPace {
    private weak var server: Server?
    private var next: (() -> Void)?
    /// Whether a job is being carried out.
    private(set) var isUnderWay = false
    /// Whether it is about to be looked for work.
    private(set) var isScheduled = false
    /// Failures in a row.
    private(set) var failures = 0
    private var notBefore: Instant?
    private var timer: TimerQueue.ID?

    /// Begins: there is somebody to carry things out.
    /// - Parameter next: looks for work and, if there is some, says `began`. Not called while a job is under way.
    func connect(to server: Server, _ next: @escaping () -> Void) {
        self.server = server
        self.next = next
        // Whoever was there before does not answer any more.
        isUnderWay = false
    }

    /// Looks for work, at the end of this turn if not later; no second time if that is about to happen.
    func soon(after delay: Duration = .zero) {
        guard next != nil, let server, !isScheduled else { return }
        isScheduled = true
        _ = server.timers.schedule(at: .now.advanced(by: delay)) { [weak self] _ in
            self?.isScheduled = false
            self?.look()
        }
    }

    /// Looks for work at this moment, and not at another one that was waited for.
    func wait(until moment: Instant) {
        guard let server else { return }
        if let timer { server.timers.cancel(timer) }
        timer = server.timers.schedule(at: moment) { [weak self] _ in
            self?.timer = nil
            self?.look()
        }
    }

    private func look() {
        if !isUnderWay { next?() }
    }

    /// Whether the server may be asked; if not, it is looked for work when it may.
    func isTime() -> Bool {
        guard let notBefore, Instant.now < notBefore else { return true }
        wait(until: notBefore)
        return false
    }

    /// A job has begun.
    func began() { isUnderWay = true }

    /// The job has ended, one way or the other; it is looked for the next one.
    func ended(lookingAfter delay: Duration = .zero) {
        isUnderWay = false
        soon(after: delay)
    }

    /// The server has done what it was asked for.
    /// - Returns: whether it had not before.
    @discardableResult
    func succeeded() -> Bool {
        defer { forgive() }
        return failures > 0
    }

    /// The server cannot be reached, or does not let us in: everything waits.
    /// - Returns: so many seconds.
    func failed(_ error: SubsonicError) -> Int64 {
        failures += 1
        // Where it is a matter of passwords, trying often may lock the account.
        let (step, most): (Int64, Int64) = error.isAuthentication ? (60, 3600) : (2, 300)
        let seconds = min(most, step * Int64(min(failures, 1000)))
        notBefore = Instant.now.advanced(by: .seconds(seconds))
        return seconds
    }

    /// The server has answered somebody: what waits for it need not wait longer.
    func serverAnswers() {
        guard failures > 0 else { return }
        forgive()
        soon()
    }

    private func forgive() {
        failures = 0
        notBefore = nil
    }
}
