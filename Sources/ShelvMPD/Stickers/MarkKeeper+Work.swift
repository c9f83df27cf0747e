import Logging
import SubsonicKit

/// What the keeper has under way and in mind.
struct MarkWork {
    var isUnderWay = false
    /// Whether `next` is about to be called.
    var isScheduled = false
    var failures = 0
    /// Before that nothing is tried, unless the server is known to answer again.
    var notBefore: Instant?
    /// Acts that may have been refused by accident: how often, and the moment before which they are not tried again.
    var doubtful: [MarkKey: (times: Int, notBefore: Instant)] = [:]
    var timer: TimerQueue.ID?
    /// What the server does not take, as was told in the log.
    var told: Set<String> = []
}

/// When stars and ratings are sent. The core decides; others carry it out, one delivery at a time.
extension MarkKeeper {
    /// Acts in one delivery.
    private static let most = 100
    /// A refusal that may be an accident is one after so many attempts.
    private static let patience = 4

    /// Begins: there is somebody to carry things out.
    func connect(to server: Server, _ perform: @escaping (MarkDelivery) -> Void) {
        self.server = server
        self.perform = perform
        workSoon()
    }

    /// The server has answered somebody: what waits for it need not wait longer.
    func serverAnswers() {
        guard work.failures > 0 else { return }
        work.failures = 0
        work.notBefore = nil
        workSoon()
    }

    /// Looks for work at the end of this turn, so that acts that come together go together.
    func workSoon() {
        guard perform != nil, let server, !work.isScheduled else { return }
        work.isScheduled = true
        server.core.post { server in
            server.marks.work.isScheduled = false
            server.marks.next()
        }
    }

    /// Starts the next delivery, if there is one and nothing is under way.
    private func next() {
        guard let perform, !work.isUnderWay, !book.pending.isEmpty else { return }
        let now = Instant.now
        if let notBefore = work.notBefore, now < notBefore { return wait(until: notBefore) }
        let doubtful = work.doubtful
        var items: [MarkDelivery.Item] = []
        change { book in
            items = book.oldest(Self.most) { key in doubtful[key].map { $0.notBefore <= now } ?? true }
        }
        if items.isEmpty {
            if let due = work.doubtful.values.map(\.notBefore).min() { wait(until: due) }
            return
        }
        work.isUnderWay = true
        perform(MarkDelivery(items: items))
    }

    private func wait(until moment: Instant) {
        guard let server else { return }
        if let timer = work.timer { server.timers.cancel(timer) }
        work.timer = server.timers.schedule(at: moment) { server in
            server.marks.work.timer = nil
            server.marks.next()
        }
    }

    /// A delivery has ended.
    func delivered(_ delivery: MarkDelivery, _ receipts: [MarkReceipt]) {
        work.isUnderWay = false
        var done: [MarkDelivery.Item] = []
        for (item, receipt) in zip(delivery.items, receipts) {
            switch receipt {
            case .arrived:
                succeeded()
                close(item, isTaken: true)
                done.append(item)
            case .refused(let reason, let isCertain):
                succeeded()
                guard isCertain || isOver(item) else { continue }
                tell(item, reason)
                close(item, isTaken: false)
                done.append(item)
            case .failed(let error): failed(error)
            }
        }
        if !done.isEmpty { settle(done) }
        workSoon()
    }

    /// Whether an act was refused often enough.
    private func isOver(_ item: MarkDelivery.Item) -> Bool {
        let times = (work.doubtful[item.key]?.times ?? 0) + 1
        guard times < Self.patience else { return true }
        work.doubtful[item.key] = (times, Instant.now.advanced(by: .seconds(Int64(2 * times))))
        return false
    }

    /// What is under way for a key is no more, unless there is a later act.
    private func close(_ item: MarkDelivery.Item, isTaken: Bool) {
        work.doubtful[item.key] = nil
        change { book in
            guard book.settle(item.act, item.key, through: item.through, at: .now), var mark = book[item.key] else {
                return
            }
            switch item.act {
            case .star: mark.hasLocalStar = !isTaken && mark.starred != nil
            case .rate:
                mark.rating?.settled = isTaken ? Self.wallClock : .max
                // Of albums and artists nobody else knows a rating.
                if item.key.kind != .song, mark.rating?.value == 0 { mark.rating = nil }
            }
            book.set(item.key, mark)
        }
    }

    private func tell(_ item: MarkDelivery.Item, _ reason: String) {
        let what = item.act.isStar ? "stars" : "ratings"
        let line = "The server does not take \(what) of \(item.key.kind.plural): \(reason); they are kept here"
        // Once is news; after that it is the same news.
        if work.told.insert("\(what) \(item.key.kind)").inserted {
            log.notice(line)
        } else {
            log.info("\(line) (\(item.key.subject))")
        }
    }

    private func succeeded() {
        work.failures = 0
        work.notBefore = nil
    }

    /// The server cannot be reached: everything waits, two seconds longer each time.
    private func failed(_ error: SubsonicError) {
        work.failures += 1
        let isRefused = error.isAuthentication
        let seconds = min(isRefused ? 3600 : 300, (isRefused ? 60 : 2) * Int64(work.failures))
        work.notBefore = Instant.now.advanced(by: .seconds(seconds))
        let line = "Cannot bring stars and ratings to the server; they are kept: \(error); again in \(seconds) s"
        if work.failures == 1 { log.notice(line) } else { log.info(line) }
    }
}
