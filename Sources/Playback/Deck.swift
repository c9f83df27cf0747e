/// One libmpv and what it says of itself. Belongs to the player's thread.
///
/// There is one, and a second one while songs are to overlap.
final class Deck {
    let handle: MPVHandle
    /// The entry that libmpv has begun last.
    var entry: Int64?
    /// What libmpv says of the samples that it decodes, whichever song they belong to.
    var decoder = (codec: "", parameters: MPVValue.none)
    /// libmpv waits for bytes.
    var isBuffering = false
    /// Nothing is loaded, and everything has been heard.
    var isIdle = true
    /// The driver in use; nil while none is open.
    var driver: String?

    /// Whether libmpv stops at the opening of files, and where it stands now because of that.
    var stopsAtOpening = false
    var hook: UInt64?

    init(_ handle: MPVHandle) {
        self.handle = handle
    }
}
