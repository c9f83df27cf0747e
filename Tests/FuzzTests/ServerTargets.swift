import Library
import MPDProtocol

@testable import Playback
@testable import SubsonicKit

/// Reads every value of a document as everything that it could be.
enum JSONTarget {
    static func read(_ input: [UInt8]) {
        guard let document = try? JSON.parse(input) else { return }
        var count = 0
        walk(document, depth: 0, &count)
        require(count > 0, "a document has a value")
        _ = try? Envelope(input)
    }

    private static func walk(_ json: JSON, depth: Int, _ count: inout Int) {
        count += 1
        require(depth <= 128, "nothing is nested deeper than allowed")
        _ = (json.text, json.integer, json.double, json.boolean, json.isNull)
        let fields = json.fields.reduce(0) { sum, _ in sum + 1 }
        let members = json.members
        require(fields <= members.count, "what is known is a part of all")
        switch json.kind {
        case .object:
            for (name, value) in members {
                require(name.utf8.count <= 1 << 20, "a name ends inside the document")
                walk(value, depth: depth + 1, &count)
            }
        case .array: for value in json.elements { walk(value, depth: depth + 1, &count) }
        case .string, .number: require(json.text != nil, "a text has bytes")
        case .null, .boolean: break
        }
    }
}

/// Takes an input for a server's answer: status, type and body; its songs make a library, whose replies must be fit for clients.
enum AnswerTarget {
    private static let statuses = [200, 206, 404, 500, 503, 204, 302, 0]
    private static let types = ["application/json", "text/html; charset=x", "audio/flac", "application/xml", "", ";"]

    static func read(_ input: [UInt8]) {
        var reader = InputReader(input)
        let first = Int(reader.byte())
        let body = Array(reader.rest)
        let headers = [("content-type", types[first / 8 % types.count]), ("retry-after", "\(first)")]
        let head = HTTPHead(status: statuses[first % 8], headers: headers)
        _ = SubsonicAnswer.mediaError(head, start: Array(body.prefix(SubsonicAnswer.bytesForMediaError)))
        guard let envelope = try? SubsonicAnswer.envelope(HTTPResponse(head: head, body: body)) else { return }
        var songs: [Song] = []
        collect(envelope.content, depth: 0, &songs)
        let mapping = SongMapping(kind: .init(envelope.server), tags: .all)
        var facts = LibraryFacts()
        let records = songs.prefix(20).enumerated().map { number, song in
            var record = mapping.record(song, facts: facts)
            record.songID = "\(number)"
            record.uri = "Folder/\(number).flac"
            return record
        }
        facts = LibraryFacts()
        if let library = SmallLibrary.build(Array(records)) { SmallLibrary.askEverything(library, checksLines: true) }
    }

    /// Whatever an object may be, it is read as.
    private static func collect(_ json: JSON, depth: Int, _ songs: inout [Song]) {
        guard depth < 20 else { return }
        if json.kind == .object {
            if let song = Song(json) { songs.append(song) }
            _ = (Album(json), Artist(json), Playlist(json), MusicFolder(json), ScanStatus(json), User(json))
            _ = (
                ServerExtension(json), Indexes(json), Directory(json), SearchResult(json), Lyrics(json), PlayQueue(json)
            )
            _ = (RadioStation(json), PlaylistContent(json))
            for (_, value) in json.fields { collect(value, depth: depth + 1, &songs) }
        } else if json.kind == .array {
            for value in json.elements { collect(value, depth: depth + 1, &songs) }
        }
    }
}

/// Reads lines as those of an HTTP head, and as addresses.
enum AddressTarget {
    static func read(_ input: [UInt8]) {
        var parser = HTTPHeadParser()
        for line in input.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            _ = parser.receive(Array(line) + [0x0D, 0x0A])
            require(parser.headers.count <= HTTPHeadParser.maximumHeaders, "no more headers than allowed are kept")
            let text = String(decoding: line, as: UTF8.self)
            _ = try? ServerURL(text)
            if HTTPOrigin(text) != nil, text.contains("//u:hunter2@h") {
                require(!Redaction.url(text).hasPrefix("http://u:hunter2"), "a password in an address is not shown")
            }
            _ = StreamAddress.withoutCredentials(Array(line))
            guard let address = StreamAddress(line) else { continue }
            _ = RelativeAddress.resolve("../a?b#c", against: String(decoding: address.text, as: UTF8.self))
            _ = RelativeAddress.resolve(text, against: "http://h/a/b.m3u")
        }
    }
}

/// Reads an input as a playlist under each type that servers use for one.
enum PlaylistTarget {
    private static let types = [
        nil, "audio/x-mpegurl", "audio/x-scpls; charset=utf-8", "application/xspf+xml", "text/plain",
    ]
    private static let bases = [
        "http://h/list", "http://h/a/list.m3u8", "https://u:p@h:1/x/list.pls?a=b", "http://h/list.asx",
    ]

    static func read(_ input: [UInt8]) {
        var reader = InputReader(input)
        let first = Int(reader.byte())
        let base = bases[first / 8 % bases.count]
        let content = RemotePlaylist.read(Array(reader.rest), mediaType: types[first % types.count], base: base)
        guard case .playlist(let playlist) = content else { return }
        require(playlist.rows.count <= RemotePlaylist.maximumRows, "no more rows than allowed")
        for row in playlist.rows {
            require(StreamAddress(row.address.text) != nil, "each row can be played")
            if let duration = row.duration { require(duration > .zero, "no row lasts less than nothing") }
        }
    }
}
