import CLinux
import Glibc

/// Ends a wait of the thread; open as long as anybody may write to it or wait for it.
private final class WakeUp: Sendable {
    let descriptor = eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC))

    deinit { Socket.close(descriptor) }
}

/// Lets any number of listeners hear one stream over HTTP, from the moment on at which they come.
final class StreamServer: Sendable {
    /// Who listens, or is about to.
    private struct Listener {
        let descriptor: Int32
        var request: [UInt8] = []
        var isListening = false
        var waiting: [UInt8] = []
        /// Ends when all that waits was sent.
        var isEnding = false
    }

    private struct State {
        /// Pieces of the stream that were not given to the listeners yet.
        var pieces: [[UInt8]] = []
        var listeners = 0
        var isClosed = false
    }

    /// Bytes that may wait for a slow listener; then pieces are left out for it.
    private static let backlog = 4 << 20
    private static let requestLimit = 8192

    private let monitor = Monitor(State())
    /// Closed here and not by the thread: it must not be another one's number when we write to it.
    private let wakeUp: WakeUp
    /// The port where it listens.
    let port: UInt16

    /// - Parameters:
    ///   - host: the address to listen at, nil for all.
    ///   - header: what comes before the stream itself.
    ///   - maximumListeners: further ones are sent away.
    init(
        host: String?,
        port: UInt16,
        mediaType: String,
        header: [UInt8],
        maximumListeners: Int
    ) throws(PlayerError) {
        let sockets = try Socket.listen(at: host, port: port)
        self.port = sockets.first.flatMap(Socket.port) ?? port
        wakeUp = WakeUp()
        let (monitor, wakeUp) = (monitor, wakeUp)
        let head =
            "HTTP/1.1 200 OK\r\nContent-Type: \(mediaType)\r\nCache-Control: no-cache, no-store\r\nConnection: close\r\n\r\n"
        let started = startThread(named: "httpd") {
            var room = Room(
                monitor: monitor,
                wakeUp: wakeUp,
                sockets: sockets,
                head: Array(head.utf8),
                header: header,
                maximum: maximumListeners
            )
            room.run()
        }
        guard started else { throw PlayerError("no thread for the HTTP stream") }
    }

    deinit { close() }

    /// Whether anybody listens.
    var hasListeners: Bool { monitor.withLock { $0.listeners > 0 } }

    /// Gives a piece of the stream to all listeners. Returns at once.
    func send(_ piece: [UInt8]) {
        monitor.withLock { $0.pieces.append(piece) }
        wake()
    }

    /// Sends all listeners away and ends.
    func close() {
        let isNews = monitor.withLock { state in
            defer { state.isClosed = true }
            return !state.isClosed
        }
        if isNews { wake() }
    }

    private func wake() { eventfd_write(wakeUp.descriptor, 1) }

    /// The thread's own: who is there.
    private struct Room {
        let monitor: Monitor<State>
        let wakeUp: WakeUp
        let sockets: [Int32]
        let head: [UInt8]
        let header: [UInt8]
        let maximum: Int
        var listeners: [Listener] = []

        mutating func run() {
            while true {
                var waits = [pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0)]
                waits += sockets.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
                waits += listeners.map { listener in
                    let wish = listener.waiting.isEmpty ? POLLIN : POLLIN | POLLOUT
                    return pollfd(fd: listener.descriptor, events: Int16(wish), revents: 0)
                }
                guard unsafe poll(&waits, nfds_t(waits.count), -1) >= 0 || errno == EINTR else { break }
                var count: eventfd_t = 0
                unsafe eventfd_read(wakeUp.descriptor, &count)
                let (pieces, isClosed) = monitor.withLock { state in
                    defer { state.pieces = [] }
                    return (state.pieces, state.isClosed)
                }
                if isClosed { break }
                let ready = waits.dropFirst(1 + sockets.count).map { $0.revents != 0 }
                for index in listeners.indices.reversed() where index < ready.count {
                    if ready[index], !hear(index) {
                        remove(index)
                    }
                }
                for piece in pieces { give(piece) }
                for index in listeners.indices.reversed() {
                    if !flush(index) { remove(index) }
                }
                for place in sockets where waits.contains(where: { $0.fd == place && $0.revents != 0 }) {
                    accept(place)
                }
                let present = listeners.count { $0.isListening }
                monitor.withLock { $0.listeners = present }
            }
            for listener in listeners { Socket.close(listener.descriptor) }
            for place in sockets { Socket.close(place) }
        }

