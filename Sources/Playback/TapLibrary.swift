import CAudioTap
import CLinux
import Glibc

/// The tap, `libshelvtap.so`: a plugin for libmpv's filter chain, opened here too so that both sides meet in it.
///
/// `@unchecked Sendable`: immutable; the library's functions may be called from any thread. It is never unloaded.
@safe final class TapLibrary: @unchecked Sendable {
    static let fileName = "libshelvtap.so"

    /// As libmpv shall open it: without characters that its filter syntax would read otherwise.
    let path: String
    private let functions: shelv_tap_functions

    /// Opens the library.
    ///
    /// - Parameter configured: the only place to look at, or nil for the usual ones.
    /// - Throws: `PlayerError` that names the places.
    init(configured: String?) throws(PlayerError) {
        let places = Self.places(configured: configured)
        guard let found = places.first(where: { unsafe access($0, R_OK) == 0 }) else {
            throw PlayerError("\(Self.fileName) is missing, looked for at \(places.joined(separator: ", "))")
        }
        let path = try Self.plain(found)
        guard let handle = unsafe dlopen(path, RTLD_NOW | RTLD_LOCAL) else {
            throw PlayerError("cannot open \(found): \(Self.loaderMessage())")
        }
        guard let version = unsafe dlsym(handle, "shelv_tap_version"),
            let attach = unsafe dlsym(handle, "shelv_tap_attach"),
            let detach = unsafe dlsym(handle, "shelv_tap_detach")
        else { throw PlayerError("\(found) is not ShelvMPD's tap") }
        unsafe functions = shelv_tap_functions(
            version: unsafeBitCast(version, to: (@convention(c) () -> UInt32).self),
            attach: unsafeBitCast(
                attach,
                to: (@convention(c) (UnsafeMutableRawPointer?, shelv_tap_write?) -> Int32).self
            ),
            detach: unsafeBitCast(detach, to: (@convention(c) (Int32) -> Void).self)
        )
        self.path = path
        guard functions.version() == UInt32(SHELV_TAP_VERSION) else {
            throw PlayerError("\(found) belongs to another version of ShelvMPD")
        }
    }

    /// Where the library may be, in order.
    static func places(configured: String?) -> [String] {
        if let configured { return [configured] }
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
        let executable = String(decoding: buffer.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
        let folder = executable.lastIndex(of: "/").map { String(executable[..<$0]) } ?? "."
        return ["\(folder)/\(fileName)", "\(folder)/../lib/shelvmpd/\(fileName)", "/usr/lib/shelvmpd/\(fileName)"]
    }

    /// Has the filter's blocks of samples given to `write`; returns the slot number, or nil when all are taken.
    func attach(_ context: UnsafeMutableRawPointer, _ write: shelv_tap_write) -> Int32? {
        let slot = unsafe functions.attach(context, write)
        return slot < 0 ? nil : slot
    }

    /// Ends that; returns when no call is under way.
    func detach(_ slot: Int32) { functions.detach(slot) }

    /// The path itself, or one without special characters that leads to the same file.
    private static func plain(_ path: String) throws(PlayerError) -> String {
        let isPlain =
            path.hasPrefix("/")
            && path.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "-")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "+"):
                    true
                default:
                    false
                }
            }
        if isPlain { return path }
        // Stays open for the life of the process, as the library does.
        let descriptor = unsafe shelv_open(path, O_RDONLY | O_CLOEXEC, 0)
        guard descriptor >= 0 else { throw PlayerError("cannot open \(path): \(SystemError.text())") }
        return "/proc/self/fd/\(descriptor)"
    }

    private static func loaderMessage() -> String {
        guard let text = unsafe dlerror() else { return "unknown reason" }
        return unsafe String(cString: text)
    }
}
