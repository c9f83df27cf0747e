import Glibc

/// A call of the operating system that failed, as a sentence: `cannot open /x: No such file or directory`.
struct SystemError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What was tried, as in "cannot open /x".
    var attempt: String
    /// The value of `errno`.
    var code: Int32

    init(_ attempt: String, code: Int32) {
        self.attempt = attempt
        self.code = code
    }

    var description: String { "\(attempt): \(SystemError.text(of: code))" }

    /// The system's words for a value of `errno`.
    static func text(of code: Int32) -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        let text = unsafe buffer.withUnsafeMutableBufferPointer { buffer -> String in
            guard let base = buffer.baseAddress, unsafe strerror_r(code, base, buffer.count) == 0 else { return "" }
            return unsafe String(cString: base)
        }
        return text.isEmpty ? "error \(code)" : text
    }
}
