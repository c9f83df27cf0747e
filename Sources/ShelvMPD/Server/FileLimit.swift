import Glibc

/// How many files the process may have open, and how many of them clients may take.
///
/// The rest must never run out: the Swift runtime looks at its threads through files in `/proc`, and ends the process when it
/// cannot open them.
enum FileLimit {
    /// With fewer there is no room for the server itself and a few clients.
    static let least = 96
    /// Songs, sockets to servers, the store, outputs.
    private static let reserve = 192

    /// Raises the limit as far as the system lets us.
    /// - Throws: when even that is too low.
    static func raise() throws {
        var limit = current()
        if limit.rlim_cur < limit.rlim_max {
            limit.rlim_cur = limit.rlim_max
            unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        }
        guard files >= least else { throw FileLimitProblem(files: files) }
    }

    /// Files that may be open now.
    static var files: Int { Int(clamping: current().rlim_cur) }

    /// Clients that there may be, of as many as are wanted.
    static func clients(wanted: Int?, files: Int = files) -> Int {
        let room = max(1, files - min(reserve, files * 2 / 3))
        return min(wanted ?? room, room)
    }

    private static func current() -> rlimit {
        var limit = rlimit()
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return limit
    }
}

/// Too few files may be open.
struct FileLimitProblem: Error, CustomStringConvertible {
    var files: Int

    var description: String {
        "Only \(files) files may be open at once, and \(FileLimit.least) are needed; ulimit -n or LimitNOFILE raises that"
    }
}
