import Glibc

/// Which outputs take part, and what libmpv must be told for that. Belongs to the player's thread.
struct OutputBoard {
    /// While the wanted device is missing it is looked for this often.
    static let retryInterval = Duration.seconds(30)
    /// At first sooner, after a change: who has played to it may not have let go of it yet.
    static let firstRetries = [200, 500, 1000, 2000].map(Duration.milliseconds)
    /// How long the last of them may take until the device counts as lost.
    private static let lastChance = Duration.milliseconds(500)
    /// Drivers for a device that is not named, in order; all of them fail fast where there is no sound.
    static let usualDrivers = "pulse,pipewire,alsa"

    /// An output at its index.
    private struct Place {
        let outlet: Outlet
        let claim: Outlet.Claim
        var isEnabled: Bool

        init(_ outlet: Outlet, _ claim: Outlet.Claim, isEnabled: Bool) {
            self.outlet = outlet
            self.claim = claim
            self.isEnabled = isEnabled
        }
    }

    let tap: AudioTap?
    /// Whether outputs without a device run in real time.
    let isTimed: Bool
    private var places: [Place?] = []
    private let report: @Sendable (_ index: Int, _ problem: String?) -> Void
    private var problem: String?
    private var driver: String?
    /// When to look for the device again.
    private(set) var retryDue = UInt64.max
    /// When the device counts as lost unless it is back by then; `.max` if it does already, or need not.
    private(set) var lossDue = UInt64.max
    /// What is left of the first retries.
    private var soonRetries: ArraySlice<Duration> = []

    /// - Parameters:
    ///   - tap: serves the outputs that libmpv does not play itself.
    ///   - report: hears, on any thread, when one of those fails, and with nil when it works.
    init(
        _ outlets: [Outlet],
        tap: AudioTap?,
        isTimed: Bool,
        report: @escaping @Sendable (_ index: Int, _ problem: String?) -> Void
    ) {
        self.tap = tap
        self.isTimed = isTimed
        self.report = report
        places = outlets.map { Place($0, $0.claim(), isEnabled: $0.configuration.enabled) }
        connectTap()
    }

    /// libmpv plays to one device at most: the first enabled one.
    private var device: (index: Int, driver: String?, device: String?)? {
        for (index, place) in places.enumerated() {
            if let place, place.isEnabled, case .device(let driver, let device) = place.outlet.configuration.kind {
                return (index, driver, device)
            }
        }
        return nil
    }

    /// libmpv's `ao` and `audio-device`.
    var selection: (driver: String, device: String) {
        guard let chosen = device else { return ("null", "auto") }
        let driver = chosen.driver ?? Self.usualDrivers
        guard let name = chosen.device, !name.isEmpty else { return (driver, "auto") }
        return (driver, chosen.driver.map { "\($0)/\(name)" } ?? name)
    }

    /// The same as options of a new libmpv.
    var options: [(String, String)] {
        let server = chosen?.server.map { [("pulse-host", $0)] } ?? []
        return server + [("ao", selection.driver), ("audio-device", selection.device)]
    }

    /// The output that libmpv itself plays.
    private var chosen: OutputConfiguration? { device.flatMap { places[$0.index]?.outlet.configuration } }

    /// Whether libmpv itself makes the sound of some output.
    var hasDevice: Bool { selection.driver != "null" }

    /// libmpv's `af` for a load: its part, its gain, then the tap, at the very end.
    ///
    /// - Parameters:
    ///   - gain: in dB; nil leaves the samples alone.
    ///   - start: where the load begins. libmpv drops the samples before it, and those behind the end, only
    ///   behind the filters, too late for the tap.
    func filters(of source: AudioSource, gain: Float?, load: UInt64, start: Duration) -> [String] {
        var filters: [String] = []
        if tap != nil {
            var trims: [String] = []
            if start > .zero { trims.append("start=\(start.nanoseconds / 1000)us") }
            if let end = source.end { trims.append("end=\(end.nanoseconds / 1000)us") }
            if !trims.isEmpty { filters.append("@trim:lavfi=[atrim=\(trims.joined(separator: ":"))]") }
        }
        if let gain { filters.append(Self.gainFilter(gain)) }
        if let tap { filters.append("@tap:lavfi=[\(tap.filter(load: load))]") }
        return filters
    }

    /// The filter for a gain in dB, and the same as the filter's command takes it.
    static func gainFilter(_ gain: Float) -> String { "@gain:lavfi=[volume=volume=\(decibels(gain)):precision=float]" }

    static func decibels(_ gain: Float) -> String {
        let bounded = gain.isFinite ? min(max(gain, -60), 30) : 0
        return decimal(Int((bounded * 100).rounded()), digits: 2) + "dB"
    }

    /// Whether the wanted device has come back. Where it has only gone from the list, a sound server has the sound heard
    /// elsewhere meanwhile.
    func isBack(in devices: [AudioDevice], before: [AudioDevice]?) -> Bool {
        guard let device else { return false }
        guard let name = device.device else { return problem != nil && !devices.isEmpty }
        func holds(_ list: [AudioDevice]) -> Bool { list.contains { $0.driver == device.driver && $0.device == name } }
        return holds(devices) && (problem != nil || before.map { !holds($0) } ?? false)
    }

