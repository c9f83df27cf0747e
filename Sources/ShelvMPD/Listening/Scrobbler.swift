import Library
import Logging
import SubsonicKit

/// Tells the server what is listened to: each play that counts, through the journal, once and in order; and what can be
/// heard at the moment, if the server can be reached. Owned by the core; a courier carries out what it wants.
final class Scrobbler {
    /// A play that counts and that the server is not known to have.
    struct Waiting: Sendable, Equatable {
        /// In the journal.
        let id: Int64
        let songID: String
        /// When it began, Unix time in milliseconds.
        var time: Int64
        /// Whether the store has it: before that, it must not be sent.
        var isKept: Bool
        /// By how much the wall clock was ahead of the one that nobody sets, in milliseconds; nil for a play of an earlier run.
        var lead: Int64?

        /// The time, unless nobody had told the machine the time of day.
        var knownTime: Int64? { MachineClock.isSet(time / 1000) ? time : nil }

        /// The same with the time by a clock that has been set since.
        func corrected(lead: Int64) -> Waiting {
            guard knownTime == nil, let former = self.lead else { return self }
            var play = self
            play.time += lead - former
            return play
        }
    }

    let log: Log
    /// Whether it is told anything; what waits, waits on.
    var isEnabled: Bool { didSet { pace.soon() } }
    /// The server that is told. What waits for it is seen in its library's numbers from then on.
    weak var home: MusicServer? { didSet { showWaiting() } }
    private let journal: JournalWriter
    private let clock: PlayTracker.Clock
    private(set) var waiting: [Waiting]
    /// Plays up to this one may have been sent without an answer.
    private var uncertainThrough: Int64
    /// What can be heard and was not told yet: at most one for each partition.
    private var sounding: [(room: PartitionID, sounding: Sounding)] = []
    private var perform: ((ScrobbleJob) -> Void)?
    let pace = DeliveryPace()
    /// How often the server has refused the play that is the next one.
    private var refusals = 0

    /// All plays have one subject: they are sent in order.
    static let subject = "play"
    /// The most plays in one job.
    private static let batch = 50
    /// A play that is refused so often is given up, so that those behind it are not lost.
    private static let mostRefusals = 5

    init(
        _ saved: SavedScrobbles,
        _ journal: JournalWriter,
        isEnabled: Bool = true,
        clock: PlayTracker.Clock = .init(),
        log: Log = .silent
    ) {
        self.clock = clock
        self.isEnabled = isEnabled
        self.journal = journal
        self.log = log
        waiting = saved.waiting
        uncertainThrough = saved.uncertainThrough
    }

    /// Begins: there is somebody to carry things out.
    func connect(_ perform: @escaping (ScrobbleJob) -> Void) {
        self.perform = perform
        guard let server = home?.server else { return }
        pace.connect(to: server) { [unowned self] in next() }
        pace.soon()
    }

    /// Adds the last run's plays to what the library tells, except those that may have been sent: they may be in it already.
    private func showWaiting() {
        guard let home else { return }
        for play in waiting where play.id > uncertainThrough {
            home.freshPlays.add(play.songID, at: play.time, in: home.library)
        }
    }

    // MARK: What is heard

    /// A song of this server counts as played.
    /// - Parameter also: done in the transaction that keeps it.
    func submit(
        _ songID: String,
        at time: Int64,
        also: (@Sendable (Database) throws(StoreError) -> Void)?
    ) {
        let reference = home?.reference
        let entry = journal.append(
            .scrobble,
            subject: Self.subject,
            content: ScrobbleCoding.encode(songID, time),
            time: PlaylistShelf.wallClock,
            also: also,
            // If it cannot be kept, it is sent all the same.
            whenKept: { _ in reference?.post { $0.scrobbler?.keptAll() } }
        )
        waiting.append(Waiting(id: entry.id, songID: songID, time: time, isKept: false, lead: lead))
        // Those before it may be told at once.
        pace.soon()
    }

    /// By how much the wall clock is ahead of the one that nobody sets.
    private var lead: Int64 { clock.wall() - clock.running() }

    /// The store has what it was given so far, as it takes everything in order; what comes later says so itself.
    private func keptAll() {
        if let index = waiting.firstIndex(where: { !$0.isKept }) { waiting[index].isKept = true }
        pace.soon()
    }

    /// What can be heard in a partition has changed. Only the latest is told, and only a server that can be reached.
    func sounds(_ latest: Sounding, in room: PartitionID) {
        guard isEnabled, pace.failures == 0 else { return }
        var latest = latest
        if let index = sounding.firstIndex(where: { $0.room == room }) {
            let former = sounding.remove(at: index).sounding
            // Nobody has been told of its beginning yet.
            if former.isNew, former.songID == latest.songID { latest.isNew = true }
        }
        sounding.append((room, latest))
        pace.soon()
    }

