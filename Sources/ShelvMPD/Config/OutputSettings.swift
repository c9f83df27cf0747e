import Playback

/// A block `audio_output` while it is read; `finish` makes of it what the player takes.
struct OutputDraft: Sendable, Equatable {
    /// Words of the option `type`.
    enum Kind: String, Sendable, CaseIterable {
        case `default`, pulse, pipewire, alsa, jack, null, fifo, file

        /// Whether it writes raw samples to a path.
        var isTap: Bool { self == .fifo || self == .file }
        /// Whether mpv plays it on a device.
        var isDevice: Bool { self != .null && !isTap }
    }

    var kind: Kind?
    var name: String?
    var device: String?
    var path: String?
    var format: PCMFormat?
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
                "null": .null, "fifo": .fifo, "file": .file,
            ],
            default: "default",
            "Where the sound goes: to a sound system (\"default\" takes the first that works), nowhere, or as raw samples into "
                + "a FIFO or a file."
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
        .path("path", example: "/tmp/shelvmpd.fifo", "The FIFO or file; for these types only.") { $0.path = $1 },
        .text(
            "format",
            "RATE:BITS:CHANNELS, where BITS is 16, 24, 32 or f",
            default: "44100:16:2",
            "The samples of a FIFO or file."
        ) { output, text, _ throws(SettingRefusal) in
            guard let format = PCMFormat(text) else { throw SettingRefusal() }
            output.format = format
        },
        .boolean("apply_volume", default: false, "Whether the volume changes the samples of a FIFO or file.") {
            $0.appliesVolume = $1
        },
        .boolean("enabled", default: true, "Whether the output is on at the first start.") { $0.isEnabled = $1 },
        .boolean(
            "timed",
            default: true,
            "Whether types null, fifo and file keep time; with \"no\" songs run as fast as they can be decoded, for tests."
        ) { $0.isTimed = $1 },
    ]
}

extension OutputDraft {
    /// The output, or a sentence about what is missing or too much.
    func finish() throws(SettingRefusal) -> OutputConfiguration {
        let kind = kind ?? .default
        if path != nil && !kind.isTap {
            throw SettingRefusal("path is for the types \"fifo\" and \"file\", not for \"\(kind.rawValue)\"")
        }
        if format != nil && !kind.isTap {
            throw SettingRefusal("format is for the types \"fifo\" and \"file\", not for \"\(kind.rawValue)\"")
        }
        if device != nil && (!kind.isDevice || kind == .default) {
            throw SettingRefusal("device is for the types of a certain sound system, not for \"\(kind.rawValue)\"")
        }
        if !isTimed && kind.isDevice {
            throw SettingRefusal("timed \"no\" is for the types \"null\", \"fifo\" and \"file\"")
        }
        return OutputConfiguration(
            name: name ?? kind.rawValue,
            kind: try playerKind(kind),
            enabled: isEnabled,
            appliesVolume: appliesVolume ?? false
        )
    }

    private func playerKind(_ kind: Kind) throws(SettingRefusal) -> OutputConfiguration.Kind {
        switch kind {
        case .default: return .device(driver: nil, device: nil)
        case .pulse, .pipewire, .alsa, .jack: return .device(driver: kind.rawValue, device: device)
        case .null: return .null
        case .fifo, .file:
            guard let path else { throw SettingRefusal("an output of type \"\(kind.rawValue)\" needs a path") }
            guard let format = format ?? PCMFormat("44100:16:2") else { throw SettingRefusal() }
            return kind == .fifo ? .fifo(path: path, format: format) : .file(path: path, format: format)
        }
    }
}
