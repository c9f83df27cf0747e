internal import CCurl

/// The transport's thread: takes orders, drives libcurl, watches for stalls. Belongs to that thread alone.
final class CurlLoop {
    private let multi: CurlMulti
    private let mailbox: CurlMailbox
    private let options: CurlTransportOptions
    private var active: [ObjectIdentifier: CurlActiveTransfer] = [:]
    /// Transfers that wait for one of their server's slots, in order of arrival.
    private var waiting: [CurlTransfer] = []
    /// The address a host last answered at, for when its name does not resolve. Keyed by host and port.
    private var knownAddresses: [HTTPOrigin: String] = [:]

    /// Nil when memory or file descriptors are short.
    init?(mailbox: CurlMailbox, options: CurlTransportOptions) {
        guard let multi = CurlMulti() else { return nil }
        mailbox.open(multi.waker)
        self.multi = multi
        self.mailbox = mailbox
        self.options = options
    }

    /// Runs until the mailbox says stop; then ends what is under way and returns.
    func run() {
        while true {
            let (orders, isStopping) = mailbox.take()
            for order in orders { carryOut(order) }
            if isStopping { break }
            multi.perform()
            while let (transfer, code) = multi.nextFinished() { didFinish(transfer, code) }
            endStalled()
            multi.poll(milliseconds: timeout())
        }
        mailbox.close()
        for transfer in active.values {
            transfer.leave(multi)
            transfer.finish(TransportError(.cancelled, "shutting down"))
        }
        for transfer in waiting { transfer.receiver.transferDidFinish(TransportError(.cancelled, "shutting down")) }
        // Orders that came between the last look and the closing.
        for case .start(let transfer) in mailbox.take().orders {
            transfer.receiver.transferDidFinish(TransportError(.cancelled, "shutting down"))
        }
        active = [:]
        waiting = []
    }

    private func carryOut(_ order: CurlOrder) {
        switch order {
        case .start(let transfer):
            if transfer.isCancelled {
                transfer.receiver.transferDidFinish(Self.cancelled)
            } else if hasSlot(for: transfer) {
                start(transfer)
            } else {
                waiting.append(transfer)
            }
        case .cancel(let transfer):
            if let transfer = active.removeValue(forKey: ObjectIdentifier(transfer)) {
                transfer.leave(multi)
                transfer.finish(Self.cancelled)
                startWaiting()
            } else if let index = waiting.firstIndex(where: { $0 === transfer }) {
                waiting.remove(at: index)
                transfer.receiver.transferDidFinish(Self.cancelled)
            }
        }
    }

    private static let cancelled = TransportError(.cancelled, "cancelled")

    private func start(_ transfer: CurlTransfer) {
        guard let new = CurlActiveTransfer(transfer, options: options) else {
            let place = Redaction.url(transfer.request.url)
            transfer.receiver.transferDidFinish(TransportError(.local, "\(place) is no http or https address"))
            return
        }
        active[ObjectIdentifier(transfer)] = new
        if !new.start(in: multi) { end(new, TransportError(.local, "out of memory")) }
    }

    private func hasSlot(for transfer: CurlTransfer) -> Bool {
        guard let origin = HTTPOrigin(transfer.request.url) else { return true }
        return active.values.count { $0.origin == origin } < options.maximumTransfersPerServer
    }

    private func startWaiting() {
        var index = 0
        while index < waiting.count {
            if hasSlot(for: waiting[index]) { start(waiting.remove(at: index)) } else { index += 1 }
        }
    }

    private func didFinish(_ transfer: CurlActiveTransfer, _ code: CURLcode) {
        transfer.leave(multi)
        if transfer.continues(after: code, knownAddress: knownAddresses[transfer.origin], in: multi) { return }
        if let address = transfer.resolvedAddress { knownAddresses[transfer.origin] = address }
        active[ObjectIdentifier(transfer.transfer)] = nil
        transfer.finish(code)
        startWaiting()
    }

    private func end(_ transfer: CurlActiveTransfer, _ error: TransportError) {
        transfer.leave(multi)
        active[ObjectIdentifier(transfer.transfer)] = nil
        transfer.finish(error)
        startWaiting()
    }

    private func endStalled() {
        let now = ContinuousClock.now
        for transfer in active.values {
            if let deadline = transfer.deadline, deadline <= now { end(transfer, transfer.stallError()) }
        }
    }

    /// Milliseconds until the next stall is due; libcurl wakes earlier for its own timers.
    private func timeout() -> Int32 {
        guard let first = active.values.compactMap(\.deadline).min() else { return 600_000 }
        let (seconds, attoseconds) = (first - .now).components
        guard seconds < 600 else { return 600_000 }
        return Int32(clamping: max(0, seconds * 1_000 + attoseconds / 1_000_000_000_000_000 + 1))
    }
}
