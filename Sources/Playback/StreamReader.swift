import Synchronization

/// One reader of a song's file with a position of its own; blocks where bytes are missing.
///
/// All calls but `cancel` come from one thread of libmpv at a time.
final class StreamReader: Sendable {
    private static let counter = Atomic<UInt64>(0)

    private let song: CachedSong
    private let number: UInt64
    private let generation: Int
    private let position = Atomic<Int64>(0)
    private let isCancelled = Atomic<Bool>(false)

    init(_ song: CachedSong) {
        self.song = song
        number = Self.counter.add(1, ordering: .relaxed).newValue
        generation = song.file.monitor.withLock { $0.generation }
    }

    /// Reads at the position and moves it. Blocks until at least one byte is there.
    ///
    /// - Returns: number of bytes, 0 at the end of the file only, -1 when no more bytes can come or after `cancel`.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard buffer.count > 0 else { return 0 }
        let position = position.load(ordering: .relaxed)
        switch wait(at: position) {
        case .bytes(let available):
            let part = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(available))
            let count = unsafe song.file.read(part, at: position)
            // Nothing where there was something: thrown away in between.
            guard count > 0 else { return -1 }
            self.position.store(position + Int64(count), ordering: .relaxed)
            return count
        case .end:
            return 0
        case .lost:
            return -1
        }
    }

    /// Moves the position; returns it, or nil when it is negative.
    func seek(to position: Int64) -> Int64? {
        guard position >= 0 else { return nil }
        self.position.store(position, ordering: .relaxed)
        return position
    }

    /// Length of the file. Blocks until it is known; nil when it can't be, or is being made.
    func size() -> Int64? {
        let known = song.file.monitor.withLock { $0.total }
        // That of what is being made is known at its end only; nobody waits for that.
        if known != nil || song.isMade { return known }
        song.fetcher.want(0, reader: number)
        defer { song.fetcher.unwant(reader: number) }
        return song.file.monitor.wait { [self] state -> Int64?? in
            if isLost(state) { return .some(nil) }
            return state.total.map { .some($0) }
        } ?? nil
    }

    /// Makes the current call and all later ones return. Any thread.
    func cancel() {
        isCancelled.store(true, ordering: .relaxed)
        song.file.monitor.update { _ in }
    }

    private func isLost(_ state: SparseFile.State) -> Bool {
        isCancelled.load(ordering: .relaxed) || state.generation != generation || state.isClosed
    }

    private func wait(at position: Int64) -> SparseFile.Availability {
        let generation = generation
        let isCancelled = { self.isCancelled.load(ordering: .relaxed) }
        let found = song.file.monitor.withLock { state in
            isCancelled() ? .lost : SparseFile.look(state, at: position, generation: generation)
        }
        if let found { return found }
        song.fetcher.want(position, reader: number)
        defer { song.fetcher.unwant(reader: number) }
        return song.file.monitor.wait { state in
            isCancelled() ? .lost : SparseFile.look(state, at: position, generation: generation)
        } ?? .lost
    }
}
