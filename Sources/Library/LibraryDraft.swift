import MPDProtocol

/// What a library will hold, collected song by song while they still arrive, so that little is left to be done behind the
/// last one: all but the URIs, which depend on the library as a whole.
struct LibraryDraft: Sendable {
    /// Its rows are numbered as the songs came, and have no URIs yet.
    private(set) var builder = LibraryBuilder()
    private(set) var survey = PathSurvey()
    private var needsNames = true

    /// Takes in a song that has not been taken in before.
    mutating func add(_ song: SpoolReader.Song) {
        builder.collect(song)
        survey.note(song.pathView, folder: song.folder) {
            // Names only matter for the first absolute path, and reading them means reading the whole song.
            guard needsNames else { return [] }
            needsNames = false
            return (song.record()?.tags ?? []).filter { [.artist, .albumArtist, .album].contains($0.tag) }.map(\.value)
        }
    }

    /// The builder, which is given away.
    consuming func finish() -> LibraryBuilder { builder }
}
