/// One part of a URI between two slashes, made safe: Docs/mapping.md, “URIs”.
enum PathSegment {
    /// Bytes; what file systems take. With room for a suffix, a URI of a few levels stays far below a line's limit.
    static let longest = 240

    /// A name as it may stand in a URI, or nil for an empty one.
    ///
    /// Control characters become spaces and slashes `_`; `.` and `..` would climb, so their dots become `_`. Over
    /// `longest` bytes the middle part goes: beginning and file name ending stay.
    static func safe(_ name: some StringProtocol) -> String? {
        if name.isEmpty { return nil }
        if name == "." { return "_" }
        if name == ".." { return "__" }
        var text = String(name)
        if text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F || $0 == slash }) {
            let bytes = text.utf8.map { $0 == slash ? UInt8(ascii: "_") : $0 < 0x20 || $0 == 0x7F ? 0x20 : $0 }
            text = String(decoding: bytes, as: UTF8.self)
        }
        return text.utf8.count <= longest ? text : shortened(text, to: longest)
    }

    /// The name with `mark` before its file name ending: `Song [tr-1].mp3`.
    static func marked(_ name: Substring, with mark: String) -> String {
        let (stem, ending) = split(name)
        return shortened(String(stem), to: longest - mark.utf8.count - ending.utf8.count) + mark + ending
    }

    /// A file name before and from the dot of its ending; an ending has no more than eight letters and digits.
    static func split(_ name: Substring) -> (stem: Substring, ending: Substring) {
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex else {
            return (name, name[name.endIndex...])
        }
        let ending = name[dot...]
        let isWord = ending.utf8.dropFirst().allSatisfy { byte in
            byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
                || byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z")
        }
        guard (2...9).contains(ending.utf8.count), isWord else { return (name, name[name.endIndex...]) }
        return (name[..<dot], ending)
    }

    private static let slash = UInt8(ascii: "/")

    /// Cut to so many bytes at the border of a character, the file name's ending kept.
    private static func shortened(_ text: String, to limit: Int) -> String {
        if text.utf8.count <= limit { return text }
        let (stem, ending) = split(text[...])
        let room = max(0, limit - ending.utf8.count)
        // Every byte of UTF-8 that continues a character has the form 10xxxxxx.
        var end = stem.utf8.index(stem.startIndex, offsetBy: room, limitedBy: stem.endIndex) ?? stem.endIndex
        while end > stem.startIndex, end < stem.endIndex, stem.utf8[end] & 0xC0 == 0x80 {
            end = stem.utf8.index(before: end)
        }
        return String(stem[..<end]) + ending
    }
}
