import MPDProtocol
import Playback

extension Settings {
    /// Options of the sound.
    static let sound: [Setting<Configuration>] = [
        .integer(
            "prefetch_songs",
            0...50,
            unit: "songs",
            default: "1",
            "How many songs after the next one are fetched early; the next one always is."
        ) { $0.songsAhead = $1 },
        .integer(
            "cache_size",
            0...100_000_000,
            unit: "MiB",
            zero: "only what is played and what comes soon",
            default: "2048",
            "How much the files of songs may take in cache_directory; those go first that were not played for the longest time."
        ) { $0.cacheLimit = Int64($1) << 20 },
        .integer(
            "starvation_limit",
            0...86_400,
            unit: "seconds",
            zero: "for ever",
            default: "600",
            "How long a song may wait for the server until it is paused; it stays the current one."
        ) { $0.starvationLimit = $1 == 0 ? nil : .seconds($1) },
        .choice(
            "device_loss",
            ["silence": false, "pause": true],
            default: "silence",
            "What happens when an audio device goes away: the song plays on unheard until it is back, or is paused."
        ) { $0.stopsWithoutDevice = $1 },
        .choice(
            "audio_devices",
            ["configured": false, "auto": true],
            default: "configured",
            "Whether only the outputs of this file are there, or also the devices that are found, turned off at first."
        ) { $0.findsDevices = $1 },
        .choice(
            "replaygain",
            ["off": ReplayGainMode.off, "track": .track, "album": .album, "auto": .auto],
            default: "off",
            "Which gain songs are played with until a client says otherwise; \"auto\" is album, and track under random."
        ) { $0.replayGain = $1 },
        decibels("replaygain_preamp", "What is added to the gain of songs that have one.") { $0.loudness.preamp = $1 },
        decibels("replaygain_missing_preamp", "The gain of songs that have none.") { $0.loudness.missingPreamp = $1 },
        .boolean(
            "replaygain_limit",
            default: true,
            "Whether a gain is made smaller where the song's peak would be cut off."
        ) { $0.loudness.limitsPeaks = $1 },
    ]

    /// A level from -15 to 15 dB.
    private static func decibels(
        _ name: String,
        _ summary: String,
        apply: @escaping @Sendable (inout Configuration, Float) -> Void
    ) -> Setting<Configuration> {
        .text(name, "a number of dB from -15 to 15", default: "0", example: "3.5", summary) {
            configuration,
            text,
            _ throws(SettingRefusal) in
            guard let level = Float(text), -15...15 ~= level else { throw SettingRefusal() }
            apply(&configuration, level)
        }
    }
}
