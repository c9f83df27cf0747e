import CLinux
import Glibc
import Support
import Testing

@testable import ShelvMPD

/// `shelvmpd cache`.
@Suite struct CacheOverviewTests {
    private func configuration(_ folder: TemporaryFolder) -> Configuration {
        var configuration = Configuration()
        configuration.cacheDirectory = folder.path("cache")
        configuration.stateFile = folder.path("state")
        return configuration
    }

    private func fill(_ folder: TemporaryFolder) {
        _ = folder.write("cache/audio/one.audio", [UInt8](repeating: 1, count: 300_000))
        _ = folder.write("cache/audio/two.part", [UInt8](repeating: 1, count: 100))
        _ = folder.write("cache/audio/two.map", [UInt8](repeating: 1, count: 100))
        _ = folder.write("cache/covers/0123/a.cover", [UInt8](repeating: 1, count: 2_000_000))
        _ = folder.write("cache/library", [1])
    }

    @Test func sizesAreShownAndFilesRemoved() throws {
        let folder = try #require(TemporaryFolder())
        let overview = CacheOverview(configuration(folder))
        #expect(overview.text == "songs   0.0 MiB  0 files\ncovers  0.0 MiB  0 files\n")
        fill(folder)
        // As soon as the file system has given them room.
        #expect(waitUntil { overview.text.contains("covers  1.9 MiB  1 files\n") }, "\(overview.text)")
        #expect(overview.text.contains("  3 files\n"))
        try overview.clear(.covers)
        #expect(TemporaryFolder.names(in: folder.path("cache/covers/0123")).isEmpty)
        #expect(TemporaryFolder.names(in: folder.path("cache/audio")).count == 3)
        try overview.clear(.all)
        #expect(TemporaryFolder.names(in: folder.path("cache/audio")).isEmpty)
        #expect(contents(of: folder.path("cache/library")) == [1])
    }

    @Test func songsStayWhileAServerRuns() throws {
        let folder = try #require(TemporaryFolder())
        fill(folder)
        let descriptor = unsafe shelv_open(folder.write("state.lock", ""), O_RDWR | O_CLOEXEC, 0)
        defer { close(descriptor) }
        #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        let overview = CacheOverview(configuration(folder))
        #expect(throws: CacheInUse.self) { try overview.clear(.all) }
        #expect(TemporaryFolder.names(in: folder.path("cache/audio")).count == 3)
        try overview.clear(.covers)
        #expect(TemporaryFolder.names(in: folder.path("cache/covers/0123")).isEmpty)
    }
}
