/// Gives every song of a library its URI: first all songs are presented, then each may be asked for.
///
/// The result depends on the songs and on the URIs they had, not on the order of their arrival: of several songs with one
/// path, the one that bore the plain URI so far keeps it, else the one whose id has the smallest hash gets it; the others
/// are marked with their ids. A song may not be named as a directory either.
struct URIAssigner {
    private let rule: PathRule
    /// The URIs so far, by song id.
    private let former: (_ songID: String) -> String?

    private struct Claim {
        var song: UInt64
        var isFormer: Bool
    }
    private var owners: [UInt64: Claim] = [:]
    private var directories: Set<UInt64> = []
    private(set) var aliases = AliasTable()
    /// Hashes of the marked URIs given out.
    private var marked: Set<UInt64> = []

    init(rule: PathRule, former: @escaping (_ songID: String) -> String?) {
        self.rule = rule
        self.former = former
    }

    /// The first round.
    mutating func present(songID: String, path: String, folder: Int) {
        let plain = plainURI(songID: songID, path: path, folder: folder)
        let hash = Self.hash(plain) { directories.insert($0) }
        var claim = Claim(song: Self.hash(songID), isFormer: false)
        if let former = former(songID) {
            claim.isFormer = Self.isSame(former, plain)
            // Once marked, a song stays so while its path does, even if the plain URI became free.
            if !claim.isFormer, Self.isSame(former, Self.markedURI(plain, songID: songID, attempt: 1)) { return }
        }
        guard let owner = owners[hash] else {
            owners[hash] = claim
            return
        }
        if claim.isFormer && !owner.isFormer || claim.isFormer == owner.isFormer && claim.song < owner.song {
            owners[hash] = claim
        }
    }

    /// The second round, once for each song.
    mutating func assign(songID: String, path: String, folder: Int) -> String {
        let plain = plainURI(songID: songID, path: path, folder: folder)
        let hash = Self.hash(plain)
        var uri = plain
        if owners[hash]?.song != Self.hash(songID) || directories.contains(hash) {
            uri = freeMarkedURI(plain, songID: songID)
        }
        if let former = former(songID), !Self.isSame(former, uri) { aliases.add(uri: former, songID: songID) }
        return uri
    }

    private func plainURI(songID: String, path: String, folder: Int) -> String {
        rule.uri(path: path, folder: folder) ?? PathSegment.safe(songID) ?? "_"
    }

    private mutating func freeMarkedURI(_ plain: String, songID: String) -> String {
        var uri = ""
        for attempt in 1...100 {
            uri = Self.markedURI(plain, songID: songID, attempt: attempt)
            let hash = Self.hash(uri)
            if owners[hash] == nil, !directories.contains(hash), marked.insert(hash).inserted { break }
        }
        return uri
    }

    private static func markedURI(_ plain: String, songID: String, attempt: Int) -> String {
        let slash = plain.utf8.lastIndex(of: UInt8(ascii: "/"))
        let name = slash.map { plain[plain.utf8.index(after: $0)...] } ?? plain[...]
        let directory = slash.map { plain[...$0] } ?? ""
        let id = PathSegment.safe(songID) ?? "_"
        return directory + PathSegment.marked(name, with: attempt == 1 ? " [\(id)]" : " [\(id) \(attempt)]")
    }

    /// Byte for byte: Swift's own comparison takes two normal forms of a name for the same.
    private static func isSame(_ a: String, _ b: String) -> Bool { a.utf8.elementsEqual(b.utf8) }

    /// FNV-1a in 64 bits. Two URIs of one hash are taken for equal, which costs one of them a needless mark and happens
    /// once in some ten million libraries of a million songs.
    static func hash(_ text: String, atSlash: (UInt64) -> Void = { _ in }) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in text.utf8 {
            if byte == UInt8(ascii: "/") { atSlash(hash) }
            hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3
        }
        return hash
    }
}
