import SubsonicKit

/// What a server tells of the user's ratings of albums: with each look those that it lists by rating, and of what has left that
/// list since the last look what it is now.
actor AlbumRatings {
    /// Stars by id, as the last look found them.
    private var listed: [String: UInt8] = [:]
    private var isUnsupported = false

    private static let page = 500
    /// More are not looked through.
    private static let mostPages = 4
    /// Albums that are asked for one by one.
    private static let mostQuestions = 10

    /// Stars by id, 0 for no rating any more; empty where the server does not tell, or does not answer.
    func look(_ server: any SubsonicCalling) async -> [String: UInt8] {
        if isUnsupported { return [:] }
        do throws(SubsonicError) {
            var (found, isComplete) = try await list(server)
            let former = listed
            listed = found
            guard isComplete else { return found }
            for id in former.keys.filter({ found[$0] == nil }).prefix(Self.mostQuestions) {
                found[id] = try await stars(of: id, server)
            }
            return found
        } catch {
            switch error {
            case .server where !error.isAuthentication: isUnsupported = true
            case .http(let status, _): isUnsupported = [404, 405, 410, 500, 501].contains(status)
            case .server, .transport, .decoding: break
            }
            return [:]
        }
    }

    private func list(_ server: any SubsonicCalling) async throws(SubsonicError) -> ([String: UInt8], isComplete: Bool)
    {
        var found: [String: UInt8] = [:]
        for number in 0..<Self.mostPages {
            let albums = try await server.albumList2(type: .highest, size: Self.page, offset: number * Self.page)
            let rated = albums.filter { ($0.userRating ?? 0) > 0 }
            for album in rated { found[album.id] = UInt8(clamping: album.userRating ?? 0) }
            if albums.count < Self.page || rated.isEmpty { return (found, true) }
        }
        return (found, false)
    }

    private func stars(of id: String, _ server: any SubsonicCalling) async throws(SubsonicError) -> UInt8 {
        do throws(SubsonicError) {
            return UInt8(clamping: try await server.album(id: id)?.userRating ?? 0)
        } catch {
            // What is not there is not rated.
            guard error.serverCode == 70 else { throw error }
            return 0
        }
    }
}
