import Glibc

/// The pictures, and lyrics, that clients ask for: those lately used in memory, the others on disk, and what is fetched right now.
///
/// Owned by the core, which never waits here: files are read on a thread of their own, servers are asked by tasks, and both
/// come back by `post`. One request serves all who ask for the same picture.
final class Covers {
    /// How pictures come from the server. Called on the core; `whenDone` may be called on any thread, once.
    typealias Fetch = (CoverSource, _ whenDone: @escaping @Sendable (CoverFetch) -> Void) -> Void
    typealias WhenDone = (Cover?) -> Void

    /// What is known without waiting.
    enum Known {
        case cover(Cover)
        case none
        case unknown
    }

    /// The two clocks.
    struct Clock: Sendable {
        var now: @Sendable () -> Instant = { .now }
        /// Unix time in seconds.
        var today: @Sendable () -> Int64 = { Int64(time(nil)) }
    }

    /// Server requests at once.
    static let requestsAtOnce = 4
    /// How long a picture is believed to be the server's; afterwards it is shown and fetched anew.
    static let freshness: Int64 = 86_400
    /// How long it is remembered that there is none.
    static let absence = Duration.seconds(3600)
    /// After the first failure in a row the server is left alone for so long, after the second for twice as long.
    static let pauseStep = Duration.seconds(5)
    static let longestPause = Duration.seconds(60)
    /// How long lyrics that did not come are not asked for again.
    static let lyricsPause = Duration.seconds(60)
    /// More than anyone has in view.
    private static let mostAbsent = 100_000

    private let files: CoverFiles?
    private let fetch: Fetch
    private let clock: Clock
    /// Brings what other threads have found to the core.
    private let post: @Sendable (@escaping @Sendable (Covers) -> Void) -> Void
    private var memory: CoverMemory
    private var absent: [CoverSource: Instant] = [:]
    /// Who waits for what is looked up or fetched right now; nobody, where a picture is only fetched anew.
    private var waiting: [CoverSource: Waiters] = [:]
    /// What is to be fetched when another request has ended, in order of arrival.
    private var queue: [CoverSource] = []
    private var queueHead = 0
    private var running = 0
    private var failures = 0
    private var pausedUntil: Instant?
    private var isOver = false

    /// - Parameters:
    ///   - files: nil: nothing is kept on disk.
    ///   - memory: bytes of pictures in memory.
    init(
        files: CoverFiles?,
        memory: Int = 16 << 20,
        clock: Clock = Clock(),
        post: @escaping @Sendable (@escaping @Sendable (Covers) -> Void) -> Void,
        fetch: @escaping Fetch
    ) {
        self.files = files
        self.memory = CoverMemory(limit: memory)
        self.clock = clock
        self.post = post
        self.fetch = fetch
    }

    // MARK: Asking

    /// The first picture that any of the sources has, as far as memory tells.
    func known(_ sources: ArraySlice<CoverSource>) -> Known {
        for source in sources {
            switch known(source) {
            case .cover(let cover): return .cover(cover)
            case .none: continue
            case .unknown: return .unknown
            }
        }
        return .none
    }

    private func known(_ source: CoverSource) -> Known {
        if let cover = memory[source] {
            renewIfOld(source, cover)
            return .cover(cover)
        }
        if let end = absent[source] {
            if clock.now() < end { return .none }
            absent[source] = nil
        }
        return .unknown
    }

    /// Finds the first picture that any of the sources has, and tells it on the core; at once, or later.
    /// - Parameter asker: who wants it; what is wanted only by clients that have gone is not asked for.
    func find(_ sources: ArraySlice<CoverSource>, for asker: Asker? = nil, _ whenDone: @escaping WhenDone) {
        var rest = sources
        while let source = rest.popFirst() {
            switch known(source) {
            case .cover(let cover):
                whenDone(cover)
                return
            case .none: continue
            case .unknown:
                let others = rest
                wait(for: source, asker) { [unowned self] cover in
                    if asker?.isGone == true { return }
                    if let cover { whenDone(cover) } else { find(others, for: asker, whenDone) }
                }
                return
            }
        }
        whenDone(nil)
    }

    private func wait(for source: CoverSource, _ asker: Asker?, _ whenDone: @escaping WhenDone) {
        if isOver { return whenDone(nil) }
        if waiting[source] != nil {
            waiting[source]?.append(asker, whenDone)
            return
        }
        var waiters = Waiters()
        waiters.append(asker, whenDone)
        waiting[source] = waiters
        guard let files else {
            enqueue(source)
            return
        }
        files.read(source) { [post] cover in
            post { $0.readFromDisk(source, cover) }
        }
    }

