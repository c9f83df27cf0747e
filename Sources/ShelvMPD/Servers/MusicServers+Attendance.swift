import Library
import Logging

/// What runs for each server, and for the active one only.
extension MusicServers {
    /// How long the end of the program waits for the last things to be told.
    private static let patience = Duration.seconds(2)

    /// Lets the queue be saved for the last time, and ends everything. `run` must have ended.
    func finish() async {
        for member in members { member.plays?.queue.finish() }
        await attendance.extras?.finish()
        await leave()
        await finishPlays()
        for index in members.indices {
            await stopSync(index)
            await stopLists(index)
            await stopCouriers(index)
        }
    }

    /// Waits until it is told that nothing is heard any more, as long as that does not take too long.
    private func finishPlays() async {
        let telling = members.compactMap(\.couriers.first)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for task in telling { await task.value } }
            group.addTask {
                try? await Task.sleep(for: Self.patience)
                for task in telling { task.cancel() }
            }
            await group.next()
            group.cancelAll()
        }
    }

    /// They live as long as the member: `stopCouriers` ends them.
    func startCouriers(_ index: Int) {
        let reference = members[index].reference
        guard let source = sources[members[index].id] else { return }
        let plays = source.playCourier()
        members[index].plays = plays
        members[index].couriers = [
            Task { await plays.work(for: reference) }, Task { await source.keepMarks(reference) },
            Task { await source.learnTimeOffset() },
        ]
    }

    func stopCouriers(_ index: Int) async {
        let tasks = members[index].couriers
        members[index].couriers = []
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }

    /// Begins to keep the libraries that clients see like the servers', and the playlists of those that are mounted, and ends it
    /// for the others.
    func sync() async {
        for index in members.indices {
            let (id, reference) = (members[index].id, members[index].reference)
            if shown?.shows(id) != true {
                await stopSync(index)
            } else if members[index].sync == nil, let source = sources[id] {
                members[index].sync = Task { await source.keepInSync(reference) }
            }
            if shown?.mounts(id) != true {
                await stopLists(index)
            } else if members[index].lists == nil, let source = sources[id] {
                members[index].lists = Task { await source.keepPlaylists(reference) }
            }
        }
    }

    func stopSync(_ index: Int) async {
        let task = members[index].sync
        members[index].sync = nil
        task?.cancel()
        await task?.value
    }

    func stopLists(_ index: Int) async {
        let task = members[index].lists
        members[index].lists = nil
        task?.cancel()
        await task?.value
    }

    /// The playlists of a mounted server as the last run, or the last use, left them.
    func mountedLists(_ id: ServerID, _ block: ServerConfiguration) async throws -> PlaylistShelf.Saved {
        try await PlaylistShelf.Saved(of: id, block, from: store, configuration, log, isMounted: true)
    }

    /// Begins what runs for the active server only; `leave` ends it.
    func attend(_ extras: ListeningExtras) {
        guard let member = members.first(where: { $0.id == shown?.active }), let source = sources[member.id] else {
            return
        }
        let reference = member.reference
        attendance = Attendance(
            tasks: [Task { await source.keepPlaylists(reference) }, Task { await extras.keepQueue(reference) }],
            extras: extras
        )
    }

    /// Lets the queue be saved for the last time, and ends what runs for the active server only.
    func leaveActive() async {
        // Only once the core has given the queue out is there something to be saved.
        _ = await core.ask { $0.active.playQueue?.finish() }
        await attendance.extras?.finish()
        await leave()
    }

    func leave() async {
        let tasks = attendance.tasks
        attendance = Attendance()
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }
}
