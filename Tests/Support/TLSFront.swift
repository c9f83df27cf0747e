/// TLS in front of a server of this machine, with certificates made for the occasion (`Tests/Tools/tls_front.py`).
public final class TLSFront: Sendable {
    /// `https://127.0.0.1:PORT`, with a certificate of the authority in `ca.pem`.
    public let url: String
    /// The same with the self-signed certificate `alone.pem`.
    public let aloneURL: String
    private let folder: TemporaryFolder
    private let process: TestProcess

    /// Starts it; nil when it does not.
    /// - Parameter wantsClient: whether it asks for a certificate.
    public init?(to port: Int, wantsClient: Bool = false) {
        let script = PackageFolder.path("Tests/Tools/tls_front.py")
        guard let folder = TemporaryFolder(),
            let process = TestProcess(
                ["/usr/bin/python3", "-B", script, folder.path, "\(port)"] + (wantsClient ? ["--client"] : [])
            )
        else { return nil }
        _ = waitUntil { process.output.contains("\n") || !process.isRunning }
        let words = process.output.split(whereSeparator: \.isWhitespace)
        guard words.count == 3, words[0] == "READY" else { return nil }
        url = "https://127.0.0.1:\(words[1])"
        aloneURL = "https://127.0.0.1:\(words[2])"
        self.folder = folder
        self.process = process
    }

    /// The path of one of its files.
    public func file(_ name: String) -> String { folder.path(name) }

    /// Ends it.
    public func stop() { process.stop() }
}
