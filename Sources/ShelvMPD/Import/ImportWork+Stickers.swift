extension ImportWork {
    /// How many stickers went which way.
    private struct Tally {
        /// By their names here.
        var taken: [String: Int] = [:]
        var kept = 0
        var meaningless = 0
        var homeless = 0

        /// The end of a line, each part with what is not 0.
        var rest: String {
            [(kept, "were there already"), (meaningless, "say nothing"), (homeless, "of songs that are not here")]
                .filter { $0.0 > 0 }.map { "; \($0.0) \($0.1)" }.joined()
        }
    }

    mutating func takeStickers(_ translation: StickerTranslation) throws {
        var tally = Tally()
        let groups = Dictionary(grouping: collection.stickers, by: \.object)
        for (object, stickers) in groups.sorted(by: { ($0.key.type, $0.key.name) < ($1.key.type, $1.key.name) }) {
            guard let here = place(object) else {
                tally.homeless += stickers.count
                continue
            }
            guard let present = try names(here, count: stickers.count) else { continue }
            for sticker in stickers { try take(sticker, here, present, translation, &tally) }
        }
        let list = tally.taken.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        console.write("Stickers: \(list.isEmpty ? "none" : list.joined(separator: ", ")) \(done)\(tally.rest)\n")
    }

    private mutating func take(
        _ sticker: OldCollection.Sticker,
        _ here: OldCollection.Object,
        _ present: Set<String>,
        _ translation: StickerTranslation,
        _ tally: inout Tally
    ) throws {
        switch translation.translate(sticker.name, sticker.value) {
        case .nothing: tally.meaningless += 1
        case .unreadable: fail("\(sticker.name) of \(here.name): \"\(sticker.value)\" is not understood")
        case .sticker(let name, _) where present.contains(name): tally.kept += 1
        case .sticker(let name, let value):
            let command = "sticker set \(here.words) \(ServerConnection.quoted(name)) \(ServerConnection.quoted(value))"
            if try tells(command, "\(name) of \(here.name)") { tally.taken[name, default: 0] += 1 }
        }
    }

    /// What it is here; nil for a song that is not.
    private mutating func place(_ object: OldCollection.Object) -> OldCollection.Object? {
        guard object.type == "song" else { return object }
        return match(OldSong(uri: object.name)).map { OldCollection.Object(type: "song", name: $0.uri) }
    }

    /// The names of the stickers that something has; nil where there is no such thing.
    private mutating func names(_ object: OldCollection.Object, count: Int) throws -> Set<String>? {
        // It would be made before.
        if isDry, object.type == "playlist", collection.playlists.contains(where: { $0.name == object.name }) {
            return []
        }
        do throws(ServerConnectionError) {
            let pairs = try connection.ask("sticker list \(object.words)").compactMap(ServerConnection.pair)
            return Set(pairs.map { String($0.1.prefix { $0 != "=" }) })
        } catch {
            guard error.isRefusal else { throw error }
            fail("\(object.type) \(object.name), with \(count == 1 ? "1 sticker" : "\(count) stickers"): \(error)")
            failures += count - 1
            return nil
        }
    }
}

extension OldCollection.Object {
    /// As arguments of a command.
    fileprivate var words: String { "\(ServerConnection.quoted(type)) \(ServerConnection.quoted(name))" }
}
