import Logging
import SubsonicKit
import Synchronization

/// What transfers bring, and what becomes of it.
extension Fetcher {
    /// Judges whether an answer belongs to the file at hand. False ends the transfer.
    func transfer(_ transfer: RangeTransfer, didReceive head: HTTPHead, total told: Int64?) -> Bool {
        let validators = FileValidators(head)
        var total = told
        let known = file.monitor.withLock { $0.total }
        let (isChanged, others) = state.withLock { state -> (Bool, [RangeTransfer]) in
            if transfer.isSequential { state.refusesRanges = true }
            if head.status == 206, let told { state.totalOfRanges = told }
            // A server that never repeats its validators must not make us start over for ever.
            let validatorsDiffer = state.changes < 3 && !validators.agree(with: state.validators)
            let isSameVersion = validators.isSame(as: state.validators)
            var isChanged = validatorsDiffer
            if let told, told != known || !state.isTotalCertain {
                let isToldAgain = state.doubtfulTotal == told
                let isBelieved =
                    state.catalogTotal == nil || state.catalogTotal == told || transfer.start > 0 || isToldAgain
                if state.isTotalCertain {
                    // A head may be wrong, and a file of the same date has not changed.
                    if transfer.start == 0, isSameVersion, !isToldAgain { total = nil } else { isChanged = true }
                } else if !isBelieved, told < state.catalogTotal ?? 0 {
                    // What is asked for behind it will tell.
                    total = nil
                } else {
                    state.isTotalCertain = isBelieved
                }
            }
            if let told { state.doubtfulTotal = told }
            state.validators = validators
            guard isChanged else { return (false, []) }
            state.changes += 1
            state.isComplete = false
            state.isTotalCertain = total != nil
            let others = state.transfers.filter { $0 !== transfer }
            state.transfers.removeAll { $0 !== transfer }
            return (true, others)
        }
        for other in others { other.cancel() }
        if isChanged {
            log.info("\(file.path): the server's file has changed, starting over")
            file.reset(total: total)
            notify(.changed)
            if transfer.position > 0 { return false }
        } else if let total, total != known {
            state.withLock { $0.isComplete = false }
            file.monitor.update { $0.total = total }
        }
        return true
    }

    /// Takes bytes into the file. False ends the transfer.
    func transfer(_ transfer: RangeTransfer, didReceive bytes: UnsafeRawBufferPointer, at position: Int64) -> Bool {
        let isCertain = state.withLock { $0.isTotalCertain }
        let (total, covered) = file.monitor.withLock { state -> (Int64?, Int64) in
            // The catalog's length was wrong: the end of the body will tell.
            if !isCertain, let total = state.total, position + Int64(bytes.count) > total { state.total = nil }
            return (state.total, state.intervals.end(from: position))
        }
        let room = Int(clamping: max(0, (total ?? .max) - position))
        let wanted = unsafe UnsafeRawBufferPointer(rebasing: bytes.prefix(room))
        let end = position + Int64(wanted.count)
        if covered < end {
            do throws(PlayerError) {
                try unsafe file.write(wanted, at: position)
            } catch {
                cannotWrite(error)
                return false
            }
        }
        let isDue = state.withLock { state in
            state.unnoted += Int64(wanted.count)
            guard state.unnoted >= Self.noteInterval else { return false }
            state.unnoted = 0
            return true
        }
        if isDue { notify(.progress) }
        if covered < end { cameFresh(end - covered, by: transfer) }
        if total.map({ end >= $0 }) ?? false {
            completeIfWhole()
            return wanted.count == bytes.count
        }
        // What follows is there already; whoever needs the hole behind it gets a transfer of its own.
        let ahead = file.monitor.withLock { $0.intervals.end(from: end) - end }
        return transfer.isSequential || ahead < Self.overlap
    }

    /// Older songs may make room, so a full disk is tried again.
    private func cannotWrite(_ error: PlayerError) {
        let isOver = state.withLock { state in
            state.fullDisks += 1
            return !error.isForWantOfRoom || state.fullDisks > Self.fullDiskLimit
        }
        if isOver { return fail(.transport("\(error)")) }
        notify(.wantsRoom)
        retry(after: .milliseconds(500), "\(error)")
    }

