import Library
import MPDProtocol
import Playback
import QueueEngine

/// The one place that turns an error into what a client reads.
enum ACKMapping {
    static func ack(for error: any Error) -> ACK {
        switch error {
        case let ack as ACK: ack
        case let error as QueueError: ack(for: error)
        case let error as FilterError: ack(for: error)
        case let error as PlaylistError: ack(for: error)
        case let error as StickerError: ack(for: error)
        case let error as ServerChangeError: ack(for: error)
        case let error as RemotePlaylistError: ACK(.noExist, "No such playlist: \(error)")
        default: ACK(.system, "\(error)")
        }
    }

    private static func ack(for error: QueueError) -> ACK {
        switch error {
        case .badSongIndex: ACK(.argument, "Bad song index")
        case .noSuchSong: ACK(.noExist, "No such song")
        case .notPlaying: ACK(.playerSync, "Not playing")
        case .noCurrentSong: ACK(.playerSync, "No current song")
        case .numberTooLarge(let number): ACK(.argument, "Number too large: \(number)")
        case .playlistFull: ACK(.playlistMax, "Playlist is too large")
        case .cannotMoveRelativeToItself: ACK(.argument, "Cannot move current song relative to itself")
        case .openRangeNotSupported: ACK(.argument, "Open-ended range not supported")
        case .cannotEditCurrentSong: ACK(.permission, "Cannot edit the current song")
        }
    }

    private static func ack(for error: PlaylistError) -> ACK {
        switch error {
        case .noSuchPlaylist: ACK(.noExist, "No such playlist")
        case .alreadyExists: ACK(.exist, "Playlist already exists")
        case .existsAlready: ACK(.exist, "Playlist exists already")
        case .badName: ACK(.argument, "Bad playlist name")
        case .badSongIndex: ACK(.argument, "Bad song index")
        case .badRange: ACK(.argument, "Bad range")
        case .badPosition: ACK(.argument, "Bad position")
        case .tooLarge: ACK(.playlistMax, "Stored playlist is too large")
        case .readOnly(.owner(let owner)): ACK(.permission, "The playlist belongs to \(owner)")
        case .readOnly(.readonly): ACK(.permission, "The server makes the playlist itself; it cannot be edited")
        case .readOnly(.madeUp): ACK(.permission, "The playlist is made up of other things; it cannot be edited")
        case .readOnly(.favorites):
            ACK(.permission, "Favorites is what is starred; songs can be added and removed, no more")
        case .readOnly(.mounted(let server)):
            ACK(
                .permission,
                "The playlist belongs to the mounted server \(server); to edit it: shelvmpd server use \"\(server)\""
            )
        case .notAllowed(let user): ACK(.permission, "The server does not let \(user ?? "the user") make playlists")
        case .notForServer: ACK(.argument, "A playlist of the server can only hold its own songs")
        case .onlyStations: ACK(.argument, "Only URLs of radio stations can be added")
        case .disabled: ACK(.unknown, "Stored playlists are disabled")
        }
    }

    private static func ack(for error: StickerError) -> ACK {
        switch error {
        case .badRequest: ACK(.argument, "bad request")
        case .unknownType(let type): ACK(.argument, "unknown sticker domain", naming: type)
        case .unsupportedTag(let tag): ACK(.argument, "unsupported tag:", naming: tag.name.utf8)
        case .noSuchSong: ACK(.noExist, "No such song")
        case .noSuchValue(let tag, let value): ACK(.argument, "no such \(tag.name):", naming: value).withSingleBlanks
        case .noSuchPlaylist(let name): ACK(.argument, "no such playlist:", naming: name).withSingleBlanks
        case .noMatches(let filter): ACK(.argument, "no matches found:", naming: filter).withSingleBlanks
        case .badFilter(let ack): ack
        case .badRegex(let offset, let message): ACK(.system, regexText(offset, message))
        case .noSuchSticker(nil): ACK(.noExist, "no such sticker")
        case .noSuchSticker(let name?): ACK(.noExist, "no such sticker:", naming: name)
        case .emptyName: ACK(.argument, "empty sticker name")
        case .badOperator(let word): ACK(.argument, "bad operator", naming: word)
        case .badSort(let word): ACK(.argument, "Unknown sort tag", naming: word)
        case .noSuchTag(let word): ACK(.argument, "no such tag", naming: word)
        case .tagWithoutStickers(let word): ACK(.argument, "unsupported tag", naming: word)
        case .badValue(let name, let allowed): ACK(.argument, "\(name) must be \(allowed)")
        }
    }

    private static func ack(for error: ServerChangeError) -> ACK {
        switch error {
        case .noSuchServer: ACK(.noExist, "\(error)")
        case .badMountPoint, .mountPointBusy, .alreadyMounted, .unrecognizedURI, .notAMountPoint:
            ACK(.argument, "\(error)")
        case .failed: ACK(.system, "\(error)")
        }
    }

    private static func regexText(_ offset: Int, _ message: String) -> String {
        "Error in regex at offset \(offset): \(message)"
    }

    private static func ack(for error: FilterError) -> ACK {
        switch error {
        case .regex(let offset, let message): ACK(.argument, regexText(offset, message))
        case .noSuchDirectory: ACK(.noExist, "No such directory")
        case .tooExpensive: ACK(.system, "Regular expression takes too much time")
        }
    }
}
