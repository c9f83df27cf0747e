import Glibc

/// Reads requests from a connection.
struct HTTPTestReader {
    let descriptor: Int32
    private var buffer: [UInt8] = []

    init(descriptor: Int32) { self.descriptor = descriptor }

    /// The next request, or nil at the end of the connection or when it is no HTTP.
    mutating func next() -> HTTPTestRequest? {
        var lines: [String] = []
        while true {
            guard let line = nextLine() else { return nil }
            if line.isEmpty { break }
            lines.append(line)
        }
        guard let first = lines.first else { return nil }
        let words = first.split(separator: " ")
        guard words.count == 3 else { return nil }
        let target = words[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var request = HTTPTestRequest(
            method: String(words[0]),
            path: String(target[0]),
            query: target.count > 1 ? String(target[1]) : "",
            headers: [],
            body: [],
            connection: 0,
            number: 0
        )
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            request.headers.append((line[..<colon].lowercased(), String(value)))
        }
        let length = request.value(of: "content-length").flatMap { Int($0) } ?? 0
        while buffer.count < length { guard fill() else { return nil } }
        request.body = Array(buffer[..<length])
        buffer.removeFirst(length)
        return request
    }

    private mutating func nextLine() -> String? {
        while true {
            if let end = buffer.firstIndex(of: 0x0A) {
                var line = Array(buffer[..<end])
                buffer.removeFirst(end + 1)
                if line.last == 0x0D { line.removeLast() }
                return String(decoding: line, as: UTF8.self)
            }
            guard fill() else { return nil }
        }
    }

    private mutating func fill() -> Bool {
        var piece = [UInt8](repeating: 0, count: 16384)
        while true {
            let count = unsafe recv(descriptor, &piece, piece.count, 0)
            if count < 0 && errno == EINTR { continue }
            // No HTTP starts with the first byte of a TLS greeting, which has no lines to wait for.
            guard count > 0, !(buffer.isEmpty && piece[0] == 0x16) else { return false }
            buffer += piece[..<count]
            return true
        }
    }
}

/// Writes answers to a connection.
struct HTTPTestWriter {
    let descriptor: Int32

    /// Returns whether the connection may carry another request.
    func send(_ response: HTTPTestResponse, isHead: Bool) -> Bool {
        for step in response.stepsBefore { guard carryOut(step, chunked: false) else { return false } }
        var head = "HTTP/1.1 \(response.status) Test\r\n"
        for (name, value) in response.headers { head += "\(name): \(value)\r\n" }
        switch response.framing {
        case .length: head += "Content-Length: \(response.contentLength ?? response.length)\r\n"
        case .chunked: head += "Transfer-Encoding: chunked\r\n"
        case .untilClose: head += "Connection: close\r\n"
        }
        guard write(Array((head + "\r\n").utf8)) else { return false }
        if isHead { return true }
        let isChunked = response.framing == .chunked
        for step in response.steps { guard carryOut(step, chunked: isChunked) else { return false } }
        if isChunked { return write(Array("0\r\n\r\n".utf8)) }
        return response.framing == .length
    }

    private func carryOut(_ step: HTTPTestResponse.Step, chunked: Bool) -> Bool {
        switch step {
        case .bytes(let bytes):
            guard !bytes.isEmpty else { return true }
            guard chunked else { return write(bytes) }
            return write(Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + [0x0D, 0x0A])
        case .wait(let gate):
            return gate.wait()
        case .act(let body):
            body()
            return true
        case .reset:
            LoopbackSocket.resetOnClose(descriptor)
            return false
        case .close:
            return false
        }
    }

    private func write(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { buffer in
                unsafe Glibc.send(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
