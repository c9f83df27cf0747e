internal import CCurl

/// The transport's thread: takes orders, drives libcurl, watches for stalls. Belongs to that thread alone.
final class CurlLoop {
    private let multi: CurlMulti
    private let mailbox: CurlMailbox
    private let options: CurlTransportOptions
    private var active: [ObjectIdentifier: CurlActiveTransfer] = [:]
    /// Who has and who waits for slots, by the server that was asked at first.
    private var slots: [HTTPOrigin: Slots] = [:]
    /// The address a host last answered at, for when its name does not resolve. Keyed by host and port.
    private var knownAddresses: [HTTPOrigin: String] = [:]
    /// Where the last attempt to connect failed: the address may have changed.
    private var doubtful: Set<HTTPOrigin> = []

    private struct Slots {
        var used = 0
        /// In order of arrival.
        var waiting: [CurlTransfer] = []
    }

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
        for transfer in slots.values.flatMap(\.waiting) {
            transfer.receiver.transferDidFinish(TransportError(.cancelled, "shutting down"))
        }
        // Orders that came between the last look and the closing.
        for case .start(let transfer) in mailbox.take().orders {
            transfer.receiver.transferDidFinish(TransportError(.cancelled, "shutting down"))
        }
        active = [:]
        slots = [:]
    }

    private func carryOut(_ order: CurlOrder) {
        switch order {
        case .start(let transfer):
            guard !transfer.isCancelled else {
                transfer.receiver.transferDidFinish(Self.cancelled)
                return
            }
            guard let origin = transfer.origin else {
                let place = Redaction.url(transfer.request.url)
                transfer.receiver.transferDidFinish(TransportError(.local, "\"\(place)\" is no http or https address"))
                return
            }
            slots[origin, default: Slots()].waiting.append(transfer)
            startWaiting(at: origin)
        case .cancel(let transfer):
            if let transfer = active[ObjectIdentifier(transfer)] {
                transfer.leave(multi)
                end(transfer, Self.cancelled)
            } else if let origin = transfer.origin,
                let index = slots[origin]?.waiting.firstIndex(where: { $0 === transfer })
            {
                slots[origin]?.waiting.remove(at: index)
                transfer.receiver.transferDidFinish(Self.cancelled)
            }
        }
    }

    private static let cancelled = TransportError(.cancelled, "cancelled")

    private func startWaiting(at origin: HTTPOrigin) {
        while var place = slots[origin], place.used < options.maximumTransfersPerServer, !place.waiting.isEmpty {
            let transfer = place.waiting.removeFirst()
            place.used += 1
            slots[origin] = place
            start(transfer, doubtsAddress: doubtful.contains(origin))
        }
    }

    private func start(_ transfer: CurlTransfer, doubtsAddress: Bool) {
        guard let new = CurlActiveTransfer(transfer, options: options, doubtsAddress: doubtsAddress) else {
            freeSlot(of: transfer)
            transfer.receiver.transferDidFinish(Self.noMemory)
            return
        }
        active[ObjectIdentifier(transfer)] = new
        if !new.start(in: multi) { end(new, Self.noMemory) }
    }

    private static let noMemory = TransportError(.local, "out of memory")

    private func freeSlot(of transfer: CurlTransfer) {
        guard let origin = transfer.origin else { return }
        slots[origin]?.used -= 1
        if let place = slots[origin], place.used == 0, place.waiting.isEmpty { slots[origin] = nil }
    }

    private func didFinish(_ transfer: CurlActiveTransfer, _ code: CURLcode) {
        transfer.leave(multi)
        if transfer.continues(after: code, knownAddress: knownAddresses[transfer.origin], in: multi) { return }
        if transfer.failedToConnect(code) {
            doubtful.insert(transfer.origin)
        } else {
            doubtful.remove(transfer.origin)
        }
        if let address = transfer.resolvedAddress { knownAddresses[transfer.origin] = address }
        forget(transfer)
        transfer.finish(code)
        startWaiting(after: transfer)
    }

    /// Ends a transfer that has left the multi handle, or was never in it.
    private func end(_ transfer: CurlActiveTransfer, _ error: TransportError) {
        forget(transfer)
        transfer.finish(error)
        startWaiting(after: transfer)
    }

    private func forget(_ transfer: CurlActiveTransfer) {
        active[ObjectIdentifier(transfer.transfer)] = nil
        freeSlot(of: transfer.transfer)
    }

    private func startWaiting(after transfer: CurlActiveTransfer) {
        if let origin = transfer.transfer.origin { startWaiting(at: origin) }
    }

    private func endStalled() {
        let now = ContinuousClock.now
        for transfer in active.values {
            guard let deadline = transfer.deadline, deadline <= now else { continue }
            transfer.leave(multi)
            end(transfer, transfer.stallError())
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
