/// Something that answers API calls: the client of a server, or a script in a test.
public protocol SubsonicCalling: Sendable {
    /// Makes one call and returns its answer, whose status is `ok`.
    ///
    /// Parameters keep their order; names may repeat. Authentication is settled behind it, retries are not: how often a
    /// call may be repeated depends on what it is for.
    func call(_ method: String, _ parameters: [(String, String)]) async throws(SubsonicError) -> Envelope
}
