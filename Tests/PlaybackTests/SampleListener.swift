import CLinux
import Glibc
import Support
import Testing

@testable import Playback

/// A listening socket, with what was received on all its connections.
final class SampleListener {
    let descriptor: Int32
    let port: UInt16
    var peer: Int32 = -1

    init(port: UInt16 = 0) throws {
        let sockets = try Socket.listen(at: "127.0.0.1", port: port)
        descriptor = try #require(sockets.first)
        self.port = try #require(Socket.port(of: descriptor))
    }

    deinit {
        Socket.close(peer)
        Socket.close(descriptor)
    }

    func accept() -> Bool {
        poll {
            peer = shelv_accept_nonblocking(descriptor)
            return peer >= 0
        }
    }

    func read(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        _ = poll {
            while let piece = Socket.receive(from: peer, limit: 65_536), !piece.isEmpty { bytes += piece }
            return bytes.count >= count
        }
        return bytes
    }
}

/// A port that nobody listens at.
func unusedPort() throws -> UInt16 {
    let socket = try #require(try Socket.listen(at: "127.0.0.1", port: 0).first)
    defer { Socket.close(socket) }
    return try #require(Socket.port(of: socket))
}
