extension Queue {
    /// Chooses the part of a song that an entry plays; `.whole` removes the choice. Always a change, as in MPD. The caller
    /// has checked it against the length of the song.
    /// - Throws: `noSuchSong`; `cannotEditCurrentSong` while the entry plays or is paused.
    public mutating func setRange(_ range: PlaybackRange, id: EntryID) throws(QueueError) -> Outcome {
        let position = try existingPosition(of: id)
        if position == current, state != .stopped { throw .cannotEditCurrentSong }
        var step = Step()
        touch(&step)
        list[position].range = range
        list[position].version = version
        if preloaded == id {
            preloaded = nil
        }
        return finish(step)
    }

    /// Gives an entry another key, which plays the same but is shown differently: other tags. Always a change, as in MPD;
    /// what was drawn to play next stays.
    /// - Throws: `noSuchSong`.
    public mutating func setKey(_ key: SongKey, id: EntryID) throws(QueueError) -> Outcome {
        let position = try existingPosition(of: id)
        var step = Step()
        let lap = nextLap
        touch(&step)
        nextLap = lap
        list[position].key = key
        list[position].version = version
        return finish(step)
    }

    /// Counts entries as changed whose songs are shown differently now. Looks at each entry once.
    /// - Parameter isChanged: whether the song of a key is one of them.
    public mutating func markChanged(where isChanged: (SongKey) -> Bool) -> Outcome {
        var step = Step()
        if let first = list.entries.firstIndex(where: { isChanged($0.key) }) {
            touch(&step)
            list.markChanged(from: first, version: version, where: isChanged)
        }
        return finish(step)
    }
}
