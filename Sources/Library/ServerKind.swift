public import SubsonicKit

/// The server programs whose habits differ enough to matter.
public enum ServerKind: String, Sendable, CaseIterable {
    case navidrome, gonic, supysonic, lms, ampache, nextcloud, funkwhale, airsonic, subsonic
    /// Anything else: believed only after it was tried.
    case unknown

    /// The kind of a server by what it says of itself.
    ///
    /// supysonic says nothing of itself, but few others speak 1.12.0 (from 0.7.3 on) or 1.10.2.
    public init(_ server: ServerInfo) {
        let type = (server.type ?? "").lowercased()
        let names: [(String, ServerKind)] = [
            ("navidrome", .navidrome), ("gonic", .gonic), ("supysonic", .supysonic), ("lms", .lms),
            ("ampache", .ampache),
            ("nextcloud", .nextcloud), ("owncloud", .nextcloud), ("funkwhale", .funkwhale), ("airsonic", .airsonic),
            ("subsonic", .subsonic),
        ]
        if let known = names.first(where: { type.hasPrefix($0.0) }) {
            self = known.1
        } else if type.isEmpty, ["1.10.2", "1.12.0"].contains(server.version) {
            self = .supysonic
        } else {
            self = .unknown
        }
    }

    /// Between what the server joins several genres into one text; nil where it does not, because genres may hold commas.
    var genreSeparator: Character? {
        switch self {
        case .supysonic: ";"
        case .ampache, .nextcloud: ","
        default: nil
        }
    }

    /// Whether a track's number holds the disc's as its hundreds.
    var addsDiscToTrack: Bool { self == .nextcloud }
}
