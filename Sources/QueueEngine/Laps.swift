/// Repeat with random: each round through the queue has its own order.
///
/// The order of the next round is drawn as soon as the last entry is current, so that `nextsong` and the gapless change
/// are right, and drawn anew when the queue changes.
extension Queue {
    /// Draws the next lap if the current entry is the last one, repeats shuffled, and has none yet; else forgets it.
    mutating func drawLapIfDue() {
        guard options.random, options.repeat, count > 1, let current, following(current) == nil else {
            nextLap = nil
            return
        }
        guard nextLap == nil else { return }
        var lap = list.entries.map(\.id)
        if isThreeTier {
            lap.shuffle(using: &random)
        } else {
            lap = shuffledByPriority()
        }
        if let promised = lap.firstIndex(where: { $0 == committed }) {
            lap.swapAt(0, promised)
        }
        // Never the same entry twice in a row.
        if lap[0] == list[current].id {
            let other = 1 + random.below(lap.count - 1)
            lap.swapAt(0, other)
        }
        nextLap = lap
    }

    /// Brings the list (in the mode `mpd` the hidden order) into the order of the drawn lap.
    /// - Returns: the position of the lap's first entry.
    mutating func beginLap(_ step: inout Step) -> Int {
        guard let lap = nextLap else { return firstInOrder }
        nextLap = nil
        guard isThreeTier else {
            hiddenOrder = lap
            return firstInOrder
        }
        touch(&step)
        appendRun = nil
        let currentID = currentID
        let arranged = lap.compactMap { id in list.position(of: id).map { list[$0] } }
        list.rearrange(0..<count, as: arranged, version: version)
        current = currentID.flatMap { list.position(of: $0) }
        return 0
    }
}
