public import Logging

/// The player that sounds: one libmpv for its whole life, on a thread of its own.
public final class MPVPlayer: Player {
    private let mailbox = PlayerMailbox()

    /// What can be made before the player's thread runs.
    private struct Parts {
        let handle: MPVHandle
        let outputs: OutputBoard
        let makeHandle: @Sendable ([(String, String)]) throws(PlayerError) -> MPVHandle
        let registry: StreamRegistry
    }

    /// - Parameters:
    ///   - cache: where the bytes of songs come from; players that share it share their files.
    ///   - startsLater: whether libmpv is started on the player's thread, which takes some milliseconds. What keeps it
    ///     from that is then told as the failure of each song.
    ///   - events: called on the player's thread; must not block.
    /// - Throws: `PlayerError` when libmpv or the tap library can't be used.
    public init(
        _ configuration: PlayerConfiguration,
        cache: AudioCache,
        log: Log,
        startsLater: Bool = false,
        events: @escaping @Sendable (PlayerEvent) -> Void
    ) throws(PlayerError) {
        let mailbox = mailbox
        mailbox.post(.volume(configuration.volume))
        let made = startsLater ? nil : try Self.makeParts(configuration, mailbox)
        let started = startThread(named: "player") {
            do throws(PlayerError) {
                let parts = if let made { made } else { try Self.makeParts(configuration, mailbox) }
                PlayerCore(
                    handle: parts.handle,
                    makeHandle: parts.makeHandle,
                    registry: parts.registry,
                    cache: cache.desk(),
                    transport: cache.transport,
                    mailbox: mailbox,
                    outputs: parts.outputs,
                    log: log,
                    starvationLimit: configuration.starvationLimit,
                    stopsWithoutDevice: configuration.stopsWithoutDevice,
                    emit: events
                ).run()
            } catch {
                log.error("No player: \(error)")
                Self.refuseSongs(mailbox, error, events)
            }
        }
        guard started else {
            mailbox.close()
            made?.outputs.tap?.beginClosing()
            made?.handle.destroy()
            made?.outputs.tap?.close()
            throw PlayerError("no thread for the player")
        }
    }

    private static func makeParts(
        _ configuration: PlayerConfiguration,
        _ mailbox: PlayerMailbox
    ) throws(PlayerError) -> Parts {
        var tap: AudioTap?
        if configuration.takesSamples {
            tap = try AudioTap(
                library: TapLibrary(configured: configuration.tapLibrary),
                isTimed: configuration.isTimed
            )
        }
        let outputs = OutputBoard(configuration.outputs, tap: tap, isTimed: configuration.isTimed) { index, problem in
            mailbox.post(.outputProblem(index, problem))
        }
        let registry = StreamRegistry()
        let basics = MPVHandle.options(isTimed: configuration.isTimed)
        let makeHandle: @Sendable ([(String, String)]) throws(PlayerError) -> MPVHandle = {
            options throws(PlayerError) in
            try MPVHandle(options: basics + options, registry: registry) { mailbox.wake() }
        }
        do throws(PlayerError) {
            let handle = try makeHandle(outputs.options)
            if configuration.findsDevices { handle.observeDevices() }
            return Parts(handle: handle, outputs: outputs, makeHandle: makeHandle, registry: registry)
        } catch {
            tap?.close()
            throw error
        }
    }

    /// What a player does that cannot play.
    private static func refuseSongs(
        _ mailbox: PlayerMailbox,
        _ error: PlayerError,
        _ emit: (PlayerEvent) -> Void
    ) {
        while true {
            for command in mailbox.take() {
                switch command {
                case .load(let id, _, _, _): emit(.failed(id, .transport("\(error)")))
                case .shutdown:
                    mailbox.close()
                    return emit(.closed)
                default: break
                }
            }
            mailbox.sleep(until: .max)
        }
    }

    deinit { shutdown() }

    public func load(_ id: PlaybackID, _ source: AudioSource, at position: Duration, paused: Bool) {
        mailbox.post(.load(id, source, at: position, paused: paused))
    }

    public func preload(_ id: PlaybackID, _ source: AudioSource) { mailbox.post(.preload(id, source)) }

    public func cancelPreload() { mailbox.post(.cancelPreload) }

    public func setGain(_ gain: SongGain?, of id: PlaybackID) { mailbox.post(.gain(gain, id)) }

    public func fetchAhead(_ sources: [AudioSource]) { mailbox.post(.ahead(sources)) }

    public func pause(_ paused: Bool) { mailbox.post(.pause(paused)) }

    public func seek(to position: Duration) { mailbox.post(.seek(position)) }

    public func stop() { mailbox.post(.stop) }

    public func setVolume(_ percent: Int) { mailbox.post(.volume(percent)) }

    public func setCrossfade(_ settings: CrossfadeSettings) { mailbox.post(.crossfade(settings)) }

    public func setOutput(_ index: Int, enabled: Bool) { mailbox.post(.output(index, enabled: enabled)) }

    public func putOutput(_ outlet: Outlet?, at index: Int, enabled: Bool) {
        // Claimed here, so that of two players the one that was told later has the newer claim.
        mailbox.post(.putOutput(outlet.map { ($0, $0.claim()) }, at: index, enabled: enabled))
    }

    public func shutdown() { mailbox.post(.shutdown) }
}