        private mutating func remove(_ index: Int) {
            Socket.close(listeners[index].descriptor)
            listeners.remove(at: index)
        }

        private mutating func accept(_ place: Int32) {
            while true {
                let descriptor = shelv_accept_nonblocking(place)
                guard descriptor >= 0 else { return }
                // Twice as many may be about to ask.
                if listeners.count >= 2 * maximum {
                    Socket.close(descriptor)
                } else {
                    listeners.append(Listener(descriptor: descriptor))
                }
            }
        }

        /// Reads a request, or notices that somebody has left. False ends the connection.
        private mutating func hear(_ index: Int) -> Bool {
            guard let bytes = Socket.receive(from: listeners[index].descriptor, limit: 4096) else { return true }
            if bytes.isEmpty { return false }
            // What comes after the request is of no interest.
            guard !listeners[index].isListening, !listeners[index].isEnding else { return true }
            listeners[index].request += bytes
            let request = String(decoding: listeners[index].request, as: UTF8.self)
            guard request.contains("\r\n\r\n") || request.contains("\n\n") else {
                return listeners[index].request.count <= StreamServer.requestLimit
            }
            listeners[index].request = []
            if request.hasPrefix("GET ") {
                if listeners.count(where: { $0.isListening }) >= maximum {
                    refuse(index, "503 Service Unavailable")
                } else {
                    listeners[index].waiting = head + header
                    listeners[index].isListening = true
                }
            } else if request.hasPrefix("HEAD ") {
                listeners[index].waiting = head
                listeners[index].isEnding = true
            } else {
                refuse(index, "405 Method Not Allowed")
            }
            return true
        }

        private mutating func refuse(_ index: Int, _ status: String) {
            listeners[index].waiting = Array(
                "HTTP/1.1 \(status)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".utf8
            )
            listeners[index].isEnding = true
        }

        private mutating func give(_ piece: [UInt8]) {
            for index in listeners.indices where listeners[index].isListening {
                if listeners[index].waiting.count + piece.count <= StreamServer.backlog {
                    listeners[index].waiting += piece
                }
            }
        }

        /// Sends what can be sent. False ends the connection.
        private mutating func flush(_ index: Int) -> Bool {
            guard let sent = Socket.send(listeners[index].waiting[...], to: listeners[index].descriptor) else {
                return false
            }
            listeners[index].waiting.removeFirst(sent)
            return !(listeners[index].isEnding && listeners[index].waiting.isEmpty)
        }
    }
}

/// Encodes samples for an HTTP stream.
final class StreamSink: TapSink {
    private let server: StreamServer
    private let encoder: StreamEncoder

    /// - Throws: `PlayerError` when the port is taken or the encoder is missing.
    init(_ stream: StreamOutput) throws(PlayerError) {
        encoder = try StreamEncoder(stream.codec, format: stream.codec.format(stream.format), bitRate: stream.bitRate)
        server = try StreamServer(
            host: stream.host,
            port: stream.port,
            mediaType: stream.codec.mediaType,
            header: encoder.header,
            maximumListeners: stream.maximumListeners
        )
    }

    deinit { server.close() }

    func write(_ bytes: [UInt8], frameSize: Int) throws(PlayerError) {
        guard server.hasListeners else { return }
        let samples = stride(from: 0, to: bytes.count - 3, by: 4).map { index in
            let bits = (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[index + $1]) << (8 * UInt32($1)) }
            return Float(bitPattern: bits)
        }
        let piece = try encoder.encode(samples)
        if !piece.isEmpty { server.send(piece) }
    }

    func discardUnread() {
        // A stream goes on as it is: its listeners are some seconds behind anyway.
    }
}
