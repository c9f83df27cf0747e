/// How a server is, as it says when it is asked for something else than songs.
public enum ServerHealth: Sendable, Equatable {
    case well
    /// It lets us in nowhere; the words are its own, without secrets.
    case refuses(String)
    /// It is away, or answers what nobody can read.
    case failing
}
