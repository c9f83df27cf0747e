public import MPDProtocol

extension LibrarySnapshot {
    /// The songs in another order; equal ones stay in database order, also when descending.
    ///
    /// Track and Disc compare as numbers, other tags as bytes (with fallbacks, the first value, none first), times as
    /// times (unknown first). The priority is the queue's: here it leaves the order as it is.
    ///
    /// Source: MPD `src/tag/Sort.cxx`.
    func sorted(_ set: SongSet, by order: SortOrder) -> SongSelection {
        guard let key = key(of: order.key) else { return set.selection }
        var keys: [UInt64] = []
        keys.reserveCapacity(set.count)
        set.forEach { song in
            let key = order.isDescending ? ~key(song) : key(song)
            // The song in the lower half keeps equal keys in database order.
            keys.append(UInt64(key) << 32 | UInt64(UInt32(truncatingIfNeeded: song)))
        }
        keys.sort()
        return SongSelection(list: keys.map { UInt32(truncatingIfNeeded: $0) })
    }

    /// A number that orders songs as a `sort` wants, smaller ones first; nil for the priority, which no song has.
    public func sortKey(of key: SortOrder.Key) -> ((SongIndex) -> UInt32)? {
        self.key(of: key).map { key in { key($0.place) } }
    }

    private func key(of key: SortOrder.Key) -> ((Int) -> UInt32)? {
        switch key {
        case .tag(let tag): sortKey(of: tag)
        case .lastModified: { self.songs.lastModified[$0] }
        case .added: { self.songs.added[$0] }
        case .priority: nil
        }
    }

    /// A number that orders songs as the tag does.
    private func sortKey(of tag: Tag) -> (Int) -> UInt32 {
        let chain = [tag] + tag.sortFallbacks
        if tag == .track || tag == .disc {
            return { song in
                let number = self.firstValue(song, chain).map { self.values[Int($0)].leadingInteger } ?? 0
                return UInt32(bitPattern: Int32(clamping: number)) ^ 0x8000_0000
            }
        }
        // Ids of values are ranks.
        return { song in self.firstValue(song, chain).map { $0 + 1 } ?? 0 }
    }

    /// The id of the first value of the first type in the chain that the song has.
    func firstValue(_ song: Int, _ chain: [Tag]) -> UInt32? {
        let range = songs.tagRange(song)
        for tag in chain {
            for index in range where songs.tags[index] >> ImageLayout.valueBits == UInt32(tag.rawValue) {
                return songs.tags[index] & ImageLayout.valueMask
            }
        }
        return nil
    }
}
