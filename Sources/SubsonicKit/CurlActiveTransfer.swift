internal import CCurl

/// One transfer on the transport's thread. Everything here belongs to that thread.
final class CurlActiveTransfer {
    private static let maximumRedirects = 5
    /// Bytes that come with a redirect and are thrown away.
    private static let maximumRedirectBody = 1 << 20
    /// Bytes of header lines, with those of interim answers and behind the body.
    private static let maximumHead = 256 << 10
    /// Bytes a second: a whole answer that comes slower on average is one that may never end.
    private static let slowest = 256

    let transfer: CurlTransfer
    private(set) var origin: HTTPOrigin
    private var easy: CurlEasy
    private var parser = HTTPHeadParser()
    private var url: String
    private var form: String?
    private var redirects = 0
    private var hasHead = false
    private var isRedirecting = false
    private var bodyLength = 0
    private var headLength = 0
    /// When the request was sent.
    private var start = ContinuousClock.now
    /// Why we end it ourselves; wins over what libcurl says.
    private var verdict: TransportError?
    /// When the request is answered next at the latest; nil while it connects, which libcurl watches.
    private(set) var deadline: ContinuousClock.Instant?
    /// Whether the last known address has been tried after the host's name did not resolve.
    private var triedKnownAddress = false
    /// The server's addresses that were asked, as far as they are known to be its; the last one is under way.
    private var bases: [String]
    /// What was wrong with the first of them.
    private var failureOfFirst = ""
    private let doubtsAddress: Bool
    private let options: CurlTransportOptions

    /// Nil when memory is short or the URL is no http or https one.
    ///
    /// - Parameter doubtsAddress: looks the host's address up anew, because connecting to the remembered one failed.
    init?(_ transfer: CurlTransfer, options: CurlTransportOptions, doubtsAddress: Bool) {
        guard let origin = transfer.origin, let easy = CurlEasy() else { return nil }
        self.transfer = transfer
        self.origin = origin
        self.easy = easy
        self.options = options
        self.doubtsAddress = doubtsAddress
        url = transfer.request.url
        form = transfer.request.form
        bases = transfer.request.route.map { [$0.base] } ?? []
        self.easy.report(to: self)
    }

    // MARK: Start and end

    /// Prepares the request and starts it; false when memory is short.
    func start(in multi: borrowing CurlMulti) -> Bool {
        configure()
        return easy.start(in: multi)
    }

    /// Ends it, whether it is under way or done.
    func leave(_ multi: borrowing CurlMulti) { easy.leave(multi) }

    /// Starts again where an ended transfer leads: a redirect, or the host's last known address. The handle has left
    /// `multi`. False when the transfer is over.
    func continues(after code: CURLcode, knownAddress: String?, in multi: borrowing CurlMulti) -> Bool {
        if isRedirecting && code == CURLE_OK && verdict == nil {
            return follow(in: multi)
        }
        if let knownAddress, !hasHead, !triedKnownAddress, verdict == nil, failedToResolve(code) {
            triedKnownAddress = true
            let address = knownAddress.contains(":") ? "[\(knownAddress)]" : knownAddress
            easy.setKnownAddress("+\(origin.host):\(origin.port):\(address)")
            return start(in: multi)
        }
        return moves(after: code) && start(in: multi)
    }

    /// Turns to another address of the same server, if this one could not be reached and there is one that was not tried.
    private func moves(after code: CURLcode) -> Bool {
        guard let route = transfer.request.route, !hasHead, verdict == nil, let error = error(for: code) else {
            return false
        }
        switch error.step {
        // The request has not left: it may be sent elsewhere, also where it must not be done twice.
        case .resolve, .connect, .tls: break
        case .send, .receive, .cancelled, .local: return false
        }
        if bases.count == 1 { failureOfFirst = error.message }
        guard let next = route.addresses.next(after: bases), transfer.request.url.hasPrefix(route.base) else {
            return false
        }
        let rest = transfer.request.url.utf8.dropFirst(route.base.utf8.count)
        let target = next + String(decoding: Array(rest), as: UTF8.self)
        guard let place = HTTPOrigin(target) else { return false }
        bases.append(next)
        url = target
        origin = place
        form = transfer.request.form
        triedKnownAddress = false
        return true
    }

    /// Tells the receiver how it ended.
    func finish(_ code: CURLcode) {
        if let error = error(for: code) {
            transfer.receiver.transferDidFinish(error)
        } else if hasHead {
            transfer.receiver.transferDidFinish(nil)
        } else {
            transfer.receiver.transferDidFinish(TransportError(.receive, "\(origin): the answer has no head"))
        }
    }

    /// Tells the receiver that it ended for a reason of ours.
    func finish(_ error: TransportError) { transfer.receiver.transferDidFinish(verdict ?? error) }

