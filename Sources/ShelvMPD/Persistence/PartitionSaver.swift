import QueueEngine

/// Decides when a partition is saved: soon after each change, several changes at once, and every second while it plays.
///
/// Owned by the core, and by its partition. What is lost when the process is killed is what happened within the last
/// second. While a save is under way no second one begins; what changes meanwhile is saved afterwards.
final class PartitionSaver {
    private unowned let partition: Partition
    private let writer: QueueWriter
    private let post: @Sendable (@escaping @Sendable (Server) -> Void) -> Void
    private var hasChanges = false
    private var isScheduled = false
    private var isSaving = false
    private var isTicking = false
    private var isSavingPosition = false
    private var isFinished = false

    /// How long changes are collected.
    private static let delay = Duration.milliseconds(150)
    /// Between two positions. Shorter than a second by what writing takes.
    private static let tick = Duration.milliseconds(900)

    /// - Parameter post: runs something on the core.
    init(
        _ partition: Partition,
        _ writer: QueueWriter,
        post: @escaping @Sendable (@escaping @Sendable (Server) -> Void) -> Void
    ) {
        self.partition = partition
        self.writer = writer
        self.post = post
    }

    /// Whether the store has everything, apart from the position.
    var isUpToDate: Bool { !hasChanges && !isSaving }

    /// The queue, the playback state or a setting may have changed.
    func noteChange() {
        hasChanges = true
        schedule(after: Self.delay)
        if !isTicking, partition.queue.state == .playing { scheduleTick() }
    }

    /// Songs in the queue have other ids than what is saved.
    func saveAnew() {
        writer.forget()
        noteChange()
    }

    /// Saves for the last time.
    func finish() {
        guard !isFinished else { return }
        isFinished = true
        writer.save(moment()) { _ in }
    }

    /// Saves no more: the partition will be no more.
    func abandon() {
        isFinished = true
        writer.abandon()
    }

    /// Volume and the like as they are now, to be written as a part of a greater change.
    func settings() -> SavedSettings { SavedSettings(writer: writer, values: partition.savedSettings) }

    private func schedule(after delay: Duration) {
        guard !isScheduled, !isSaving, !isFinished else { return }
        isScheduled = true
        later(delay) { $0.save() }
    }

    private func save() {
        isScheduled = false
        guard hasChanges, !isSaving, !isFinished else { return }
        hasChanges = false
        isSaving = true
        let id = partition.id
        writer.save(moment()) { [post] isSaved in
            post { server in server.partition(id)?.saver?.saved(isSaved) }
        }
    }

    private func saved(_ isSaved: Bool) {
        isSaving = false
        if !isSaved { hasChanges = true }
        if hasChanges { schedule(after: isSaved ? Self.delay : writer.store.retryDelay) }
    }

    /// What would be saved now. Takes no time: it shares its memory with the original.
    func moment() -> QueueWriter.Moment {
        QueueWriter.Moment(
            queue: partition.queue,
            names: partition.songs.names,
            elapsed: partition.elapsed ?? .zero,
            settings: partition.savedSettings
        )
    }

    // MARK: The position

    private func scheduleTick() {
        isTicking = true
        later(Self.tick) { $0.savePosition() }
    }

    private func savePosition() {
        isTicking = false
        guard !isFinished, partition.queue.state == .playing else { return }
        scheduleTick()
        // A save of everything brings the position along; after a failed one there is no use in trying.
        guard !isSaving, !isSavingPosition, !hasChanges else { return }
        guard let entry = partition.queue.currentID, let elapsed = partition.elapsed else { return }
        isSavingPosition = true
        let id = partition.id
        writer.savePosition(elapsed, of: entry) { [post] isSaved in
            post { server in server.partition(id)?.saver?.savedPosition(isSaved) }
        }
    }

    private func savedPosition(_ isSaved: Bool) {
        isSavingPosition = false
        guard !isSaved else { return }
        hasChanges = true
        schedule(after: writer.store.retryDelay)
    }

    private func later(_ delay: Duration, _ action: @escaping @Sendable (PartitionSaver) -> Void) {
        let id = partition.id
        post { server in
            _ = server.timers.schedule(at: .now.advanced(by: delay)) { server in
                if let saver = server.partition(id)?.saver { action(saver) }
            }
        }
    }
}

/// A partition's volume and the like at one moment, and who writes them.
struct SavedSettings: Sendable {
    let writer: QueueWriter
    let values: [String: String]
}
