/// Stored playlists as they must be after the commands that it has made up.
struct PlaylistModel {
    /// URIs of songs to use.
    let songs: [String]
    /// What each playlist holds, in URIs.
    private(set) var lists: [String: [String]] = [:]

    init(songs: [String]) { self.songs = songs }

    /// `name: uri uri …`, in the order of the names.
    var text: [String] { lists.map { "\($0): \($1.joined(separator: " "))" }.sorted() }

    /// Makes a random edit.
    /// - Returns: the command that asks for the same.
    mutating func edit(_ random: inout some RandomNumberGenerator) -> String {
        let names = ["A", "B", "C d", "É"]
        let name = names.randomElement(using: &random) ?? "A"
        let song = songs.randomElement(using: &random) ?? ""
        guard let list = lists[name] else {
            lists[name] = [song]
            return "playlistadd \"\(name)\" \"\(song)\""
        }
        let count = list.count
        switch Int.random(in: 0..<12, using: &random) {
        case 0:
            lists[name] = nil
            return "rm \"\(name)\""
        case 1:
            lists[name] = []
            return "playlistclear \"\(name)\""
        case 2:
            guard let free = names.first(where: { lists[$0] == nil }) else { fallthrough }
            lists[free] = list
            lists[name] = nil
            return "rename \"\(name)\" \"\(free)\""
        case 3, 4:
            let start = Int.random(in: 0...count, using: &random)
            let end = Int.random(in: start...count, using: &random)
            lists[name]?.removeSubrange(start..<end)
            return "playlistdelete \"\(name)\" \(start):\(end)"
        case 5, 6:
            let start = Int.random(in: 0...count, using: &random)
            let end = Int.random(in: start...count, using: &random)
            let to = Int.random(in: 0...(count - (end - start)), using: &random)
            let moved = Array(list[start..<end])
            lists[name]?.removeSubrange(start..<end)
            lists[name]?.insert(contentsOf: moved, at: to)
            return "playlistmove \"\(name)\" \(start):\(end) \(to)"
        case 7, 8:
            let position = Int.random(in: 0...count, using: &random)
            lists[name]?.insert(song, at: position)
            return "playlistadd \"\(name)\" \"\(song)\" \(position)"
        default:
            lists[name]?.append(song)
            return "playlistadd \"\(name)\" \"\(song)\""
        }
    }
}