    /// The peer's address where the name was resolved by us (not by a proxy), to remember for the next failure.
    var resolvedAddress: String? {
        guard hasHead, !mayUseProxy, easy.number(CURLINFO_PRIMARY_PORT) == origin.port else { return nil }
        let address = easy.text(CURLINFO_PRIMARY_IP)
        return address.isEmpty || address == origin.host ? nil : address
    }

    // MARK: Callbacks

    /// The connection stands and the request is about to be sent. Returns whether it may.
    func willSend(to address: String) -> Bool {
        start = .now
        deadline = start + patience
        guard transfer.request.isConfidential, origin.scheme != "https",
            mayUseProxy || !HTTPOrigin.isLoopbackAddress(address)
        else {
            return true
        }
        let place = mayUseProxy ? "through a proxy" : "to \(address)"
        verdict = TransportError(
            .local,
            "\(origin): the password is not sent in clear \(place); use https, or allow it in the configuration"
        )
        return false
    }

    /// A header line. Returns whether the transfer goes on.
    func receive(header line: [UInt8]) -> Bool {
        headLength += line.count
        guard makesProgress() else { return false }
        if headLength > Self.maximumHead {
            verdict = TransportError(
                .local,
                "\(origin): the head of the answer is larger than \(Self.maximumHead) bytes"
            )
            return false
        }
        // Lines after the body are trailers.
        guard !hasHead, !isRedirecting else { return true }
        guard parser.receive(line) else { return true }
        if (301...308).contains(parser.status), parser.status < 304 || parser.status > 306,
            parser.headers.contains(where: { $0.name == "location" })
        {
            isRedirecting = true
            return true
        }
        hasHead = true
        if let first = bases.first, let last = bases.last, bases.count > 1 {
            transfer.request.route?.addresses.didAnswer(last, insteadOf: first, because: failureOfFirst)
        }
        var head = HTTPHead(
            status: parser.status,
            headers: parser.headers,
            effectiveURL: Redaction.url(url),
            isLoopback: isLoopback
        )
        head.peer = easy.text(CURLINFO_PRIMARY_IP)
        return goesOn(transfer.receiver.transferDidReceive(head))
    }

    /// Bytes of the body. Returns whether the transfer goes on.
    func receive(body bytes: UnsafeRawBufferPointer) -> Bool {
        bodyLength += bytes.count
        guard makesProgress() else { return false }
        if isRedirecting {
            if bodyLength > Self.maximumRedirectBody {
                verdict = TransportError(.local, "\(origin): a redirect with too long a text")
            }
            return verdict == nil
        }
        // Without a head (HTTP/0.9, which libcurl refuses) there is nothing to make of bytes.
        guard hasHead else { return false }
        let most = min(options.maximumBody, transfer.request.maximumBody ?? .max)
        if transfer.isWhole && bodyLength > most {
            verdict = TransportError(.local, "\(origin): the answer is larger than \(most) bytes")
            return false
        }
        return goesOn(unsafe transfer.receiver.transferDidReceive(bytes))
    }

    // MARK: Inner

    private func goesOn(_ wish: Bool) -> Bool {
        if !wish { verdict = TransportError(.cancelled, "ended by the receiver") }
        return wish
    }

    /// Notes that something has come. Returns false when it is too little for the time it took; streams may be slow, as
    /// their readers are.
    private func makesProgress() -> Bool {
        let now = ContinuousClock.now
        deadline = now + patience
        guard transfer.isWhole else { return true }
        let request = transfer.request
        let wait = max(request.stallTimeout, request.firstByteTimeout ?? .zero) + options.slownessLimit
        if now - start > wait + .seconds((headLength + bodyLength) / Self.slowest) {
            verdict = TransportError(.receive, "\(origin): the answer comes too slowly")
        }
        return verdict == nil
    }

    /// How long the next byte may take.
    private var patience: Duration {
        let request = transfer.request
        return bodyLength > 0 ? request.stallTimeout : request.firstByteTimeout ?? request.stallTimeout
    }

    /// A proxy may stand between us and the host, so that the peer's address says nothing.
    private var mayUseProxy: Bool {
        if let proxy = transfer.request.connection.proxy { return !proxy.isEmpty }
        guard !origin.isLoopbackName, !transfer.request.isConfidential || origin.scheme == "https" else { return false }
        return options.proxies.contains(origin.scheme)
    }

    private var isLoopback: Bool {
        !mayUseProxy && HTTPOrigin.isLoopbackAddress(easy.text(CURLINFO_PRIMARY_IP))
    }

