import Library
import MPDProtocol
import Playback
import QueueEngine

/// How requests become replies: one step after the other, for one connection.
extension Server {
    /// Serves what the connection has sent, until it has to wait for something.
    func serve(_ connection: Connection) {
        guard !connection.isQueued else { return }
        let outcome = work(connection)
        let isDone = outcome == .idle && connection.isClosing && connection.pendingOutput == 0 && !isBusy(connection)
        if outcome == .gone || isDone || connection.pendingOutput > configuration.maxOutputBufferSize {
            close(connection)
            return
        }
        keepOrYieldPartition(connection, outcome)
        if outcome == .shareUsedUp { queue(connection) } else { connection.updateWatch(core.loop) }
    }

    private enum Outcome {
        /// There is nothing to do until something happens.
        case idle
        /// The client must read before there can be more.
        case outputFull
        /// There is more to do, but it is the others' turn.
        case shareUsedUp
        /// The client has gone.
        case gone
    }

    /// Does what can be done now, in fair measure: a client that pipelines without end, or that asks for replies without
    /// end, must not keep the others waiting.
    private func work(_ connection: Connection) -> Outcome {
        var now = Instant.now
        let end = now.advanced(by: Connection.share)
        while true {
            var outcome: Outcome?
            while outcome == nil, connection.hasRoom {
                if connection.isAtLength, now >= turnEnd {
                    outcome = .shareUsedUp
                    break
                }
                if !advance(connection) {
                    outcome = .idle
                    break
                }
                now = .now
                if now >= end {
                    outcome = .shareUsedUp
                }
            }
            guard connection.flush() else { return .gone }
            if let outcome { return outcome }
            if !connection.hasRoom { return .outputFull }
        }
    }

    /// A list is one act: nobody else's edits come between its commands, though they take more than one turn. Only a
    /// client that does not read its replies loses that; the others would wait for it.
    private func keepOrYieldPartition(_ connection: Connection, _ outcome: Outcome) {
        switch (connection.progress, outcome) {
        case (.running(let run), .shareUsedUp), (.streaming(let run, _), .shareUsedUp): ownPartition(run, connection)
        case (.adding(let run, _, _), .shareUsedUp): ownPartition(run, connection, isOneAct: true)
        case (.running, .outputFull), (.streaming, .outputFull): releasePartition(of: connection)
        default: break
        }
    }

    /// Takes the partition for a list that edits, if nobody has it.
    /// - Parameter isOneAct: whether it is so without a list, too.
    private func ownPartition(_ run: Connection.Run, _ connection: Connection, isOneAct: Bool = false) {
        guard run.isList || isOneAct, run.edits, connection.session.partition.owner == nil else { return }
        connection.session.partition.owner = connection.id
    }

    private func isBusy(_ connection: Connection) -> Bool {
        if case .ready = connection.progress { false } else { true }
    }

    /// Does one thing for the connection. Returns false when there is nothing to do until something happens.
    private func advance(_ connection: Connection) -> Bool {
        switch connection.progress {
        case .ready:
            guard !connection.isLeaving, let line = connection.nextLine() else { return false }
            connection.lastActivity = .now
            receive(line, connection)
            return true
        case .running(let run):
            step(run, connection)
            return true
        case .streaming(let run, var source):
            connection.dropSentOutput()
            if source.appendNext(to: &connection.reply.bytes, limit: Connection.outputHighWater) {
                connection.progress = .streaming(run, source)
            } else {
                succeeded(run, connection)
            }
            return true
        case .adding(let run, let command, var addition):
            do {
                if try addition.addPiece(CommandContext(server: self, connection: connection)) {
                    connection.progress = .adding(run, command: command, addition)
                } else {
                    succeeded(run, connection)
                }
            } catch {
                failed(ACKMapping.ack(for: error), command: command, run, connection)
            }
            return true
        case .waitingForWorker, .waitingForPartition:
            return false
        }
    }

    private func receive(_ line: [UInt8], _ connection: Connection) {
        switch connection.protocolState.receive(line: line) {
        case .ignore: break
        case .execute: connection.progress = .running(.init(.single(line)))
        case .executeList(let list): connection.progress = .running(.init(.list(list)))
        case .leaveIdle: connection.reply.ok()
        case .close: connection.leave()
        }
    }

    // MARK: Runs

