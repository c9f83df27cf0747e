/// `LibraryInfo`'s texts as bytes: each with its length in 32 bits before it; server id, name, then pairs.
enum InfoCoding {
    static func encode(_ info: LibraryInfo) -> [UInt8] {
        var bytes: [UInt8] = []
        func append(_ text: String) {
            let count = UInt32(clamping: text.utf8.count)
            for shift in stride(from: UInt32(0), to: 32, by: 8) {
                bytes.append(UInt8(truncatingIfNeeded: count >> shift))
            }
            bytes += text.utf8
        }
        append(info.serverID)
        append(info.serverName)
        for (key, value) in info.syncState.sorted(by: { $0.key < $1.key }) {
            append(key)
            append(value)
        }
        return bytes
    }

    /// Nil if the lengths do not fit.
    static func decode(_ bytes: ByteView, lastSync: Int64, isComplete: Bool) -> LibraryInfo? {
        var texts: [String] = []
        var cursor = 0
        while cursor < bytes.count {
            guard bytes.count - cursor >= 4 else { return nil }
            var count = 0
            for index in 0..<4 { count |= Int(bytes[cursor + index]) << (8 * index) }
            cursor += 4
            guard bytes.count - cursor >= count else { return nil }
            texts.append(bytes.slice(cursor, cursor + count).string)
            cursor += count
        }
        guard texts.count >= 2, texts.count % 2 == 0 else { return nil }
        var info = LibraryInfo(serverID: texts[0], serverName: texts[1], lastSync: lastSync, isComplete: isComplete)
        for index in stride(from: 2, to: texts.count, by: 2) { info.syncState[texts[index]] = texts[index + 1] }
        return info
    }
}
