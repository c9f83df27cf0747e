import SubsonicKit
import Synchronization

/// The playlists of a Subsonic server without network, with habits like those of real servers, and faults on request.
final class ScriptedPlaylists: SubsonicCalling {
    struct List: Sendable, Equatable {
        var id: String
        var name: String
        var songs: [String]
        var owner = "me"
        var isPublic = false
        var isReadonly = false
        var changed: Int64 = 1_700_000_000
    }

    /// What makes servers differ; the names are those of `subsonic-response`.
    struct Habits: Sendable {
        var type: String? = "navidrome"
        var version = "1.16.1"
        /// `createPlaylist` says what it has made.
        var tellsWhatItMade = true
        /// `createPlaylist` with an id puts other songs in the place of the present ones.
        var replaces = true
        /// ... also no songs.
        var clears = true
        /// `updatePlaylist` without `public` makes a list private.
        var resetsPublic = false
        /// Any value of `public` means yes.
        var takesAnyPublicForYes = false
        /// `createPlaylist` makes lists public.
        var makesPublic = false
        /// Of several positions only the last one counts.
        var removesLastOnly = false
        var hidesEmpty = false
        var dropsZero = false
        var takesForms = true
        var tellsChanges = true
        /// A position beyond the end ends the connection.
        var breaksOnBadPosition = false

        static let navidrome = Habits().with {
            $0.clears = false
        }
        static let gonic = Habits().with {
            $0.type = "gonic"
            $0.breaksOnBadPosition = true
        }
        static let supysonic = Habits().with {
            $0.type = nil
            $0.version = "1.12.0"
            $0.tellsWhatItMade = false
            $0.tellsChanges = false
        }
        static let lms = Habits().with {
            $0.type = "lms"
            $0.resetsPublic = true
            $0.takesAnyPublicForYes = true
        }
        static let ampache = Habits().with {
            $0.type = "ampache"
            $0.resetsPublic = true
            $0.makesPublic = true
            $0.dropsZero = true
        }
        static let funkwhale = Habits().with {
            $0.type = "funkwhale"
            $0.replaces = false
            $0.removesLastOnly = true
            $0.hidesEmpty = true
            $0.takesForms = false
        }
        /// A server that nobody knows, and that can do little.
        static let unknown = funkwhale.with {
            $0.type = "other"
            $0.hidesEmpty = false
        }

        private func with(_ change: (inout Habits) -> Void) -> Habits {
            var habits = self
            change(&habits)
            return habits
        }

        static let all: [(String, Habits)] = [
            ("navidrome", navidrome), ("gonic", gonic), ("supysonic", supysonic), ("lms", lms), ("ampache", ampache),
            ("funkwhale", funkwhale), ("unknown", unknown),
        ]
    }

    fileprivate struct State {
        var habits: Habits
        var lists: [List] = []
        var lastID = 0
        var clock: Int64 = 1_700_000_000
        /// Songs that the server does not know: left out.
        var unknownSongs: Set<String> = []
        var calls = ScriptedCalls()
        var connectionsBroken = 0
        var longestQuery = 0
    }
    private let state: Mutex<State>

    init(_ habits: Habits = Habits(), _ lists: [List] = []) {
        var state = State(habits: habits)
        state.lists = lists
        self.state = Mutex(state)
    }

    var lists: [List] { state.withLock { $0.lists } }
    /// Methods, in order.
    var calls: [String] { state.withLock { $0.calls.all } }
    var connectionsBroken: Int { state.withLock { $0.connectionsBroken } }
    /// The most parameters of a call that was no form.
    var longestQuery: Int { state.withLock { $0.longestQuery } }

    func forgetCalls() { state.withLock { $0.calls.forget() } }

    /// Asked before each call.
    func onCall(_ rule: @escaping ScriptedFault.Rule) { state.withLock { $0.calls.rule = rule } }

    /// Another client changes something.
    func change(_ body: (inout [List]) -> Void) {
        state.withLock { state in
            let before = state.lists
            body(&state.lists)
            state.clock += 60
            for index in state.lists.indices where !before.contains(state.lists[index]) {
                state.lists[index].changed = state.clock
            }
        }
    }

    func forgetSong(_ id: String) { _ = state.withLock { $0.unknownSongs.insert(id) } }

    func call(_ method: String, _ parameters: [(String, String)]) async throws(SubsonicError) -> Envelope {
        try await call(method, parameters, post: false)
    }

    func call(
        _ method: String,
        _ parameters: [(String, String)],
        post: Bool
    ) async throws(SubsonicError) -> Envelope {
        let (fault, body) = state.withLock { state -> (ScriptedFault?, String?) in
            let fault = state.calls.begin(method)
            if !post { state.longestQuery = max(state.longestQuery, parameters.count) }
            guard fault.arrives else { return (fault, nil) }
            var parameters = post && !state.habits.takesForms ? [] : parameters
            if state.habits.dropsZero { parameters.removeAll { $0.1 == "0" || $0.1.isEmpty } }
            let hasLostAll = post && !state.habits.takesForms
            return (fault, hasLostAll ? state.failed(10, "u is missing") : state.answer(method, parameters))
        }
        return try await ScriptedCalls.deliver(body, fault)
    }
}

