@testable import QueueEngine

/// Runs commands as tables write them: `play e`, `previous`, `add M N`, `add +0 X`, `prio 5 c d`, `repeat 1` …
///
/// Letters name entries, so a table stays readable when positions move. Numbers are positions.
struct Commands {
    enum Wrong: Error {
        case command(String)
    }

    /// Carries out commands that are separated by commas; returns what the last one brought.
    @discardableResult
    static func run(_ line: String, on queue: inout Queue) throws -> Outcome {
        var outcome = Outcome()
        for command in line.split(separator: ",") {
            outcome = try one(command.split(separator: " ").map(String.init), &queue)
        }
        return outcome
    }

    private static func one(_ words: [String], _ queue: inout Queue) throws -> Outcome {
        let name = words.first ?? ""
        let rest = Array(words.dropFirst())
        let first = rest.first ?? ""
        switch name {
        case "play": return rest.isEmpty ? queue.play() : try queue.play(at: position(first, queue))
        case "playid": return try queue.play(id: id(first, queue))
        case "pause": return queue.pause(rest.isEmpty ? nil : first == "1")
        case "stop": return queue.stop()
        case "next": return try queue.next()
        case "previous": return try queue.previous()
        case "seek": return try queue.seek(at: position(first, queue), to: .seconds(Int(rest.last ?? "") ?? 0))
        case "end": return queue.trackEnded(queue.currentID ?? EntryID(0))
        case "flow": return queue.trackChanged(to: queue.preloaded ?? EntryID(0))
        case "fail": return queue.permanentlyFailed(queue.currentID ?? EntryID(0))
        case "commit": return queue.committed(queue.preloaded ?? EntryID(0))
        case "clear": return queue.clear()
        case "repeat": return queue.setRepeat(first == "1")
        case "random": return queue.setRandom(first == "1")
        case "single": return queue.setSingle(mode(first))
        case "consume": return queue.setConsume(mode(first))
        default: return try edit(name, rest, &queue)
        }
    }

    private static func edit(_ name: String, _ rest: [String], _ queue: inout Queue) throws -> Outcome {
        let first = rest.first ?? ""
        let last = rest.last ?? ""
        switch name {
        case "add":
            guard let placement = placement(first) else {
                return try queue.append(contentsOf: Sketch.keys(rest.joined())).outcome
            }
            return try queue.insert(contentsOf: Sketch.keys(rest.dropFirst().joined()), at: placement).outcome
        case "delete": return try queue.delete(span(first, queue))
        case "deleteid": return try queue.delete(id: id(first, queue))
        case "move": return try queue.move(span(first, queue), to: placement(last) ?? .absolute(-1))
        case "moveid": return try queue.move(id: id(first, queue), to: placement(last) ?? .absolute(-1))
        case "swap": return try queue.swap(position(first, queue), position(last, queue))
        case "shuffle": return try queue.shuffle(rest.isEmpty ? .everything : span(first, queue))
        case "prio":
            let edit = queue.setPriority(UInt8(first) ?? 0, rest.dropFirst().map { span($0, queue) })
            if let error = edit.error { throw error }
            return edit.outcome
        default: throw Wrong.command(name)
        }
    }

    private static func mode(_ word: String) -> OneShotMode {
        word == "1" ? .on : word == "oneshot" ? .oneShot : .off
    }

    private static func position(_ word: String, _ queue: Queue) -> Int {
        Int(word) ?? word.first.map { Sketch.position($0, in: queue) } ?? -1
    }

    private static func id(_ word: String, _ queue: Queue) -> EntryID {
        word.first.map { Sketch.id($0, in: queue) } ?? EntryID(0)
    }

    private static func span(_ word: String, _ queue: Queue) -> PositionSpan {
        let ends = word.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard ends.count == 2 else { return PositionSpan(position(word, queue)) }
        return PositionSpan(start: position(ends[0], queue), end: ends[1].isEmpty ? nil : position(ends[1], queue))
    }

    private static func placement(_ word: String) -> Placement? {
        guard let number = Int(word) else { return nil }
        switch word.first {
        case "+": return .afterCurrent(number)
        case "-": return .beforeCurrent(-number)
        default: return .absolute(number)
        }
    }
}
