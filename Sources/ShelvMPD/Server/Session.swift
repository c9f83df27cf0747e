import MPDProtocol

/// What the server remembers about one client; dies with the connection.
struct Session {
    /// Local clients come over the Unix socket: they may use `config`.
    let isLocal: Bool
    var partition: Partition
    var permissions: Permissions
    /// What gave it those permissions; nil for a client that has given none. Never shown.
    var password: [UInt8]?
    /// The tags that the client wants to see in song records.
    var tagMask: TagMask
    var features: ProtocolFeatures = []
    var stringNormalization: StringNormalization = []
    /// Bytes of one binary chunk.
    var binaryLimit = 8192
    /// What other clients have sent.
    var mailbox = Mailbox()
    /// The picture that is being read.
    var reading: CoverReading?

    init(isLocal: Bool, partition: Partition, permissions: Permissions, tagMask: TagMask) {
        self.isLocal = isLocal
        self.partition = partition
        self.permissions = permissions
        self.tagMask = tagMask
    }
}