extension ScriptedPlaylists.State {
    /// The body of an answer; nil where the connection breaks.
    fileprivate mutating func answer(_ method: String, _ parameters: [(String, String)]) -> String? {
        func all(_ name: String) -> [String] { parameters.filter { $0.0 == name }.map(\.1) }
        func one(_ name: String) -> String? { parameters.first { $0.0 == name }?.1 }
        let index = (one("id") ?? one("playlistId")).flatMap { id in lists.firstIndex { $0.id == id } }
        switch method {
        case "ping": return ok("")
        case "getOpenSubsonicExtensions": return ok("\"openSubsonicExtensions\":[]")
        case "getPlaylists":
            let shown = lists.filter { ($0.owner == "me" || $0.isPublic) && !(habits.hidesEmpty && $0.songs.isEmpty) }
            return ok("\"playlists\":{\"playlist\":[\(shown.map { text($0, false) }.joined(separator: ","))]}")
        case "getPlaylist":
            guard let index else { return failed(70, "not found") }
            return ok("\"playlist\":\(text(lists[index], true))")
        case "createPlaylist":
            let songs = all("songId").filter { !unknownSongs.contains($0) }
            if one("playlistId") != nil, habits.replaces {
                guard let index else { return failed(70, "not found") }
                guard isOurs(index) else { return failed(50, "not allowed") }
                if !songs.isEmpty || habits.clears { lists[index].songs = songs }
                if habits.makesPublic { lists[index].isPublic = true }
                touch(index)
                return ok(habits.tellsWhatItMade ? "\"playlist\":\(text(lists[index], true))" : "")
            }
            guard let name = one("name") else { return failed(10, "name is missing") }
            lastID += 1
            lists.append(.init(id: "pl-\(lastID)", name: name, songs: songs, isPublic: habits.makesPublic))
            touch(lists.count - 1)
            return ok(habits.tellsWhatItMade ? "\"playlist\":\(text(lists[lists.count - 1], true))" : "")
        case "updatePlaylist":
            guard let index else { return failed(70, "not found") }
            guard isOurs(index) else { return failed(50, "not allowed") }
            var positions = all("songIndexToRemove").compactMap { Int($0) }
            if habits.removesLastOnly { positions = positions.suffix(1) }
            if habits.breaksOnBadPosition, positions.contains(where: { $0 >= lists[index].songs.count }) {
                connectionsBroken += 1
                return nil
            }
            for position in Set(positions).sorted(by: >) where position < lists[index].songs.count {
                lists[index].songs.remove(at: position)
            }
            lists[index].songs += all("songIdToAdd").filter { !unknownSongs.contains($0) }
            if let name = one("name") { lists[index].name = name }
            if let value = one("public") {
                lists[index].isPublic = habits.takesAnyPublicForYes || value == "true"
            } else if habits.resetsPublic {
                lists[index].isPublic = false
            }
            touch(index)
            return ok("")
        case "deletePlaylist":
            guard let index else { return failed(70, "not found") }
            guard isOurs(index) else { return failed(50, "not allowed") }
            lists.remove(at: index)
            return ok("")
        default: return failed(0, "unknown method")
        }
    }

    private func isOurs(_ index: Int) -> Bool { lists[index].owner == "me" && !lists[index].isReadonly }

    private mutating func touch(_ index: Int) {
        clock += 60
        lists[index].changed = clock
    }

    private func ok(_ content: String) -> String {
        let type = habits.type.map { ",\"type\":\"\($0)\",\"openSubsonic\":true,\"serverVersion\":\"1\"" } ?? ""
        return "{\"status\":\"ok\",\"version\":\"\(habits.version)\"\(type)\(content.isEmpty ? "" : ",")\(content)}"
    }

    fileprivate func failed(_ code: Int, _ message: String) -> String {
        "{\"status\":\"failed\",\"version\":\"\(habits.version)\",\"error\":{\"code\":\(code),\"message\":\"\(message)\"}}"
    }

    private func text(_ list: ScriptedPlaylists.List, _ hasSongs: Bool) -> String {
        let name = list.name.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
        let changed = habits.tellsChanges ? ",\"changed\":\(list.changed)" : ""
        let songs = list.songs.map { "{\"id\":\"\($0)\",\"title\":\"x\"}" }.joined(separator: ",")
        return """
            {"id":"\(list.id)","name":"\(name)","owner":"\(list.owner)","public":\(list.isPublic),\
            "readonly":\(list.isReadonly),"songCount":\(list.songs.count),"duration":\(list.songs.count * 60)\(changed)\
            \(hasSongs ? ",\"entry\":[\(songs)]" : "")}
            """
    }
}
