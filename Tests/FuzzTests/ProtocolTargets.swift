import Library
import MPDProtocol

/// Feeds an input to a session as a client would, whole and in pieces, and runs what comes out through every parser.
///
/// The first byte decides how long the pieces are.
enum RequestTarget {
    static func read(_ input: [UInt8]) {
        guard let first = input.first else { return }
        let stream = Array(input.dropFirst())
        let whole = events(of: stream, pieceLength: max(stream.count, 1))
        let pieces = events(of: stream, pieceLength: Int(first % 17) + 1)
        require(whole == pieces, "the way the bytes arrive makes no difference")

        var session = SessionState(maximumListSize: 100)
        for case .line(let line) in whole {
            require(line.count <= LineDecoder.maximumLineLength, "no line is longer than allowed")
            switch session.receive(line: line) {
            case .execute: run(line, &session)
            case .executeList(let list):
                for index in 0..<list.count { run(list[index], &session) }
            case .close: return
            case .leaveIdle, .ignore: break
            }
            _ = session.raise(Subsystems(rawValue: UInt16(first)))
        }
    }

    private static func events(of stream: [UInt8], pieceLength: Int) -> [LineDecoder.Event] {
        var decoder = LineDecoder()
        var events: [LineDecoder.Event] = []
        var position = 0
        while position < stream.count {
            let end = min(position + pieceLength, stream.count)
            decoder.append(stream[position..<end])
            position = end
            reading: while true {
                let event = decoder.next()
                switch event {
                case .line: events.append(event)
                case .needsInput: break reading
                case .close: return events + [event]
                }
            }
        }
        return events
    }

    private static func run(_ line: [UInt8], _ session: inout SessionState) {
        var reply = Reply()
        do {
            let request = try Tokenizer.parse(line)
            for index in request.arguments.indices { read(request.arguments, index, &reply) }
            if let wanted = try? Subsystems(idleArguments: request.arguments), request.name == "idle" {
                _ = session.beginIdle(wanted)
            }
        } catch {
            reply.ack(error.ack, command: "")
        }
        checkLines(reply.bytes)
    }

    /// Reads an argument as everything it could be, and writes down the complaints.
    private static func read(_ arguments: Arguments, _ index: Int, _ reply: inout Reply) {
        func attempt(_ body: () throws(ACK) -> Void) {
            do { try body() } catch { reply.ack(error, index: index, command: "x") }
        }
        reply.pair("x", untrusted: arguments[index])
        attempt { () throws(ACK) in _ = try arguments.integer(index) }
        attempt { () throws(ACK) in _ = try arguments.unsigned(index) }
        attempt { () throws(ACK) in _ = try arguments.version(index) }
        attempt { () throws(ACK) in _ = try arguments.boolean(index) }
        attempt { () throws(ACK) in
            let range = try arguments.range(index).checked(against: 10)
            require(range.upperBound <= 10, "a range lies inside the queue")
        }
        attempt { () throws(ACK) in
            let time = try arguments.songTime(index)
            require(time >= 0, "no time is negative")
        }
        attempt { () throws(ACK) in _ = try arguments.seekTarget(index) }
        attempt { () throws(ACK) in _ = try arguments.timeRange(index) }
        attempt { () throws(ACK) in _ = try arguments.insertPosition(index) }
        attempt { () throws(ACK) in
            let position = try arguments.insertPosition(index, length: 10, current: 3)
            require((0...10).contains(position), "a place lies inside the queue")
        }
        attempt { () throws(ACK) in
            let position = try arguments.moveDestination(index, moving: 1..<3, length: 10, current: 7)
            require((0...8).contains(position), "a destination lies inside the queue")
        }
        attempt { () throws(ACK) in _ = try arguments.tag(index) }
        attempt { () throws(ACK) in _ = try arguments.replayGainMode(index) }
    }

    /// What clients can read: lines below libmpdclient's buffer without control characters. Complaints give back what was
    /// sent, as MPD's do, as far as it is text for C.
    static func checkLines(_ bytes: [UInt8]) {
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let least: UInt8 = line.starts(with: "ACK ".utf8) ? 0x01 : 0x20
            require(line.count < 4095 && line.allSatisfy { $0 >= least }, "clients can read each line")
        }
    }
}

/// Takes the lines of an input for filter arguments, asks a small library, and what can be read for one must survive its
/// normal form.
enum FilterTarget {
    static func read(_ input: [UInt8]) {
        let newline = UInt8(ascii: "\n")
        let arguments = Arguments(input.split(separator: newline, omittingEmptySubsequences: false).map { Array($0) })
        let clauses: FilterParser.Clauses = [.position, .window, .sort, .queueSort, .group]
        if let parsed = try? FilterParser.parse(arguments, clauses: clauses, foldsCase: true) {
            _ = parsed.filter.expression
            ask(parsed.filter)
        }
        if let parsed = try? FilterParser.parse(arguments, clauses: clauses, foldsCase: false) { check(parsed.filter) }
        if let query = try? ListQuery(arguments) { check(query.filter) }
    }

    private static func check(_ filter: Filter) {
        let expression = filter.expression
        // Old-style pairs have no limits of their own, so not all of them fit an expression.
        guard let again = try? FilterParser.parse(Arguments([expression]), foldsCase: false).filter else { return }
        require(again.expression == expression, "the normal form is stable")
    }

    private static func ask(_ filter: Filter) {
        guard let library = SmallLibrary.snapshot else { return }
        _ = library.estimatedCost(filter)
        guard let songs = try? library.select(filter, sort: nil, window: nil) else { return }
        require(songs.count <= library.songCount, "no song is found twice")
    }
}