    private func configure() {
        let request = transfer.request
        deadline = nil
        parser = HTTPHeadParser()
        isRedirecting = false
        bodyLength = 0
        headLength = 0
        start = .now
        easy.clearMessage()
        easy.set(CURLOPT_URL, url)
        easy.set(CURLOPT_PROTOCOLS_STR, "http,https")
        easy.set(CURLOPT_NOSIGNAL, 1)
        // Without it, taking out a handle whose host name is being resolved would wait for the resolver.
        easy.set(CURLOPT_QUICK_EXIT, 1)
        easy.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
        easy.set(CURLOPT_SSL_VERIFYPEER, 1)
        easy.set(CURLOPT_SSL_VERIFYHOST, 2)
        let connection = request.connection
        if let file = connection.certificateFile ?? options.certificateFile { easy.set(CURLOPT_CAINFO, file) }
        if let certificate = connection.clientCertificate {
            easy.set(CURLOPT_SSLCERT, certificate)
            if connection.isPKCS12 {
                easy.set(CURLOPT_SSLCERTTYPE, "P12")
            } else {
                easy.set(CURLOPT_SSLKEY, connection.clientKey ?? certificate)
            }
            // Without one OpenSSL would ask at the terminal for it, and everything would wait.
            easy.set(CURLOPT_KEYPASSWD, connection.clientKeyPassword ?? "")
        }
        easy.set(CURLOPT_USERAGENT, options.userAgent)
        easy.set(CURLOPT_FOLLOWLOCATION, 0)
        easy.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        easy.set(CURLOPT_TCP_KEEPALIVE, 1)
        easy.set(CURLOPT_DNS_CACHE_TIMEOUT, doubtsAddress && !triedKnownAddress ? 0 : 600)
        easy.set(CURLOPT_CONNECTTIMEOUT_MS, milliseconds(request.connectTimeout))
        if let proxy = connection.proxy {
            easy.set(CURLOPT_NOPROXY, proxy.isEmpty ? "*" : "")
            if !proxy.isEmpty { easy.set(CURLOPT_PROXY, proxy) }
        } else {
            // This machine is reached directly, and a password in clear goes through nobody.
            let isDirect = origin.isLoopbackName || (request.isConfidential && origin.scheme != "https")
            easy.set(CURLOPT_NOPROXY, isDirect ? "*" : options.noProxy)
        }

        var lines = request.headers.map { "\($0.name): \($0.value)" }
        if let start = request.rangeStart { lines.append("Range: bytes=\(max(0, start))-") }
        if transfer.isWhole && request.rangeStart == nil {
            easy.set(CURLOPT_ACCEPT_ENCODING, "gzip, deflate")
        } else {
            lines.append("Accept-Encoding: identity")
        }
        if let form {
            easy.setForm(form)
            // No waiting for "100 Continue" with long lists.
            lines.append("Expect:")
        } else {
            easy.set(CURLOPT_HTTPGET, 1)
        }
        easy.setHeaders(lines)
    }

    private func follow(in multi: borrowing CurlMulti) -> Bool {
        let target = easy.text(CURLINFO_REDIRECT_URL)
        redirects += 1
        guard redirects <= Self.maximumRedirects else {
            verdict = TransportError(.local, "\(origin): more than \(Self.maximumRedirects) redirects")
            return false
        }
        guard let next = HTTPOrigin(target), transfer.request.followsAnywhere || origin.allowsRedirect(to: next)
        else {
            verdict = TransportError(
                .local,
                "\(Redaction.url(url)) leads to \(Redaction.url(target)), which is another server or not protected; "
                    + "use that address if you trust it"
            )
            return false
        }
        // 303 means: look there for the result. The others mean the same request again, also where browsers differ.
        if parser.status == 303 { form = nil }
        url = target
        origin = next
        return start(in: multi)
    }

    /// Whether no connection came about, for whatever reason.
    func failedToConnect(_ code: CURLcode) -> Bool {
        code != CURLE_OK && easy.offset(CURLINFO_CONNECT_TIME_T) == 0
    }

    private func failedToResolve(_ code: CURLcode) -> Bool {
        code == CURLE_COULDNT_RESOLVE_HOST
            || (code == CURLE_OPERATION_TIMEDOUT && easy.offset(CURLINFO_NAMELOOKUP_TIME_T) == 0)
    }

    private func error(for code: CURLcode) -> TransportError? {
        if let verdict { return verdict }
        return code == CURLE_OK ? nil : CurlFailure.error(code, of: easy, at: origin, hasHead: hasHead)
    }

    /// What to say when nothing has come until `deadline`.
    func stallError() -> TransportError {
        let time = patience
        // Of a stream the first byte may take its time while a server makes it.
        if !hasHead, transfer.isWhole, let base = bases.last {
            transfer.request.route?.addresses.didFail(base, because: "\(origin): no answer for \(time)")
        }
        return TransportError(.receive, "\(origin): \(hasHead ? "the answer stopped" : "no answer") for \(time)")
    }

    private func milliseconds(_ duration: Duration) -> Int {
        let (seconds, attoseconds) = duration.components
        return max(1, Int(clamping: seconds.clamped(to: 0...86_400) * 1_000 + attoseconds / 1_000_000_000_000_000))
    }
}

extension Int64 {
    fileprivate func clamped(to range: ClosedRange<Int64>) -> Int64 {
        Swift.min(Swift.max(self, range.lowerBound), range.upperBound)
    }
}
