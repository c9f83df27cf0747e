public import MPDProtocol

/// Records of songs and of folders on shelves, in the order in which they were found.
public struct ShelfReply: ReplySource {
    /// What a record shows.
    public enum Form: Sendable, Hashable {
        /// `lsinfo`, `listallinfo`.
        case full(TagMask)
        /// `listall`.
        case brief
        /// `listfiles`.
        case names
    }

    fileprivate enum Record: Sendable {
        case song(UInt32)
        /// By its path, or its name where names are wanted.
        case folder([UInt8])
        /// Something to be loaded, by its path.
        case playlist([UInt8])
    }

    private let formatter: SongFormatter
    private let form: Form
    private let records: [Record]
    private var position = 0

    fileprivate init(_ library: LibrarySnapshot, _ form: Form, _ records: [Record]) {
        if case .full(let mask) = form {
            formatter = SongFormatter(library, mask: mask)
        } else {
            formatter = SongFormatter(library, mask: [])
        }
        self.form = form
        self.records = records
    }

    public mutating func appendNext(to output: inout [UInt8], limit: Int) -> Bool {
        let (formatter, form, records) = (formatter, form, records)
        return ReplyBuffer.fill(&output, limit: limit) { buffer in
            if position == records.count { return false }
            switch (records[position], form) {
            case (.folder(let path), _):
                buffer.append("directory: ")
                path.withView { buffer.append($0) }
                buffer.append(UInt8(ascii: "\n"))
            case (.playlist(let path), _):
                buffer.append("playlist: ")
                path.withView { buffer.append($0) }
                buffer.append(UInt8(ascii: "\n"))
            case (.song(let song), .full): formatter.appendSong(Int(song), to: &buffer)
            case (.song(let song), .brief): formatter.appendURI(Int(song), to: &buffer)
            case (.song(let song), .names): formatter.appendFile(Int(song), to: &buffer)
            }
            position += 1
            return position < records.count
        }
    }
}

extension ShelfCatalog {
    /// What a folder holds itself: songs, then folders.
    /// - Parameter path: the folder's; what a song's path leads to is the song.
    public func reply(contentsOf node: ShelfNode, path: [UInt8], _ form: ShelfReply.Form) -> ShelfReply {
        let children = children(of: node)
        var records = children.songs.map { ShelfReply.Record.song($0) }
        let start = form == .names ? [] : path + [UInt8(ascii: "/")]
        for child in children.folders { records.append(.folder(start + name(of: child))) }
        // They are no files.
        if form != .names { for name in children.playlists { records.append(.playlist(start + name)) } }
        return ShelfReply(library, form, records)
    }

    /// A folder and all that is below it.
    public func reply(treeOf node: ShelfNode, path: [UInt8], _ form: ShelfReply.Form) -> ShelfReply {
        var records: [ShelfReply.Record] = []
        func add(_ node: ShelfNode, _ path: [UInt8]) {
            if case .song(let song) = node {
                records.append(.song(song.rawValue))
                return
            }
            records.append(.folder(path))
            // What goes with an artist is for those who open the folder.
            if case .radioArtist = node { return }
            let children = children(of: node)
            for song in children.songs { records.append(.song(song)) }
            for child in children.folders {
                guard let inner = self.node(of: child, in: node) else { continue }
                add(inner, path + [UInt8(ascii: "/")] + name(of: child))
            }
        }
        add(node, path)
        return ShelfReply(library, form, records)
    }
}
