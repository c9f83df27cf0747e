import Logging
import SubsonicKit

/// What the keeper has in mind.
struct MarkWork {
    /// Acts that may have been refused by accident: how often, and the moment before which they are not tried again.
    var doubtful: [MarkKey: (times: Int, notBefore: Instant)] = [:]
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
    func connect(_ perform: @escaping (MarkDelivery) -> Void) {
        self.perform = perform
        guard let server = home?.server else { return }
        pace.connect(to: server) { [unowned self] in next() }
        pace.soon()
    }

    /// Starts the next delivery, if there is one.
    private func next() {
        guard let perform, !book.pending.isEmpty, pace.isTime() else { return }
        let now = Instant.now
        let doubtful = work.doubtful
        var items: [MarkDelivery.Item] = []
        change { book in
            items = book.oldest(Self.most) { key in doubtful[key].map { $0.notBefore <= now } ?? true }
        }
        if items.isEmpty {
            if let due = work.doubtful.values.map(\.notBefore).min() { pace.wait(until: due) }
            return
        }
        pace.began()
        perform(MarkDelivery(items: items))
    }

    /// A delivery has ended.
    func delivered(_ delivery: MarkDelivery, _ receipts: [MarkReceipt]) {
        pace.ended()
        var done: [MarkDelivery.Item] = []
        for (item, receipt) in zip(delivery.items, receipts) {
            switch receipt {
            case .arrived:
                pace.succeeded()
                close(item, isTaken: true)
                done.append(item)
            case .refused(let reason, let isCertain):
                pace.succeeded()
                guard isCertain || isOver(item) else { continue }
                tell(item, reason)
                close(item, isTaken: false)
                done.append(item)
            case .failed(let error): failed(error)
            }
        }
        if !done.isEmpty { settle(done) }
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

    private func failed(_ error: SubsonicError) {
        let seconds = pace.failed(error)
        let line =
            "Cannot bring stars and ratings to \(home?.name ?? "the server"); they are kept: \(error); again in \(seconds) s"
        if pace.failures == 1 { log.notice(line) } else { log.info(line) }
    }
}
