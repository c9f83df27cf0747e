import Playback

/// An audio output as clients see it.
struct OutputState: Sendable {
    let name: String
    /// MPD's word, or one like it, for the kind of output.
    let plugin: String
    var isEnabled: Bool
    /// Who changes its volume.
    let mixer: OutputConfiguration.Mixer
    /// Whether nothing is heard where it does not work.
    var isDevice: Bool
    /// libmpv's name for the device, where it is a certain one.
    var device: String?
    /// The device, where it was found and not configured.
    var found: AudioDevice?
    var problem: String?
    /// What goes along when it is moved; nil for what stays in its place then.
    private(set) var outlet: Outlet?

    init(
        name: String,
        plugin: String,
        isEnabled: Bool,
        mixer: OutputConfiguration.Mixer = .software,
        isDevice: Bool = false,
        outlet: Outlet? = nil
    ) {
        self.name = name
        self.plugin = plugin
        self.isEnabled = isEnabled
        self.mixer = mixer
        self.isDevice = isDevice
        self.outlet = outlet ?? Outlet(OutputConfiguration(name: name, kind: .null, enabled: isEnabled))
    }

    /// An output as it is configured.
    init(_ output: OutputConfiguration) {
        let plugin =
            switch output.kind {
            case .device(let driver, _): driver ?? "default"
            case .null: "null"
            case .file: "file"
            case .fifo: "fifo"
            case .tcp: "snapcast"
            case .stream: "httpd"
            }
        self.init(
            name: output.name,
            plugin: plugin,
            isEnabled: output.enabled,
            mixer: output.mixer,
            outlet: Outlet(output)
        )
        guard case .device(let driver, let device) = output.kind else { return }
        isDevice = true
        if let driver, let device { self.device = "\(driver)/\(device)" }
    }

    var isDummy: Bool { outlet == nil }

    /// Whether the volume changes it: as in MPD, that of the program also while it is off.
    var hasVolume: Bool {
        switch mixer {
        case .software: true
        case .hardware: isEnabled
        case .none: false
        }
    }

    /// What stays in its place when it is moved away. A device that was found is not taken for a new one then.
    var dummy: OutputState {
        var dummy = OutputState(name: name, plugin: "dummy", isEnabled: false, mixer: .none)
        dummy.outlet = nil
        dummy.device = device
        dummy.found = found
        return dummy
    }
}
