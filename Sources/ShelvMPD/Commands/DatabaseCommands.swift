import Library
import MPDProtocol

/// “The music database” of MPD's protocol document.
enum DatabaseCommands {
    static let rows: [Command] = []
}
