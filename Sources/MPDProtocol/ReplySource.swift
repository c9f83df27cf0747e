/// A long reply that is produced piece by piece, as the client reads it.
public protocol ReplySource: Sendable {
    /// Appends the next piece of data lines to `output`, whole lines only, until `output` holds at least `limit` bytes
    /// or the reply is complete. The final `OK` is not part of it.
    /// - Returns: whether more follows.
    mutating func appendNext(to output: inout [UInt8], limit: Int) -> Bool
}