    /// Notes that bytes have come that were not there: what a server sends again from the start is no progress.
    private func cameFresh(_ count: Int64, by transfer: RangeTransfer) {
        transfer.note(fresh: count)
        let isFlowing = state.withLock { state in
            defer { state.trouble = nil }
            state.fullDisks = 0
            // What flows elsewhere says nothing of a place that cannot be had.
            let isPast = transfer.start <= state.troublePlace && transfer.position >= state.troublePlace
            if transfer.fresh >= Self.progress, isPast { state.attempts = 0 }
            return state.trouble != nil
        }
        if isFlowing { notify(.flowing) }
    }

    /// Looks at how a transfer has ended, and goes on.
    func transferDidFinish(_ transfer: RangeTransfer, _ error: TransportError?) {
        let (isOurs, before) = state.withLock { state -> (Bool, EarlyEnd?) in
            guard let index = state.transfers.firstIndex(where: { $0 === transfer }) else { return (false, nil) }
            state.transfers.remove(at: index)
            switch transfer.verdict {
            case .broken, .denied: break
            default: state.failing = nil
            }
            defer { state.earlyEnd = nil }
            return (state.isActive, state.earlyEnd)
        }
        guard isOurs else { return }
        if let verdict = transfer.verdict {
            act(on: verdict, transfer)
            return
        }
        completeIfWhole()
        let position = transfer.position
        let (total, isThere) = file.monitor.withLock { state in
            (state.total, state.intervals.end(from: position) > position)
        }
        if let total, position >= total { return plan() }
        let isCancelled = error?.step == .cancelled
        // Ended by ourselves: it met what is there already. One that begins at the start whatever is there never does, so its
        // end is trouble, wherever that is.
        if isCancelled && (isThere || transfer.received > 0) { return plan() }
        if error == nil, isThere, !transfer.isSequential { return plan() }
        if error == nil, !transfer.hasLength, !isThere, endsHere(transfer, total: total) { return }
        if error?.isEarlyEnd ?? true, endsAlways(transfer, total: total, since: before) { return }
        // Without a byte it was ended by ourselves only where the head was one of another file.
        let message = error.map { isCancelled ? "the song has changed on the server" : $0.message }
        tryAgain(transfer, message ?? "the server ended the connection early")
    }

    /// Whether the clean end of a body of untold length is the end of the file.
    private func endsHere(_ transfer: RangeTransfer, total: Int64?) -> Bool {
        let position = transfer.position
        // With a catalog's length that says otherwise, the second end at the same place counts. What an answer has told
        // outweighs it.
        let isEnd = state.withLock { state in
            defer { state.cleanEnd = position }
            return total == nil || !state.isTotalCertain && state.cleanEnd == position
        }
        guard isEnd, transfer.received > 0 else { return false }
        file.monitor.update { $0.total = position }
        state.withLock { $0.isTotalCertain = true }
        completeIfWhole()
        plan()
        return true
    }

    /// Whether bodies have ended early at the same place for so long that no more can be thought to come.
    ///
    /// Mostly that is a server in trouble, which passes. The length was told wrong, such as that of something still to be made,
    /// only where nobody else tells the same, and where a reader has come to the place from the front and waits there. Near
    /// the end of the song the place is its end then; elsewhere the rest cannot be had.
    private func endsAlways(_ transfer: RangeTransfer, total: Int64?, since before: EarlyEnd?) -> Bool {
        let place = transfer.position
        let reached = file.monitor.withLock { $0.intervals.end(from: 0) }
        let isBelieved = state.withLock { state in
            let isConfirmed = total != nil && (total == catalogSize || total == state.totalOfRanges)
            guard place > 0, place == reached, transfer.fresh == 0, !isConfirmed, state.transfers.isEmpty,
                state.wants.values.contains(place)
            else { return false }
            let due = monotonicNow().advanced(by: patienceAtEarlyEnds)
            let known = before.flatMap { $0.place == place ? $0 : nil } ?? EarlyEnd(place: place, patienceDue: due)
            state.earlyEnd = known
            return monotonicNow() >= known.patienceDue
        }
        guard isBelieved else { return false }
        let rest = (total ?? place) - place
        guard rest <= (total ?? 0) / 8 else {
            fail(.permanent("the server ends this song early each time, after \(place) of \(total ?? place) bytes"))
            return true
        }
        log.info("\(file.path): it ends \(rest) bytes before the length that the server tells")
        state.withLock { $0.isTotalCertain = false }
        file.monitor.update { state in
            state.total = place
            state.isTotalGuessed = true
        }
        completeIfWhole()
        plan()
        return true
    }

