public import MPDProtocol

extension ReplyBuffer {
    /// Fills one piece: calls `step` until it says that it is done, or until `output` would hold `limit` bytes.
    /// - Returns: Whether more follows.
    static func fill(
        _ output: inout [UInt8],
        limit: Int,
        _ step: (inout ReplyBuffer) -> Bool
    ) -> Bool {
        var buffer = ReplyBuffer(reserving: min(max(limit - output.count, 0), 1 << 16) + 4096)
        let already = output.count
        var hasMore = true
        while hasMore, buffer.count < limit - already { hasMore = step(&buffer) }
        buffer.flush(to: &output)
        return hasMore
    }
}

/// The records of songs, as `find`, `search` and `listallinfo` of a song give them.
public struct SongsReply: ReplySource {
    private let formatter: SongFormatter
    private let songs: SongSelection
    private var position = 0

    init(_ snapshot: LibrarySnapshot, _ songs: SongSelection, mask: TagMask, withFormat: Bool) {
        formatter = SongFormatter(snapshot, mask: mask, withFormat: withFormat)
        self.songs = songs
    }

    public mutating func appendNext(to output: inout [UInt8], limit: Int) -> Bool {
        let formatter = formatter
        let songs = songs
        return ReplyBuffer.fill(&output, limit: limit) { buffer in
            if position == songs.count { return false }
            if position + 8 < songs.count {
                formatter.prefetch(songs[position + 8].place, isClose: false)
                formatter.prefetch(songs[position + 4].place, isClose: true)
            }
            formatter.appendSong(songs[position].place, to: &buffer)
            position += 1
            return position < songs.count
        }
    }
}

/// The URIs of songs, as `list file` and `listall` of a song give them.
public struct URIsReply: ReplySource {
    private let formatter: SongFormatter
    private let songs: SongSelection
    private var position = 0

    init(_ snapshot: LibrarySnapshot, _ songs: SongSelection) {
        formatter = SongFormatter(snapshot, mask: [])
        self.songs = songs
    }

    public mutating func appendNext(to output: inout [UInt8], limit: Int) -> Bool {
        let formatter = formatter
        let songs = songs
        return ReplyBuffer.fill(&output, limit: limit) { buffer in
            if position == songs.count { return false }
            formatter.appendURI(songs[position].place, to: &buffer)
            position += 1
            return position < songs.count
        }
    }
}

/// What a directory holds itself: songs, then directories.
public struct DirectoryReply: ReplySource {
    private let formatter: SongFormatter
    private var song: Int
    private let songEnd: Int
    private var child: Int
    private let end: Int

    init(_ snapshot: LibrarySnapshot, _ directory: DirectoryIndex, mask: TagMask) {
        formatter = SongFormatter(snapshot, mask: mask)
        song = Int(snapshot.directories.songs[directory.place])
        songEnd = Int(snapshot.directories.songEnds[directory.place])
        child = directory.place + 1
        end = Int(snapshot.directories.ends[directory.place])
    }

    public mutating func appendNext(to output: inout [UInt8], limit: Int) -> Bool {
        let formatter = formatter
        return ReplyBuffer.fill(&output, limit: limit) { buffer in
            if song < songEnd {
                formatter.appendSong(song, to: &buffer)
                song += 1
            } else if child < end {
                formatter.appendDirectory(child, withTime: true, to: &buffer)
                child = Int(formatter.snapshot.directories.ends[child])
            }
            return song < songEnd || child < end
        }
    }
}

/// What a directory holds itself by name: directories, and songs with their size, as `listfiles` gives them.
public struct FilesReply: ReplySource {
    private let formatter: SongFormatter
    private var child: Int
    private let end: Int
    private var song: Int
    private let songEnd: Int

    init(_ snapshot: LibrarySnapshot, _ directory: DirectoryIndex) {
        formatter = SongFormatter(snapshot, mask: [])
        child = directory.place + 1
        end = Int(snapshot.directories.ends[directory.place])
        song = Int(snapshot.directories.songs[directory.place])
        songEnd = Int(snapshot.directories.songEnds[directory.place])
    }

    public mutating func appendNext(to output: inout [UInt8], limit: Int) -> Bool {
        let formatter = formatter
        return ReplyBuffer.fill(&output, limit: limit) { buffer in
            if child < end {
                formatter.appendDirectoryName(child, to: &buffer)
                child = Int(formatter.snapshot.directories.ends[child])
            } else if song < songEnd {
                formatter.appendFile(song, to: &buffer)
                song += 1
            }
            return child < end || song < songEnd
        }
    }
}

/// A directory and all that is below it, in database order: `listall` and `listallinfo`.
public struct TreeReply: ReplySource {
    private let formatter: SongFormatter
    private let withInfo: Bool
    /// The directory whose record comes after `songEnd`.
    private var directory: Int
    private let end: Int
    private var song: Int
    private var songEnd: Int

    init(_ snapshot: LibrarySnapshot, _ directory: DirectoryIndex, mask: TagMask?) {
        formatter = SongFormatter(snapshot, mask: mask ?? [])
        withInfo = mask != nil
        self.directory = directory.place
        end = Int(snapshot.directories.ends[directory.place])
        song = Int(snapshot.directories.songs[directory.place])
        songEnd = song
        if directory == .root {
            // The root has no record of its own.
            songEnd = Int(snapshot.directories.songEnds[0])
            self.directory = 1
        }
    }

    public mutating func appendNext(to output: inout [UInt8], limit: Int) -> Bool {
        let formatter = formatter
        let directories = formatter.snapshot.directories
        return ReplyBuffer.fill(&output, limit: limit) { buffer in
            if song < songEnd {
                if withInfo {
                    formatter.prefetch(song + 8, isClose: false)
                    formatter.prefetch(song + 4, isClose: true)
                    formatter.appendSong(song, to: &buffer)
                } else {
                    formatter.appendURI(song, to: &buffer)
                }
                song += 1
            } else if directory < end {
                formatter.appendDirectory(directory, withTime: withInfo, to: &buffer)
                song = Int(directories.songs[directory])
                songEnd = Int(directories.songEnds[directory])
                directory += 1
            }
            return song < songEnd || directory < end
        }
    }
}

extension LibrarySnapshot {
    /// The records of these songs with the tags of the mask, and their `Format` unless it is not wanted.
    public func reply(songs: SongSelection, mask: TagMask, withFormat: Bool = true) -> SongsReply {
        SongsReply(self, songs, mask: mask, withFormat: withFormat)
    }

    /// `file:` lines only.
    public func reply(urisOf songs: SongSelection) -> URIsReply { URIsReply(self, songs) }

    /// What the directory holds itself: `lsinfo`.
    public func reply(contentsOf directory: DirectoryIndex, mask: TagMask) -> DirectoryReply {
        DirectoryReply(self, directory, mask: mask)
    }

    /// What the directory holds itself, by name: `listfiles`.
    public func reply(filesOf directory: DirectoryIndex) -> FilesReply { FilesReply(self, directory) }

    /// The directory and all below it: `listallinfo` with a mask, `listall` without.
    public func reply(treeOf directory: DirectoryIndex, mask: TagMask?) -> TreeReply {
        TreeReply(self, directory, mask: mask)
    }
}
