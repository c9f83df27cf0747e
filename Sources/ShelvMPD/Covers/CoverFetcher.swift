import Glibc
import Logging
import SubsonicKit

/// Asks a server for pictures and lyrics.
struct CoverFetcher: Sendable {
    let client: SubsonicClient
    let transport: any HTTPTransport
    /// Length of the longer edge in pixels that the server shall scale to; nil for the picture as it is.
    let size: Int?
    let log: Log
    let lyrics = LyricsSource()
    /// Waits before repetitions, as long as a client may be kept waiting.
    var policy = RetryPolicy(delays: [.milliseconds(500), .milliseconds(1000)], longestRetryAfter: .seconds(3))

    /// Larger ones are not taken.
    static let largest = 64 << 20
    /// After this time a failure is not tried again.
    private static let patience = Duration.seconds(3)

    /// One picture; what may pass is tried again a few times, later each time.
    @concurrent
    func fetch(_ source: CoverSource) async -> CoverFetch {
        guard source.isLyrics else { return await repeatedly(source) }
        // A client that wants the tags waits for them.
        return await withTaskGroup(of: CoverFetch.self) { group in
            group.addTask { await repeatedly(source) }
            group.addTask {
                try? await Task.sleep(for: Self.patience)
                return .failed
            }
            let first = await group.next()
            group.cancelAll()
            return first ?? .failed
        }
    }

    private func repeatedly(_ source: CoverSource) async -> CoverFetch {
        let start = ContinuousClock.now
        var repetitions = 0
        while true {
            do throws(SubsonicError) {
                return try await attempt(source)
            } catch {
                if case .server(let failure) = error, !error.isAuthentication {
                    log.debug("\(client.server.name) has nothing for \(source.text): \(failure.message)")
                    return .none
                }
                if case .http(404, _) = error { return .none }
                let isAway =
                    if case .transport(let error) = error { [.resolve, .connect].contains(error.step) } else { false }
                guard !isAway, start.duration(to: .now) < Self.patience,
                    let delay = policy.delay(before: repetitions, after: error, chance: .random(in: 0...1))
                else {
                    if !error.isCancellation {
                        log.info("No \(source.isLyrics ? "lyrics" : "cover") from \(client.server.name): \(error)")
                    }
                    return .failed
                }
                repetitions += 1
                try? await Task.sleep(for: delay)
            }
        }
    }

    private func attempt(_ source: CoverSource) async throws(SubsonicError) -> CoverFetch {
        switch source {
        case .art(let id): return try await picture(id)
        case .artist(let id):
            guard let art = try await client.artist(id: id)?.coverArt else { return .none }
            return try await picture(art)
        case .lyrics(let songID, let artist, let title):
            let lyrics = try await lyrics.fetch(songID: songID, artist: artist, title: title, from: client)
            let bytes = LyricsComments.bytes(of: lyrics)
            return bytes.isEmpty ? .none : .cover(Cover(bytes: bytes, type: "text/plain", fetched: Int64(time(nil))))
        }
    }

    private func picture(_ id: String) async throws(SubsonicError) -> CoverFetch {
        var parameters = [("id", id)]
        if let size { parameters.append(("size", String(size))) }
        while true {
            var request = client.mediaRequest("getCoverArt", parameters)
            request.stallTimeout = .seconds(10)
            request.maximumBody = Self.largest
            let response: HTTPResponse
            do throws(TransportError) {
                response = try await transport.send(request)
            } catch {
                throw .transport(error)
            }
            let start = Array(response.body.prefix(SubsonicAnswer.bytesForMediaError))
            if let error = SubsonicAnswer.mediaError(response.head, start: start) {
                if client.triesOtherAuthentication(after: error, of: request) { continue }
                throw error
            }
            guard !response.body.isEmpty else { return .none }
            let told =
                response.head.value(of: "content-type").map { String($0.prefix { $0 != ";" && $0 != " " }) } ?? ""
            let type = Cover.type(of: start) ?? (told.lowercased().hasPrefix("image/") ? told.lowercased() : nil)
            guard let type else {
                throw .decoding("What came in place of a cover is no picture that can be used")
            }
            return .cover(Cover(bytes: response.body, type: type, fetched: Int64(time(nil))))
        }
    }
}
