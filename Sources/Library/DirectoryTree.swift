/// The directories of a set of URIs, in database order: depth first, by name with Unicode collation.
///
/// Source: MPD `src/db/plugins/simple/Directory.cxx`.
struct DirectoryTree {
    /// Paths without slashes at their ends, numbered as they came; 0 is the root.
    private(set) var paths = TextTable()
    /// Numbers of the parents; the root is its own.
    private(set) var parents: [UInt32] = []
    /// Numbers in database order.
    private(set) var order: [UInt32] = []
    /// For each number its place in `order`.
    private(set) var places: [UInt32] = []
    /// For each place the next one that is not below it.
    private(set) var ends: [UInt32] = []

    init() {
        let empty: [UInt8] = []
        _ = empty.withView { paths.insert($0) }
        parents.append(0)
    }

    /// The number of the directory that holds `uri`. Nil when there is no more room.
    mutating func insertDirectory(of uri: ByteView) -> UInt32? {
        guard let slash = uri.lastIndex(of: UInt8(ascii: "/")) else { return 0 }
        let path = uri.slice(0, slash)
        guard let directory = paths.insert(path) else { return nil }
        if directory.isNew {
            parents.append(0)
            // Ends at the latest when the path has no slash left.
            guard let parent = insertDirectory(of: path) else { return nil }
            parents[Int(directory.id)] = parent
        }
        return directory.id
    }

    /// The place in database order of each directory; call it when all have been inserted.
    mutating func sort(_ collation: borrowing Collation) {
        let count = paths.count
        var keys = CollationKeys()
        for directory in 0..<UInt32(count) {
            paths.withText(directory) { path in
                let start = path.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
                keys.add(path.slice(start, path.count), collation)
            }
        }
        let children = sortedChildren(keys)
        order.reserveCapacity(count)
        places = Array(repeating: 0, count: count)
        ends = Array(repeating: UInt32(count), count: count)
        // What is still to be visited; a number's complement says that all below it has been.
        var stack: [Int] = [0]
        while let entry = stack.popLast() {
            if entry < 0 {
                ends[Int(places[~entry])] = UInt32(order.count)
                continue
            }
            places[entry] = UInt32(order.count)
            order.append(UInt32(entry))
            stack.append(~entry)
            for child in children[entry].reversed() { stack.append(Int(child)) }
        }
    }

    private func sortedChildren(_ keys: CollationKeys) -> [[UInt32]] {
        var children = [[UInt32]](repeating: [], count: parents.count)
        for directory in 1..<max(parents.count, 1) { children[Int(parents[directory])].append(UInt32(directory)) }
        for index in children.indices where children[index].count > 1 {
            children[index].sort { a, b in
                let order = keys.compare(Int(a), Int(b))
                if order != 0 { return order < 0 }
                return paths.arena.withView { arena in
                    ByteView.compare(paths.view(arena, a), paths.view(arena, b)) < 0
                }
            }
        }
        return children
    }
}
