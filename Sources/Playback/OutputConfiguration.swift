/// One output of the player, as configured.
public struct OutputConfiguration: Sendable, Equatable {
    /// Where the sound goes.
    public enum Kind: Sendable, Equatable {
        /// An audio device: `driver` is mpv's name (`pulse`, `pipewire`, `alsa`, `jack`), nil to try all of them;
        /// `device` is the driver's name for the device, nil for its default.
        case device(driver: String?, device: String?)
        /// Silence that keeps time.
        case null
        /// Raw samples appended to a file that is emptied at the start.
        case file(path: String, format: PCMFormat)
        /// Raw samples into a FIFO, which is made when missing; dropped while nobody reads.
        case fifo(path: String, format: PCMFormat)
        /// Raw samples to a server that listens for them: the TCP source of a snapserver.
        case tcp(host: String, port: UInt16, format: PCMFormat)
        /// An encoded stream that others fetch over HTTP.
        case stream(StreamOutput)

        /// What it is written in; nil for what libmpv plays itself.
        var format: PCMFormat? {
            switch self {
            case .device, .null: nil
            case .file(_, let format), .fifo(_, let format), .tcp(_, _, let format): format
            case .stream(let stream): stream.codec.format(stream.format)
            }
        }
    }

    /// For messages.
    public var name: String
    public var kind: Kind
    /// Whether it takes part from the start.
    public var enabled: Bool
    /// Whether `setVolume` changes the samples of an output that libmpv does not play itself.
    public var appliesVolume: Bool
    /// Who changes the volume of a device.
    public var mixer: Mixer
    /// The PulseAudio server of a device, as libpulse writes it; nil for the usual one.
    public var server: String?

    /// Words of MPD's `mixer_type`.
    public enum Mixer: String, Sendable {
        /// The samples are changed.
        case software
        /// The sound system changes what it makes of the samples.
        case hardware
        /// Nobody does.
        case none
    }

    public init(
        name: String,
        kind: Kind,
        enabled: Bool = true,
        appliesVolume: Bool = false,
        mixer: Mixer = .software,
        server: String? = nil
    ) {
        self.mixer = mixer
        self.server = server
        self.name = name
        self.kind = kind
        self.enabled = enabled
        self.appliesVolume = appliesVolume
    }
}

/// An HTTP stream as configured.
public struct StreamOutput: Sendable, Equatable {
    /// The address to listen at, nil for all of this machine.
    public var host: String?
    public var port: UInt16
    public var codec: StreamCodec
    /// Rate and channels of the stream.
    public var format: PCMFormat
    /// bit/s; 0 leaves it to the encoder.
    public var bitRate: Int
    public var maximumListeners: Int

    public init(
        host: String? = nil,
        port: UInt16,
        codec: StreamCodec,
        format: PCMFormat,
        bitRate: Int = 0,
        maximumListeners: Int = 100
    ) {
        self.host = host
        self.port = port
        self.codec = codec
        self.format = format
        self.bitRate = bitRate
        self.maximumListeners = maximumListeners
    }
}

/// Layout of raw interleaved little-endian samples.
public struct PCMFormat: Sendable, Hashable, CustomStringConvertible {
    /// How one sample is written.
    public enum Sample: String, Sendable, CaseIterable {
        case s16 = "16"
        /// Four bytes a sample, the value in the lower 24 bits, sign-extended.
        case s24 = "24"
        case s32 = "32"
        case float = "f"

        /// Bytes of one sample of one channel.
        public var size: Int { self == .s16 ? 2 : 4 }
    }

    /// Samples a second, 1000...768000.
    public var sampleRate: Int
    public var sample: Sample
    /// 1...8.
    public var channels: Int

    /// Nil when a number is out of range.
    public init?(sampleRate: Int, sample: Sample, channels: Int) {
        guard 1000...768_000 ~= sampleRate, 1...8 ~= channels else { return nil }
        self.sampleRate = sampleRate
        self.sample = sample
        self.channels = channels
    }

    /// From MPD's spelling, such as `44100:16:2`. Nil when it isn't one.
    public init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let rate = Int(parts[0]), let sample = Sample(rawValue: String(parts[1])),
            let channels = Int(parts[2])
        else { return nil }
        self.init(sampleRate: rate, sample: sample, channels: channels)
    }

    /// MPD's spelling.
    public var description: String { "\(sampleRate):\(sample.rawValue):\(channels)" }

    /// Bytes of one sample of all channels.
    public var frameSize: Int { sample.size * channels }
}

extension OutputConfiguration {
    /// Whether libmpv does not play it itself, but hands its samples out.
    public var takesSamples: Bool { kind.format != nil }
}

/// How a player is set up for its life.
public struct PlayerConfiguration: Sendable {
    /// In the order in which `setOutput` counts them.
    public var outputs: [Outlet]
    /// Whether outputs may be put in later that libmpv does not play itself; so it is with `outputs` that have such.
    public var takesSamples: Bool
    /// Path of the tap library, or nil to look beside the executable and in the library folder.
    public var tapLibrary: String?
    /// False lets outputs without a device run as fast as songs decode; for tests.
    public var isTimed: Bool
    /// How long a song may wait for bytes until it fails as the network does; nil for ever.
    public var starvationLimit: Duration?
    /// Whether a device that goes away holds the song, instead of being replaced by silence that keeps time.
    public var stopsWithoutDevice: Bool
    /// Whether the devices of the machine are told, now and when some come or go.
    public var findsDevices: Bool
    /// Volume before the first `setVolume`, 0...100.
    public var volume: Int

    public init(
        outputs: [Outlet] = [],
        takesSamples: Bool = false,
        tapLibrary: String? = nil,
        isTimed: Bool = true,
        starvationLimit: Duration? = nil,
        stopsWithoutDevice: Bool = false,
        findsDevices: Bool = false,
        volume: Int = 100
    ) {
        self.outputs = outputs
        self.takesSamples = takesSamples || outputs.contains { $0.configuration.takesSamples }
        self.tapLibrary = tapLibrary
        self.isTimed = isTimed
        self.starvationLimit = starvationLimit
        self.stopsWithoutDevice = stopsWithoutDevice
        self.findsDevices = findsDevices
        self.volume = volume
    }
}

/// Why a player could not be made.
public struct PlayerError: Error, Sendable, Equatable, CustomStringConvertible {
    public var description: String
    /// Whether it would work if there were room on the disk.
    public var isForWantOfRoom: Bool

    public init(_ description: String, isForWantOfRoom: Bool = false) {
        self.description = description
        self.isForWantOfRoom = isForWantOfRoom
    }
}
