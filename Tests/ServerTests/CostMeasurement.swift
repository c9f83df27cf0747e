import Glibc
import Library
import MPDProtocol
import Support

@testable import ShelvMPD

/// What tests measure that are checks at other times.
enum CostMeasurement {
    /// With `SHELV_COST`: large numbers, and figures are printed.
    static let isOn = unsafe getenv("SHELV_COST") != nil

    static func tell(_ text: String) {
        if isOn { print("COST \(text)") }
    }

    static func milliseconds(_ duration: Duration) -> Double { Double(duration.nanoseconds) / 1_000_000 }

    /// Songs with ids as long as those of servers, ten in an album and a hundred of an artist.
    static func records(_ count: Int, artist: String = "Artist") -> [SongRecord] {
        (0..<count).map { number in
            SongRecord(
                songID: "01234567-89ab-cdef-0123-\(100_000_000_000 + number)",
                uri: "\(artist) \(number / 100)/Album \(number / 10)/\(number).flac",
                tags: [
                    TagValue(.artist, "\(artist) \(number / 100)"), TagValue(.album, "Album \(number / 10)"),
                    TagValue(.title, "Title \(number)"), TagValue(.track, "\(number % 10)"),
                ],
                duration: 200_000,
                suffix: "flac"
            )
        }
    }
}
