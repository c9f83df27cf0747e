/// A request line taken apart: the command's name and its arguments.
public struct Request: Sendable {
    public var name: String
    public var arguments: Arguments
}

/// Why a line is no request. It is answered with an empty command name.
public struct RequestError: Error, Sendable, Hashable {
    public var ack: ACK
    /// MPD drops the connection after this answer: a client that garbles command words is beyond help.
    public var closesConnection: Bool
}
