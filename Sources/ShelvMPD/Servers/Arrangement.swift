/// Which servers clients see.
struct Arrangement: Equatable, Sendable {
    struct Mounted: Equatable, Sendable {
        var path: String
        var id: ServerID
    }

    var active: ServerID
    var mounts: [Mounted] = []

    func shows(_ id: ServerID) -> Bool { active == id || mounts(id) }

    func mounts(_ id: ServerID) -> Bool { mounts.contains { $0.id == id } }

    // MARK: As the store has it

    /// Under which names the store keeps which server is active, and which ones are mounted.
    static let activeSetting = "active_server"
    static let mountsSetting = "mounts"

    /// What was kept, as far as the servers still exist; the first one is active where nothing was. Nil without servers.
    init?(kept settings: [String: String], among ids: [ServerID]) {
        let last = settings[Self.activeSetting].map { ServerID(text: $0) }
        guard let active = last.flatMap({ ids.contains($0) ? $0 : nil }) ?? ids.first else { return nil }
        self.active = active
        mounts = (settings[Self.mountsSetting] ?? "").split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ", maxSplits: 1).map(String.init)
            return words.count == 2 ? Mounted(path: words[1], id: ServerID(text: words[0])) : nil
        }
        mounts.removeAll { !ids.contains($0.id) || $0.id == active }
    }

    /// To be kept in the store.
    var settings: [String: String] {
        [
            Self.activeSetting: active.text,
            Self.mountsSetting: mounts.map { "\($0.id.text) \($0.path)" }.joined(separator: "\n"),
        ]
    }
}
