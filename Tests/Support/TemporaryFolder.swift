import CLinux
import Glibc

/// A folder of its own for a test, removed with all that is in it when the last reference goes.
public final class TemporaryFolder: Sendable {
    /// Absolute, without a final slash.
    public let path: String

    /// Makes it in `TMPDIR` or `/tmp`; nil when that fails.
    public init?() {
        let base = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
        var template = Array("\(base)/shelvmpd-test-XXXXXX".utf8CString)
        let made = unsafe template.withUnsafeMutableBufferPointer { buffer -> String? in
            guard let pointer = buffer.baseAddress, let name = unsafe mkdtemp(pointer) else { return nil }
            return unsafe String(cString: name)
        }
        guard let made else { return nil }
        path = made
    }

    deinit { TemporaryFolder.remove(path) }

    /// The path of something inside.
    public func path(_ name: String) -> String { "\(path)/\(name)" }

    /// Makes or replaces a file inside; folders on the way are made.
    @discardableResult
    public func write(_ name: String, _ text: String) -> String {
        write(name, Array(text.utf8))
    }

    /// Makes or replaces a file inside; folders on the way are made.
    @discardableResult
    public func write(_ name: String, _ bytes: [UInt8]) -> String {
        let path = path(name)
        let parts = name.split(separator: "/").dropLast()
        for end in parts.indices {
            _ = unsafe mkdir(self.path(parts[...end].joined(separator: "/")), 0o755)
        }
        let descriptor = unsafe shelv_open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { return path }
        defer { close(descriptor) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count <= 0 { break }
            rest = rest.dropFirst(count)
        }
        return path
    }

    /// Names in the folder, sorted.
    public var names: [String] { TemporaryFolder.names(in: path) }

    /// Names in any folder, sorted; none when there is no such folder.
    public static func names(in path: String) -> [String] {
        guard let folder = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(folder) }
        var names: [String] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Removes a file, or a folder with what is in it; links are not followed.
    private static func remove(_ path: String) {
        if unsafe unlink(path) == 0 { return }
        for name in names(in: path) { remove("\(path)/\(name)") }
        _ = unsafe rmdir(path)
    }
}

/// The bytes of a file, or nil when it cannot be read.
public func contents(of path: String) -> [UInt8]? {
    let descriptor = unsafe shelv_open(path, O_RDONLY | O_CLOEXEC, 0)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
        if count <= 0 { return count == 0 ? bytes : nil }
        bytes.append(contentsOf: buffer.prefix(count))
    }
}