    private func step(_ run: Connection.Run, _ connection: Connection) {
        guard let line = run.line, !connection.isLeaving else {
            if !connection.isLeaving { connection.reply.ok() }
            end(run, connection)
            return
        }
        let request: Request
        do {
            request = try Tokenizer.parse(line)
        } catch {
            if error.closesConnection { connection.leave() }
            failed(error.ack, command: "", run, connection)
            return
        }
        guard let command = commands[request.name] else {
            failed(.unknownCommand(request.name), command: "", run, connection)
            return
        }
        guard connection.session.permissions.isSuperset(of: command.permission) else {
            failed(.noPermission(command.name), command: command.name, run, connection)
            return
        }
        if let ack = ACK.argumentCount(request.arguments.count, allowed: command.arguments, command: command.name) {
            failed(ack, command: command.name, run, connection)
            return
        }
        if command.isMutating, let owner = connection.session.partition.owner, owner != connection.id {
            connection.session.partition.waiting.append(connection.id)
            connection.progress = .waitingForPartition(run)
            return
        }
        var run = run
        if command.isMutating { run.edits = true }
        execute(command, request.arguments, run, connection)
    }

    private func execute(
        _ command: Command,
        _ arguments: Arguments,
        _ run: Connection.Run,
        _ connection: Connection
    ) {
        let context = CommandContext(server: self, connection: connection)
        do {
            switch command.place {
            case .core(let handler):
                // Taken out while the handler writes, so that it may look at the connection.
                var reply = Reply()
                swap(&reply, &connection.reply)
                defer { swap(&reply, &connection.reply) }
                try handler(context, arguments, &reply)
                if command.endsList {
                    // While it waits, the answer comes when something happens.
                    if !connection.protocolState.idle.isWaiting { reply.ok() }
                    end(run, connection)
                    return
                }
            case .listing(let handler):
                connection.progress = .streaming(run, try handler(context, arguments))
                return
            case .library(let handler):
                let plan = try handler(libraryContext(of: connection.session), arguments)
                try carryOut(plan, command, run, connection)
                return
            case .queueSearch(let handler), .playlist(let handler), .stickers(let handler), .background(let handler):
                try carryOut(handler(context, arguments), command, run, connection)
                return
            }
        } catch {
            failed(ACKMapping.ack(for: error), command: command.name, run, connection)
            return
        }
        succeeded(run, connection)
    }

    func libraryContext(of session: Session) -> LibraryContext {
        LibraryContext(
            library: library,
            mask: session.tagMask,
            stripsDiacritics: session.stringNormalization.contains(.stripDiacritics),
            shelves: shelves.current(at: .now),
            queue: (session.partition.queue.count, session.partition.queue.currentPosition)
        )
    }

    private func carryOut(
        _ plan: LibraryPlan,
        _ command: Command,
        _ run: Connection.Run,
        _ connection: Connection
    ) throws {
        if plan.cost > LibraryPlan.coreLimit {
            sendToWorker(plan, command, run, connection)
        } else {
            try accept(plan.work(), command, run, connection)
        }
    }

    private func sendToWorker(
        _ plan: LibraryPlan,
        _ command: Command,
        _ run: Connection.Run,
        _ connection: Connection
    ) {
        ownPartition(run, connection)
        connection.progress = .waitingForWorker(run)
        let id = connection.id
        workers.submit(for: connection.asker) { [core] in
            let result = Result { try plan.work() }
            core.post { server in
                guard let connection = server.connection(id), case .waitingForWorker(let run) = connection.progress
                else { return }
                do {
                    try server.accept(result.get(), command, run, connection)
                } catch {
                    server.failed(ACKMapping.ack(for: error), command: command.name, run, connection)
                }
                server.serve(connection)
            }
        }
    }

    private func accept(
        _ answer: LibraryAnswer,
        _ command: Command,
        _ run: Connection.Run,
        _ connection: Connection
    ) throws {
        switch answer {
        case .addition(let addition):
            connection.progress = .adding(run, command: command.name, addition)
        case .source(let source): connection.progress = .streaming(run, source)
        case .edit(let edit):
            var reply = Reply()
            swap(&reply, &connection.reply)
            defer { swap(&reply, &connection.reply) }
            try edit(CommandContext(server: self, connection: connection), &reply)
            succeeded(run, connection, &reply)
        case .keptEdit(let edit):
            try wait(command, run, connection) { context, whenDone in
                try edit(context) { whenDone($0.mapError { $0 as any Error }) }
            }
        case .serverChange(let change):
            guard let changeServers else { throw ACK(.unknown, "There are no configured servers") }
            // Others' edits cannot wait for a server.
            releasePartition(of: connection)
            try wait(command, run, connection) { _, whenDone in
                changeServers(change) { whenDone($0.mapError { $0 as any Error }) }
            }
        case .remotePlaylist(let address, let then):
            guard let fetchPlaylist else { throw ACK(.unknown, "Unrecognized URI") }
            let fetch: PlaylistFetch = { _, whenDone in
                fetchPlaylist(address) { whenDone($0.mapError { $0 as any Error }) }
            }
            self.fetch(fetch, then, command, run, connection)
        case .playlistFetch(let fetch, let then): self.fetch(fetch, then, command, run, connection)
        case .cover(let sources, let owner, let then): try find(sources, of: owner, then, command, run, connection)
        }
    }

