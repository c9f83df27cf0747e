import Library
import Logging
import SubsonicKit

/// Tells one server what is listened to, in its own way. Used for one job at a time.
actor ScrobbleCourier {
    private let server: any SubsonicCalling
    private let log: Log
    /// Keeps that plays up to this number are about to be sent; returns when that cannot be lost any more.
    private let keepAttempt: @Sendable (Int64) async throws -> Void
    private var abilities: ServerAbilities?
    private let jobs: AsyncStream<ScrobbleJob>
    nonisolated let queue: AsyncStream<ScrobbleJob>.Continuation

    /// Under which name the last number that was sent is kept.
    static let attemptFact = "scrobble_attempt"

    init(_ server: any SubsonicCalling, id: ServerID, store: Store, log: Log) {
        self.server = server
        self.log = log
        (jobs, queue) = AsyncStream.makeStream()
        keepAttempt = { number in
            try await store.write("what is about to be told") { database throws(StoreError) in
                try database.run(
                    "INSERT OR REPLACE INTO server_fact (server, name, value) VALUES (?, ?, ?)",
                    .text(id.text),
                    .text(Self.attemptFact),
                    .text(String(number))
                )
            }
        }
    }

    /// Carries out what the core's scrobbler wants, one job at a time, until the task is cancelled or the queue of jobs is
    /// finished.
    nonisolated func work(for home: MusicServer.Reference) async {
        home.post { [queue] home in home.scrobbler?.connect { queue.yield($0) } }
        for await job in jobs {
            switch job {
            case .sounding(let sounding):
                await tell(sounding)
                if Task.isCancelled { return }
                home.post { $0.scrobbler?.told() }
            case .submit(let plays, let uncertain):
                let receipt = await submit(plays, uncertain: uncertain)
                if Task.isCancelled { return }
                home.post { $0.scrobbler?.submitted(receipt) }
            }
        }
    }

    // MARK: What can be heard

    /// Tells what can be heard. If that does not succeed, it is no news any more.
    private func tell(_ sounding: Sounding) async {
        do throws(SubsonicError) {
            let abilities = try await learn()
            if abilities.extensions.contains("playbackReport") {
                let report = PlaybackReport(
                    songID: sounding.songID,
                    state: sounding.state,
                    position: sounding.position
                )
                try await server.reportPlayback(report)
            } else if sounding.isNew, sounding.state != .stopped, Self.takesNowPlaying(abilities) {
                try await server.nowPlaying(songID: sounding.songID, since: sounding.start)
            }
        } catch {
            log.debug("The server is not told what can be heard: \(error)")
        }
    }

    /// Some servers take what can be heard for a play.
    private static func takesNowPlaying(_ abilities: ServerAbilities) -> Bool {
        switch ServerKind(abilities.server) {
        case .gonic, .airsonic, .ampache: false
        default: true
        }
    }

    // MARK: Plays

    /// Sends the first plays: as many as the server takes at once.
    func submit(_ plays: [Scrobbler.Waiting], uncertain: Int) async -> ScrobbleReceipt {
        var sentThrough: Int64?
        do {
            let abilities = try await learn()
            if uncertain > 0 {
                let arrived = try await arrived(plays.prefix(uncertain))
                if arrived > 0 { return .arrived(arrived) }
            }
            // One whose time nobody knows, of an earlier run, goes alone: the server takes it for one of just now.
            let known = plays.prefix { $0.knownTime != nil }
            let part = plays.prefix(Self.takesSeveral(abilities) ? max(1, known.count) : 1)
            guard let last = part.last else { return .arrived(0) }
            try await keepAttempt(last.id)
            sentThrough = last.id
            try await server.scrobble(part.map { (songID: $0.songID, time: $0.knownTime) })
            return .arrived(part.count)
        } catch let error as SubsonicError {
            if error.isBeforeSending { return .failed(error, sentThrough: nil) }
            if error.serverCode != nil, !error.isAuthentication { return .refused(error) }
            return .failed(error, sentThrough: error.isAuthentication ? nil : sentThrough)
        } catch {
            // The store does not take what is to be sent: then it is not sent.
            return .failed(.transport(TransportError(.local, "\(error)")), sentThrough: nil)
        }
    }

    /// How many plays of which no answer came are on the server: the last one whose song was played just then, and all
    /// before it. None where the server does not tell when songs were played; then they are sent again, with the same times.
    private func arrived(_ plays: ArraySlice<Scrobbler.Waiting>) async throws(SubsonicError) -> Int {
        for index in plays.indices.reversed() {
            let play = plays[index]
            do throws(SubsonicError) {
                guard let played = try await server.song(id: play.songID)?.played else { continue }
                // Servers keep seconds, rounded in one way or another.
                if (played - play.time / 1000).magnitude <= 1 { return index - plays.startIndex + 1 }
            } catch {
                if error.serverCode == nil || error.isAuthentication { throw error }
            }
        }
        return 0
    }

    /// Whether the server counts all plays of a request; many look at the first one only.
    private static func takesSeveral(_ abilities: ServerAbilities) -> Bool {
        ServerKind(abilities.server) == .navidrome
    }

    private func learn() async throws(SubsonicError) -> ServerAbilities {
        if let abilities { return abilities }
        let found = try await server.abilities()
        abilities = found
        return found
    }
}
