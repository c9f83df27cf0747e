// A libFuzzer target, compiled together with Sources/MPDProtocol by Scripts/fuzz.

/// Feeds an input to a session as a client would, whole and in pieces, and runs what comes out through every parser.
///
/// The first byte decides how long the pieces are.
@c(LLVMFuzzerTestOneInput)
public func fuzzRequests(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    let input = unsafe Array(UnsafeBufferPointer(start: data, count: size))
    guard let first = input.first else { return 0 }
    let stream = Array(input.dropFirst())
    let whole = events(of: stream, pieceLength: max(stream.count, 1))
    let pieces = events(of: stream, pieceLength: Int(first % 17) + 1)
    precondition(whole == pieces, "the way the bytes arrive makes a difference")

    var session = SessionState(maximumListSize: 100)
    for case .line(let line) in whole {
        precondition(line.count <= LineDecoder.maximumLineLength)
        switch session.receive(line: line) {
        case .execute: run(line, &session)
        case .executeList(let list):
            for index in 0..<list.count { run(list[index], &session) }
        case .close: return 0
        case .leaveIdle, .ignore: break
        }
        _ = session.raise(Subsystems(rawValue: UInt16(first)))
    }
    return 0
}

private func events(of stream: [UInt8], pieceLength: Int) -> [LineDecoder.Event] {
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

private func run(_ line: [UInt8], _ session: inout SessionState) {
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
    for line in reply.bytes.split(separator: UInt8(ascii: "\n")) {
        precondition(line.count < 4095 && line.allSatisfy { $0 >= 0x20 }, "a line that clients cannot read")
    }
}

/// Reads an argument as everything it could be, and writes down the complaints.
private func read(_ arguments: Arguments, _ index: Int, _ reply: inout Reply) {
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
        precondition(range.upperBound <= 10)
    }
    attempt { () throws(ACK) in
        let time = try arguments.songTime(index)
        precondition(time >= 0)
    }
    attempt { () throws(ACK) in _ = try arguments.seekTarget(index) }
    attempt { () throws(ACK) in _ = try arguments.timeRange(index) }
    attempt { () throws(ACK) in _ = try arguments.insertPosition(index) }
    attempt { () throws(ACK) in
        let position = try arguments.insertPosition(index, length: 10, current: 3)
        precondition((0...10).contains(position))
    }
    attempt { () throws(ACK) in
        let position = try arguments.moveDestination(index, moving: 1..<3, length: 10, current: 7)
        precondition((0...8).contains(position))
    }
    attempt { () throws(ACK) in _ = try arguments.tag(index) }
    attempt { () throws(ACK) in _ = try arguments.replayGainMode(index) }
}
