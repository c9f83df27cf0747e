/// The result of a command that goes through its arguments one by one and keeps what was done before a wrong one.
public struct PartialOutcome: Sendable, Equatable {
    /// What came of the arguments before the wrong one, or of all.
    public var outcome: Outcome
    /// What was wrong; nil: nothing.
    public var error: QueueError?
}

extension Queue {
    /// Sets the priority, 0 to 255, of the entries of several spans; `prio`.
    ///
    /// In the three-tier mode a positive priority brings entries into Play Next, as one block in the order of the list,
    /// before the first entry there with a lower one; 0 takes them out, to the front of the album queue. The current
    /// entry is left alone. A change even if nothing is different, as in MPD.
    public mutating func setPriority(_ priority: UInt8, _ spans: [PositionSpan]) -> PartialOutcome {
        var ranges: [Range<Int>] = []
        var failure: QueueError?
        for span in spans {
            guard let range = try? span.clipped(to: count) else {
                failure = .badSongIndex
                break
            }
            ranges.append(range)
        }
        return PartialOutcome(outcome: setPriority(priority, ranges: ranges), error: failure)
    }

    /// Sets the priority of several entries; `prioid`. As for spans.
    public mutating func setPriority(_ priority: UInt8, ids: [EntryID]) -> PartialOutcome {
        var ranges: [Range<Int>] = []
        var failure: QueueError?
        for id in ids {
            guard let position = list.position(of: id) else {
                failure = .noSuchSong(id)
                break
            }
            ranges.append(position..<position + 1)
        }
        return PartialOutcome(outcome: setPriority(priority, ranges: ranges), error: failure)
    }

    private mutating func setPriority(_ priority: UInt8, ranges: [Range<Int>]) -> Outcome {
        var step = Step()
        let ranges = ranges.filter { !$0.isEmpty }
        guard !ranges.isEmpty else { return finish(step) }
        if isThreeTier {
            touch(&step)
            appendRun = nil
            // Resolved on the list as it is before the command.
            let playNext = playNextBlock
            let chosen = distinctSorted(ranges).filter { position in
                position != current && (priority > 0 || playNext.contains(position))
            }
            if !chosen.isEmpty {
                let target =
                    priority > 0
                    ? playNext.first { list[$0].priority < priority && !sorted(chosen, contains: $0) }
                        ?? playNext.upperBound
                    : playNext.upperBound
                recordingPlayNext { queue in
                    let block = queue.gather(chosen, before: target)
                    queue.relabel(block, priority: priority)
                }
            }
        } else {
            for range in ranges {
                // MPD counts each argument as a modification.
                growVersion()
                step.changes.insert(.entries)
                for position in range {
                    let old = list[position].priority
                    setShownPriority(priority, at: position)
                    if old != priority {
                        reorderForPriority(position, old: old)
                    }
                }
            }
        }
        return finish(step)
    }

    private func distinctSorted(_ ranges: [Range<Int>]) -> [Int] {
        var positions = ranges.flatMap { Array($0) }
        guard ranges.count > 1 else { return positions }
        positions.sort()
        var distinct: [Int] = []
        for position in positions where distinct.last != position {
            distinct.append(position)
        }
        return distinct
    }

    private func sorted(_ positions: [Int], contains wanted: Int) -> Bool {
        var low = positions.startIndex
        var high = positions.endIndex
        while low < high {
            let middle = low + (high - low) / 2
            if positions[middle] < wanted {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low < positions.endIndex && positions[low] == wanted
    }

    /// Brings scattered entries together, in their order, directly before the entry at `target`.
    /// - Returns: where they stand now.
    private mutating func gather(_ positions: [Int], before target: Int) -> Range<Int> {
        guard let first = positions.first, let last = positions.last else { return target..<target }
        if last - first == positions.count - 1 {
            return move(first..<last + 1, before: target)
        }
        let region = min(first, target)..<max(last + 1, target)
        var chosen: [Entry] = []
        var before: [Entry] = []
        var behind: [Entry] = []
        var next = positions.startIndex
        for position in region {
            if next < positions.endIndex, positions[next] == position {
                chosen.append(list[position])
                next += 1
            } else if position < target {
                before.append(list[position])
            } else {
                behind.append(list[position])
            }
        }
        let currentID = currentID
        list.rearrange(region, as: before + chosen + behind, version: version)
        current = currentID.flatMap { list.position(of: $0) }
        let start = region.lowerBound + before.count
        return start..<start + chosen.count
    }

    /// The common case: the entries stand together already.
    private mutating func move(_ range: Range<Int>, before target: Int) -> Range<Int> {
        if range.lowerBound >= target {
            list.move(range, to: target, version: version)
            return target..<target + range.count
        }
        let start = max(range.lowerBound, target - range.count)
        list.move(range, to: start, version: version)
        if let position = current, position >= range.upperBound, position < target {
            current = position - range.count
        }
        return start..<start + range.count
    }

    private mutating func relabel(_ block: Range<Int>, priority: UInt8) {
        for place in block {
            list[place].tier = priority > 0 ? .playNext : .albumQueue
            list[place].isLoose = false
            setShownPriority(priority, at: place)
        }
    }
}
