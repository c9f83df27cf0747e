import CLinux
import Glibc
import Logging
import Synchronization

/// What must survive a restart: one SQLite file, owned by one thread.
///
/// Writes are handed over as closures over values and are done in the order of handing over, several to a transaction.
/// Nobody waits for the disk unless he asks to: `submit` returns at once. A crash of the process loses nothing that was
/// committed; a loss of power may lose the last moments (`synchronous = NORMAL`).
final class Store: Sendable {
    /// Something to do on the store's thread.
    private enum Job: Sendable {
        case write(label: String, @Sendable (Database) throws(StoreError) -> Void, whenDone: WhenDone?)
        /// Gets the database, or the reason why there is none. Runs outside of a transaction.
        case read(@Sendable (Result<Database, StoreError>) -> Void)
    }

    /// Told on the store's thread once a write is committed, or has failed.
    typealias WhenDone = @Sendable (Result<Void, StoreError>) -> Void

    private struct State {
        var jobs: [Job] = []
        var isClosed = false
        var thread: PlatformThread?
        /// What could not be kept the last time, as the log was told.
        var troubles: Set<String> = []
    }

    private let state = Mutex(State())
    /// Counts up when there is something to do.
    private let wake: Int32
    private let log: Log
    /// The file.
    let path: String
    /// How long those wait who try again what the store has not taken, as when the disk is full.
    let retryDelay: Duration

    /// Opens the file; blocks until it is ready for use.
    /// - Throws: When there can be no store: no permission, no space, the file of another program, another process.
    init(path: String, log: Log, retryDelay: Duration = .seconds(10)) throws(StoreError) {
        self.log = log
        self.retryDelay = retryDelay
        self.path = path
        wake = eventfd(0, Int32(EFD_CLOEXEC))
        guard wake >= 0 else {
            throw StoreError(.failed, SystemError("cannot make an event", code: errno).description)
        }
        // Opened here, so that the caller learns of failures, then handed to the thread for good.
        let file = try Handover(StoreFile(path: path, log: log))
        let thread = PlatformThread(name: "store") { [self] in serve(file) }
        state.withLock { $0.thread = thread }
    }

    deinit { Glibc.close(wake) }

    /// Does `body` soon, in order, as a part of a transaction. Any thread; does not block.
    /// - Parameters:
    ///   - label: What is being kept, to complete "cannot keep …" in the log when it fails.
    ///   - whenDone: Told the outcome; without it a failure is only logged.
    func submit(
        _ label: String,
        _ body: @escaping @Sendable (Database) throws(StoreError) -> Void,
        whenDone: WhenDone? = nil
    ) {
        if !add(.write(label: label, body, whenDone: whenDone)) {
            whenDone?(.failure(StoreError(.closed, "the store is closed")))
        }
    }

    /// Does `body` in order, in a transaction of its own or with others, and waits until it is committed.
    func write(_ label: String, _ body: @escaping @Sendable (Database) throws(StoreError) -> Void) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            submit(label, body) { continuation.resume(with: $0.mapError { $0 as any Error }) }
        }
    }

    /// What `body` reads, after everything that was submitted before.
    func read<T: Sendable>(_ body: @escaping @Sendable (Database) throws(StoreError) -> T) async throws -> T {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<T, any Error>) in
            let job = Job.read { database in
                continuation.resume(
                    with: database.flatMap { database in
                        do throws(StoreError) { return .success(try body(database)) } catch { return .failure(error) }
                    }.mapError { $0 as any Error }
                )
            }
            if !add(job) { continuation.resume(throwing: StoreError(.closed, "the store is closed")) }
        }
    }

    /// Waits until everything that was submitted before is committed, or has failed.
    func flush() async {
        _ = try? await read { _ throws(StoreError) in }
    }

    /// Commits everything that was submitted before, and ends the thread. Blocks; not on the store's thread. What comes
    /// later is refused. A second call does nothing.
    func close() {
        let thread = state.withLock { state in
            state.isClosed = true
            defer { state.thread = nil }
            return state.thread
        }
        signal()
        thread?.join()
    }

    private func add(_ job: Job) -> Bool {
        let added = state.withLock { state in
            if !state.isClosed { state.jobs.append(job) }
            return !state.isClosed
        }
        if added { signal() }
        return added
    }

    private func signal() {
        var one: UInt64 = 1
        _ = unsafe Glibc.write(wake, &one, 8)
    }

    // MARK: On the store's thread

    private func serve(_ handover: Handover) {
        let file = handover.file
        while true {
            let (jobs, isClosed) = state.withLock { state in
                defer { state.jobs = [] }
                return (state.jobs, state.isClosed)
            }
            perform(jobs[...], file.database)
            if isClosed && jobs.isEmpty { break }
            if jobs.isEmpty { sleep() }
        }
        // So that nothing but the one file is left to copy or to back up.
        _ = try? file.database.value("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    /// Blocks until `signal`.
    private func sleep() {
        var count: UInt64 = 0
        _ = unsafe Glibc.read(wake, &count, 8)
    }

    /// Does jobs in order: writes that stand together in one transaction, reads between transactions.
    private func perform(_ jobs: ArraySlice<Job>, _ database: Database) {
        var rest = jobs
        while let job = rest.first {
            if case .read(let body) = job {
                rest.removeFirst()
                body(.success(database))
                continue
            }
            let writes = rest.prefix { if case .write = $0 { true } else { false } }
            rest = rest[writes.endIndex...]
            commit(writes, database)
        }
    }

    private func commit(_ writes: ArraySlice<Job>, _ database: Database) {
        var outcomes: [Result<Void, StoreError>] = []
        do throws(StoreError) {
            try database.transaction { () throws(StoreError) in
                for case .write(_, let body, _) in writes {
                    do throws(StoreError) {
                        // One that fails takes back only its own changes.
                        try database.transaction { () throws(StoreError) in try body(database) }
                        outcomes.append(.success(()))
                    } catch {
                        outcomes.append(.failure(error))
                        // The whole transaction is gone by itself after these; the others must not seem to be kept.
                        if error.kind == .full || error.kind == .damaged { throw error }
                    }
                }
            }
        } catch {
            outcomes = writes.map { _ in .failure(error) }
        }
        for (job, outcome) in zip(writes, outcomes) {
            guard case .write(let label, _, let whenDone) = job else { continue }
            tell(label, outcome)
            whenDone?(outcome)
        }
    }

    /// A full disk may stay full for days, and most of what is to be kept is tried again: the log hears of each kind when it
    /// begins to fail, and when it succeeds again.
    private func tell(_ label: String, _ outcome: Result<Void, StoreError>) {
        switch outcome {
        case .success:
            if state.withLock({ $0.troubles.remove(label) }) != nil { log.notice("can keep \(label) again") }
        case .failure(let error):
            let isNews = state.withLock { $0.troubles.insert(label).inserted }
            let line = "cannot keep \(label): \(error)"
            if isNews { log.error(line) } else { log.debug(line) }
        }
    }
}

/// Carries the file to the store's thread.
// Safe: the maker gives its only reference away before the thread starts, and never looks again.
private final class Handover: @unchecked Sendable {
    let file: StoreFile

    init(_ file: sending StoreFile) { self.file = file }
}
