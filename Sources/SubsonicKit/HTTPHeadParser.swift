/// Gathers the header lines of an answer, through interim answers (1xx) to the last one.
struct HTTPHeadParser {
    /// More lines than this are dropped.
    static let maximumHeaders = 200

    private(set) var status = 0
    private(set) var headers: [(name: String, value: String)] = []

    /// Takes one line as libcurl hands it out, line end included. True when the line ends the head of a final answer.
    mutating func receive(_ line: [UInt8]) -> Bool {
        var line = line[...]
        while let last = line.last, last == 0x0D || last == 0x0A { line.removeLast() }
        if line.isEmpty { return status >= 200 }
        if line.starts(with: "HTTP/".utf8) && !line.contains(UInt8(ascii: ":")) {
            let words = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
            status = words.count > 1 ? Int(String(decoding: words[1], as: UTF8.self)) ?? 0 : 0
            headers = []
            return false
        }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), headers.count < Self.maximumHeaders else {
            return false
        }
        let name = String(decoding: line[..<colon].map { $0 >= 0x41 && $0 <= 0x5A ? $0 | 0x20 : $0 }, as: UTF8.self)
        var value = line[(colon + 1)...]
        while let first = value.first, first == 0x20 || first == 0x09 { value.removeFirst() }
        while let last = value.last, last == 0x20 || last == 0x09 { value.removeLast() }
        headers.append((name, String(decoding: value, as: UTF8.self)))
        return false
    }
}
