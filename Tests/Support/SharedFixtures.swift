import Glibc

/// Answers of real servers and of the API's documents, beside this repository.
public enum SharedFixtures {
    /// The folder that `SHELV_SHARED_FIXTURES` names, else the one in `SHELV_SHARED` or `../shared`; nil if there is
    /// none.
    public static let subsonic: String? = {
        let named = variable("SHELV_SHARED_FIXTURES")
        let shared = [variable("SHELV_SHARED"), PackageFolder.path("../shared")].compactMap { $0 }
        let folders = [named].compactMap { $0 } + shared.map { $0 + "/fixtures/subsonic" }
        return folders.first { unsafe access($0, R_OK) == 0 }
    }()

    /// The documents below the folder, in the order of their names.
    public static var documents: [String] {
        guard let subsonic else { return [] }
        return files(below: subsonic).filter { $0.hasSuffix(".json") }
    }

    private static func variable(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(cString: value)
    }

    private static func files(below folder: String) -> [String] {
        guard let directory = unsafe opendir(folder) else { return [] }
        defer { unsafe closedir(directory) }
        var found: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
                unsafe String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
            }
            if name.hasPrefix(".") { continue }
            let path = "\(folder)/\(name)"
            found += name.contains(".") ? [path] : files(below: path)
        }
        return found.sorted()
    }

    /// All bytes of a file; none if it cannot be read.
    public static func read(_ file: String) -> [UInt8] {
        let descriptor = unsafe open(file, O_RDONLY)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = unsafe Glibc.read(descriptor, &piece, piece.count)
            guard count > 0 else { return bytes }
            bytes += piece[..<count]
        }
    }
}
