/// The stickers that clients have set, apart from those that the server keeps: a value that any thread can read.
struct StickerBook: Sendable {
    struct Sticker: Sendable, Hashable {
        var name: [UInt8]
        var value: [UInt8]
        /// What the server counted when this was set; only for what the server counts, too.
        var counted: UInt32?
    }

    private struct Table: Sendable {
        /// By object, in the order of their names.
        var objects = ShardedTable<[UInt8], [Sticker]>()
        /// On how many objects each name is.
        var counts: [[UInt8]: Int] = [:]
    }

    private var tables: [StickerType: Table] = [:]
    /// Grows with each change.
    private(set) var version = 0

    init() {}

    /// All of an object, in the order of their names.
    func stickers(of type: StickerType, _ object: [UInt8]) -> [Sticker] { tables[type]?.objects[object] ?? [] }

    /// One of an object.
    func sticker(of type: StickerType, _ object: [UInt8], _ name: [UInt8]) -> Sticker? {
        tables[type]?.objects[object]?.first { $0.name == name }
    }

    /// The names in use, in no order.
    func names(of type: StickerType) -> some Collection<[UInt8]> { (tables[type]?.counts ?? [:]).keys }

    /// On how many objects of a type there are any.
    func count(of type: StickerType) -> Int { tables[type]?.objects.count ?? 0 }

    /// Goes through all objects of a type, in no order.
    func forEach(_ type: StickerType, _ body: ([UInt8], [Sticker]) -> Void) { tables[type]?.objects.forEach(body) }

    /// Sets one, in the place of the former one of this name.
    mutating func set(_ type: StickerType, _ object: [UInt8], _ sticker: Sticker) {
        version += 1
        var all = stickers(of: type, object)
        if let index = all.firstIndex(where: { $0.name == sticker.name }) {
            all[index] = sticker
        } else {
            let index = all.firstIndex { sticker.name.lexicographicallyPrecedes($0.name) } ?? all.endIndex
            all.insert(sticker, at: index)
            tables[type, default: Table()].counts[sticker.name, default: 0] += 1
        }
        tables[type, default: Table()].objects[object] = all
    }

    /// Removes one. Returns whether there was one.
    @discardableResult
    mutating func remove(_ type: StickerType, _ object: [UInt8], _ name: [UInt8]) -> Bool {
        var all = stickers(of: type, object)
        guard let index = all.firstIndex(where: { $0.name == name }) else { return false }
        version += 1
        all.remove(at: index)
        tables[type, default: Table()].objects[object] = all.isEmpty ? nil : all
        let count = tables[type]?.counts[name] ?? 0
        tables[type, default: Table()].counts[name] = count > 1 ? count - 1 : nil
        return true
    }

    /// Removes all of an object. Returns whether there were any.
    @discardableResult
    mutating func removeAll(_ type: StickerType, _ object: [UInt8]) -> Bool {
        let all = stickers(of: type, object)
        for sticker in all { remove(type, object, sticker.name) }
        return !all.isEmpty
    }

    /// Gives objects other names, all at the same time.
    mutating func rename(_ type: StickerType, _ names: [[UInt8]: [UInt8]]) {
        let moved = names.compactMap { old, new in
            let all = stickers(of: type, old)
            return all.isEmpty ? nil : (old: old, new: new, all: all)
        }
        for move in moved { removeAll(type, move.old) }
        for move in moved {
            for sticker in move.all { set(type, move.new, sticker) }
        }
    }
}
