/// What an mpd.conf may hold that has no meaning here: accepted with a notice, so that the file of an MPD can be used.
///
/// Source: MPD 0.24 `src/config/Templates.cxx`, and the options that its output plugins ask for.
enum MPDOptions {
    /// Why an option is not used, by its name; options outside of blocks.
    static let global: [String: String] = reasons([
        "the music comes from Subsonic servers": [
            "music_directory", "db_file", "follow_inside_symlinks", "follow_outside_symlinks", "auto_update",
            "auto_update_depth", "filesystem_charset", "id3v1_encoding",
        ],
        "stored playlists are those of the server": ["playlist_directory", "save_absolute_paths_in_playlists"],
        "stickers are kept in state_directory": ["sticker_file"],
        "the program stays in the foreground": ["pid_file"],
        "the state is kept after each change": ["state_file_interval"],
        "start the program as the user that it shall run as": ["user", "group"],
        "libmpv chooses formats and buffers": [
            "audio_output_format", "samplerate_converter", "audio_buffer_size", "buffer_before_play",
            "gapless_mp3_playback", "selective_44k_resample",
        ],
        "levels are not changed": [
            "volume_normalization", "mixramp_analyzer",
        ],
        "the environment variable http_proxy is used instead": [
            "http_proxy_host", "http_proxy_port", "http_proxy_user", "http_proxy_password",
        ],
        "it has no meaning here": [
            "inhibit_idle", "despotify_user", "despotify_password", "despotify_high_bitrate",
        ],
    ])

    /// Why a block is not used, by its name.
    static let blocks: [String: String] = reasons([
        "libmpv decodes and filters": ["decoder", "resampler", "filter", "archive_plugin", "playlist_plugin"],
        "the sound comes from Subsonic servers": ["input", "input_cache"],
        "the music comes from Subsonic servers": ["database", "neighbors"],
        "clients make partitions, and they are kept": ["partition"],
    ])

    /// Why an option of a block `audio_output` is not used, by its name.
    static let output: [String: String] = reasons([
        "libmpv has one volume for all outputs": [
            "mixer_device", "mixer_control", "mixer_index", "scale_volume", "replay_gain_handler",
        ],
        "the encoders go by bitrate": [
            "quality", "compression", "oggflac", "oggchaining", "complexity", "signal", "vbr", "packet_loss",
            "opustags",
        ],
        "libmpv has no such setting": [
            "tags", "always_on", "always_off", "close_on_pause", "filters", "auto_resample", "auto_channels",
            "auto_format",
            "buffer_time", "period_time", "buffer_size", "dop", "dsd", "dsd_usb", "stop_dsd_silence",
            "thesycon_dsd_workaround", "allowed_formats", "non_blocking", "media_role", "remote",
            "reconnect_stream", "client_name", "source_ports", "destination_ports", "auto_destination_ports",
            "ringbuffer_size",
            "autostart", "channel_map", "sync", "server_name", "exclusive", "enumerate", "hog_device", "driver",
            "options",
        ],
    ])

    /// Options of a block `audio_output` that only have another name here.
    static let outputAliases = ["sink": "device", "target": "device"]

    private static func reasons(_ table: KeyValuePairs<String, [String]>) -> [String: String] {
        var reasons: [String: String] = [:]
        for (reason, names) in table {
            for name in names { reasons[name] = reason }
        }
        return reasons
    }
}
