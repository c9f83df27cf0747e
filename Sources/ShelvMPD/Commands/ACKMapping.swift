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
        case .notForServer: ACK(.argument, "A playlist of the server can only hold its own songs")
        case .disabled: ACK(.unknown, "Stored playlists are disabled")
        }
    }

    private static func ack(for error: FilterError) -> ACK {
        switch error {
        case .regex(let offset, let message): ACK(.argument, "Error in regex at offset \(offset): \(message)")
        case .noSuchDirectory: ACK(.noExist, "No such directory")
        case .tooExpensive: ACK(.system, "Regular expression takes too much time")
        }
    }
}