    /// The program ends, and with it what can be heard; told if the server can be reached.
    func finish(_ sounding: Sounding) {
        guard pace.failures == 0 else { return }
        perform?(.sounding(sounding))
    }

    // MARK: Work

    private func next() {
        guard isEnabled, let perform else { return }
        if !sounding.isEmpty {
            pace.began()
            return perform(.sounding(sounding.removeFirst().sounding))
        }
        let count = waiting.prefix(Self.batch).prefix { $0.isKept }.count
        guard count > 0, pace.isTime() else { return }
        pace.began()
        // Once it is known, it stays: by its time a play is known again on the server.
        let lead = lead
        for index in waiting.indices.prefix(count) { waiting[index] = waiting[index].corrected(lead: lead) }
        let ready = Array(waiting.prefix(count))
        perform(.submit(ready, uncertain: ready.count { $0.id <= uncertainThrough }))
    }

    /// The server was told what can be heard, or could not be.
    func told() { pace.ended() }

    /// What became of plays that were to be sent.
    func submitted(_ receipt: ScrobbleReceipt) {
        pace.ended()
        switch receipt {
        case .arrived(let count):
            if pace.succeeded() { log.info("\(home?.name ?? "The server") takes plays again") }
            settle(count)
        case .failed(let error, let sentThrough):
            if let sentThrough { uncertainThrough = max(uncertainThrough, sentThrough) }
            failed(error)
        case .refused(let error):
            refusals += 1
            if error.serverCode == 70 || refusals >= Self.mostRefusals {
                log.error("The server does not take a play, which is given up: \(error)")
                settle(1)
            } else {
                failed(error)
            }
        }
    }

    /// The first ones are done with.
    private func settle(_ count: Int) {
        refusals = 0
        let done = waiting.prefix(count)
        guard let last = done.last else { return }
        waiting.removeFirst(done.count)
        let server = journal.server.text
        journal.store.submit("that plays were told") { database throws(StoreError) in
            try Journal.remove(.scrobble, subject: Self.subject, through: last.id, for: server, from: database)
        }
    }

    private func failed(_ error: SubsonicError) {
        sounding = []
        let line =
            "Cannot tell \(home?.name ?? "the server") what was played: \(error); again in \(pace.failed(error)) s"
        if pace.failures == 1 { log.notice(line) } else { log.info(line) }
    }
}

/// What can be heard at the moment.
struct Sounding: Sendable, Equatable {
    var songID: String
    /// Since when, Unix time in milliseconds.
    var start: Int64
    var state: PlaybackReport.State
    /// Milliseconds into the song.
    var position: Int64
    /// Whether it has just begun.
    var isNew: Bool
}

/// Something to be done at the server.
enum ScrobbleJob: Sendable {
    case sounding(Sounding)
    /// The first ones may have arrived already: as many as `uncertain` says.
    case submit([Scrobbler.Waiting], uncertain: Int)
}

/// What became of it.
enum ScrobbleReceipt: Sendable {
    /// The first ones are on the server.
    case arrived(Int)
    /// None is known to be there.
    /// - Parameter sentThrough: the last one that may have arrived; nil if nothing was sent.
    case failed(SubsonicError, sentThrough: Int64?)
    /// The server does not want the first one.
    case refused(SubsonicError)
}

/// Plays as bytes for the journal.
enum ScrobbleCoding {
    /// The time, a line end, the song's id.
    static func encode(_ songID: String, _ time: Int64) -> [UInt8] { Array("\(time)\n\(songID)".utf8) }

    /// Nil for what is none of ours.
    static func decode(_ bytes: [UInt8]) -> (songID: String, time: Int64)? {
        let parts = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 1)
        guard parts.count == 2, let time = Int64(String(decoding: parts[0], as: UTF8.self)) else { return nil }
        return (String(decoding: parts[1], as: UTF8.self), time)
    }
}

/// The plays that the last run could not tell.
struct SavedScrobbles: Sendable {
    var waiting: [Scrobbler.Waiting] = []
    var uncertainThrough: Int64 = 0

    static func load(from store: Store, server: ServerID) async throws -> SavedScrobbles {
        let entries = try await store.read { database throws(StoreError) in
            try Journal.entries(of: .scrobble, for: server.text, in: database)
        }
        let facts = try await store.facts(about: server)
        return SavedScrobbles(
            waiting: entries.compactMap { entry in
                ScrobbleCoding.decode(entry.content).map {
                    Scrobbler.Waiting(id: entry.id, songID: $0.songID, time: $0.time, isKept: true)
                }
            },
            uncertainThrough: facts[ScrobbleCourier.attemptFact].flatMap { Int64($0) } ?? 0
        )
    }
}
