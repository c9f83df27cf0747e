import QueueEngine

/// The bytes of a stored block: a format number, the servers that its songs come from, then the rows.
///
/// Numbers stand in seven bits a byte, the lowest first, the top bit meaning that more follow. A row is the distance of
/// its id from the one before, flags, and, in the list of entries, the song: the place of its server and the server's id.
enum BlockCoding {
    private static let format: UInt64 = 1
    private static let tierMask: UInt64 = 3
    private static let looseFlag: UInt64 = 4
    private static let priorityFlag: UInt64 = 8
    private static let rangeFlag: UInt64 = 16
    private static let songFlag: UInt64 = 32

    /// - Parameter names: what the keys mean, for the list of entries; nil for orders.
    static func encode(_ rows: [SavedRow], _ names: SongNames?) -> [UInt8] {
        var servers: [String] = []
        var body: [UInt8] = []
        body.reserveCapacity(rows.count * (names == nil ? 4 : 32))
        var previous: UInt32 = 0
        for row in rows {
            let identity = names.map { $0.identity(SongKey(row.key)) ?? SongIdentity(serverID: "", songID: "") }
            append(distance: Int64(row.id) - Int64(previous), to: &body)
            previous = row.id
            var flags = UInt64(row.tier.rawValue)
            if row.isLoose { flags |= looseFlag }
            if row.priority > 0 { flags |= priorityFlag }
            if row.start > 0 || row.end > 0 { flags |= rangeFlag }
            if identity != nil { flags |= songFlag }
            append(flags, to: &body)
            if row.priority > 0 { body.append(row.priority) }
            if row.start > 0 || row.end > 0 {
                append(UInt64(row.start), to: &body)
                append(UInt64(row.end), to: &body)
            }
            guard let identity else { continue }
            let server = servers.firstIndex(of: identity.serverID) ?? servers.endIndex
            if server == servers.endIndex { servers.append(identity.serverID) }
            append(UInt64(server), to: &body)
            append(text: identity.songID, to: &body)
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(body.count + 64)
        append(format, to: &bytes)
        append(UInt64(servers.count), to: &bytes)
        for server in servers { append(text: server, to: &bytes) }
        append(UInt64(rows.count), to: &bytes)
        bytes.append(contentsOf: body)
        return bytes
    }

    /// - Parameter key: gives out a key for a song.
    /// - Throws: when the bytes are no block.
    static func decode(
        _ bytes: [UInt8],
        key: (SongIdentity) -> UInt32
    ) throws(SavedStateDamage) -> [SavedRow] {
        var reader = Reader(rest: bytes[...])
        guard try reader.number() == format else { throw SavedStateDamage("a block of an unknown format") }
        var servers: [String] = []
        for _ in 0..<(try reader.count()) { servers.append(try reader.text()) }
        var rows: [SavedRow] = []
        let count = try reader.count()
        rows.reserveCapacity(count)
        var previous: Int64 = 0
        for _ in 0..<count {
            previous &+= try reader.distance()
            guard let id = UInt32(exactly: previous) else { throw SavedStateDamage("an id that cannot be") }
            let flags = try reader.number()
            guard let tier = Tier(rawValue: UInt8(flags & tierMask)) else {
                throw SavedStateDamage("a tier that cannot be")
            }
            var row = SavedRow(id: id)
            row.tier = tier
            row.isLoose = flags & looseFlag != 0
            if flags & priorityFlag != 0 { row.priority = try reader.byte() }
            if flags & rangeFlag != 0 {
                row.start = UInt32(clamping: try reader.number())
                row.end = UInt32(clamping: try reader.number())
            }
            if flags & songFlag != 0 {
                let server = try reader.number()
                guard server < servers.count else { throw SavedStateDamage("a server that is not named") }
                row.key = key(SongIdentity(serverID: servers[Int(server)], songID: try reader.text()))
            }
            rows.append(row)
        }
        guard reader.rest.isEmpty else { throw SavedStateDamage("a block with more than its rows") }
        return rows
    }

    /// A check sum (FNV-1a, 64 bits), as SQLite keeps whole numbers.
    static func digest(_ bytes: [UInt8]) -> Int64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return Int64(bitPattern: hash)
    }

    /// The numbers of blocks, in the order of a list.
    static func encode(numbers: [Int64]) -> [UInt8] {
        var bytes: [UInt8] = []
        var previous: Int64 = 0
        for number in numbers {
            append(distance: number &- previous, to: &bytes)
            previous = number
        }
        return bytes
    }

    /// The numbers of blocks, in the order of a list.
    static func decode(numbers bytes: [UInt8]) throws(SavedStateDamage) -> [Int64] {
        var reader = Reader(rest: bytes[...])
        var numbers: [Int64] = []
        var previous: Int64 = 0
        while !reader.rest.isEmpty {
            previous &+= try reader.distance()
            numbers.append(previous)
        }
        return numbers
    }

    private static func append(_ number: UInt64, to bytes: inout [UInt8]) {
        var number = number
        while number >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: number) | 0x80)
            number >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: number))
    }

    /// Small distances in both directions are short.
    private static func append(distance: Int64, to bytes: inout [UInt8]) {
        append(UInt64(bitPattern: (distance << 1) ^ (distance >> 63)), to: &bytes)
    }

    private static func append(text: String, to bytes: inout [UInt8]) {
        append(UInt64(text.utf8.count), to: &bytes)
        bytes.append(contentsOf: text.utf8)
    }

    private struct Reader {
        var rest: ArraySlice<UInt8>

        mutating func byte() throws(SavedStateDamage) -> UInt8 {
            guard let byte = rest.popFirst() else { throw SavedStateDamage("a block that ends too early") }
            return byte
        }

        mutating func number() throws(SavedStateDamage) -> UInt64 {
            var number: UInt64 = 0
            for shift in stride(from: 0, to: 64, by: 7) {
                let byte = try byte()
                number |= UInt64(byte & 0x7F) << UInt64(shift)
                if byte < 0x80 { return number }
            }
            throw SavedStateDamage("a number that is too long")
        }

        mutating func distance() throws(SavedStateDamage) -> Int64 {
            let number = try number()
            return Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
        }

        /// The number of things that follow, of which each takes a byte at least.
        mutating func count() throws(SavedStateDamage) -> Int {
            let number = try number()
            guard number <= rest.count else { throw SavedStateDamage("a block that ends too early") }
            return Int(number)
        }

        mutating func text() throws(SavedStateDamage) -> String {
            let count = try count()
            defer { rest = rest.dropFirst(count) }
            return String(decoding: rest.prefix(count), as: UTF8.self)
        }
    }
}

/// What is wrong with a saved state.
struct SavedStateDamage: Error, Sendable, Equatable, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
