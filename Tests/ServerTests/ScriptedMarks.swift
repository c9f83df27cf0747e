import SubsonicKit
import Synchronization

/// The stars and ratings of a Subsonic server without network, with habits like those of real servers, and faults on
/// request. Songs are `a` to `z`, albums `al-a` to `al-z`, artists `ar-a` to `ar-z`, called `Artist a` and so on.
final class ScriptedMarks: SubsonicCalling {
    struct Habits: Sendable {
        var type: String? = "navidrome"
        /// A star on what is starred is an error.
        var refusesSecondStar = false
        var ratesAlbums = true
        var starsAlbums = true
        var rates = true
        /// Says yes to ids that it does not know.
        var swallowsUnknown = false
        /// `rating=0` is taken for missing.
        var dropsZero = false
    }

    fileprivate struct State {
        var habits: Habits
        var stars: [String: Int64] = [:]
        var ratings: [String: Int] = [:]
        var clock: Int64 = 1_700_000_000
        var calls = ScriptedCalls()
    }
    private let state: Mutex<State>

    init(_ habits: Habits = Habits()) { state = Mutex(State(habits: habits)) }

    /// Ids, in the order in which they were starred.
    var stars: [String] { state.withLock { $0.stars.sorted { $0.value < $1.value }.map(\.key) } }
    /// 1...5 by id.
    var ratings: [String: Int] { state.withLock { $0.ratings } }
    /// Methods with parameters, in order.
    var calls: [String] { state.withLock { $0.calls.all } }
    /// Those that change something.
    var changes: [String] {
        calls.filter { call in ["star ", "unstar ", "setRating "].contains { call.hasPrefix($0) } }
    }

    func forgetCalls() { state.withLock { $0.calls.forget() } }

    /// Asked before each call.
    func onCall(_ rule: @escaping ScriptedFault.Rule) { state.withLock { $0.calls.rule = rule } }

    /// Another client stars, or takes the star away.
    func star(_ id: String, _ isStarred: Bool = true) {
        state.withLock { $0.star(id, isStarred) }
    }

    /// Another client rates.
    func rate(_ id: String, _ rating: Int) { state.withLock { $0.ratings[id] = rating == 0 ? nil : rating } }

    func call(_ method: String, _ parameters: [(String, String)]) async throws(SubsonicError) -> Envelope {
        let text = ([method] + parameters.map { "\($0.0)=\($0.1)" }).joined(separator: " ")
        let (fault, body) = state.withLock { state -> (ScriptedFault?, String?) in
            let fault = state.calls.begin(method, noting: text)
            return (fault, fault.arrives ? state.answer(method, parameters) : nil)
        }
        return try await ScriptedCalls.deliver(body, fault)
    }
}

extension ScriptedMarks.State {
    fileprivate mutating func star(_ id: String, _ isStarred: Bool) {
        clock += 1
        stars[id] = isStarred ? stars[id] ?? clock : nil
    }

    fileprivate mutating func answer(_ method: String, _ parameters: [(String, String)]) -> String {
        func one(_ name: String) -> String? { parameters.first { $0.0 == name }?.1 }
        switch method {
        case "ping": return ok("")
        case "getSong":
            guard let id = one("id"), isSong(id) else { return failed(70, "no such song") }
            return ok("\"song\":\(text(id))")
        case "getAlbum":
            guard let id = one("id"), id.hasPrefix("al-") else { return failed(70, "no such album") }
            return ok("\"album\":\(text(id))")
        case "getArtist":
            guard let id = one("id"), id.hasPrefix("ar-") else { return failed(70, "no such artist") }
            return ok("\"artist\":\(text(id))")
        case "search3":
            let query = one("query") ?? ""
            guard query.hasPrefix("Artist ") else { return ok("\"searchResult3\":{}") }
            let id = "ar-\(query.dropFirst("Artist ".count))"
            return ok("\"searchResult3\":{\"artist\":[\(text("ar-other")),\(text(id))]}")
        case "getStarred2":
            func list(_ isWanted: (String) -> Bool) -> String {
                stars.keys.filter(isWanted).sorted().map { text($0) }.joined(separator: ",")
            }
            let (songs, albums) = (list(isSong), list { $0.hasPrefix("al-") })
            let artists = list { $0.hasPrefix("ar-") }
            return ok("\"starred2\":{\"song\":[\(songs)],\"album\":[\(albums)],\"artist\":[\(artists)]}")
        case "star", "unstar":
            var problem: String?
            for (name, id) in parameters {
                let isKnown = ["id": isSong(id), "albumId": id.hasPrefix("al-"), "artistId": id.hasPrefix("ar-")][name]
                if isKnown != true || (name == "albumId" && !habits.starsAlbums) {
                    if !habits.swallowsUnknown { problem = failed(70, "no such thing") }
                } else if method == "star", habits.refusesSecondStar, stars[id] != nil {
                    problem = failed(0, "already starred")
                } else {
                    star(id, method == "star")
                }
            }
            return problem ?? ok("")
        case "setRating":
            guard habits.rates else { return failed(0, "unknown method") }
            guard let id = one("id"), let word = one("rating"), !(habits.dropsZero && word == "0"),
                let rating = Int(word)
            else { return failed(10, "rating is missing") }
            guard isSong(id) || habits.ratesAlbums else { return failed(70, "no such song") }
            ratings[id] = rating == 0 ? nil : rating
            return ok("")
        default: return failed(0, "unknown method")
        }
    }

    private func isSong(_ id: String) -> Bool { id.count == 1 }

    private func text(_ id: String) -> String {
        let star = stars[id].map { ",\"starred\":\"\(Self.date($0))\"" } ?? ""
        let rating = ratings[id].map { ",\"userRating\":\($0)" } ?? ""
        let name = id.hasPrefix("ar-") ? "Artist \(id.dropFirst(3))" : "Title \(id)"
        return "{\"id\":\"\(id)\",\"name\":\"\(name)\",\"title\":\"\(name)\"\(star)\(rating)}"
    }

    private static func date(_ seconds: Int64) -> String {
        let offset = seconds - 1_700_000_000
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "2023-11-15T\(two(offset / 3600 % 24)):\(two(offset / 60 % 60)):\(two(offset % 60))Z"
    }

    private func ok(_ content: String) -> String {
        let type = habits.type.map { ",\"type\":\"\($0)\",\"openSubsonic\":true,\"serverVersion\":\"1\"" } ?? ""
        return "{\"status\":\"ok\",\"version\":\"1.16.1\"\(type)\(content.isEmpty ? "" : ",")\(content)}"
    }

    private func failed(_ code: Int, _ message: String) -> String {
        "{\"status\":\"failed\",\"version\":\"1.16.1\",\"error\":{\"code\":\(code),\"message\":\"\(message)\"}}"
    }
}