    /// Looks for a picture, and goes on with it or without.
    private func find(
        _ sources: [CoverSource],
        of owner: MusicServer.Reference?,
        _ then: @escaping @Sendable (CommandContext, Cover?) throws -> LibraryAnswer,
        _ command: Command,
        _ run: Connection.Run,
        _ connection: Connection
    ) throws {
        let context = CommandContext(server: self, connection: connection)
        guard let (covers, sources) = covers(for: sources, of: owner) else {
            try accept(then(context, nil), command, run, connection)
            return
        }
        switch covers.known(sources[...]) {
        case .cover(let cover): try accept(then(context, cover), command, run, connection)
        case .none: try accept(then(context, nil), command, run, connection)
        case .unknown:
            // Others' edits cannot wait for a server.
            releasePartition(of: connection)
            connection.progress = .waitingForWorker(run)
            let id = connection.id
            covers.find(sources[...], for: connection.asker) { [unowned self] cover in
                guard let connection = self.connection(id), case .waitingForWorker(let run) = connection.progress
                else { return }
                do {
                    let context = CommandContext(server: self, connection: connection)
                    try accept(then(context, cover), command, run, connection)
                } catch {
                    failed(ACKMapping.ack(for: error), command: command.name, run, connection)
                }
                serve(connection)
            }
        }
    }

    /// Has the entries of a playlist fetched, and goes on with them.
    private func fetch(
        _ fetch: PlaylistFetch,
        _ then: @escaping @Sendable ([PlaylistEntry]) throws -> LibraryAnswer,
        _ command: Command,
        _ run: Connection.Run,
        _ connection: Connection
    ) {
        // Others' edits cannot wait for a server.
        releasePartition(of: connection)
        connection.progress = .waitingForWorker(run)
        let id = connection.id
        Asker.$current.withValue(connection.asker) {
            fetch(self) { [core] result in
                core.post { server in
                    guard let connection = server.connection(id), case .waitingForWorker(let run) = connection.progress
                    else { return }
                    do {
                        try server.accept(then(result.get()), command, run, connection)
                    } catch {
                        server.failed(ACKMapping.ack(for: error), command: command.name, run, connection)
                    }
                    server.serve(connection)
                }
            }
        }
    }

    /// Does something that ends later, on any thread, and answers then.
    private func wait(
        _ command: Command,
        _ run: Connection.Run,
        _ connection: Connection,
        for act: (CommandContext, @escaping @Sendable (Result<Void, any Error>) -> Void) throws -> Void
    ) throws {
        connection.progress = .waitingForWorker(run)
        let id = connection.id
        try act(CommandContext(server: self, connection: connection)) { [core] result in
            core.post { server in
                guard let connection = server.connection(id), case .waitingForWorker(let run) = connection.progress
                else { return }
                switch result {
                case .success: server.succeeded(run, connection)
                case .failure(let error):
                    server.failed(ACKMapping.ack(for: error), command: command.name, run, connection)
                }
                server.serve(connection)
            }
        }
    }

    private func succeeded(_ run: Connection.Run, _ connection: Connection) {
        succeeded(run, connection, &connection.reply)
    }

    private func succeeded(_ run: Connection.Run, _ connection: Connection, _ reply: inout Reply) {
        var run = run
        if run.sendsListOK && !connection.isLeaving { reply.listOK() }
        run.index += 1
        connection.progress = .running(run)
    }

    private func failed(_ ack: ACK, command: String, _ run: Connection.Run, _ connection: Connection) {
        connection.reply.ack(ack, index: run.index, command: command)
        end(run, connection)
    }

    private func end(_ run: Connection.Run, _ connection: Connection) {
        connection.progress = .ready
        releasePartition(of: connection)
    }

    /// Lets the next client in, if this one had its partition for itself.
    func releasePartition(of connection: Connection) {
        let partition = connection.session.partition
        guard partition.owner == connection.id else { return }
        partition.owner = nil
        let waiting = partition.waiting
        partition.waiting = []
        guard !waiting.isEmpty else { return }
        core.post { server in
            for id in waiting {
                guard let connection = server.connection(id), case .waitingForPartition(let run) = connection.progress
                else { continue }
                connection.progress = .running(run)
                server.serve(connection)
            }
        }
    }
}
