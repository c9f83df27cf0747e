import Testing

@testable import QueueEngine

/// The queue against the naive one, operation by operation.
@Suite struct ModelTests {
    @Test func threeTiersWithoutRandom() {
        let failures = RandomRun.failures(mode: .threeTier) { operations in
            var queue = Queue(seed: 1)
            var model = NaiveQueue()
            var keys: UInt32 = 1
            var modelKeys: UInt32 = 1
            for operation in operations {
                if [.shuffle, .commit, .random].contains(operation.kind) { continue }
                let before = model.picture
                // `flow` is the report of a gapless change: without a preloaded entry there is none.
                if operation.kind == .flow, queue.preloaded == nil { continue }
                _ = operation.perform(on: &queue, nextKey: &keys)
                model.perform(operation, &modelKeys)
                if picture(queue) != model.picture {
                    return "\(operation) on \(before)\n gives \(picture(queue))\n not   \(model.picture)\n"
                }
                if queue.options != model.options { return "\(operation): options" }
            }
            return nil
        }
        #expect(failures.isEmpty, "\(failures.joined(separator: "\n"))")
    }

    private func picture(_ queue: Queue) -> String {
        var model = NaiveQueue()
        model.state = queue.state
        for (position, entry) in queue.entries.enumerated() {
            let item = NaiveQueue.Item(key: entry.key.rawValue, priority: entry.priority)
            switch queue.section(at: position) {
            case .history: model.history.append(item)
            case .current: model.current = item
            case .playNext: model.playNext.append(item)
            case .albumQueue: model.album.append(item)
            case .userQueue: model.user.append(item)
            case nil: break
            }
        }
        return model.picture
    }
}