    private func readFromDisk(_ source: CoverSource, _ cover: Cover?) {
        guard let cover else {
            enqueue(source)
            return
        }
        memory.insert(cover, source)
        settle(source, cover)
        renewIfOld(source, cover)
    }

    // MARK: Fetching

    /// A picture may have been replaced under its old id.
    private func renewIfOld(_ source: CoverSource, _ cover: Cover) {
        let age = clock.today() - cover.fetched
        guard age < 0 || age > Self.freshness, waiting[source] == nil, !isPaused else { return }
        waiting[source] = Waiters()
        enqueue(source)
    }

    private var isPaused: Bool { pausedUntil.map { clock.now() < $0 } ?? false }

    private func enqueue(_ source: CoverSource) {
        queue.append(source)
        fetchNext()
    }

    private func fetchNext() {
        while running < Self.requestsAtOnce, queueHead < queue.count {
            let source = queue[queueHead]
            queueHead += 1
            if queueHead == queue.count {
                queue.removeAll(keepingCapacity: true)
                queueHead = 0
            }
            // The server is away: what nobody has is not to be had now. And what nobody wants any more need not be had.
            if isPaused || waiting[source]?.areGone == true {
                settle(source, nil)
                continue
            }
            running += 1
            fetch(source) { [post] result in
                post { $0.fetched(source, result) }
            }
        }
    }

    private func fetched(_ source: CoverSource, _ result: CoverFetch) {
        running -= 1
        switch result {
        case .cover(let cover):
            failures = 0
            pausedUntil = nil
            memory.insert(cover, source)
            files?.write(source, cover)
            settle(source, cover)
        case .none:
            failures = 0
            pausedUntil = nil
            if absent.count >= Self.mostAbsent { absent = [:] }
            absent[source] = clock.now().advanced(by: Self.absence)
            // A picture that has been taken away on the server goes here too.
            memory.remove(source)
            files?.remove(source)
            settle(source, nil)
        case .failed where source.isLyrics:
            // Servers have them from others, who may be slow; that says nothing about pictures.
            absent[source] = clock.now().advanced(by: Self.lyricsPause)
            settle(source, nil)
        case .failed:
            failures += 1
            pausedUntil = clock.now().advanced(by: min(Self.pauseStep * failures, Self.longestPause))
            settle(source, nil)
        }
        fetchNext()
    }

    /// Ends the thread that reads files.
    func shutdown() {
        isOver = true
        files?.shutdown()
        let left = waiting
        waiting = [:]
        for waiters in left.values { waiters.tell(nil) }
    }

    private func settle(_ source: CoverSource, _ cover: Cover?) {
        waiting.removeValue(forKey: source)?.tell(cover)
    }
}

extension Covers {
    /// Those who wait for the same picture.
    private struct Waiters {
        private var all: [(asker: Asker?, whenDone: WhenDone)] = []
        /// When so many wait, it is looked who has gone.
        private var limit = 64

        /// Whether there were some, and all have gone.
        var areGone: Bool { !all.isEmpty && all.allSatisfy { $0.asker?.isGone == true } }

        mutating func append(_ asker: Asker?, _ whenDone: @escaping WhenDone) {
            if all.count >= limit {
                all.removeAll { $0.asker?.isGone == true }
                limit = max(64, all.count * 2)
            }
            all.append((asker, whenDone))
        }

        func tell(_ cover: Cover?) { for waiter in all { waiter.whenDone(cover) } }
    }
}

/// Pictures in memory; when they become too many, those go that were not used for the longest time.
struct CoverMemory {
    private struct Entry {
        var cover: Cover
        var lastUse: UInt64
    }

    private let limit: Int
    private var entries: [CoverSource: Entry] = [:]
    private var size = 0
    private var uses: UInt64 = 0

    /// What an entry takes beside its bytes.
    private static let overhead = 512

    init(limit: Int) { self.limit = limit }

    subscript(source: CoverSource) -> Cover? {
        mutating get {
            guard let entry = entries[source] else { return nil }
            uses += 1
            entries[source]?.lastUse = uses
            return entry.cover
        }
    }

    mutating func insert(_ cover: Cover, _ source: CoverSource) {
        remove(source)
        uses += 1
        entries[source] = Entry(cover: cover, lastUse: uses)
        size += Self.overhead + cover.bytes.count
        // One that is larger than all may be stays until the next: who reads it in pieces asks thousands of times.
        while size > limit, entries.count > 1,
            let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse })?.key
        {
            remove(oldest)
        }
    }

    mutating func remove(_ source: CoverSource) {
        guard let entry = entries.removeValue(forKey: source) else { return }
        size -= Self.overhead + entry.cover.bytes.count
    }
}
