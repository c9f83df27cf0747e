import SubsonicKit
import Synchronization

/// What a Subsonic server keeps of what is listened to, without network, with habits like those of real servers, and
/// faults on request.
final class ScriptedListener: SubsonicCalling {
    /// What makes servers differ.
    struct Habits: Sendable {
        var type: String? = "navidrome"
        var version = "1.16.1"
        var extensions: Set<String> = []
        /// Of several plays in a request only the first one counts.
        var takesFirstOnly = false
        /// Songs tell when they were played last.
        var tellsPlayed = true
        var hasQueue = true
        /// A parameter that is 0 is taken for missing.
        var dropsZero = false
        var isAdmin = true

        static let navidrome = Habits(extensions: ["playbackReport", "indexBasedQueue", "formPost"])
        static let gonic = Habits(type: "gonic", takesFirstOnly: true)
        static let supysonic = Habits(
            type: nil,
            version: "1.12.0",
            takesFirstOnly: true,
            tellsPlayed: false,
            hasQueue: false
        )
        static let lms = Habits(type: "lms")
        static let ampache = Habits(type: "ampache", extensions: ["indexBasedQueue"], dropsZero: true)
    }

    /// A play as the server was told of it.
    struct Play: Sendable, Hashable {
        var songID: String
        /// Unix time in milliseconds.
        var time: Int64
    }

    fileprivate struct State {
        var habits: Habits
        var plays: [Play] = []
        var nowPlaying: [String] = []
        var reports: [String] = []
        var queue: PlayQueue?
        var savedBy = ""
        var queueSaves = 0
        var stations: [RadioStation] = []
        var lastStation = 0
        var similar: [String: [String]] = [:]
        var calls = ScriptedCalls()
        var forms = 0
        /// Nothing arrives any more.
        var isCut = false
    }
    private let state: Mutex<State>

    init(_ habits: Habits = .navidrome) { state = Mutex(State(habits: habits)) }

    var plays: [Play] { state.withLock { $0.plays } }
    var nowPlaying: [String] { state.withLock { $0.nowPlaying } }
    /// `STATE SONG POSITION`, in order.
    var reports: [String] { state.withLock { $0.reports } }
    var queue: PlayQueue? { state.withLock { $0.queue } }
    /// How often a queue was saved.
    var queueSaves: Int { state.withLock { $0.queueSaves } }
    var stations: [RadioStation] { state.withLock { $0.stations } }
    /// Methods, in order.
    var calls: [String] { state.withLock { $0.calls.all } }
    /// Calls that were sent as forms.
    var forms: Int { state.withLock { $0.forms } }

    /// Asked before each call.
    func onCall(_ rule: @escaping ScriptedFault.Rule) { state.withLock { $0.calls.rule = rule } }

    /// Lets nothing arrive until this is called again: what a process sends after its end.
    func cut(_ isCut: Bool) { state.withLock { $0.isCut = isCut } }

    /// Another client saves its queue.
    func save(_ queue: PlayQueue, by client: String) {
        state.withLock { state in
            state.queue = queue
            state.savedBy = client
        }
    }

    func add(_ station: RadioStation) { state.withLock { $0.stations.append(station) } }

    /// What goes with an artist or a song.
    func setSimilar(_ songs: [String], to id: String) { state.withLock { $0.similar[id] = songs } }

    func call(_ method: String, _ parameters: [(String, String)]) async throws(SubsonicError) -> Envelope {
        try await call(method, parameters, post: false)
    }

    func call(
        _ method: String,
        _ parameters: [(String, String)],
        post: Bool
    ) async throws(SubsonicError) -> Envelope {
        let (fault, body) = state.withLock { state -> (ScriptedFault?, String?) in
            if post { state.forms += 1 }
            let asked = state.calls.begin(method)
            let fault = state.isCut ? .unreachable : asked
            return (fault, fault.arrives ? state.answer(method, parameters) : nil)
        }
        return try await ScriptedCalls.deliver(body, fault)
    }
}

