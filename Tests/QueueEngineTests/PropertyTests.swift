import Testing

@testable import QueueEngine

/// What holds after every operation, whatever came before; in both modes, with random, and with a pretended player.
@Suite struct PropertyTests {
    @Test(arguments: QueueMode.allCases)
    func randomOperations(_ mode: QueueMode) {
        for jump in JumpMode.allCases {
            let failures = RandomRun.failures(mode: mode) { operations in
                var watch = Watch(configuration: QueueConfiguration(mode: mode, jump: jump), seed: 1)
                for operation in operations {
                    if let wrong = watch.perform(operation) { return wrong }
                }
                return nil
            }
            #expect(failures.isEmpty, "\(failures.joined(separator: "\n"))")
        }
    }
}

/// A queue under observation.
private struct Watch {
    var queue: Queue
    var nextKey: UInt32 = 1
    /// What a client remembers: a version, and the list it knew then.
    var known: (version: UInt32, ids: [EntryID])
    /// What a pretended player holds.
    var loaded: EntryID?
    var preloaded: EntryID?

    init(configuration: QueueConfiguration, seed: UInt64) {
        queue = Queue(configuration: configuration, seed: seed)
        known = (queue.version, [])
    }

    mutating func perform(_ operation: Operation) -> String? {
        let before = queue
        let outcome = operation.perform(on: &queue, nextKey: &nextKey)
        follow(operation, outcome.effects, before)
        return checkStorage() ?? checkVersion(before, outcome) ?? checkMembers(before, operation) ?? checkPlayer()
            ?? checkClient(operation) ?? checkFuture() ?? checkShuffleRoundTrip() ?? checkArchive()
    }

    private func checkStorage() -> String? {
        queue.checkInvariants() ? nil : "not in order: \(queue.entries)"
    }

    private func checkVersion(_ before: Queue, _ outcome: Outcome) -> String? {
        let sees: (Entry) -> [UInt32] = { [$0.id.rawValue, UInt32($0.priority), $0.range.start] }
        let hasChanged = before.entries.map(sees) != queue.entries.map(sees)
        if hasChanged, !outcome.changes.contains(.entries) { return "entries changed in silence" }
        if outcome.changes.contains(.entries), queue.version == before.version { return "the version did not grow" }
        if !outcome.changes.contains(.entries), queue.version != before.version { return "the version grew in silence" }
        if before.options != queue.options, !outcome.changes.contains(.options) { return "options changed in silence" }
        let isMoved = before.currentID != queue.currentID && queue.currentID != nil
        if before.state != queue.state || (isMoved && queue.state != .stopped), !outcome.changes.contains(.player) {
            return "the player changed in silence"
        }
        return nil
    }

    private func checkMembers(_ before: Queue, _ operation: Operation) -> String? {
        let old = Set(before.entries.map(\.id))
        let new = Set(queue.entries.map(\.id))
        // Switched on in the commit window it may end and remove the current entry at once.
        let isConsuming = before.options.consume != .off || operation.kind == .consume
        switch operation.kind {
        case .append, .insert, .insertAfter, .insertBefore:
            // An edit in the commit window may end the current entry.
            guard new.isSuperset(of: old) || isConsuming else { return "adding removed" }
        case .delete, .clear:
            guard old.isSuperset(of: new) else { return "removing added" }
        default:
            guard old.isSuperset(of: new) else { return "something was added" }
            guard old == new || (isConsuming && old.count == new.count + 1) else { return "something was removed" }
        }
        guard before.currentID != nil, queue.currentID == nil else { return nil }
        let mayVanish: Set<Operation.Kind> = [.delete, .clear, .next, .end, .flow, .fail, .random, .shuffle]
        // In the commit window every edit may turn out to be the end of the list.
        return mayVanish.contains(operation.kind) || before.committed != nil ? nil : "the current entry vanished"
    }

    /// Does what the player would do.
    private mutating func follow(_ operation: Operation, _ effects: [PlayerEffect], _ before: Queue) {
        if operation.kind == .flow, before.state != .stopped, loaded != nil, let next = before.entering ?? preloaded {
            loaded = next
            preloaded = nil
        }
        for effect in effects {
            switch effect {
            case .load(let id, _, _):
                loaded = id
                preloaded = nil
            case .preload(let id): preloaded = id
            case .stop:
                loaded = nil
                preloaded = nil
            case .pause, .resume, .seek: break
            }
        }
    }

    private func checkPlayer() -> String? {
        if queue.state == .stopped {
            return loaded == nil ? nil : "stopped, but \(String(describing: loaded)) is loaded"
        }
        // While the committed entry is awaited, the player is still at the end of the one before it.
        guard queue.entering == nil else { return preloaded == queue.entering ? nil : "the awaited entry was dropped" }
        guard loaded == queue.currentID else { return "the player holds \(String(describing: loaded))" }
        return preloaded == queue.followingID ? nil : "preloaded \(String(describing: preloaded))"
    }

    private mutating func checkClient(_ operation: Operation) -> String? {
        var ids = Array(known.ids.prefix(queue.count))
        for position in queue.changes(since: known.version) {
            guard let entry = queue.entry(at: position) else { return "a change beyond the queue" }
            if position < ids.count {
                ids[position] = entry.id
            } else {
                ids.append(entry.id)
            }
        }
        guard ids == queue.entries.map(\.id) else { return "plchanges \(known.version) does not lead to the list" }
        if operation.a % 3 == 0 {
            known = (queue.version, ids)
        }
        return nil
    }

    private func checkFuture() -> String? {
        guard queue.state == .playing, queue.entering == nil, let current = queue.currentID else { return nil }
        if queue.configuration.mode == .mpd, queue.options.consume != .off { return nil }
        let promised = queue.nextEntry?.id
        var ended = queue
        _ = ended.trackEnded(current)
        guard ended.currentID == promised else { return "nextsong is not what a natural end leads to" }
        guard let following = queue.preloaded else { return nil }
        var flowed = queue
        let outcome = flowed.trackChanged(to: following)
        guard flowed.currentID == following else { return "the gapless change leads elsewhere" }
        let reloads = outcome.effects.contains { if case .load = $0 { true } else { false } }
        return reloads ? "the gapless change loads again" : nil
    }

    private func checkShuffleRoundTrip() -> String? {
        let keepsCurrent = queue.state != .stopped || queue.currentID == nil
        guard queue.isThreeTier, !queue.options.random, keepsCurrent, queue.committed == nil else { return nil }
        var shuffled = queue
        _ = shuffled.setRandom(true)
        _ = shuffled.setRandom(false)
        let sees: (Entry) -> [UInt32] = { [$0.id.rawValue, UInt32($0.tier.rawValue), UInt32($0.priority)] }
        return shuffled.entries.map(sees) == queue.entries.map(sees) ? nil : "random on and off is not the same list"
    }

    private func checkArchive() -> String? {
        let saved = queue.archive()
        var loaded = Queue(saved, configuration: queue.configuration, seed: 5).archive()
        loaded.version = saved.version
        loaded.nextID = saved.nextID
        loaded.state = saved.state
        return saved == loaded ? nil : "loading gives another queue than was saved"
    }
}
