import Glibc

/// The environment of the process, as a value, so that everything derived from it can be tested.
struct Environment: Sendable, Equatable {
    /// Variables that are set; an empty one counts as not set, as the XDG rules have it.
    private var variables: [String: String]
    /// Home directory of the account database, for when `HOME` is not set.
    private var accountHome: String?

    init(_ variables: [String: String], accountHome: String? = nil) {
        self.variables = variables.filter { !$0.value.isEmpty }
        self.accountHome = accountHome
    }

    /// The value of a variable, or nil when it is not set or empty.
    subscript(name: String) -> String? { variables[name] }

    /// The value of a variable that must hold an absolute path; a relative one counts as not set, as the XDG rules
    /// have it.
    func directory(_ name: String) -> String? {
        guard let value = variables[name], value.hasPrefix("/") else { return nil }
        return value
    }

    /// The first path of a variable in which systemd lists its directories, divided by colons.
    func firstDirectory(_ name: String) -> String? {
        guard let value = variables[name] else { return nil }
        let first = value.split(separator: ":").first.map(String.init)
        return first.flatMap { $0.hasPrefix("/") ? $0 : nil }
    }

    /// The home directory, or nil where nobody knows one.
    var home: String? { directory("HOME") ?? accountHome }

    /// That of this process.
    static func current() -> Environment {
        var variables: [String: String] = [:]
        var next = unsafe environ
        while let entry = unsafe next.pointee {
            let text = unsafe String(cString: entry)
            if let equals = text.firstIndex(of: "=") {
                variables[String(text[..<equals])] = String(text[text.index(after: equals)...])
            }
            unsafe next = next.successor()
        }
        return Environment(variables, accountHome: homeOfAccount())
    }

    /// The home directory of the effective user in the account database.
    private static func homeOfAccount() -> String? {
        var record = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16384)
        let size = buffer.count
        let home = unsafe buffer.withUnsafeMutableBufferPointer { buffer -> String? in
            guard let base = buffer.baseAddress,
                unsafe getpwuid_r(geteuid(), &record, base, size, &found) == 0,
                let found = unsafe found, let directory = unsafe found.pointee.pw_dir
            else { return nil }
            return unsafe String(cString: directory)
        }
        guard let home, home.hasPrefix("/") else { return nil }
        return home
    }
}
