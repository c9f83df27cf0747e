/// Something that answers API calls: the client of a server, or a script in a test.
public protocol SubsonicCalling: Sendable {
    /// Makes one call and returns its answer, whose status is `ok`.
    ///
    /// Parameters keep their order; names may repeat. Authentication is settled behind it, retries are not: how often a
    /// call may be repeated depends on what it is for.
    func call(_ method: String, _ parameters: [(String, String)]) async throws(SubsonicError) -> Envelope

    /// The same, with the choice to send the parameters as a form, for long lists.
    func call(_ method: String, _ parameters: [(String, String)], post: Bool) async throws(SubsonicError) -> Envelope
}

extension SubsonicCalling {
    /// For those that have no network between, and so no difference.
    public func call(
        _ method: String,
        _ parameters: [(String, String)],
        post _: Bool
    ) async throws(SubsonicError) -> Envelope {
        try await call(method, parameters)
    }
}
