import Playback

/// A block `audio_output` while it is read; `finish` makes of it what the player takes.
struct OutputDraft: Sendable, Equatable {
    /// Words of the option `type`.
    enum Kind: String, Sendable, CaseIterable {
        case `default`, pulse, pipewire, alsa, jack, null, fifo, file, snapcast, httpd

        /// Whether it writes raw samples to a path.
        var hasPath: Bool { self == .fifo || self == .file || self == .snapcast }
        /// Whether it gets samples that the tap has copied.
        var isTap: Bool { hasPath || self == .httpd }
        /// Whether it speaks with others over the network.
        var hasPort: Bool { self == .snapcast || self == .httpd }
        /// Whether mpv plays it on a device.
        var isDevice: Bool { self != .null && !isTap }
    }

    var kind: Kind?
    var name: String?
    var device: String?
    var path: String?
    var format: PCMFormat?
    var mixer: OutputConfiguration.Mixer?
    var server: String?
    var host: String?
    var port: UInt16?
    var encoder: StreamCodec?
    var bitRate: Int?
    var maximumListeners: Int?
    var isEnabled = true
    var isTimed = true
    var appliesVolume: Bool?
}

extension Settings {
    /// Options of a block `audio_output`.
    static let output: [Setting<OutputDraft>] = [
        .choice(
            "type",
            [
                "default": OutputDraft.Kind.default, "pulse": .pulse, "pipewire": .pipewire, "alsa": .alsa,
                "jack": .jack,
                "null": .null, "fifo": .fifo, "file": .file, "snapcast": .snapcast, "httpd": .httpd,
            ],
            default: "default",
            "Where the sound goes: to a sound system (\"default\" takes the first that works), nowhere, as raw samples into "
                + "a FIFO or a file, to a snapserver, or to whoever fetches it over HTTP."
        ) { $0.kind = $1 },
        .text("name", default: "the type", example: "My Output", "The name that clients show.") { output, text, _ in
            output.name = text
        },
        .text(
            "device",
            default: "the sound system's own choice",
            example: "hw:0,0",
            "The device of that sound system."
        ) { output, text, _ in output.device = text },
        .choice(
            "mixer_type",
            [
                "software": OutputConfiguration.Mixer.software, "hardware": .hardware,
                "none": OutputConfiguration.Mixer.none,
            ],
            default: "software",
            "Who changes the volume of a device: the program, the sound system, or nobody."
        ) { $0.mixer = $1 },
        .text(
            "server",
            default: "the usual one",
            example: "unix:/run/pulse/native",
            "The PulseAudio server, for type pulse."
        ) { output, text, _ in output.server = text },
        .path(
            "path",
            example: "/tmp/shelvmpd.fifo",
            "The FIFO or file; a FIFO also for type snapcast, in place of port."
        ) {
            $0.path = $1
        },
        .text(
            "bind_to_address",
            "a host name or an address",
            default: "all addresses of this machine",
            example: "192.168.1.2",
            "Where type httpd listens."
        ) { output, text, _ in output.host = text },
        .text(
            "host",
            "a host name or an address",
            default: "this machine",
            example: "192.168.1.3",
            "The machine of the snapserver, whose source is tcp://…?mode=server; for type snapcast."
        ) { output, text, _ in output.host = text },
        .integer(
            "port",
            1...65535,
            default: "8000 for httpd, 4953 for snapcast",
            example: "8000",
            "The TCP port where type httpd listens, or that of the snapserver's source."
        ) { $0.port = UInt16(clamping: $1) },
        .choice(
            "encoder",
            ["vorbis": StreamCodec.vorbis, "opus": .opus, "flac": .flac, "lame": .lame, "wave": .wave],
            default: "vorbis for httpd",
            "How type httpd encodes the stream; \"lame\" is MP3."
        ) { $0.encoder = $1 },
        .integer(
            "bitrate",
            8...1000,
            unit: "kbit/s",
            default: "128 for httpd",
            "How large the stream of type httpd is, where the encoder can choose."
        ) { $0.bitRate = $1 },
        .integer(
            "max_clients",
            0...10_000,
            zero: "no limit",
            default: "0 for httpd",
            "How many listeners type httpd has at the same time."
        ) { $0.maximumListeners = $1 == 0 ? 10_000 : $1 },
        .text(
            "format",
            "RATE:BITS:CHANNELS, where BITS is 16, 24, 32 or f",
            default: "44100:16:2; for snapcast 48000:16:2",
            "The samples of a FIFO or file, or for a snapserver; rate and channels of an HTTP stream."
        ) { output, text, _ throws(SettingRefusal) in
            guard let format = PCMFormat(text) else { throw SettingRefusal() }
            output.format = format
        },
        .boolean(
            "apply_volume",
            default: false,
            "Whether the volume changes the samples of types fifo, file, snapcast and httpd."
        ) {
            $0.appliesVolume = $1
        },
        .boolean("enabled", default: true, "Whether the output is on at the first start.") { $0.isEnabled = $1 },
        .boolean(
            "timed",
            default: true,
            "Whether outputs without a device keep time; with \"no\" songs run as fast as they can be decoded, for tests."
        ) { $0.isTimed = $1 },
    ]
}

