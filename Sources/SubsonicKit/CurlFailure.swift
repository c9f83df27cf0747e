internal import CCurl

/// What libcurl's result codes mean for us.
enum CurlFailure {
    /// The error of a transfer that ended with `code`: the step, the server, what failed, and libcurl's words.
    ///
    /// - Parameter hasHead: whether an answer had begun.
    static func error(
        _ code: CURLcode,
        of easy: borrowing CurlEasy,
        at origin: HTTPOrigin,
        hasHead: Bool
    ) -> TransportError {
        let message = Redaction.text(easy.message(for: code))
        let (step, what) =
            code == CURLE_OPERATION_TIMEDOUT
            ? timeout(of: easy, message: message, hasHead: hasHead) : failure(of: code, message: message)
        return TransportError(step, "\(origin): \(what): \(message)", isEarlyEnd: code == CURLE_PARTIAL_FILE)
    }

    private static func failure(of code: CURLcode, message: String) -> (step: TransportError.Step, what: String) {
        switch code {
        // A proxy that cannot or does not want to; only libcurl's words tell.
        case CURLE_RECV_ERROR where message.contains("CONNECT"), CURLE_PROXY: (.connect, "the proxy does not connect")
        // With TLS 1.3 a server looks at our certificate only after the handshake.
        case CURLE_RECV_ERROR where message.contains("alert") && message.contains("certificate"),
            CURLE_SEND_ERROR where message.contains("alert") && message.contains("certificate"):
            (.tls, "TLS failed")
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: (.resolve, "address not found")
        case CURLE_COULDNT_CONNECT: (.connect, "connecting failed")
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
            CURLE_SSL_CACERT_BADFILE, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_ISSUER_ERROR:
            (.tls, "TLS failed")
        case CURLE_SEND_ERROR, CURLE_SEND_FAIL_REWIND: (.send, "sending failed")
        case CURLE_URL_MALFORMAT, CURLE_OUT_OF_MEMORY, CURLE_FAILED_INIT: (.local, "cannot send")
        default: (.receive, "receiving failed")
        }
    }

    private static func timeout(
        of easy: borrowing CurlEasy,
        message: String,
        hasHead: Bool
    ) -> (step: TransportError.Step, what: String) {
        if hasHead { return (.receive, "receiving timed out") }
        if easy.offset(CURLINFO_NAMELOOKUP_TIME_T) == 0 { return (.resolve, "finding the address timed out") }
        // libcurl counts TLS as connecting; only its words tell them apart.
        if message.hasPrefix("SSL") { return (.tls, "TLS timed out") }
        if easy.offset(CURLINFO_CONNECT_TIME_T) == 0 { return (.connect, "connecting timed out") }
        return (.receive, "no answer in time")
    }
}
