import SubsonicKit

extension Envelope {
    /// The answer of a scripted server.
    /// - Parameter body: what stands in `subsonic-response`.
    /// - Throws: what the answer says has failed.
    init(scripted body: String) throws(SubsonicError) {
        let envelope: Envelope
        do {
            envelope = try Envelope(Array("{\"subsonic-response\":\(body)}".utf8))
        } catch {
            throw .decoding("\(error)")
        }
        if let failure = envelope.failure { throw .server(failure) }
        self = envelope
    }
}
