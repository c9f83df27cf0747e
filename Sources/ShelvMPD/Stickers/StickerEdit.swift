import Library
import MPDProtocol

/// Changes of stickers, as clients ask for them: what the server keeps goes to the marks, the others to the book. For the
/// core.
extension Server {
    /// All stickers at this moment.
    var stickerView: StickerView {
        StickerView(
            library: library,
            parts: attached.map(Self.part),
            own: Self.part(active),
            playlists: playlists.book,
            mountedPlaylists: playlists.mounted.book,
            hasFavorites: marks.hasFavorites
        )
    }

    /// All stickers of a server that clients do not see, by its own library.
    func stickerView(of music: MusicServer) -> StickerView {
        StickerView(
            library: music.library,
            parts: [Self.part(music)],
            own: Self.part(music),
            playlists: playlists.book,
            mountedPlaylists: playlists.mounted.book,
            hasFavorites: music.marks.hasFavorites
        )
    }

    /// The stickers among which those of an object are, and the library that knows it.
    private func stickerView(for object: StickerObject) -> StickerView {
        guard let id = object.serverID, let music = musicServer(id: id), !music.isAttached else { return stickerView }
        return stickerView(of: music)
    }

    private static func part(_ music: MusicServer) -> StickerView.Part {
        StickerView.Part(
            serverID: music.library.info.serverID,
            stickers: music.stickers.book,
            marks: music.marks.book,
            freshPlays: music.freshPlays
        )
    }

    /// Who has the stickers of an object.
    private func keeper(of object: StickerObject) -> StickerKeeper {
        object.serverID.flatMap { id in musicServers.first { $0.library.info.serverID == id } }?.stickers ?? stickers
    }

    /// Does something with the marks of an object, at each server that has some.
    /// - Parameter whenKept: told once nothing of it can be lost any more.
    private func change(
        _ object: StickerObject,
        _ whenKept: @escaping Store.WhenDone,
        _ act: (MarkKeeper, [MarkKey], @escaping Store.WhenDone) -> Void
    ) {
        let holders = musicServers.map { music in
            (music.marks, object.marks.filter { $0.serverID == music.library.info.serverID }.map(\.key))
        }
        .filter { !$0.1.isEmpty }
        if holders.isEmpty { return whenKept(.success(())) }
        let whenKept = KeptParts(holders.count, whenKept).part
        for (marks, keys) in holders { act(marks, keys, whenKept) }
    }

    /// Sets a sticker.
    /// - Parameter whenKept: told once it cannot be lost any more.
    func setSticker(
        _ object: StickerObject,
        _ name: [UInt8],
        _ value: [UInt8],
        whenKept: @escaping Store.WhenDone
    ) throws(StickerError) {
        guard !name.isEmpty else { throw .emptyName }
        let view = stickerView(for: object)
        switch view.kept(name, object) {
        case nil:
            keeper(of: object)
                .set(object.type, object.key, StickerBook.Sticker(name: name, value: value), whenKept: whenKept)
        case .some(let kept) where kept.isCounted:
            let counted = object.song.map { view.counted(kept, $0) } ?? 0
            let sticker = StickerBook.Sticker(name: name, value: value, counted: counted)
            keeper(of: object).set(object.type, object.key, sticker, whenKept: whenKept)
        case .starred, .playCount, .lastPlayed:
            change(object, whenKept) { $0.star($1, value != Array("0".utf8) && !value.isEmpty, whenKept: $2) }
        case .like:
            guard let number = StickerNumber.exactly(value, in: 0...2) else { throw .badValue("like", "0, 1 or 2") }
            guard number < 2 else {
                change(object, whenKept) { $0.star($1, true, whenKept: $2) }
                break
            }
            change(object, whenKept) { marks, keys, whenKept in
                let whenKept = KeptParts(2, whenKept).part
                marks.star(keys, false, whenKept: whenKept)
                marks.like(keys, UInt8(number), whenKept: whenKept)
            }
        case .rating:
            guard let number = StickerNumber.exactly(value, in: 0...10) else {
                throw .badValue("rating", "a number from 0 to 10")
            }
            change(object, whenKept) { $0.rate($1, UInt8(number), whenKept: $2) }
        }
        raise(.sticker)
    }

    /// Adds to a sticker, which is set if there is none.
    /// - Parameter whenKept: told once it cannot be lost any more.
    func addToSticker(
        _ object: StickerObject,
        _ name: [UInt8],
        _ value: [UInt8],
        isDecrement: Bool,
        whenKept: @escaping Store.WhenDone
    ) throws(StickerError) {
        guard !name.isEmpty else { throw .emptyName }
        guard let former = stickerView(for: object).value(name, object) else {
            return try setSticker(object, name, value, whenKept: whenKept)
        }
        let (a, b) = (StickerQuantity.read(former).number, StickerQuantity.read(value).number)
        try setSticker(object, name, StickerQuantity.sum(a, b, isDifference: isDecrement).text, whenKept: whenKept)
    }

    /// Removes a sticker, or all of an object.
    /// - Parameter whenKept: told once it cannot come back any more.
    func removeSticker(
        _ object: StickerObject,
        _ name: [UInt8]?,
        whenKept: @escaping Store.WhenDone
    ) throws(StickerError) {
        let view = stickerView(for: object)
        if let name {
            let isThere =
                view.value(name, object) != nil
                || (view.kept(name, object) == nil
                    && view.stickers(of: object).sticker(of: object.type, object.key, name) != nil)
            guard isThere else { throw .noSuchSticker(name) }
            remove(name, of: object, view, whenKept)
        } else {
            let all = view.all(object)
            guard !all.isEmpty else { throw .noSuchSticker(nil) }
            for sticker in all where view.kept(sticker.name, object) != nil {
                remove(sticker.name, of: object, view, { _ in })
            }
            // The play count's memory of being removed stays.
            let names = all.map(\.name).filter { view.kept($0, object) == nil }
            let keeper = keeper(of: object)
            for name in names { keeper.remove(object.type, object.key, name, whenKept: { _ in }) }
            keeper.whenKept(whenKept)
        }
        raise(.sticker)
    }

    private func remove(
        _ name: [UInt8],
        of object: StickerObject,
        _ view: StickerView,
        _ whenKept: @escaping Store.WhenDone
    ) {
        switch view.kept(name, object) {
        case .starred: change(object, whenKept) { $0.star($1, false, whenKept: $2) }
        case .like:
            change(object, whenKept) { marks, keys, whenKept in
                let whenKept = KeptParts(2, whenKept).part
                marks.star(keys, false, whenKept: whenKept)
                marks.like(keys, nil, whenKept: whenKept)
            }
        case .rating: change(object, whenKept) { $0.rate($1, 0, whenKept: $2) }
        case .some(let kept) where kept.isCounted:
            let counted = object.song.map { view.counted(kept, $0) } ?? 0
            if counted == 0 {
                return keeper(of: object).remove(object.type, object.key, name, whenKept: whenKept)
            }
            // The server goes on counting: that it was removed is remembered until it counts more.
            let sticker = StickerBook.Sticker(name: name, value: [], counted: counted)
            keeper(of: object).set(object.type, object.key, sticker, whenKept: whenKept)
        case nil, .playCount, .lastPlayed:
            keeper(of: object).remove(object.type, object.key, name, whenKept: whenKept)
        }
    }
}
