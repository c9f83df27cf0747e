/// How the paths of one server become URIs: what all of them have in common, learnt from the library as a whole.
///
/// The rule is kept with the library, so that a later sync does not move every song because of one new one.
public struct PathRule: Sendable, Hashable {
    /// What absolute paths of each music folder begin with, from slash to slash; empty where there is nothing in common.
    public var prefixes: [String]
    /// The URI's first segment for each music folder; nil when only one folder holds songs.
    public var tops: [String?]
    /// Whether paths come from Windows: their separator is then a backslash.
    public var isBackslashed: Bool

    public init(prefixes: [String] = [], tops: [String?] = [], isBackslashed: Bool = false) {
        self.prefixes = prefixes
        self.tops = tops
        self.isBackslashed = isBackslashed
    }

    /// Bytes; the longest URI that is made. MPD's lines end at 4,096.
    static let longest = 2000

    /// The URI of a path in a music folder, without regard to other songs; nil when nothing is left of the path.
    func uri(path: String, folder: Int) -> String? { treeURI(path: path, folder: folder).map { Shelf.avoiding($0) } }

    private func treeURI(path: String, folder: Int) -> String? {
        let prefix = folder < prefixes.count ? prefixes[folder] : ""
        if prefix.isEmpty, !isBackslashed, tops.allSatisfy({ $0 == nil }), path.withView(Self.isSafe) { return path }
        let path = isBackslashed ? Self.withSlashes(path) : path
        var segments = Self.segments(path, without: prefix)
        if segments.isEmpty { return nil }
        if folder < tops.count, let top = tops[folder] { segments.insert(top, at: 0) }
        return Self.joined(segments)
    }

    /// Whether a path is its own URI, as most are.
    func isPlain(_ path: ByteView, folder: Int) -> Bool {
        (folder >= prefixes.count || prefixes[folder].isEmpty) && !isBackslashed && tops.allSatisfy { $0 == nil }
            && Self.isSafe(path) && !Shelf.contains(path: path)
    }

    /// Whether nothing has to be changed in a path; that is told faster than a path is taken apart.
    private static func isSafe(_ path: ByteView) -> Bool {
        guard path.count <= PathSegment.longest else { return false }
        // What stands before a slash or the end must be a segment that is no dot and no two dots.
        var length = 0
        var dots = 0
        for index in 0...path.count {
            let byte = index < path.count ? path[index] : UInt8(ascii: "/")
            if byte == UInt8(ascii: "/") {
                if length == 0 || length == dots && length <= 2 { return false }
                length = 0
                dots = 0
            } else {
                if byte < 0x20 || byte == 0x7F { return false }
                length += 1
                if byte == UInt8(ascii: ".") { dots += 1 }
            }
        }
        return true
    }

    private static func segments(_ path: String, without prefix: String) -> [String] {
        var rest = path[...]
        if !prefix.isEmpty, rest.utf8.starts(with: prefix.utf8) {
            rest = rest[rest.utf8.index(rest.startIndex, offsetBy: prefix.utf8.count)...]
        } else if rest.utf8.starts(with: "./".utf8) {
            rest = rest.dropFirst(2)
        }
        return rest.utf8.split(separator: UInt8(ascii: "/")).compactMap { PathSegment.safe(Substring($0)) }
    }

    /// Directories that do not fit go; the file's name stays.
    private static func joined(_ segments: [String]) -> String {
        let whole = segments.joined(separator: "/")
        guard whole.utf8.count > longest, let name = segments.last else { return whole }
        var kept: [String] = []
        var room = longest - name.utf8.count
        for directory in segments.dropLast() {
            room -= directory.utf8.count + 1
            if room < 0 { break }
            kept.append(directory)
        }
        return (kept + [name]).joined(separator: "/")
    }

    static func withSlashes(_ path: String) -> String {
        String(decoding: path.utf8.map { $0 == UInt8(ascii: "\\") ? UInt8(ascii: "/") : $0 }, as: UTF8.self)
    }
}

/// Learns a `PathRule` from all paths of a library, one after the other.
struct PathSurvey {
    private struct Folder {
        /// The directories that all paths so far begin with; nil before the first one.
        var common: [Substring]?
        /// A path that is not absolute was among them: then they have nothing in common that is not part of the tree.
        var isRelative = false
        var songs = 0
    }

