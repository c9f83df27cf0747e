/// The program's own version, which is not that of the protocol.
enum Version {
    static let number = "0.1.0"
    /// What `--version` writes.
    static let text = "ShelvMPD \(number)\n"
}
