public import MPDProtocol

/// Filters on what is in no library.
extension CompiledFilter {
    /// Whether a song matches of which no more is known than a URI and tags.
    /// - Parameter priority: that of the queue entry.
    public func matches(uri: [UInt8], tags: [(tag: Tag, text: [UInt8])], priority: UInt8) -> Bool {
        matches(term, LooseSong(uri: uri, tags: tags, priority: priority))
    }

    private struct LooseSong {
        var uri: [UInt8]
        var tags: [(tag: Tag, text: [UInt8])]
        var priority: UInt8
    }

    private func matches(_ term: Term, _ song: LooseSong) -> Bool {
        switch term {
        case .tag(_, let chain, let test):
            for tag in chain {
                let values = song.tags.filter { $0.tag == tag }
                if !values.isEmpty { return values.contains { Self.matches($0.text, test) } }
            }
            return test.isEmpty
        case .anyTag(let test): return song.tags.contains { Self.matches($0.text, test) }
        case .uri(let test): return Self.matches(song.uri, test)
        case .range(_, let base):
            // Everything is below the root.
            guard !base.isEmpty, song.uri != base else { return true }
            let slash = UInt8(ascii: "/")
            if base.last == slash { return song.uri.starts(with: base) }
            return song.uri.starts(with: base + [slash])
        // Neither times nor a format are known, and no shelf has it.
        case .songs, .modifiedSince, .addedSince, .format: return false
        case .priority(let least): return song.priority >= least
        case .not(let term): return !matches(term, song)
        case .and(let terms): return terms.allSatisfy { matches($0, song) }
        }
    }

    private static func matches(_ text: [UInt8], _ test: TextTest) -> Bool {
        (test.wantsFolded ? TextFolding.folded(text) : text).withView(test.matches)
    }
}
