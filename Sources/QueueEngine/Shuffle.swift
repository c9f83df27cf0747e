/// `random` in the three-tier mode: the list itself is shuffled, so that it shows what will play; the snapshot knows the way back.
extension Queue {
    /// Keeps the snapshot and merges all upcoming entries, shuffled, into the album queue. While stopped, the current
    /// entry is forgotten, as in MPD.
    mutating func shuffleOn(_ step: inout Step) {
        if state == .stopped {
            current = nil
        }
        appendRun = nil
        hasLooseTail = false
        snapshot = ShuffleSnapshot(list.entries)
        let range = upcomingStart..<count
        guard !range.isEmpty else { return }
        touch(&step)
        var arranged = Array(list.entries[range])
        arranged.shuffle(using: &random)
        // What the player cannot avoid any more stays next: the listener will hear it.
        if let promised = arranged.firstIndex(where: { $0.id == committed }) {
            arranged.swapAt(0, promised)
        }
        place(arranged.map { relabeled($0, .albumQueue) }, in: range)
    }

    /// Brings the upcoming entries back into the order and the tiers of the snapshot. What entered Play Next meanwhile
    /// stays in front of what was in it before, as far as the priorities allow.
    mutating func shuffleOff(_ step: inout Step) {
        guard let snapshot else { return }
        self.snapshot = nil
        appendRun = nil
        hasLooseTail = false
        let range = upcomingStart..<count
        guard !range.isEmpty else { return }
        touch(&step)
        let visiblePlayNext = playNextBlock
        var tiers: [[Entry]] = [[], [], []]
        for row in snapshot.rows {
            guard let position = list.position(of: row.id), position >= visiblePlayNext.upperBound else { continue }
            var entry = relabeled(list[position], row.tier)
            entry.priority = row.tier == .playNext ? max(1, row.priority) : 0
            tiers[Int(row.tier.rawValue)].append(entry)
        }
        var playNext = [[Entry]](repeating: [], count: 256)
        for entry in list.entries[visiblePlayNext] + tiers[0] {
            playNext[255 - Int(entry.priority)].append(entry)
        }
        place(playNext.flatMap { $0 } + tiers[1] + tiers[2], in: range)
    }

    /// Before a start out of nothing: everything but Play Next is shuffled, and the chosen entry comes first.
    mutating func shuffleForStart(choosing chosen: Int?, _ step: inout Step) {
        guard count > 0 else { return }
        touch(&step)
        appendRun = nil
        hasLooseTail = false
        let playNext = playNextBlock
        var head: [Entry] = []
        if let chosen {
            head.append(relabeled(list[chosen], .albumQueue))
        }
        head += playNext.filter { $0 != chosen }.map { list[$0] }
        var rest = (playNext.upperBound..<count).filter { $0 != chosen }.map { relabeled(list[$0], .albumQueue) }
        rest.shuffle(using: &random)
        place(head + rest, in: 0..<count)
    }

    /// At the start of a song: gives each loose entry a uniformly random place among the upcoming entries behind Play
    /// Next. The others keep their order; what a client placed at the very end by its position stays there. O(n).
    mutating func dealLooseTail(_ step: inout Step) {
        guard hasLooseTail else { return }
        hasLooseTail = false
        let start = border(of: .playNext)
        guard list.entries[start...].contains(where: { $0.isLoose }) else { return }
        touch(&step)
        appendRun = nil
        let tail = gatherLoose(from: start)
        var loose = list.entries[tail].map { relabeled($0, .albumQueue) }
        loose.shuffle(using: &random)
        let places = random.distinct(loose.count, in: start..<tail.upperBound)
        list.spread(tail, as: loose, over: places, version: version)
    }

    /// Brings the loose entries together, behind the shuffled ones and before those that were placed at the end.
    private mutating func gatherLoose(from start: Int) -> Range<Int> {
        var end = count
        while end > start, !list[end - 1].isLoose, list[end - 1].tier == .userQueue {
            end -= 1
        }
        var first = end
        while first > start, list[first - 1].isLoose {
            first -= 1
        }
        if list.entries[start..<first].contains(where: { $0.isLoose || $0.tier == .userQueue }) {
            let loose = list.entries[start..<end].filter { $0.isLoose }
            let others = list.entries[start..<end].filter { !$0.isLoose }
            let placed = others.filter { $0.tier == .userQueue } + list.entries[end...]
            place(others.filter { $0.tier != .userQueue } + loose + placed, in: start..<count)
            first = count - placed.count - loose.count
            end = count - placed.count
        }
        return first..<end
    }

    /// Carries out an edit. What it brings into Play Next is Play Next in the snapshot too; what it takes out of it is
    /// album queue there.
    mutating func recordingPlayNext(_ edit: (inout Queue) -> Void) {
        guard snapshot != nil else {
            edit(&self)
            return
        }
        let before = Array(list.entries[playNextBlock])
        edit(&self)
        let after = Array(list.entries[playNextBlock])
        guard !before.elementsEqual(after, by: { $0.id == $1.id && $0.priority == $1.priority }) else { return }
        snapshot?.relabel(before: before, after: after)
    }

    private func relabeled(_ entry: Entry, _ tier: Tier) -> Entry {
        var entry = entry
        entry.tier = tier
        entry.priority = 0
        entry.isLoose = false
        return entry
    }

    private mutating func place(_ arranged: [Entry], in range: Range<Int>) {
        list.rearrange(range, as: arranged, version: version)
    }
}
