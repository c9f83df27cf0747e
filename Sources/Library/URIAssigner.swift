/// Gives every song of a library its URI: first all songs are presented, then each may be asked for.
///
/// The result depends on the songs and on the URIs they had, not on the order of their arrival: of several songs with one
/// path, the one that bore the plain URI so far keeps it, else the one whose id has the smallest hash gets it; the others
/// are marked with their ids. A song may not be named as a directory either.
struct URIAssigner {
    private let rule: PathRule
    /// The URIs so far, by song id; nil when no song had one.
    private let former: ((_ songID: String) -> String?)?

    private struct Claim {
        var song: UInt64
        var isFormer: Bool
    }
    /// Who has the plain URI, by its hash.
    private var owners = HashKeyed(vacant: Claim(song: 0, isFormer: false))
    /// By hash.
    private var directories = HashKeyed(vacant: ())
    /// The directory of the last song; the next one is mostly in the same.
    private var lastDirectory: UInt64 = 0
    private(set) var aliases = AliasTable()
    /// Hashes of the marked URIs given out.
    private var marked: Set<UInt64> = []

    init(rule: PathRule, former: ((_ songID: String) -> String?)?) {
        self.rule = rule
        self.former = former
    }

    /// The first round.
    mutating func present(songID: ByteView, path: ByteView, folder: Int) {
        withPlainURI(songID, path, folder) { assigner, plain in assigner.present(songID, plain) }
    }

    /// The second round, once for each song; `take` is given its URI.
    mutating func assign(songID: ByteView, path: ByteView, folder: Int, _ take: (ByteView) -> Void) {
        withPlainURI(songID, path, folder) { assigner, plain in
            let hash = plain.hash
            let isPlain = assigner.owners[hash]?.song == Self.hash(songID) && assigner.directories[hash] == nil
            if isPlain, assigner.former == nil { return take(plain) }
            let id = songID.string
            let uri = isPlain ? plain.string : assigner.freeMarkedURI(plain.string, songID: id)
            if let former = assigner.former?(id), !Self.isSame(former, uri) {
                assigner.aliases.add(uri: former, songID: id)
            }
            uri.withView(take)
        }
    }

    private mutating func present(_ songID: ByteView, _ plain: ByteView) {
        noteDirectories(of: plain)
        let hash = plain.hash
        var claim = Claim(song: Self.hash(songID), isFormer: false)
        if let former = former?(songID.string) {
            let plain = plain.string
            claim.isFormer = Self.isSame(former, plain)
            // Once marked, a song stays so while its path does, even if the plain URI became free.
            if !claim.isFormer, Self.isSame(former, Self.markedURI(plain, songID: songID.string, attempt: 1)) { return }
        }
        guard let owner = owners[hash] else {
            owners[hash] = claim
            return
        }
        if claim.isFormer && !owner.isFormer || claim.isFormer == owner.isFormer && claim.song < owner.song {
            owners[hash] = claim
        }
    }

    private mutating func noteDirectories(of uri: ByteView) {
        var end = uri.lastIndex(of: UInt8(ascii: "/"))
        var isLast = true
        while let slash = end {
            let directory = uri.slice(0, slash)
            let hash = directory.hash
            if isLast {
                if hash == lastDirectory { return }
                lastDirectory = hash
                isLast = false
            }
            // Those above are known as well then.
            if !directories.insert(hash, ()) { return }
            end = directory.lastIndex(of: UInt8(ascii: "/"))
        }
    }

    private mutating func withPlainURI(
        _ songID: ByteView,
        _ path: ByteView,
        _ folder: Int,
        _ body: (inout URIAssigner, ByteView) -> Void
    ) {
        if rule.isPlain(path, folder: folder) { return body(&self, path) }
        let uri = rule.uri(path: path.string, folder: folder) ?? PathSegment.safe(songID.string) ?? "_"
        uri.withView { body(&self, $0) }
    }

    private mutating func freeMarkedURI(_ plain: String, songID: String) -> String {
        var uri = ""
        for attempt in 1...100 {
            uri = Self.markedURI(plain, songID: songID, attempt: attempt)
            let hash = uri.withView(\.hash)
            if owners[hash] == nil, directories[hash] == nil, marked.insert(hash).inserted { break }
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

    /// FNV-1a in 64 bits. Two songs of one hash are taken for equal, which happens once in some ten million libraries of a
    /// million songs.
    static func hash(_ text: String) -> UInt64 { text.withView { hash($0) } }

    /// The same of bytes.
    static func hash(_ text: ByteView) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for index in 0..<text.count { hash = (hash ^ UInt64(text[index])) &* 0x100_0000_01B3 }
        return hash
    }
}
