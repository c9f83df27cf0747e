/// Changes the blocks of servers in one configuration file and leaves every other byte as it is.
struct ConfigEditor {
    /// A block by its lines, counted from 0.
    struct Block: Sendable, Equatable {
        var lines: ClosedRange<Int>
        /// Name and line of each option.
        var options: [(name: String, line: Int)]

        static func == (a: Block, b: Block) -> Bool {
            a.lines == b.lines && a.options.elementsEqual(b.options) { $0.name == $1.name && $0.line == $1.line }
        }
    }

    let path: String
    /// Without their line feeds.
    private var lines: [[UInt8]]

    init(path: String, _ bytes: [UInt8]) {
        self.path = path
        lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(Array.init)
    }

    /// Reads a file.
    init(path: String) throws(SystemError) { self.init(path: path, try Files.read(path, limit: 4 << 20)) }

    var bytes: [UInt8] { Array(lines.joined(separator: [UInt8(ascii: "\n")])) }

    /// The block that begins in a line, counted from 1 as in messages.
    func block(at line: Int) -> Block? {
        guard lines.indices.contains(line - 1) else { return nil }
        var options: [(String, Int)] = []
        for index in line..<max(line, lines.count) {
            switch try? ConfigLine.parse(lines[index][...], place: Place(file: path)) {
            case .option(let option): options.append((option.name, index))
            case .end: return Block(lines: (line - 1)...index, options: options)
            case .beginning: return nil
            case .empty, nil: break
            }
        }
        return nil
    }

    /// Adds a block at the end of the file.
    mutating func append(_ draft: ServerDraft) {
        while lines.last?.isEmpty == true { lines.removeLast() }
        if !lines.isEmpty { lines.append([]) }
        lines += draft.block.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(Array.init)
    }

    /// Removes a block, and the empty line that parted it from what follows.
    mutating func remove(_ block: Block) {
        lines.removeSubrange(block.lines)
        let place = block.lines.lowerBound
        if isEmpty(place - 1), place < lines.count - 1, isEmpty(place) { lines.remove(at: place) }
    }

    /// Whether nothing stands in a line, or there is none.
    private func isEmpty(_ index: Int) -> Bool {
        !lines.indices.contains(index) || lines[index].allSatisfy { $0 <= 0x20 }
    }

    /// Gives an option these values, one a line; none removes it. The first takes the place of a former one.
    mutating func set(_ name: String, _ values: [String], inBlockAt line: Int) {
        guard let block = block(at: line) else { return }
        let old = block.options.filter { $0.name == name }.map(\.line)
        for (index, value) in zip(old, values) { replaceValue(of: name, in: index, value) }
        if values.count < old.count {
            for index in old.dropFirst(values.count).reversed() { lines.remove(at: index) }
            return
        }
        // As the line before it looks.
        let model = old.last ?? block.options.last?.line
        let margin = model.map { Array(lines[$0].prefix { $0 <= 0x20 }) } ?? Array("    ".utf8)
        let column = model.map { valueColumn(in: $0) - margin.count } ?? 0
        let padding = String(repeating: " ", count: max(1, column - name.utf8.count))
        var place = old.last.map { $0 + 1 } ?? block.lines.upperBound
        for value in values.dropFirst(old.count) {
            lines.insert(margin + Array("\(name)\(padding)\(ConfigText.quoted(value))".utf8), at: place)
            place += 1
        }
    }

    /// The text between the margin and the value stays, and so does what follows it, such as a comment.
    private mutating func replaceValue(of name: String, in index: Int, _ value: String) {
        let line = lines[index]
        let start = valueColumn(in: index)
        var end = start
        if start < line.count, line[start] == UInt8(ascii: "\"") {
            end += 1
            while end < line.count, line[end] != UInt8(ascii: "\"") { end += line[end] == UInt8(ascii: "\\") ? 2 : 1 }
            end = min(line.count, end + 1)
        } else {
            while end < line.count, line[end] > 0x20 { end += 1 }
        }
        lines[index] = line[..<start] + Array(ConfigText.quoted(value).utf8) + line[end...]
    }

    /// Where the value begins.
    private func valueColumn(in index: Int) -> Int {
        let line = lines[index]
        let name = line.firstIndex { $0 > 0x20 } ?? line.endIndex
        let blank = line[name...].firstIndex { $0 <= 0x20 || $0 == UInt8(ascii: "\"") } ?? line.endIndex
        return line[blank...].firstIndex { $0 > 0x20 } ?? line.endIndex
    }
}
