/// Why there is no music; a sentence for the user.
struct StartError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