extension ScriptedListener.State {
    fileprivate mutating func answer(_ method: String, _ parameters: [(String, String)]) -> String {
        func all(_ name: String) -> [String] { parameters.filter { $0.0 == name }.map(\.1) }
        func one(_ name: String) -> String? { parameters.first { $0.0 == name }?.1 }
        switch method {
        case "ping": return ok("")
        case "getOpenSubsonicExtensions":
            let list = habits.extensions.sorted().map { "{\"name\":\"\($0)\",\"versions\":[1]}" }
            return habits.type == nil
                ? failed(0, "unknown method") : ok("\"openSubsonicExtensions\":[\(list.joined(separator: ","))]")
        case "scrobble":
            var ids = all("id")
            if habits.takesFirstOnly { ids = Array(ids.prefix(1)) }
            if one("submission") == "false" {
                nowPlaying += ids
                return ok("")
            }
            // As servers do with a play that does not say when.
            let times = all("time").isEmpty ? ids.map { _ in "0" } : all("time")
            for (id, time) in zip(ids, times) { plays.append(.init(songID: id, time: Int64(time) ?? -1)) }
            return ok("")
        case "getSong":
            let id = one("id") ?? ""
            let last = plays.last { $0.songID == id }.map { ",\"played\":\"\(Self.date($0.time / 1000))\"" } ?? ""
            return ok("\"song\":{\"id\":\"\(id)\"\(habits.tellsPlayed ? last : "")}")
        case "reportPlayback":
            guard habits.extensions.contains("playbackReport") else { return failed(0, "unknown method") }
            guard one("ignoreScrobble") == "true" else { return failed(10, "this would count twice") }
            reports.append("\(one("state") ?? "") \(one("mediaId") ?? "") \(one("positionMs") ?? "")")
            return ok("")
        case "savePlayQueue", "savePlayQueueByIndex":
            guard habits.hasQueue, method == "savePlayQueue" || habits.extensions.contains("indexBasedQueue") else {
                return failed(0, "unknown method")
            }
            let ids = all("id")
            if habits.dropsZero, one("currentIndex") == "0" { return failed(10, "currentIndex is missing") }
            let current = one("currentIndex").flatMap { Int($0) } ?? one("current").flatMap { ids.firstIndex(of: $0) }
            queue = PlayQueue(songIDs: ids, current: current ?? 0, position: one("position").flatMap { Int64($0) } ?? 0)
            savedBy = "ShelvMPD"
            queueSaves += 1
            return ok("")
        case "getPlayQueue", "getPlayQueueByIndex":
            let isByIndex = method == "getPlayQueueByIndex"
            guard habits.hasQueue, !isByIndex || habits.extensions.contains("indexBasedQueue") else {
                return failed(0, "unknown method")
            }
            guard let queue else { return ok("") }
            let entries = queue.songIDs.map { "{\"id\":\"\($0)\"}" }.joined(separator: ",")
            let current =
                isByIndex ? "\"currentIndex\":\(queue.current)" : "\"current\":\"\(queue.songIDs[queue.current])\""
            return ok(
                "\"\(isByIndex ? "playQueueByIndex" : "playQueue")\":{\"entry\":[\(entries)],\(current),"
                    + "\"position\":\(queue.position),\"changed\":\"2026-01-01T00:00:00Z\",\"changedBy\":\"\(savedBy)\"}"
            )
        case "getSimilarSongs", "getSimilarSongs2":
            let songs = (similar[one("id") ?? ""] ?? []).map { "{\"id\":\"\($0)\"}" }.joined(separator: ",")
            return ok("\"\(method == "getSimilarSongs" ? "similarSongs" : "similarSongs2")\":{\"song\":[\(songs)]}")
        case "getInternetRadioStations":
            let list = stations.map { "{\"id\":\"\($0.id)\",\"name\":\"\($0.name)\",\"streamUrl\":\"\($0.address)\"}" }
            return ok("\"internetRadioStations\":{\"internetRadioStation\":[\(list.joined(separator: ","))]}")
        case "createInternetRadioStation":
            guard habits.isAdmin else { return failed(50, "not allowed") }
            lastStation += 1
            stations.append(
                RadioStation(id: "new-\(lastStation)", name: one("name") ?? "", address: one("streamUrl") ?? "")
            )
            return ok("")
        case "deleteInternetRadioStation":
            guard habits.isAdmin else { return failed(50, "not allowed") }
            guard stations.contains(where: { $0.id == one("id") }) else { return failed(70, "not found") }
            stations.removeAll { $0.id == one("id") }
            return ok("")
        default: return failed(0, "unknown method")
        }
    }

    private func ok(_ content: String) -> String {
        let type = habits.type.map { ",\"type\":\"\($0)\",\"openSubsonic\":true,\"serverVersion\":\"1\"" } ?? ""
        return "{\"status\":\"ok\",\"version\":\"\(habits.version)\"\(type)\(content.isEmpty ? "" : ",")\(content)}"
    }

    private func failed(_ code: Int, _ message: String) -> String {
        "{\"status\":\"failed\",\"version\":\"\(habits.version)\",\"error\":{\"code\":\(code),\"message\":\"\(message)\"}}"
    }

    /// `2026-01-01T00:00:00Z`, from Unix time in seconds.
    private static func date(_ seconds: Int64) -> String {
        let days = Int((seconds >= 0 ? seconds : seconds - 86_399) / 86_400)
        let rest = Int(seconds) - days * 86_400
        // Days since 0000-03-01 to a date, by eras of 400 years.
        let shifted = days + 719_468
        let era = shifted / 146_097
        let day = shifted - era * 146_097
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365
        let dayOfYear = day - (365 * year + year / 4 - year / 100)
        let month = (5 * dayOfYear + 2) / 153
        let monthNumber = month < 10 ? month + 3 : month - 9
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return
            "\(year + era * 400 + (monthNumber <= 2 ? 1 : 0))-\(two(monthNumber))-\(two(dayOfYear - (153 * month + 2) / 5 + 1))"
            + "T\(two(rest / 3600)):\(two(rest / 60 % 60)):\(two(rest % 60))Z"
    }
}
