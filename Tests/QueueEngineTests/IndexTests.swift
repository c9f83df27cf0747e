import Support
import Testing

@testable import QueueEngine

/// The storage: ids and positions through many edits.
@Suite struct IndexTests {
    @Test func theIndexBehavesLikeADictionary() {
        var random = SeededRandom(seed: SeededNumbers.seed(usually: 5))
        var index = EntryIndex()
        var model: [EntryID: UInt32] = [:]
        for step in 0..<20_000 {
            let id = EntryID(1 + UInt32(random.below(300)) * (step % 2 == 0 ? 1 : 7_340_033))
            if model[id] == nil {
                index.insert(id, slot: UInt32(step))
                model[id] = UInt32(step)
            } else if random.below(3) > 0 {
                index.remove(id)
                model[id] = nil
            }
            #expect(index[id] == model[id])
            #expect(index.count == model.count)
        }
        for (id, slot) in model {
            #expect(index[id] == slot)
        }
        #expect(index[EntryID(0)] == nil)
    }

    @Test func positionsFollowEveryEdit() {
        var random = SeededRandom(seed: SeededNumbers.seed(usually: 6))
        var list = EntryList()
        var model: [UInt32] = []
        var nextID: UInt32 = 1
        for version in 2..<3_000 as Range<UInt32> {
            switch random.below(5) {
            case 0, 1:
                let position = random.below(model.count + 1)
                let new = (0..<UInt32(1 + random.below(4))).map { nextID + $0 }
                nextID += UInt32(new.count)
                list.insert(
                    new.map { Entry(id: EntryID($0), key: SongKey($0), tier: .albumQueue, version: version) },
                    at: position,
                    version: version
                )
                model.insert(contentsOf: new, at: position)
            case 2:
                let start = random.below(model.count + 1)
                let range = start..<min(model.count, start + random.below(5))
                list.remove(range, version: version)
                model.removeSubrange(range)
            case 3 where !model.isEmpty:
                let start = random.below(model.count)
                let range = start..<min(model.count, start + 1 + random.below(4))
                let target = random.below(model.count - range.count + 1)
                list.move(range, to: target, version: version)
                let block = Array(model[range])
                model.removeSubrange(range)
                model.insert(contentsOf: block, at: target)
            case 4 where model.count > 1:
                let first = random.below(model.count)
                let second = random.below(model.count)
                list.swap(first, second, version: version)
                model.swapAt(first, second)
            default:
                break
            }
            #expect(list.entries.map(\.id.rawValue) == model)
            #expect(model.indices.allSatisfy { list.position(of: EntryID(model[$0])) == $0 })
        }
    }
}
