/// The calls on stars and ratings. How they differ between servers is the caller's matter.
extension SubsonicCalling {
    /// Stars what these ids mean, in their order, or takes the stars away.
    ///
    /// Throws error 0 on some servers where there is nothing to change, error 70 for an id that is not known.
    public func star(_ ids: [StarredID], _ isStarred: Bool) async throws(SubsonicError) {
        _ = try await call(isStarred ? "star" : "unstar", ids.map { ($0.parameter, $0.id) })
    }

    /// Rates a song, an album or an artist. Error 70 where there is no such thing, or no rating of it.
    /// - Parameter rating: 1...5, or what the server takes for none.
    public func setRating(id: String, rating: String) async throws(SubsonicError) {
        _ = try await call("setRating", [("id", id), ("rating", rating)])
    }
}

/// Something that can bear a star.
public enum StarredID: Sendable, Hashable {
    case song(String)
    case album(String)
    case artist(String)

    var id: String {
        switch self {
        case .song(let id), .album(let id), .artist(let id): id
        }
    }

    var parameter: String {
        switch self {
        case .song: "id"
        case .album: "albumId"
        case .artist: "artistId"
        }
    }
}
