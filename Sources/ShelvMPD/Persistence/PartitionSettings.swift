import MPDProtocol
import Playback
import QueueEngine

/// What is saved of a partition besides its queue, and how it comes back.
extension Partition {
    private static let outputPrefix = "output:"
    /// With a number that keeps the order, and so the ids, of devices that were found.
    private static let devicePrefix = "device:"

    /// By name, as texts.
    var savedSettings: [String: String] {
        var settings = [
            "volume": String(volume),
            "crossfade": String(sound.crossfade),
            "mixrampdb": String(sound.mixRampThreshold),
            "mixrampdelay": String(sound.mixRampDelay),
            "replay_gain_mode": sound.replayGain.name,
            "lastloadedplaylist": lastLoadedPlaylist,
        ]
        // Those too that were moved away, to keep their places.
        for (place, device) in (findsDevices ? outputs : []).compactMap(\.found).enumerated() {
            settings[Self.devicePrefix + String(100 + place)] = "\(device.name)\n\(device.description)"
        }
        for output in outputs where !output.isDummy {
            settings[Self.outputPrefix + output.name] = output.isEnabled ? "1" : "0"
        }
        return settings
    }

    /// Takes up where the last run ended, when everything else has been restored. The queue itself has been given to `init`.
    /// - Parameter pauses: whether what played is held.
    func resume(_ saved: SavedPartition?, pauses: Bool) {
        _ = takeEvents()
        guard let saved, let archive = saved.archive, archive.state != .stopped, let current = queue.currentID else {
            return
        }
        // A song that has gone stays current, stopped: going on to the next one is not what a restart is for.
        guard source(of: current) != nil || problem(of: current) != nil else { return }
        if let play = saved.play, play.entry == current, let key = queue.entry(id: current)?.key {
            plays.restore(play, key: key)
        }
        report { $0.restorePlayback(at: saved.elapsed, paused: pauses || archive.state == .paused) }
    }

    /// Adds the devices that earlier runs have found, each in its place.
    func restoreDevices(_ saved: SavedPartition?) {
        guard findsDevices, let settings = saved?.settings else { return }
        for place in settings.keys.filter({ $0.hasPrefix(Self.devicePrefix) }).sorted() {
            let lines = (settings[place] ?? "").split(separator: "\n", maxSplits: 1)
            guard lines.count == 2, let slash = lines[0].firstIndex(of: "/") else { continue }
            let device = AudioDevice(
                driver: String(lines[0][..<slash]),
                device: String(lines[0][lines[0].index(after: slash)...]),
                description: String(lines[1])
            )
            if !outputs.contains(where: { $0.device == device.name }) { addDevice(device, problem: Self.absent) }
        }
    }

    /// Takes over volume, outputs and sound, so that nothing is heard too loud or where it shall not be heard. Values that
    /// cannot be are passed over.
    func restoreSettings(_ saved: SavedPartition?) {
        guard let settings = saved?.settings else { return }
        if let volume = settings["volume"].flatMap({ Int($0) }), 0...100 ~= volume { setVolume(volume) }
        lastLoadedPlaylist = settings["lastloadedplaylist"] ?? ""
        for (index, output) in outputs.enumerated() where !output.isDummy {
            guard let text = settings[Self.outputPrefix + output.name] else { continue }
            setOutput(index, enabled: text == "1")
        }
        setSound { sound in
            if let seconds = settings["crossfade"].flatMap({ UInt32($0) }) { sound.crossfade = seconds }
            if let level = settings["mixrampdb"].flatMap({ Float($0) }), level.isFinite {
                sound.mixRampThreshold = level
            }
            if let delay = settings["mixrampdelay"].flatMap({ Float($0) }) { sound.mixRampDelay = delay }
            let mode = settings["replay_gain_mode"].flatMap { ReplayGainMode(name: $0.utf8) }
            if let mode { sound.replayGain = mode }
        }
    }
}
