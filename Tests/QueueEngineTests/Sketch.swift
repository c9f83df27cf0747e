@testable import QueueEngine

/// Queues written as one line: `a [b] | x y | c d | u`. In front of the first bar history and the current entry, then Play
/// Next, album queue and user queue. Without brackets there is no current entry. A letter may carry a priority: `x:5`.
/// Letters are the songs; the ids are given in the order of the line, from 1.
enum Sketch {
    /// A playing queue in the three-tier mode, as drawn.
    static func queue(
        _ line: String,
        state: PlayState = .playing,
        configuration: QueueConfiguration = QueueConfiguration(),
        seed: UInt64 = 1
    ) -> Queue {
        var queue = Queue(configuration: configuration, seed: seed)
        var entries: [Entry] = []
        let blocks = line.split(separator: "|", omittingEmptySubsequences: false)
        for (block, text) in blocks.enumerated() {
            for word in text.split(separator: " ") {
                let name = word.filter { $0 != "[" && $0 != "]" }.split(separator: ":")
                guard let letter = name.first?.unicodeScalars.first else { continue }
                if word.first == "[" {
                    queue.current = entries.count
                }
                let tier: Tier = block == 1 ? .playNext : block == 3 ? .userQueue : .albumQueue
                let priority = name.count > 1 ? UInt8(name[1]) ?? 0 : block == 1 ? 1 : 0
                let id = EntryID(UInt32(entries.count + 1))
                entries.append(
                    Entry(id: id, key: SongKey(letter.value), tier: tier, version: 1, priority: priority)
                )
            }
        }
        queue.list.insert(entries, at: 0, version: 1)
        queue.nextID = UInt32(entries.count + 1)
        queue.hasStarted = queue.current != nil || entries.last?.tier == .userQueue
        queue.state = queue.current == nil ? .stopped : state
        queue.preloaded = queue.state == .stopped ? nil : queue.followingID
        return queue
    }

    /// The line of a queue, with letters; priorities only where they are not the usual ones.
    static func line(_ queue: Queue) -> String {
        var blocks: [[String]] = [[], [], [], []]
        for (position, entry) in queue.entries.enumerated() {
            let letter = letter(entry.key)
            switch queue.section(at: position) {
            case .history: blocks[0].append(letter)
            case .current: blocks[0].append("[\(letter)]")
            case .playNext: blocks[1].append(entry.priority == 1 ? letter : "\(letter):\(entry.priority)")
            case .albumQueue: blocks[2].append(letter)
            case .userQueue: blocks[3].append(letter)
            case nil: break
            }
        }
        return blocks.map { $0.joined(separator: " ") }.joined(separator: " | ")
    }

    /// The same line with single spaces, so that tables may be aligned.
    static func normalized(_ line: String) -> String {
        line.split(separator: "|", omittingEmptySubsequences: false)
            .map { $0.split(separator: " ").joined(separator: " ") }
            .joined(separator: " | ")
    }

    /// The songs in order, as letters.
    static func letters(_ queue: Queue) -> String {
        queue.entries.map { letter($0.key) }.joined()
    }

    /// The letter of the current song, `-` without one.
    static func current(_ queue: Queue) -> String {
        queue.currentEntry.map { letter($0.key) } ?? "-"
    }

    /// The letter of the song that follows by `status`, `-` without one.
    static func next(_ queue: Queue) -> String {
        queue.nextEntry.flatMap { queue.entry(at: $0.position) }.map { letter($0.key) } ?? "-"
    }

    /// The position of a letter.
    static func position(_ letter: Character, in queue: Queue) -> Int {
        queue.entries.firstIndex { $0.key == key(letter) } ?? -1
    }

    /// The id of a letter; 0 if it is not there.
    static func id(_ letter: Character, in queue: Queue) -> EntryID {
        queue.entries.first { $0.key == key(letter) }?.id ?? EntryID(0)
    }

    /// The songs of a word, letter by letter.
    static func keys(_ letters: String) -> [SongKey] {
        letters.unicodeScalars.map { SongKey($0.value) }
    }

    private static func key(_ letter: Character) -> SongKey {
        SongKey(letter.unicodeScalars.first?.value ?? 0)
    }

    private static func letter(_ key: SongKey) -> String {
        Unicode.Scalar(key.rawValue).map(String.init) ?? "?"
    }
}

/// A queue in the mode `mpd` with the songs of a word, one letter each.
func mpdQueue(_ letters: String, seed: UInt64 = 1) throws -> Queue {
    var queue = Queue(configuration: QueueConfiguration(mode: .mpd), seed: seed)
    _ = try queue.append(contentsOf: Sketch.keys(letters))
    return queue
}
