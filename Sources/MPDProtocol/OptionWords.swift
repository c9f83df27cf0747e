/// The state of `single` or `consume`.
public enum TriState: UInt8, Sendable, Hashable {
    case off, on
    /// On until the end of the present song.
    case oneshot

    /// As `status` writes it.
    public var name: String {
        switch self {
        case .off: "0"
        case .on: "1"
        case .oneshot: "oneshot"
        }
    }
}

/// Which gain values the player applies.
public enum ReplayGainMode: UInt8, Sendable, Hashable, CaseIterable {
    case off, track, album
    /// Album gain, or track gain in random mode.
    case auto

    /// As requests and replies spell it.
    public var name: String {
        switch self {
        case .off: "off"
        case .track: "track"
        case .album: "album"
        case .auto: "auto"
        }
    }

    /// The mode with exactly this name, or nil.
    public init?(name: some Collection<UInt8>) {
        guard let mode = Self.allCases.first(where: { name.spells($0.name) }) else { return nil }
        self = mode
    }
}

/// How `save` treats a stored playlist of that name.
public enum SaveMode: Sendable, Hashable {
    case create, append, replace
}

extension Arguments {
    /// The argument of `single`.
    public func singleMode(_ index: Int) throws(ACK) -> TriState {
        try triState(index, "Unrecognized single mode, expected 0, 1, or oneshot")
    }

    /// The argument of `consume`.
    public func consumeMode(_ index: Int) throws(ACK) -> TriState {
        try triState(index, "Unrecognized consume mode, expected 0, 1, or oneshot")
    }

    private func triState(_ index: Int, _ complaint: String) throws(ACK) -> TriState {
        if spells("0", at: index) { return .off }
        if spells("1", at: index) { return .on }
        if spells("oneshot", at: index) { return .oneshot }
        throw ACK(.argument, complaint)
    }

    /// The argument of `replay_gain_mode`.
    public func replayGainMode(_ index: Int) throws(ACK) -> ReplayGainMode {
        guard let mode = ReplayGainMode(name: slice(index)) else {
            throw ACK(.argument, "Unrecognized replay gain mode")
        }
        return mode
    }

    /// The second argument of `save`.
    public func saveMode(_ index: Int) throws(ACK) -> SaveMode {
        if spells("create", at: index) { return .create }
        if spells("append", at: index) { return .append }
        if spells("replace", at: index) { return .replace }
        throw ACK(.argument, "Unrecognized save mode, expected one of 'create', 'append', 'replace'")
    }
}
