extension Collection<UInt8> {
    /// Whether this is a path that stays below a root: not empty, no `.` or `..` segment, no leading, double or
    /// trailing slash.
    ///
    /// Source: MPD 0.24 `src/util/UriUtil.cxx`.
    public var isSafeRelativePath: Bool {
        split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .allSatisfy { !$0.isEmpty && !$0.spells(".") && !$0.spells("..") }
    }
}
