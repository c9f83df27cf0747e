import Glibc
import SubsonicKit
import Synchronization

@testable import Library

/// What a sync told, and a clock whose sleeps end at once and are written down.
final class SyncWitness: Sendable {
    struct State {
        var published: [LibrarySnapshot] = []
        var events: [LibrarySyncEvent] = []
        var refreshes: [LibraryRefresh] = []
        var sleeps: [Duration] = []
        var now = Duration.zero
        /// Whether all rounds that were wanted have ended: then nothing goes on until it is cancelled.
        var isOver = false
    }
    let state = Mutex(State())
    /// Called at each event, to end a run or to change the server.
    let onEvent: @Sendable (SyncWitness, LibrarySyncEvent) -> Void

    init(onEvent: @escaping @Sendable (SyncWitness, LibrarySyncEvent) -> Void = { _, _ in }) { self.onEvent = onEvent }

    var published: [LibrarySnapshot] { state.withLock { $0.published } }
    var results: [LibrarySyncEvent] {
        state.withLock { $0.events }.filter { if case .progress = $0 { false } else { true } }
    }
    var refreshes: [LibraryRefresh] { state.withLock { $0.refreshes } }
    var sleeps: [Duration] { state.withLock { $0.sleeps } }

    var handlers: LibrarySyncHandlers {
        LibrarySyncHandlers(
            publish: { snapshot in self.state.withLock { $0.published.append(snapshot) } },
            refreshed: { refresh in self.state.withLock { $0.refreshes.append(refresh) } },
            event: { event in
                self.state.withLock { $0.events.append(event) }
                self.onEvent(self, event)
            }
        )
    }

    var environment: SyncEnvironment {
        SyncEnvironment(
            sleep: { duration in
                self.state.withLock { state in
                    state.sleeps.append(duration)
                    state.now += duration
                }
                try Task.checkCancellation()
                if self.state.withLock(\.isOver) { try await Task.sleep(for: .seconds(600)) }
                await Task.yield()
            },
            uptime: { self.state.withLock { $0.now } },
            wallClock: { 1_700_000_000 + self.state.withLock { $0.now }.components.seconds },
            chance: { 0.5 }
        )
    }
}

/// A folder of its own for each test, emptied at the end.
final class SyncFolder {
    let path: String

    init() {
        var name = Array("/tmp/librarysync-XXXXXX\0".utf8CString)
        _ = unsafe mkdtemp(&name)
        path = String(decoding: name.dropLast(2).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    var files: [String] {
        guard let directory = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
                unsafe String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }

    deinit {
        for name in files { _ = unsafe unlink("\(path)/\(name)") }
        _ = unsafe rmdir(path)
    }
}

extension SyncWitness {
    /// Runs a sync until so many rounds have ended, well or not.
    /// - Parameter request: asks for an update first; true for all of it.
    static func run(
        _ server: any SubsonicCalling,
        _ configuration: LibrarySyncConfiguration,
        stored: LibrarySnapshot? = nil,
        rounds: Int = 1,
        request: Bool? = nil,
        environment: ((SyncWitness) -> SyncEnvironment)? = nil,
        change: @escaping @Sendable (_ round: Int) -> Void = { _ in }
    ) async -> SyncWitness {
        let (stream, ended) = AsyncStream<Void>.makeStream()
        let count = Mutex(0)
        let witness = SyncWitness { witness, event in
            switch event {
            case .finished, .failed:
                let round = count.withLock { count in
                    count += 1
                    return count
                }
                change(round)
                if round >= rounds {
                    witness.state.withLock { $0.isOver = true }
                    ended.yield()
                }
            default: break
            }
        }
        let sync = LibrarySync(
            configuration,
            server: server,
            stored: stored,
            handlers: witness.handlers,
            environment: environment?(witness) ?? witness.environment
        )
        if let request { sync.requestUpdate(rescan: request) }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await sync.run() }
            group.addTask { for await _ in stream { break } }
            await group.next()
            group.cancelAll()
        }
        return witness
    }
}