    /// Puts an output at an index, or leaves the place empty. Returns whether libmpv plays to another device now.
    mutating func put(_ entry: (Outlet, Outlet.Claim)?, at index: Int, _ isEnabled: Bool, _ decks: [Deck]) -> Bool {
        change(decks) { places in
            while places.count <= index { places.append(nil) }
            places[index] = entry.map { Place($0.0, $0.1, isEnabled: isEnabled) }
        }
    }

    /// Switches an output on or off; unknown ones are ignored. Returns whether libmpv plays to another device now.
    mutating func setEnabled(_ index: Int, _ isEnabled: Bool, _ decks: [Deck]) -> Bool {
        guard places.indices.contains(index), places[index]?.isEnabled == !isEnabled else { return false }
        return change(decks) { $0[index]?.isEnabled = isEnabled }
    }

    private mutating func change(_ decks: [Deck], _ body: (inout [Place?]) -> Void) -> Bool {
        let old = selection
        body(&places)
        connectTap()
        guard selection != old else { return false }
        problem = nil
        retryDue = .max
        lossDue = .max
        soonRetries = Self.firstRetries[...]
        for deck in decks {
            if let server = chosen?.server { deck.handle.set(.pulseServer, server) }
            deck.handle.set(.device, selection.device)
            deck.handle.set(.output, selection.driver)
        }
        return true
    }

    private func connectTap() {
        guard let tap else { return }
        tap.setLines(
            places.enumerated().compactMap { [report] index, place in
                guard let place, place.outlet.configuration.takesSamples else { return nil }
                return TapLine(outlet: place.outlet, claim: place.claim, isEnabled: place.isEnabled) {
                    report(index, $0)
                }
            }
        )
    }

    /// Sets the volume, 0...100, by the law of MPD's software mixer: loudness grows evenly over the scale. A device with
    /// a mixer of its own gets the number as it is.
    func setVolume(_ percent: Int, _ decks: [Deck]) {
        let gain = Self.gain(ofVolume: percent)
        let mixer = chosen?.mixer ?? .software
        for deck in decks {
            deck.handle.set(.volume, mixer == .software ? Self.mpvVolume(ofGain: gain) : 100)
            if mixer == .hardware { deck.handle.set(.deviceVolume, Double(min(max(percent, 0), 100))) }
        }
        tap?.setGain(Float(gain))
    }

    /// The factor for samples: 0 for volume 0, 1 for 100, between them (e^(v/25) - 1) / (e^4 - 1).
    static func gain(ofVolume percent: Int) -> Double {
        let volume = Double(min(max(percent, 0), 100))
        return (exp(volume / 25) - 1) / (exp(4) - 1)
    }

    /// libmpv's `volume`: its own law is the cube of a hundredth.
    static func mpvVolume(ofGain gain: Double) -> Double { cbrt(gain) * 100 }

    /// Takes note of the driver that libmpv uses, nil for none. Returns what has changed about the wanted device.
    mutating func driverIs(_ driver: String?) -> (index: Int, text: String?)? {
        self.driver = driver
        guard let device, let driver, !driver.isEmpty else { return nil }
        let isMissing = driver == "null" && device.driver != "null"
        if isMissing {
            if retryDue == .max { planRetry() }
        } else {
            (retryDue, lossDue, soonRetries) = (.max, .max, [])
        }
        let text = isMissing ? "no audio device found, playing silence" : nil
        guard text != problem else { return nil }
        problem = text
        return (device.index, text)
    }

    /// Whether the device was missing when libmpv tried it last.
    var isMissing: Bool { problem != nil }

    /// Whether the device is missing, and nothing that is about to be tried may bring it.
    var isLost: Bool { problem != nil && lossDue == .max && soonRetries.isEmpty }

    /// The time is over in which the device might have come.
    mutating func noteLoss() { lossDue = .max }

    /// Looks for the device again.
    mutating func retry(_ decks: [Deck]) {
        if retryDue != .max || problem != nil { planRetry() }
        for deck in decks { deck.handle.command(["ao-reload"]) }
    }

    /// Looks for a lost device at once; unless it comes it counts as lost again in a moment.
    mutating func tryOnceMore(_ decks: [Deck]) {
        retry(decks)
        lossDue = monotonicNow().advanced(by: Self.lastChance)
    }

    private mutating func planRetry() {
        let soon = soonRetries.popFirst()
        retryDue = monotonicNow().advanced(by: soon ?? Self.retryInterval)
        if soon != nil, soonRetries.isEmpty { lossDue = retryDue.advanced(by: Self.lastChance) }
    }
}

/// A whole number of some small unit as a decimal number, without the help of a locale: 5, 2 → `0.05`.
func decimal(_ value: Int, digits: Int) -> String {
    let text = String(value.magnitude)
    let padded = String(repeating: "0", count: max(0, digits + 1 - text.count)) + text
    return "\(value < 0 ? "-" : "")\(padded.dropLast(digits)).\(padded.suffix(digits))"
}
