public import MPDProtocol

/// Writes the records of songs and directories.
struct SongFormatter {
    let snapshot: LibrarySnapshot
    let mask: TagMask
    let withFormat: Bool
    private let prefixes = TagPrefixes.shared

    init(_ snapshot: LibrarySnapshot, mask: TagMask, withFormat: Bool = true) {
        self.snapshot = snapshot
        self.mask = mask
        self.withFormat = withFormat
    }

    /// `file:` and its line end.
    func appendURI(_ song: Int, to buffer: inout ReplyBuffer) {
        buffer.append("file: ")
        let path = snapshot.directories.paths[Int(snapshot.songs.directories[song])]
        if !path.isEmpty {
            buffer.append(path)
            buffer.append(UInt8(ascii: "/"))
        }
        buffer.append(snapshot.songs.names[song])
        buffer.append(UInt8(ascii: "\n"))
    }

    /// The whole record, or that of a part of the song.
    ///
    /// Source: MPD 0.24 `src/SongPrint.cxx`.
    func appendSong(_ song: Int, part: SongPart = .whole, to buffer: inout ReplyBuffer) {
        appendURI(song, to: &buffer)
        if part != .whole {
            buffer.append("Range: ")
            buffer.append(milliseconds: UInt64(part.start))
            buffer.append(UInt8(ascii: "-"))
            if part.end > 0 { buffer.append(milliseconds: UInt64(part.end)) }
            buffer.append(UInt8(ascii: "\n"))
        }
        appendTime("Last-Modified: ", snapshot.songs.lastModified[song], to: &buffer)
        appendTime("Added: ", snapshot.songs.added[song], to: &buffer)
        if withFormat { appendFormat(Int(snapshot.songs.kinds[song]) * ImageLayout.kindWords, to: &buffer) }
        for index in snapshot.songs.tagRange(song) {
            let entry = snapshot.songs.tags[index]
            let tag = entry >> ImageLayout.valueBits
            if mask.rawValue & (1 << UInt64(tag)) != 0 {
                buffer.appendLine(prefixes[Int(tag)], snapshot.values[Int(entry & ImageLayout.valueMask)])
            }
        }
        let whole = snapshot.songs.durations[song]
        if let duration = part.duration(ofWhole: whole == ImageLayout.none ? nil : whole) {
            buffer.append("Time: ")
            buffer.append(decimal: (UInt64(duration) + 500) / 1000)
            buffer.append("\nduration: ")
            buffer.append(milliseconds: UInt64(duration))
            buffer.append(UInt8(ascii: "\n"))
        }
    }

    /// Prepares for a song that is to be written soon.
    ///
    /// Values are stored by rank, far from each other for one song: waiting for them would take most of the time.
    /// First the places of the values are fetched, and closer to the song the values.
    @inline(__always)
    func prefetch(_ song: Int, isClose: Bool) {
        if song >= snapshot.songCount { return }
        for index in snapshot.songs.tagRange(song) {
            let entry = snapshot.songs.tags[index]
            if mask.rawValue & (1 << UInt64(entry >> ImageLayout.valueBits)) == 0 { continue }
            let value = Int(entry & ImageLayout.valueMask)
            if isClose {
                snapshot.values.arena.prefetch(Int(snapshot.values.offsets[value]))
            } else {
                snapshot.values.offsets.prefetch(value)
            }
        }
    }

    /// `directory:` and, where wanted and known, `Last-Modified:`.
    func appendDirectory(_ directory: Int, withTime: Bool, to buffer: inout ReplyBuffer) {
        buffer.append("directory: ")
        buffer.append(snapshot.directories.paths[directory])
        buffer.append(UInt8(ascii: "\n"))
        if withTime { appendTime("Last-Modified: ", snapshot.directories.times[directory], to: &buffer) }
    }

    /// The last segment of a directory's path, and when it changed.
    func appendDirectoryName(_ directory: Int, to buffer: inout ReplyBuffer) {
        let path = snapshot.directories.paths[directory]
        let start = path.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
        buffer.append("directory: ")
        buffer.append(path.slice(start, path.count))
        buffer.append(UInt8(ascii: "\n"))
        appendTime("Last-Modified: ", snapshot.directories.times[directory], to: &buffer)
    }

    /// The last segment of a song's URI, its size in bytes if that is known, and when it changed.
    func appendFile(_ song: Int, to buffer: inout ReplyBuffer) {
        buffer.append("file: ")
        buffer.append(snapshot.songs.names[song])
        buffer.append("\nsize: ")
        let size = snapshot.songs.sizes[song]
        buffer.append(decimal: size == ImageLayout.unknownSize ? 0 : size)
        buffer.append(UInt8(ascii: "\n"))
        appendTime("Last-Modified: ", snapshot.songs.lastModified[song], to: &buffer)
    }

    private func appendTime(_ prefix: StaticString, _ time: UInt32, to buffer: inout ReplyBuffer) {
        if time == 0 { return }
        buffer.append(prefix)
        buffer.append(time: UInt64(time))
        buffer.append(UInt8(ascii: "\n"))
    }

    private func appendFormat(_ row: Int, to buffer: inout ReplyBuffer) {
        let word = snapshot.songs.kindTable[row + 1]
        guard let format = SampleFormat(rawValue: UInt8(truncatingIfNeeded: word)) else { return }
        let rate = UInt64(snapshot.songs.kindTable[row])
        buffer.append("Format: ")
        if format == .dsd, rate > 0, rate * 8 % 44100 == 0 {
            buffer.append("dsd")
            buffer.append(decimal: rate * 8 / 44100)
        } else {
            buffer.append(decimal: rate)
            buffer.append(UInt8(ascii: ":"))
            buffer.append(Self.name(of: format))
        }
        buffer.append(UInt8(ascii: ":"))
        buffer.append(decimal: UInt64(word >> 8 & 0xFF))
        buffer.append(UInt8(ascii: "\n"))
    }

    private static func name(of format: SampleFormat) -> StaticString {
        switch format {
        case .s8: "8"
        case .s16: "16"
        case .s24: "24"
        case .s32: "32"
        case .float: "f"
        case .dsd: "dsd"
        }
    }
}

extension LibrarySnapshot {
    /// Appends the record of the song, or of a part of it: `file:` to `duration:`, with the tags of the mask.
    public func appendSong(_ song: SongIndex, mask: TagMask, part: SongPart = .whole, to reply: inout [UInt8]) {
        var buffer = ReplyBuffer(reserving: 1024)
        SongFormatter(self, mask: mask).appendSong(song.place, part: part, to: &buffer)
        buffer.flush(to: &reply)
    }
}
