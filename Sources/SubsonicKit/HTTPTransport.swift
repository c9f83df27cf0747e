/// One HTTP request, complete with its query; the only form in which credentials travel below `SubsonicClient`.
///
/// `description` hides the query and a user name with password in the URL, so a request can be logged.
public struct HTTPRequest: Sendable, CustomStringConvertible {
    /// Absolute URL, percent-encoded.
    public var url: String
    public var headers: [(name: String, value: String)]
    /// Sent by POST as `application/x-www-form-urlencoded` when there is one, else the request is a GET.
    public var form: String?
    /// First byte wanted (`Range: bytes=N-`), or nil for the whole body.
    public var rangeStart: Int64?
    /// Sent only over TLS or to a loopback address, judged on the connection that is about to carry it; otherwise the
    /// transfer fails at step `local` and nothing has left. For passwords in clear.
    public var isConfidential: Bool
    /// Whether a redirect may lead to another server, or from https to http. Only for what holds no credentials of ours.
    public var followsAnywhere: Bool
    /// Time allowed to find the host's address and connect, TLS included.
    public var connectTimeout: Duration
    /// The request fails when no byte arrives for this long.
    public var stallTimeout: Duration
    /// The same for the first byte of the body, which a transcoder may be slow to give; nil is `stallTimeout`.
    public var firstByteTimeout: Duration?
    /// Bytes that the whole answer may have where the transport allows more; a larger one fails at step `local`.
    public var maximumBody: Int?
    /// What the server at this address needs of the connection.
    public var connection = ConnectionSettings()
    /// The other addresses of the same server, to be tried when this one cannot be reached.
    var route: ServerRoute?

    public init(
        url: String,
        headers: [(name: String, value: String)] = [],
        form: String? = nil,
        rangeStart: Int64? = nil,
        isConfidential: Bool = false,
        followsAnywhere: Bool = false,
        connectTimeout: Duration = .seconds(5),
        stallTimeout: Duration = .seconds(30),
        firstByteTimeout: Duration? = nil
    ) {
        self.url = url
        self.headers = headers
        self.form = form
        self.rangeStart = rangeStart
        self.isConfidential = isConfidential
        self.followsAnywhere = followsAnywhere
        self.connectTimeout = connectTimeout
        self.stallTimeout = stallTimeout
        self.firstByteTimeout = firstByteTimeout
    }

    public var description: String { Redaction.url(url) }
}

/// Status line and headers of an answer, after redirects.
public struct HTTPHead: Sendable, Equatable {
    public var status: Int
    /// Lower-case names, in order of arrival.
    public var headers: [(name: String, value: String)]
    /// The address that answered at last, without its query.
    public var effectiveURL: String
    /// Whether the peer's address is a loopback one.
    public var isLoopback: Bool
    /// The numeric address that answered, where it is known: the server's, or that of a proxy.
    public var peer = ""

    public init(
        status: Int,
        headers: [(name: String, value: String)],
        effectiveURL: String = "",
        isLoopback: Bool = false
    ) {
        self.status = status
        self.headers = headers
        self.effectiveURL = effectiveURL
        self.isLoopback = isLoopback
    }

    /// The first value of a header, or nil; `name` in lower case.
    public func value(of name: String) -> String? {
        headers.first { $0.name == name }?.value
    }

    public static func == (a: HTTPHead, b: HTTPHead) -> Bool {
        a.status == b.status && a.effectiveURL == b.effectiveURL && a.isLoopback == b.isLoopback
            && a.headers.elementsEqual(b.headers) { $0.name == $1.name && $0.value == $1.value }
    }
}

public struct HTTPResponse: Sendable, Equatable {
    public var head: HTTPHead
    public var body: [UInt8]

    public init(head: HTTPHead, body: [UInt8]) {
        self.head = head
        self.body = body
    }
}

/// Why no complete answer came. `message` names the step and the cause, never a query.
public struct TransportError: Error, Sendable, Equatable, CustomStringConvertible {
    /// How far the request got. `cancelled`: the task, the receiver or a shutdown ended it. `local`: refused or given up
    /// here, for a reason that trying again does not change.
    public enum Step: String, Sendable { case resolve, connect, tls, send, receive, cancelled, local }

    public var step: Step
    public var message: String
    /// Whether the server ended the connection in order before all that it had promised was there.
    public var isEarlyEnd: Bool

    public init(_ step: Step, _ message: String, isEarlyEnd: Bool = false) {
        self.step = step
        self.message = message
        self.isEarlyEnd = isEarlyEnd
    }

    public var description: String { message }
}

/// Takes the pieces of one streamed answer. Called on the transport's thread, one call at a time: do not block.
public protocol HTTPReceiver: AnyObject, Sendable {
    /// The final head; comes once, before any byte. Return false to end the transfer (it then finishes as cancelled).
    func transferDidReceive(_ head: HTTPHead) -> Bool
    /// Bytes of the body, lent until return. Return false to end the transfer.
    func transferDidReceive(_ bytes: UnsafeRawBufferPointer) -> Bool
    /// The last call: nil when the body is complete as far as HTTP can tell.
    func transferDidFinish(_ error: TransportError?)
}

/// A transfer under way.
public protocol HTTPTransfer: AnyObject, Sendable {
    /// Ends it soon; `transferDidFinish` still comes, exactly once. Any thread; never blocks.
    func cancel()
}

/// Sends requests. The real one is libcurl on its own thread (`CurlTransport`).
public protocol HTTPTransport: Sendable {
    /// The whole answer, whatever its status. Cancelling the task ends the transfer.
    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse

    /// Streams the answer to `receiver`.
    func stream(_ request: HTTPRequest, to receiver: any HTTPReceiver) -> any HTTPTransfer
}
