import MPDProtocol

extension LibrarySnapshot {
    /// The songs in another order; equal ones stay in database order, also when descending.
    ///
    /// Track and Disc compare as numbers, other tags as bytes (with fallbacks, the first value, none first), times as
    /// times (unknown first). The priority is the queue's: here it leaves the order as it is.
    ///
    /// Source: MPD `src/tag/Sort.cxx`.
    func sorted(_ set: SongSet, by order: SortOrder) -> SongSelection {
        let key: (Int) -> UInt32
        switch order.key {
        case .tag(let tag): key = sortKey(of: tag)
        case .lastModified: key = { self.songs.lastModified[$0] }
        case .added: key = { self.songs.added[$0] }
        case .priority: return set.selection
        }
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

    /// A number that orders songs as the tag does.
    private func sortKey(of tag: Tag) -> (Int) -> UInt32 {
        let chain = [tag] + tag.fallbacks
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
