import Library
import MPDProtocol

/// Changes of stickers, as clients ask for them: what the server keeps goes to the marks, the others to the book. For the
/// core.
extension Server {
    /// All stickers at this moment.
    var stickerView: StickerView {
        StickerView(
            library: library,
            stickers: stickers.book,
            marks: marks.book,
            playlists: playlists.book,
            freshPlays: active.freshPlays,
            hasFavorites: marks.hasFavorites
        )
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
        switch stickerView.kept(name, object) {
        case nil:
            stickers.set(object.type, object.key, StickerBook.Sticker(name: name, value: value), whenKept: whenKept)
        case .some(let kept) where kept.isCounted:
            let counted = object.song.map { stickerView.counted(kept, $0) } ?? 0
            let sticker = StickerBook.Sticker(name: name, value: value, counted: counted)
            stickers.set(object.type, object.key, sticker, whenKept: whenKept)
        case .starred, .playCount, .lastPlayed:
            marks.star(object.marks, value != Array("0".utf8) && !value.isEmpty, whenKept: whenKept)
        case .like:
            guard let number = StickerNumber.exactly(value, in: 0...2) else { throw .badValue("like", "0, 1 or 2") }
            guard number < 2 else {
                marks.star(object.marks, true, whenKept: whenKept)
                break
            }
            marks.star(object.marks, false, whenKept: { _ in })
            marks.like(object.marks, UInt8(number), whenKept: whenKept)
        case .rating:
            guard let number = StickerNumber.exactly(value, in: 0...10) else {
                throw .badValue("rating", "a number from 0 to 10")
            }
            marks.rate(object.marks, UInt8(number), whenKept: whenKept)
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
        guard let former = stickerView.value(name, object) else {
            return try setSticker(object, name, value, whenKept: whenKept)
        }
        let (a, b) = (StickerNumber.integer(former), StickerNumber.integer(value))
        try setSticker(object, name, StickerNumber.text(isDecrement ? a &- b : a &+ b), whenKept: whenKept)
    }

    /// Removes a sticker, or all of an object.
    /// - Parameter whenKept: told once it cannot come back any more.
    func removeSticker(
        _ object: StickerObject,
        _ name: [UInt8]?,
        whenKept: @escaping Store.WhenDone
    ) throws(StickerError) {
        let view = stickerView
        if let name {
            let isThere =
                view.value(name, object) != nil
                || (view.kept(name, object) == nil && view.stickers.sticker(of: object.type, object.key, name) != nil)
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
            for name in names { stickers.remove(object.type, object.key, name, whenKept: { _ in }) }
            stickers.whenKept(whenKept)
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
        case .starred: marks.star(object.marks, false, whenKept: whenKept)
        case .like:
            marks.star(object.marks, false, whenKept: { _ in })
            marks.like(object.marks, nil, whenKept: whenKept)
        case .rating: marks.rate(object.marks, 0, whenKept: whenKept)
        case .some(let kept) where kept.isCounted:
            let counted = object.song.map { stickerView.counted(kept, $0) } ?? 0
            if counted == 0 { return stickers.remove(object.type, object.key, name, whenKept: whenKept) }
            // The server goes on counting: that it was removed is remembered until it counts more.
            let sticker = StickerBook.Sticker(name: name, value: [], counted: counted)
            stickers.set(object.type, object.key, sticker, whenKept: whenKept)
        case nil, .playCount, .lastPlayed: stickers.remove(object.type, object.key, name, whenKept: whenKept)
        }
    }
}
