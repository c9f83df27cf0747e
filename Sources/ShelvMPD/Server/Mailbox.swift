import MPDProtocol

/// The channels that a client has subscribed to, and the messages that it has not read. Dies with the connection.
///
/// Source of the limits: MPD's `src/client/Client.hxx`.
struct Mailbox {
    struct Message: Equatable {
        var channel: [UInt8]
        var text: [UInt8]
    }

    /// What became of a message.
    enum Delivery {
        /// There was none before it: the client is told.
        case first
        case further
        /// No subscriber, or too many that were not read.
        case refused
    }

    static let mostChannels = 16
    static let mostMessages = 64

    var channels: Set<[UInt8]> = []
    private var messages: [Message] = []

    /// Letters, digits and `_-.:` make a name.
    static func isName(_ text: [UInt8]) -> Bool {
        !text.isEmpty
            && text.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "_-.:".utf8.contains(byte)
                }
            }
    }

    mutating func subscribe(_ channel: [UInt8]) throws(ACK) {
        guard channels.count < Self.mostChannels else { throw ACK(.exist, "subscription list is full") }
        guard channels.insert(channel).inserted else { throw ACK(.exist, "already subscribed to this channel") }
    }

    mutating func put(_ message: Message) -> Delivery {
        guard channels.contains(message.channel), messages.count < Self.mostMessages else { return .refused }
        messages.append(message)
        return messages.count == 1 ? .first : .further
    }

    /// The messages, oldest first; there are none afterwards.
    mutating func take() -> [Message] {
        defer { messages = [] }
        return messages
    }
}
