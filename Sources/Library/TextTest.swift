import MPDProtocol

/// A text comparison of a filter, made ready: folded, compiled. Without its negation.
struct TextTest {
    let kind: TextMatch.Operator
    let foldsCase: Bool
    /// Whether letters are compared without their marks.
    let stripsDiacritics: Bool
    /// Folded where `foldsCase`; the pattern of a regular expression is not.
    let text: [UInt8]
    /// Songs without a value match an empty text, whatever the operator.
    let isEmpty: Bool
    let regex: Regex?

    init(_ match: TextMatch) throws(FilterError) {
        kind = match.operator
        isEmpty = match.text.isEmpty
        foldsCase = match.foldsCase
        stripsDiacritics = match.stripsDiacritics && match.operator != .regex
        if match.operator == .regex {
            regex = try Regex(match.text, foldsCase: match.foldsCase)
            text = match.text
        } else {
            regex = nil
            text =
                stripsDiacritics
                ? match.text.withView { TextFolding.stripped($0, foldsCase: match.foldsCase) }
                : match.foldsCase ? TextFolding.folded(match.text) : match.text
        }
    }

    /// Whether values must be handed over folded.
    var wantsFolded: Bool { foldsCase && regex == nil }

    /// Whether a value matches; it must be folded if `wantsFolded`.
    func matches(_ value: ByteView) -> Bool {
        if let regex { return regex.matches(value) }
        if stripsDiacritics, !value.isASCII {
            return TextFolding.stripped(value, foldsCase: foldsCase).withView(compares)
        }
        return compares(value)
    }

    private func compares(_ value: ByteView) -> Bool {
        text.withView { text in
            switch kind {
            case .equals: value == text
            case .contains: value.contains(text)
            case .startsWith, .regex: value.hasPrefix(text)
            }
        }
    }

    /// Calls `body` with the places of an index whose values match, ascending.
    func forEachPlace(in index: TagIndex, of values: ImageTexts, _ body: (Int) -> Void) {
        if kind != .equals, regex == nil, text.isEmpty {
            for place in 0..<index.values.count { body(place) }
        } else if stripsDiacritics {
            for place in 0..<index.values.count {
                let value = foldsCase ? index.foldedText(at: place) : values[Int(index.values[place])]
                if matches(value) { body(place) }
            }
        } else if wantsFolded {
            forEachFoldedPlace(in: index, body)
        } else if kind == .contains || regex != nil {
            for place in 0..<index.values.count where matches(values[Int(index.values[place])]) { body(place) }
        } else {
            // Values ascend, so those that are equal to a text, or begin with it, stand together.
            text.withView { text in
                var place = index.values.firstPlace { ByteView.compare(values[Int($0)], text) >= 0 }
                while place < index.values.count, matches(values[Int(index.values[place])]) {
                    body(place)
                    place += 1
                }
            }
        }
    }

    /// One search over all texts of the index. Zero bytes stand around each, and in none of them.
    private func forEachFoldedPlace(in index: TagIndex, _ body: (Int) -> Void) {
        if text.contains(0) { return }
        var needle = text
        if kind != .contains { needle.insert(0, at: 0) }
        if kind == .equals { needle.append(0) }
        let lead = kind == .contains ? 0 : 1
        needle.withView { needle in
            let all = index.foldedTexts
            var place = 0
            var position = 0
            while place < index.values.count, let found = all.find(needle, from: position) {
                place = index.place(atFoldedOffset: found + lead, from: place)
                if place >= index.values.count { return }
                body(place)
                place += 1
                // The separator before the next text may be the needle's first byte.
                position = Int(index.foldedOffsets[place]) - 1
            }
        }
    }
}

extension TagIndex {
    /// The place whose folded text holds this offset, at or after a place before it.
    ///
    /// Looks at ever larger steps, as dense hits are near each other and rare ones far apart.
    func place(atFoldedOffset offset: Int, from start: Int) -> Int {
        var step = 1
        var low = start
        while low + step < values.count, Int(foldedOffsets[low + step]) <= offset {
            low += step
            step *= 2
        }
        var high = min(low + step, values.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if Int(foldedOffsets[middle]) <= offset { low = middle } else { high = middle }
        }
        return low
    }
}