    private var folders: [Folder] = []
    private var hasSlash = false
    private var hasBackslash = false
    /// Names that shall stay in URIs even if every song shares them: artist and album of the first song.
    private var names: Set<String> = []

    /// Takes note of one song. Names are asked for with the first absolute path.
    mutating func note(_ path: ByteView, folder: Int, names: () -> [String]) {
        // Nearly always there is nothing new in it, and that is told without making a text of it.
        if folder < folders.count, folders[folder].isRelative, hasSlash, !path.contains(UInt8(ascii: "\\")) {
            folders[folder].songs += 1
            return
        }
        let isAbsolute = path[0] == UInt8(ascii: "/")
        note(path: path.string, folder: folder, names: isAbsolute ? names() : [])
    }

    /// The same with a text.
    mutating func note(path: String, folder: Int, names songNames: [String]) {
        while folders.count <= folder { folders.append(Folder()) }
        folders[folder].songs += 1
        hasSlash = hasSlash || path.utf8.contains(UInt8(ascii: "/"))
        hasBackslash = hasBackslash || path.utf8.contains(UInt8(ascii: "\\"))
        if folders[folder].isRelative { return }
        let path = Self.isWindows(path) ? PathRule.withSlashes(path) : path
        guard path.utf8.first == UInt8(ascii: "/") || Self.isWindows(path) else {
            folders[folder].isRelative = true
            folders[folder].common = []
            return
        }
        if let common = folders[folder].common {
            // Nearly always all of them begin as before, and then nothing has to be taken apart.
            if path.utf8.starts(with: Self.prefix(common).utf8) { return }
            let directories = path.split(separator: "/").dropLast()
            folders[folder].common = zip(common, directories).prefix { $0.0 == $0.1 }.map(\.0)
        } else {
            if names.isEmpty { names = Set(songNames.map { $0.lowercased() }) }
            folders[folder].common = Array(path.split(separator: "/").dropLast())
        }
    }

    /// The rule for what was seen.
    ///
    /// - Parameters:
    ///   - previous: The rule that made the URIs so far. Its prefix is kept while it still is one of all paths.
    ///   - folderNames: The names of the music folders.
    func rule(previous: PathRule?, folderNames: [String]) -> PathRule {
        let filled = folders.indices.filter { folders[$0].songs > 0 }
        var prefixes: [String] = []
        for (number, folder) in folders.enumerated() {
            let former = previous.map { number < $0.prefixes.count ? $0.prefixes[number] : "" } ?? ""
            let whole = Self.prefix(folder.common ?? [])
            if !former.isEmpty, whole.utf8.starts(with: former.utf8) {
                prefixes.append(former)
            } else {
                let kept = (folder.common ?? []).prefix { !names.contains($0.lowercased()) }
                prefixes.append(Self.prefix(Array(kept)))
            }
        }
        var tops = [String?](repeating: nil, count: folders.count)
        if filled.count > 1 {
            for number in filled { tops[number] = Self.top(number, of: folderNames) }
        }
        return PathRule(prefixes: prefixes, tops: tops, isBackslashed: hasBackslash && !hasSlash)
    }

    /// A folder's name; with its number when another one bears it too.
    private static func top(_ number: Int, of names: [String]) -> String {
        let safe = names.map { PathSegment.safe($0) ?? "Music" }
        guard number < safe.count else { return "Music \(number + 1)" }
        let isAlone = safe.indices.allSatisfy { $0 == number || safe[$0] != safe[number] }
        return isAlone ? safe[number] : "\(safe[number]) \(number + 1)"
    }

    private static func prefix(_ directories: [Substring]) -> String {
        if directories.isEmpty { return "" }
        let joined = directories.joined(separator: "/") + "/"
        return directories[0].utf8.last == UInt8(ascii: ":") ? joined : "/" + joined
    }

    /// `C:\…` or, once turned, `C:/…`.
    private static func isWindows(_ path: String) -> Bool {
        var start = path.utf8.makeIterator()
        guard let drive = start.next(), start.next() == UInt8(ascii: ":"), let slash = start.next() else {
            return false
        }
        let isLetter = drive | 0x20 >= UInt8(ascii: "a") && drive | 0x20 <= UInt8(ascii: "z")
        return isLetter && (slash == UInt8(ascii: "\\") || slash == UInt8(ascii: "/"))
    }
}
