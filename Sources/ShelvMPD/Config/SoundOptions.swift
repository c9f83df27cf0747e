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
    ]
}
