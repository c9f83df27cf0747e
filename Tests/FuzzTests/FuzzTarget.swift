/// What reads bytes that come from outside, and must neither trap nor break its promises whatever they are.
///
/// A name is also that of the folder of its corpus in `Fixtures/fuzz`.
enum FuzzTarget: String, CaseIterable, Sendable {
    /// What clients send, and every argument as everything that it could be.
    case requests
    case filters
    case configuration
    case json
    /// Answers of a Subsonic server, up to the replies of a library of their songs.
    case answers
    /// Heads of HTTP answers, and addresses of all kinds.
    case addresses
    /// M3U, PLS, XSPF and ASX from the network.
    case playlists
    /// A library's file, forged so that its checksums fit.
    case image
    /// What the store and the spool of a sync keep in a form of their own.
    case stored

    /// Ends the process if something is wrong.
    func read(_ input: [UInt8]) {
        switch self {
        case .requests: RequestTarget.read(input)
        case .filters: FilterTarget.read(input)
        case .configuration: ConfigurationTarget.read(input)
        case .json: JSONTarget.read(input)
        case .answers: AnswerTarget.read(input)
        case .addresses: AddressTarget.read(input)
        case .playlists: PlaylistTarget.read(input)
        case .image: ImageTarget.read(input)
        case .stored: StoredTarget.read(input)
        }
    }
}

/// A promise that must hold in optimized builds, too: libFuzzer takes the end of the process for a finding.
func require(_ condition: @autoclosure () -> Bool, _ promise: String) {
    guard condition() else { fatalError("broken: \(promise)") }
}

/// Takes numbers from the front of an input, zero when nothing is left.
struct InputReader {
    private(set) var rest: ArraySlice<UInt8>

    init(_ input: [UInt8]) { rest = input[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    mutating func word() -> UInt32 {
        (0..<4).reduce(0) { word, index in word | UInt32(byte()) << UInt32(8 * index) }
    }
}
