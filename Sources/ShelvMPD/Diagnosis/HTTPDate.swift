/// The date in the head of an answer.
enum HTTPDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Unix time of `Sun, 06 Nov 1994 08:49:37 GMT`; nil for anything else.
    static func seconds(_ text: String) -> Int64? {
        let words = text.split(separator: " ")
        guard words.count == 6, words[5] == "GMT", let day = Int64(words[1]), 1...31 ~= day,
            let month = months.firstIndex(of: String(words[2])), let year = Int64(words[3]), 1970...9999 ~= year
        else { return nil }
        let time = words[4].split(separator: ":").compactMap { Int64($0) }
        guard time.count == 3, time.allSatisfy({ 0...60 ~= $0 }) else { return nil }
        // Days from 1 March of the year 0, so that leap days come last.
        let (m, y) = month < 2 ? (Int64(month) + 10, year - 1) : (Int64(month) - 2, year)
        let days = y * 365 + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719_468
        return days * 86_400 + time[0] * 3600 + time[1] * 60 + time[2]
    }
}
