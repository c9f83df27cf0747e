import Logging
import MPDProtocol
import Playback

/// Volume and outputs.
extension Partition {
    /// What `status` shows, or nil when no output has a volume.
    var shownVolume: Int? { outputs.contains(where: \.hasVolume) ? volume : nil }

    /// Whether an output would have a volume, if it were on.
    var hasMixer: Bool { outputs.contains { $0.mixer != .none } }

    /// - Parameter percent: 0...100.
    func setVolume(_ percent: Int) {
        volume = percent
        player.setVolume(percent)
        saver?.noteChange()
    }

    /// Of the devices one plays at a time: who turns one on turns the others off.
    func setOutput(_ index: Int, enabled: Bool) {
        guard outputs.indices.contains(index), outputs[index].isEnabled != enabled else { return }
        if enabled, outputs[index].isDevice { turnOffDevices() }
        outputs[index].isEnabled = enabled
        // As in MPD, where clients may turn on what is not there.
        if outputs[index].isDummy { return raise(.output) }
        player.setOutput(index, enabled: enabled)
        raise([.output, .mixer])
        saver?.noteChange()
    }

    private func turnOffDevices() {
        for index in outputs.indices where outputs[index].isDevice { setOutput(index, enabled: false) }
    }

    /// Notes that an output works, or why it does not.
    func setOutputProblem(_ index: Int, _ problem: String?) {
        guard outputs.indices.contains(index), outputs[index].problem != problem, !outputs[index].isDummy else {
            return
        }
        let output = outputs[index]
        outputs[index].problem = problem
        if let problem { log.notice("Output \(output.name): \(problem)") }
        raise(.output)
        guard output.isDevice else { return }
        // As MPD, whose clients show it; gone when the device is back, unless something else is told by then.
        if let problem {
            setError("\(output.name): \(problem)", isTransient: false)
        } else if let old = output.problem, errorMessage?.text == "\(output.name): \(old)" {
            clearError()
            raise(.player)
        }
    }

    /// Adds an output for a device, off; it keeps its place from then on.
    func addDevice(_ device: AudioDevice, problem: String? = nil) {
        // Names are what `shelvmpd.conf` and the store call outputs by.
        let isTaken = outputs.contains { $0.name == device.description }
        let name = isTaken ? "\(device.description) (\(device.name))" : device.description
        let kind = OutputConfiguration.Kind.device(driver: device.driver, device: device.device)
        let outlet = Outlet(OutputConfiguration(name: name, kind: kind, enabled: false))
        var output = OutputState(name: name, plugin: device.driver, isEnabled: false, isDevice: true, outlet: outlet)
        output.device = device.name
        output.found = device
        output.problem = problem
        outputs.append(output)
        player.putOutput(outlet, at: outputs.count - 1, enabled: false)
        raise(.output)
    }

    /// Adds the devices that are not outputs yet.
    func addDevices(_ devices: [AudioDevice]) {
        for device in devices where !outputs.contains(where: { $0.device == device.name }) {
            guard outputs.count < Self.maximumOutputs else { break }
            log.info("Found the device \(device.name): \(device.description)")
            addDevice(device)
        }
    }

    /// Takes what the machine has to play on now, by libmpv's names.
    func devicesAre(_ names: Set<String>) {
        for index in outputs.indices where !outputs[index].isDummy {
            guard let device = outputs[index].found else { continue }
            let isThere = names.contains(device.name)
            // Of the one that plays the player tells.
            if isThere ? outputs[index].problem == Self.absent : outputs[index].problem == nil {
                outputs[index].problem = isThere ? nil : Self.absent
                raise(.output)
            }
        }
        saver?.noteChange()
    }

    // MARK: Moves

    /// The index of the output of this name, unless it was moved away.
    func output(named name: String) -> Int? { outputs.firstIndex { $0.name == name && !$0.isDummy } }

    /// Gives an output away; what stays is a dummy, so that the others keep their ids.
    func giveAway(_ index: Int) -> OutputState {
        let output = outputs[index]
        outputs[index] = output.dummy
        player.putOutput(nil, at: index, enabled: false)
        if let problem = output.problem, errorMessage?.text == "\(output.name): \(problem)" { clearError() }
        saver?.noteChange()
        return output
    }

    /// Takes an output: where it once was, else behind the others.
    /// - Parameter volume: what it was heard with; goes on where nothing has a volume yet.
    func receive(_ output: OutputState, volume: Int) {
        if shownVolume == nil, output.hasVolume, volume != self.volume { setVolume(volume) }
        if output.isEnabled, output.isDevice { turnOffDevices() }
        let index = outputs.firstIndex { $0.isDummy && $0.name == output.name } ?? outputs.count
        if index < outputs.count { outputs[index] = output } else { outputs.append(output) }
        player.putOutput(output.outlet, at: index, enabled: output.isEnabled)
        saver?.noteChange()
    }

    static let absent = "not connected"
    /// Beyond it no more devices are added.
    private static let maximumOutputs = 64
}
