/// Addresses as documents of the network name them, relative to their own.
enum RelativeAddress {
    /// The address that a reference means; nil where that is none that can be played: a local file, another scheme.
    ///
    /// Source: RFC 3986, section 5.
    static func resolve(_ reference: String, against base: String) -> StreamAddress? {
        if let scheme = scheme(of: reference) {
            // A drive letter is no scheme, and what it leads to is not on the network.
            return reference.dropFirst(scheme.count).hasPrefix("://") ? StreamAddress(reference.utf8) : nil
        }
        guard let scheme = scheme(of: base), base.dropFirst(scheme.count).hasPrefix("://") else { return nil }
        let rest = base.dropFirst(scheme.count + 3)
        let authority = rest.prefix { !"/?#".contains($0) }
        let path = rest.dropFirst(authority.count).prefix { $0 != "?" && $0 != "#" }
        let site = "\(scheme)://\(authority)"
        // Backslashes are what some programs write instead of slashes.
        let reference = reference.replacing("\\", with: "/")
        if reference.hasPrefix("//") { return StreamAddress("\(scheme):\(reference)".utf8) }
        if reference.hasPrefix("/") { return StreamAddress((site + withoutDots(reference)).utf8) }
        if reference.hasPrefix("?") { return StreamAddress("\(site)\(path)\(reference)".utf8) }
        let folder = path.lastIndex(of: "/").map { path[...$0] } ?? "/"
        return StreamAddress((site + withoutDots(folder + reference)).utf8)
    }

    private static func scheme(of text: String) -> Substring? {
        guard let colon = text.firstIndex(of: ":"), text.first?.isLetter == true else { return nil }
        let scheme = text[..<colon]
        return scheme.utf8.allSatisfy { byte in
            (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte) || "+-.".utf8.contains(byte)
        } ? scheme : nil
    }

    /// A path, and the query behind it, without `.` and `..`; never above the root.
    private static func withoutDots(_ text: some StringProtocol) -> String {
        let path = text.prefix { $0 != "?" && $0 != "#" }
        var segments: [Substring] = []
        let parts = String(path).split(separator: "/", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            switch part {
            case ".", "..":
                if part == "..", segments.count > 1 { segments.removeLast() }
                if index == parts.count - 1 { segments.append("") }
            default: segments.append(part)
            }
        }
        return segments.joined(separator: "/") + text[path.endIndex...]
    }
}
