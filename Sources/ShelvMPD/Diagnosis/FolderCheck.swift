import Glibc

/// The folders of state and cache.
enum FolderCheck {
    static func run(_ configuration: Configuration, _ report: CheckReport) {
        let folders = [
            ("state_directory", configuration.stateDirectory), ("cache_directory", configuration.cacheDirectory),
        ]
        for (option, path) in folders { look(option, path, report) }
        let folder = Files.folder(of: configuration.stateFile)
        if folder != configuration.stateDirectory { look("state_file", folder, report) }
    }

    private static func look(_ option: String, _ path: String, _ report: CheckReport) {
        // It is made when it is missing.
        var place = path
        while !Files.exists(place), place != "/", place != "." { place = Files.folder(of: place) }
        guard Files.kind(of: place) == .directory else {
            report.add(.bad("\(option): \(place) is no folder", "Remove it, or set \(option)"))
            return
        }
        guard unsafe access(place, W_OK | X_OK) == 0 else {
            let problem = SystemError("cannot write in \(place)", code: errno)
            report.add(
                .bad("\(option): \(problem)", "Give that folder to the user who runs shelvmpd, or set \(option)")
            )
            return
        }
        var status = statvfs()
        guard unsafe statvfs(place, &status) == 0 else { return }
        let free = UInt64(status.f_bavail) / 1024 * UInt64(status.f_frsize) / 1024
        let text = "\(option) \(path): \(free) MiB free"
        report.add(free < 200 ? .bad(text, "Make room; songs, covers and the library are kept there") : .good(text))
    }
}
