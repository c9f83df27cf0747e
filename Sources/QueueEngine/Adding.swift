extension Queue {
    /// Adds songs at the end: to the album queue while nothing has been started since the queue was last empty, later to
    /// the user queue. One version for all.
    ///
    /// When not all fit, the first ones are added, as in MPD; the ids in the result tell how many.
    /// - Throws: `playlistFull` when none fits.
    public mutating func append(contentsOf keys: [SongKey]) throws(QueueError) -> Addition {
        try append(keys, isOfClient: true)
    }

    /// Adds songs at the end that nobody has asked for, because the queue would run out: they go on with the album queue,
    /// unless a user queue stands there. They are no run that a client could start.
    /// - Throws: `playlistFull` when none fits.
    public mutating func continues(with keys: [SongKey]) throws(QueueError) -> Addition {
        try append(keys, isOfClient: false)
    }

    private mutating func append(_ keys: [SongKey], isOfClient: Bool) throws(QueueError) -> Addition {
        let fitting = try fitting(keys)
        var step = Step()
        guard !fitting.isEmpty else { return Addition(ids: EntryID(nextID)..<EntryID(nextID), outcome: finish(step)) }
        let ids = reserveIDs(fitting.count)
        guard !ids.isEmpty else { throw .playlistFull }
        touch(&step)
        let start = count
        let goesOn = !isOfClient && userQueueBlock.isEmpty
        let tier: Tier = isThreeTier && hasStarted && !goesOn ? .userQueue : .albumQueue
        insertEntries(fitting, ids: ids, at: start, tier: tier)
        if snapshot != nil {
            snapshot?.append(list.entries[start...])
            for place in start..<count {
                list[place].isLoose = true
            }
            hasLooseTail = true
        }
        if !isOfClient {
            appendRun = nil
        } else if let run = appendRun, run.upperBound == ids.lowerBound {
            appendRun = run.lowerBound..<ids.upperBound
        } else {
            appendRun = ids
        }
        return Addition(ids: ids, outcome: finish(step))
    }

    /// Adds songs at the place that a client named, as one block. One version for all.
    /// - Throws: `numberTooLarge`, `noCurrentSong`; `playlistFull` when none fits.
    public mutating func insert(contentsOf keys: [SongKey], at placement: Placement) throws(QueueError) -> Addition {
        let position = try insertPosition(placement)
        let fitting = try fitting(keys)
        var step = Step()
        guard !fitting.isEmpty else { return Addition(ids: EntryID(nextID)..<EntryID(nextID), outcome: finish(step)) }
        let ids = reserveIDs(fitting.count)
        guard !ids.isEmpty else { throw .playlistFull }
        touch(&step)
        if !isThreeTier, position < count {
            // MPD appends first and moves then: two modifications.
            growVersion()
        }
        appendRun = nil
        insertEntries(fitting, ids: ids, at: position, tier: .albumQueue)
        labelLanded(position..<position + ids.count)
        snapshot?.insert(
            list.entries[position..<position + ids.count],
            behind: position > 0 ? list[position - 1].id : nil
        )
        return Addition(ids: ids, outcome: finish(step))
    }

    /// The position that a placement means for new entries, so that a command can be refused before it looks for songs.
    /// - Throws: `numberTooLarge`, `noCurrentSong`.
    public func insertPosition(_ placement: Placement) throws(QueueError) -> Int {
        switch placement {
        case .absolute(let position):
            guard position >= 0, position <= count else { throw .numberTooLarge(position) }
            return position
        case .afterCurrent(let distance):
            guard let current else { throw .noCurrentSong }
            guard distance >= 0, distance < count - current else { throw .numberTooLarge(distance) }
            return current + 1 + distance
        case .beforeCurrent(let distance):
            guard let current else { throw .noCurrentSong }
            guard distance >= 0, distance <= current else { throw .numberTooLarge(distance) }
            return current - distance
        }
    }

    /// The songs that still fit.
    private func fitting(_ keys: [SongKey]) throws(QueueError) -> ArraySlice<SongKey> {
        let limit = min(configuration.maximumLength ?? Int.max, Int(EntryID.highest))
        let room = max(0, limit - count)
        guard room > 0 || keys.isEmpty else { throw .playlistFull }
        return keys.prefix(room)
    }

    private mutating func insertEntries(_ keys: ArraySlice<SongKey>, ids: Range<EntryID>, at position: Int, tier: Tier)
    {
        var new: [Entry] = []
        new.reserveCapacity(keys.count)
        var id = ids.lowerBound.rawValue
        for key in keys {
            new.append(Entry(id: EntryID(id), key: key, tier: tier, version: version))
            id += 1
        }
        list.insert(new, at: position, version: version)
        if let place = current, place >= position {
            current = place + new.count
        }
        insertIntoHiddenOrder(ids)
    }

    /// Takes that many consecutive ids that no entry has; none if there is no such run. They wrap to 1 behind 2^31 - 1.
    private mutating func reserveIDs(_ amount: Int) -> Range<EntryID> {
        guard amount > 0 else { return EntryID(nextID)..<EntryID(nextID) }
        var first = Int(nextID)
        var probe = first
        var hasWrapped = false
        while probe < first + amount {
            if first + amount > Int(EntryID.highest) + 1 {
                if hasWrapped { return EntryID(nextID)..<EntryID(nextID) }
                hasWrapped = true
                idsHaveWrapped = true
                first = 1
                probe = 1
            }
            // Until the counter wraps, no entry has an id that is not below it.
            if !idsHaveWrapped {
                probe = first + amount
            } else {
                if list.contains(EntryID(UInt32(clamping: probe))) { first = probe + 1 }
                probe += 1
            }
        }
        let end = EntryID(UInt32(clamping: probe))
        nextID = end.rawValue > EntryID.highest ? 1 : end.rawValue
        idsHaveWrapped = idsHaveWrapped || nextID == 1
        return EntryID(UInt32(clamping: first))..<end
    }
}
