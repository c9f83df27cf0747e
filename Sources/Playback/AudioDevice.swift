/// A device that libmpv has found, which an output can play on.
public struct AudioDevice: Sendable, Hashable {
    /// libmpv's word for the sound system: `pulse`, `pipewire` or `alsa`.
    public var driver: String
    /// The sound system's name for the device.
    public var device: String
    /// For users.
    public var description: String

    public init(driver: String, device: String, description: String) {
        self.driver = driver
        self.device = device
        self.description = description
    }

    /// As libmpv writes it.
    public var name: String { "\(driver)/\(device)" }

    /// The devices in libmpv's `audio-device-list` that are worth to be offered.
    ///
    /// A sound server has all devices of the machine; without one, ALSA's devices are listed that convert what they are
    /// given. Of a sound server that speaks two languages only one list is taken.
    static func list(_ value: MPVValue) -> [AudioDevice] {
        guard case .list(let values) = value else { return [] }
        let all = values.compactMap { value -> AudioDevice? in
            guard let name = value["name"].text, let slash = name.firstIndex(of: "/") else { return nil }
            let (driver, device) = (String(name[..<slash]), String(name[name.index(after: slash)...]))
            guard !device.isEmpty else { return nil }
            let text = value["description"].text ?? ""
            return AudioDevice(driver: driver, device: device, description: text.isEmpty ? device : text)
        }
        for driver in ["pulse", "pipewire"] {
            let found = all.filter { $0.driver == driver }
            if !found.isEmpty { return found }
        }
        return all.filter { $0.driver == "alsa" && $0.device.hasPrefix("plughw:") }
    }
}
