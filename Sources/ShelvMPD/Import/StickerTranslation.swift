/// What clients have called their notes, and what they are called here.
struct StickerTranslation: Sendable {
    enum Result: Sendable, Equatable {
        /// Name and value as they are set here.
        case sticker(name: String, value: String)
        /// It says no more than none does: rated 0, played 0 times.
        case nothing
        /// A value that such a sticker cannot have.
        case unreadable
    }

    /// The highest `rating` that the mpd's clients gave: 10, as most do, or 5.
    var scale = 10

    func translate(_ name: String, _ value: String) -> Result {
        switch name.lowercased() {
        case "": .unreadable
        case "rating": rating(value, times: scale == 5 ? 2 : 1)
        case "stars": rating(value, times: 2)
        // From 0 to 1, as the Free Music Player Specifications have it.
        case "fmps_rating": rating(value, times: 10)
        case "love", "loved", "favorite", "favourite":
            ["0", "false", "no", ""].contains(value.lowercased()) ? .nothing : .sticker(name: "like", value: "2")
        case "playcount", "play_count": count("playCount", value)
        case "lastplayed", "last_played": count("lastPlayed", value)
        case "skipcount", "skip_count": count("skipCount", value)
        case "lastskipped", "last_skipped": count("lastSkipped", value)
        default: .sticker(name: name, value: value)
        }
    }

    private func rating(_ text: String, times factor: Double) -> Result {
        guard let number = Double(text), number >= 0, number < 1000 else { return .unreadable }
        if number == 0 { return .nothing }
        return .sticker(name: "rating", value: String(min(10, max(1, Int((number * factor).rounded())))))
    }

    /// A whole number, which some clients write with a fraction of 0.
    private func count(_ name: String, _ text: String) -> Result {
        guard let number = Double(text), let count = Int(exactly: number), count >= 0 else { return .unreadable }
        return count == 0 ? .nothing : .sticker(name: name, value: String(count))
    }
}
