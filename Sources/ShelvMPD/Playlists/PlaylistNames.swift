import Library

/// How playlists of a server get names that clients can use: Docs/mapping.md, “Playlists”.
enum PlaylistNames {
    /// Bytes of a name.
    static let longest = 240

    /// A playlist that wants a name.
    struct Candidate {
        var key: PlaylistKey
        /// As the server has it; any text.
        var title: String
        /// The user that it belongs to, if it is not ours.
        var otherOwner: String?
        /// What it is called at the moment.
        var name: String?
    }

    /// Whether a client may call a playlist so.
    static func isValid(_ name: [UInt8]) -> Bool {
        !name.isEmpty && name.count <= longest && name != Array(".".utf8) && name != Array("..".utf8)
            && !name.contains { $0 == UInt8(ascii: "/") || $0 < 0x20 || $0 == 0x7F }
    }

    /// A title as a name that MPD can carry: control characters become spaces and slashes `_`, an empty one `Untitled`.
    static func safe(_ title: String) -> String {
        if title == "." { return "_" }
        if title == ".." { return "__" }
        let bytes = title.utf8.map { byte in
            byte == UInt8(ascii: "/") ? UInt8(ascii: "_") : byte < 0x20 || byte == 0x7F ? UInt8(ascii: " ") : byte
        }
        let name = shortened(bytes, to: longest)
        return name.isEmpty ? "Untitled" : name
    }

    /// A name for each, all different. What bears a fitting name already keeps it; then those whose title is free as it
    /// is get it, and the others a suffix.
    static func assign(_ candidates: [Candidate], reserved: [String] = []) -> [PlaylistKey: String] {
        var taken = Set(reserved.map { String.UTF8Key($0) })
        var names: [PlaylistKey: String] = [:]
        func take(_ name: String, _ candidate: Candidate) -> Bool {
            guard taken.insert(String.UTF8Key(name)).inserted else { return false }
            names[candidate.key] = name
            return true
        }
        let ordered = candidates.sorted {
            ($0.otherOwner == nil ? 0 : 1, $0.key) < ($1.otherOwner == nil ? 0 : 1, $1.key)
        }
        for candidate in ordered {
            guard let name = candidate.name, fits(name, candidate) else { continue }
            _ = take(name, candidate)
        }
        for candidate in ordered where names[candidate.key] == nil { _ = take(safe(candidate.title), candidate) }
        for candidate in ordered where names[candidate.key] == nil {
            var number = candidate.otherOwner == nil ? 2 : 1
            while !take(suffixed(candidate, number), candidate) { number += 1 }
        }
        return names
    }

    /// `Title (2)`, `Title (owner)`, `Title (owner 2)`.
    private static func suffixed(_ candidate: Candidate, _ number: Int) -> String {
        var words = candidate.otherOwner.map { [safe($0)] } ?? []
        if number > 1 { words.append(String(number)) }
        let suffix = " (" + words.joined(separator: " ") + ")"
        let room = max(0, longest - suffix.utf8.count)
        return shortened(Array(safe(candidate.title).utf8), to: room) + suffix
    }

    /// Whether a name is the title, or the title with a suffix that it was given.
    private static func fits(_ name: String, _ candidate: Candidate) -> Bool {
        let title = safe(candidate.title)
        if Array(name.utf8) == Array(title.utf8) { return true }
        // Only a short search: numbers beyond a hundred are given anew.
        return (1...100).contains { number in
            (candidate.otherOwner != nil || number > 1) && suffixed(candidate, number) == name
        }
    }

    /// Cut at the border of a character.
    private static func shortened(_ bytes: [UInt8], to limit: Int) -> String {
        var end = min(bytes.count, max(0, limit))
        while end > 0, end < bytes.count, bytes[end] & 0xC0 == 0x80 { end -= 1 }
        return String(decoding: bytes[..<end], as: UTF8.self)
    }
}
