/// What clients have called their notes, and what they are called here.
struct StickerTranslation: Sendable {
    /// The highest `rating` that the mpd's clients gave: 10, as most do, or 5.
    var scale = 10

    /// Name and value as they are set here; nil for what says nothing.
    func translate(_ name: String, _ value: String) -> (name: String, value: String)? {
        switch name.lowercased() {
        case "rating":
            guard let number = Double(value) else { return nil }
            return rating(scale == 5 ? number * 2 : number)
        case "stars": return Double(value).flatMap { rating($0 * 2) }
        // From 0 to 1, as the Free Music Player Specifications have it.
        case "fmps_rating": return Double(value).flatMap { rating($0 * 10) }
        case "love", "loved", "favorite", "favourite":
            return ["0", "false", "no", ""].contains(value.lowercased()) ? nil : ("like", "2")
        case "playcount", "play_count": return Int(value).flatMap { $0 > 0 ? ("playCount", String($0)) : nil }
        case "lastplayed", "last_played": return Int(value).flatMap { $0 > 0 ? ("lastPlayed", String($0)) : nil }
        case "skipcount", "skip_count": return Int(value).flatMap { $0 > 0 ? ("skipCount", String($0)) : nil }
        case "lastskipped", "last_skipped": return Int(value).flatMap { $0 > 0 ? ("lastSkipped", String($0)) : nil }
        default: return name.isEmpty ? nil : (name, value)
        }
    }

    private func rating(_ number: Double) -> (name: String, value: String)? {
        guard number > 0, number < 1000 else { return nil }
        return ("rating", String(min(10, max(1, Int(number.rounded())))))
    }
}
