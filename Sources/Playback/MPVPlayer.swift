public import Logging
public import SubsonicKit

/// The player that sounds: one libmpv for its whole life, on a thread of its own.
public final class MPVPlayer: Player {
    private let mailbox = PlayerMailbox()

    /// Starts libmpv and the player's threads; takes some milliseconds.
    ///
    /// - Parameters:
    ///   - transport: brings the bytes of songs; best one that serves nothing else.
    ///   - events: called on the player's thread; must not block.
    /// - Throws: `PlayerError` when libmpv, the cache folder or the tap library can't be used.
    public init(
        _ configuration: PlayerConfiguration,
        transport: any HTTPTransport,
        log: Log,
        events: @escaping @Sendable (PlayerEvent) -> Void
    ) throws(PlayerError) {
        let mailbox = mailbox
        let cache = try AudioCache(
            directory: configuration.cacheDirectory,
            limit: configuration.cacheLimit,
            transport: transport,
            log: log
        )
        let tapped = configuration.outputs.indices.filter { configuration.outputs[$0].kind.format != nil }
        var tap: AudioTap?
        do throws(PlayerError) {
            if !tapped.isEmpty {
                tap = try AudioTap(
                    outputs: tapped.map { configuration.outputs[$0] },
                    library: TapLibrary(configured: configuration.tapLibrary),
                    isTimed: configuration.isTimed
                ) { output, problem in mailbox.post(.outputProblem(tapped[output], problem)) }
            }
            let outputs = OutputBoard(configuration.outputs, tap: tap, tapped: tapped, isTimed: configuration.isTimed)
            let registry = StreamRegistry()
            let basics = MPVHandle.options(isTimed: configuration.isTimed)
            let options = basics + outputs.options
            let wake: @Sendable () -> Void = { mailbox.wake() }
            let handle = try MPVHandle(options: options, registry: registry, wake: wake)
            mailbox.post(.volume(configuration.volume))
            if configuration.findsDevices { handle.observeDevices() }
            let started = startThread(named: "player") {
                PlayerCore(
                    handle: handle,
                    makeHandle: { options throws(PlayerError) in
                        try MPVHandle(options: basics + options, registry: registry, wake: wake)
                    },
                    registry: registry,
                    cache: cache,
                    transport: transport,
                    mailbox: mailbox,
                    outputs: outputs,
                    log: log,
                    starvationLimit: configuration.starvationLimit,
                    stopsWithoutDevice: configuration.stopsWithoutDevice,
                    emit: events
                ).run()
            }
            guard started else {
                mailbox.close()
                handle.destroy()
                throw PlayerError("no thread for the player")
            }
        } catch {
            tap?.close()
            cache.shutdown()
            throw error
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

    public func addOutput(_ output: OutputConfiguration) { mailbox.post(.addOutput(output)) }

    public func shutdown() { mailbox.post(.shutdown) }
}