extension OutputDraft {
    /// The output, or a sentence about what is missing or too much.
    func finish() throws(SettingRefusal) -> OutputConfiguration {
        let kind = kind ?? .default
        if path != nil && !kind.hasPath {
            throw SettingRefusal("path is for the types \"fifo\" and \"file\", not for \"\(kind.rawValue)\"")
        }
        if format != nil && !kind.isTap {
            throw SettingRefusal("format is for the types \"fifo\" and \"file\", not for \"\(kind.rawValue)\"")
        }
        if (port != nil || host != nil) && !kind.hasPort {
            throw SettingRefusal(
                "port and host are for the types \"snapcast\" and \"httpd\", not for \"\(kind.rawValue)\""
            )
        }
        if (encoder != nil || bitRate != nil || maximumListeners != nil) && kind != .httpd {
            throw SettingRefusal(
                "encoder, bitrate and max_clients are for the type \"httpd\", not for \"\(kind.rawValue)\""
            )
        }
        if kind == .snapcast && path != nil && (port != nil || host != nil) {
            throw SettingRefusal("an output of type \"snapcast\" has a path or a port, not both")
        }
        if device != nil && (!kind.isDevice || kind == .default) {
            throw SettingRefusal("device is for the types of a certain sound system, not for \"\(kind.rawValue)\"")
        }
        if server != nil && kind != .pulse {
            throw SettingRefusal("server is for the type \"pulse\", not for \"\(kind.rawValue)\"")
        }
        if mixer == .hardware && !kind.isDevice {
            throw SettingRefusal("mixer_type \"hardware\" is for sound systems, not for \"\(kind.rawValue)\"")
        }
        if !isTimed && kind.isDevice {
            throw SettingRefusal("timed \"no\" is for outputs without a device")
        }
        return OutputConfiguration(
            name: name ?? kind.rawValue,
            kind: try playerKind(kind),
            enabled: isEnabled,
            appliesVolume: appliesVolume ?? false,
            mixer: mixer ?? .software,
            server: server
        )
    }

    private func playerKind(_ kind: Kind) throws(SettingRefusal) -> OutputConfiguration.Kind {
        switch kind {
        case .default: return .device(driver: nil, device: nil)
        case .pulse, .pipewire, .alsa, .jack: return .device(driver: kind.rawValue, device: device)
        case .null: return .null
        case .snapcast:
            guard let format = format ?? PCMFormat("48000:16:2") else { throw SettingRefusal() }
            if let path { return .fifo(path: path, format: format) }
            return .tcp(host: host ?? "127.0.0.1", port: port ?? 4953, format: format)
        case .httpd:
            guard let format = format ?? PCMFormat("44100:16:2") else { throw SettingRefusal() }
            return .stream(
                StreamOutput(
                    host: host,
                    port: port ?? 8000,
                    codec: encoder ?? .vorbis,
                    format: format,
                    bitRate: (bitRate ?? 128) * 1000,
                    maximumListeners: maximumListeners ?? 10_000
                )
            )
        case .fifo, .file:
            guard let path else { throw SettingRefusal("an output of type \"\(kind.rawValue)\" needs a path") }
            guard let format = format ?? PCMFormat("44100:16:2") else { throw SettingRefusal() }
            return kind == .fifo ? .fifo(path: path, format: format) : .file(path: path, format: format)
        }
    }
}