    private func act(on verdict: ServerAnswer, _ transfer: RangeTransfer) {
        switch verdict {
        case .audio, .doubtful:
            plan()
        case .failed(let failure):
            fail(failure)
        case .retry(let message, let after):
            tryAgain(transfer, message, notBefore: after)
        case .broken(let message):
            if case .isLost = judge(isDenied: false) { fail(.permanent(message)) } else { tryAgain(transfer, message) }
        case .denied(let failure):
            guard serverHealth != nil else { return fail(failure) }
            switch judge(isDenied: true) {
            case .mayPass: tryAgain(transfer, failure.message)
            case .isLost: fail(.permanent(failure.message))
            case .isRefused(let words): fail(.transport("the server refuses access: \(words)"))
            }
        case .explained(let answer):
            act(on: answer, transfer)
        case .rangeRefused(let total):
            refused(transfer, total)
        }
    }

    /// What is to be thought of a song that the server does not send.
    private enum Judgement {
        case mayPass
        /// The server is well otherwise.
        case isLost
        /// The server lets us in nowhere, and says so.
        case isRefused(String)
    }

    /// Notes that the server fails at the song once more, or denies it. It is asked how it is otherwise when that has gone on
    /// for long; where it denies, also at once, because it may let nobody in.
    private func judge(isDenied: Bool) -> Judgement {
        let (judgement, asks, due) = state.withLock { state -> (Judgement, Bool, UInt64) in
            let now = monotonicNow()
            var failing = state.failing ?? Failing(patienceDue: now.advanced(by: patienceWhenFailing))
            defer { state.failing = failing }
            if failing.isWellOtherwise { return (.isLost, false, failing.patienceDue) }
            if isDenied, let words = failing.refusal { return (.isRefused(words), false, failing.patienceDue) }
            let isTime = now >= failing.patienceDue || isDenied && !failing.wasAsked
            let asks = serverHealth != nil && !failing.isAsking && isTime
            if asks { (failing.isAsking, failing.wasAsked) = (true, true) }
            return (.mayPass, asks, failing.patienceDue)
        }
        if asks, let serverHealth {
            let isLate = monotonicNow() >= due
            // Nobody waits for it: the next answer of the server counts, and this one comes before that or not.
            Task { [weak self] in
                let health = await serverHealth()
                self?.state.withLock { state in
                    // Other outcomes may have come, and other failures, which this says nothing of.
                    guard state.failing?.patienceDue == due else { return }
                    state.failing?.isAsking = false
                    state.failing?.isWellOtherwise = isLate && health == .well
                    state.failing?.refusal = if case .refuses(let words) = health { words } else { nil }
                }
            }
        }
        return judgement
    }

    private func refused(_ transfer: RangeTransfer, _ total: Int64?) {
        // One that refuses what is inside the length that it tells means ranges, or is in trouble.
        guard let total, total > 0, total <= transfer.start else {
            state.withLock { $0.refusesRanges = true }
            tryAgain(transfer, "the server does not send parts of files")
            return
        }
        let (known, isSame) = file.monitor.withLock { file in
            (file.total, file.intervals.ranges.allSatisfy { $0.upperBound <= total })
        }
        let isBelieved = state.withLock { state in
            // Whoever writes the file anew makes it short for a moment.
            let isBelieved = total == known || total == state.doubtfulTotal
            state.doubtfulTotal = total
            guard isBelieved else { return false }
            state.isTotalCertain = true
            if !isSame { state.changes += 1 }
            return true
        }
        guard isBelieved else { return tryAgain(transfer, "the server's file has become shorter") }
        if isSame {
            file.monitor.update { $0.total = total }
            completeIfWhole()
        } else {
            file.reset(total: total)
            notify(.changed)
        }
        plan()
    }

    private func tryAgain(_ transfer: RangeTransfer, _ message: String, notBefore: Duration? = nil) {
        let attempts = state.withLock { state in
            if transfer.fresh >= Self.progress {
                state.attempts = 0
            } else if !state.isWaitingToRetry {
                state.attempts += 1
            }
            state.troublePlace = transfer.position
            return state.attempts
        }
        let delay = min(.milliseconds(500) * attempts, Self.maximumDelay)
        log.debug("\(file.path): \(message); next attempt after \(delay)")
        retry(after: max(delay, notBefore ?? .zero), message)
    }
}
