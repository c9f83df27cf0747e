internal import CCurl

/// Who answers at an address that may be that of a server, asked without a user's name.
public struct AddressAnswer: Sendable {
    public var head: HTTPHead
    /// What the server says of itself; nil when what answers is no Subsonic server.
    public var server: ServerInfo?
    /// Where the answer came from after redirects; nil when that does not look like an address of the API.
    public var url: ServerURL?
    /// What came instead, in a few words; empty for a Subsonic server.
    public var reason = ""
    /// Whether the refusal is for want of a certificate of ours; nginx says so in a page with status 400.
    public var wantsCertificate = false
}

extension HTTPTransport {
    /// Asks for nothing at `url`, to see who is there. No user and no password leave this machine.
    ///
    /// Follows redirects to other hosts, too, unless header lines or a certificate would go along.
    public func whoAnswers(
        at url: ServerURL,
        _ connection: ConnectionSettings = ConnectionSettings(),
        connectTimeout: Duration = .seconds(5),
        stallTimeout: Duration = .seconds(15)
    ) async throws(TransportError) -> AddressAnswer {
        let query = "v=\(SubsonicClient.protocolVersion)&c=\(SubsonicClient.clientName)&f=json"
        var request = HTTPRequest(
            url: "\(ServerURL.endpoint("ping", at: url.base))?\(query)",
            headers: connection.headers,
            connectTimeout: connectTimeout,
            stallTimeout: stallTimeout
        )
        request.connection = connection
        request.followsAnywhere = connection.headers.isEmpty && connection.clientCertificate == nil
        let response = try await send(request)
        var answer = AddressAnswer(head: response.head)
        if let base = ServerURL.base(ofAnswer: response.head.effectiveURL, method: "ping") {
            answer.url = try? ServerURL(base)
        }
        let words = "SSL certificate".utf8
        answer.wantsCertificate =
            [400, 495, 496].contains(response.head.status) && response.body.prefix(4096).firstRange(of: words) != nil
        do throws(SubsonicError) {
            answer.server = try SubsonicAnswer.envelope(response).server
        } catch {
            switch error {
            // Who we are is what a server wants to know first; it says so in JSON or, before it has seen `f=json`, in XML.
            case .server: answer.server = (try? Envelope(response.body))?.server ?? ServerInfo()
            default: answer.reason = error.description
            }
        }
        return answer
    }
}

/// What libcurl says of itself, for diagnoses.
public enum HTTPLibrary {
    /// `libcurl/7.88.1 OpenSSL/3.0.11 …`
    public static var version: String {
        guard let text = unsafe curl_version() else { return "libcurl" }
        return unsafe String(cString: text)
    }
}
