/// Finding one song or directory: constant time, for any thread.
extension LibrarySnapshot {
    /// The song with this URI, or, if none has it, the one that once had it.
    public func song(uri: [UInt8]) -> SongIndex? { uri.withView { song(uri: $0) } }

    /// The song with this URI, or, if none has it, the one that once had it.
    public func song(uri: String) -> SongIndex? { uri.withView { song(uri: $0) } }

    /// The song with this id of the server.
    public func song(id: String) -> SongIndex? {
        id.withView { id in HashTable.find(idTable, id.hash) { $0 < songCount && songs.ids[$0] == id } }
            .map { SongIndex($0) }
    }

    /// The directory with this path: no slash at either end; empty is the root.
    public func directory(path: [UInt8]) -> DirectoryIndex? { path.withView { directory(path: $0) } }

    /// The directory with this path: no slash at either end; empty is the root.
    public func directory(path: String) -> DirectoryIndex? { path.withView { directory(path: $0) } }

    /// All songs at and below a directory, in database order.
    public func songs(below directory: DirectoryIndex) -> SongSelection {
        SongSelection(range: subtree(directory.place))
    }

    /// The songs in a directory itself, in database order.
    public func songs(in directory: DirectoryIndex) -> SongSelection {
        let start = directories.songs[directory.place]
        return SongSelection(range: Int(start)..<Int(directories.songEnds[directory.place]))
    }

    /// The directories in a directory itself, in database order.
    public func subdirectories(of directory: DirectoryIndex) -> [DirectoryIndex] {
        var result: [DirectoryIndex] = []
        var child = directory.place + 1
        while child < Int(directories.ends[directory.place]) {
            result.append(DirectoryIndex(child))
            child = Int(directories.ends[child])
        }
        return result
    }

    /// The directory of a song.
    public func directory(of song: SongIndex) -> DirectoryIndex {
        DirectoryIndex(rawValue: songs.directories[song.place])
    }

    /// The path of a directory: no slash at either end.
    public func path(_ directory: DirectoryIndex) -> [UInt8] { directories.paths[directory.place].array }

    /// The newest `Last-Modified` of the songs below a directory, Unix time in seconds.
    public func lastModified(_ directory: DirectoryIndex) -> Int64? {
        let time = directories.times[directory.place]
        return time == 0 ? nil : Int64(time)
    }

    func subtree(_ directory: Int) -> Range<Int> {
        let start = Int(directories.songs[directory])
        return start..<Int(directories.treeSongEnds[directory])
    }

    func directory(path: ByteView) -> DirectoryIndex? {
        HashTable.find(pathTable, path.hash) { $0 < directoryCount && directories.paths[$0] == path }
            .map { DirectoryIndex($0) }
    }

    /// The song with this URI, or, if none has it, the one that once had it.
    func song(uri: ByteView) -> SongIndex? { bearer(of: uri) ?? formerBearer(of: uri) }

    /// The song that has this URI now.
    func bearer(of uri: String) -> SongIndex? { uri.withView { bearer(of: $0) } }

    private func bearer(of uri: ByteView) -> SongIndex? {
        let slash = uri.lastIndex(of: UInt8(ascii: "/"))
        let path = uri.slice(0, slash ?? 0)
        let name = uri.slice(slash.map { $0 + 1 } ?? 0, uri.count)
        let found = HashTable.find(uriTable, uri.hash) { song in
            song < songCount && songs.names[song] == name
                && directories.paths[Int(songs.directories[song])] == path
        }
        return found.map { SongIndex($0) }
    }

    private func formerBearer(of uri: ByteView) -> SongIndex? {
        var low = 0
        var high = aliases.count
        while low < high {
            let middle = (low + high) / 2
            if ByteView.compare(aliases[middle], uri) < 0 { low = middle + 1 } else { high = middle }
        }
        guard low < aliases.count, aliases[low] == uri else { return nil }
        return SongIndex(rawValue: aliasSongs[low])
    }
}
