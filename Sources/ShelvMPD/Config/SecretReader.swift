import CLinux
import Glibc

/// Why a password could not be had. Tells where it should have come from, never what came.
struct SecretError: Error, Sendable, Equatable, CustomStringConvertible {
    var description: String

    init(_ description: String) { self.description = description }
}

extension SecretSource {
    /// How long a command may take, in milliseconds: someone may have to type into a window that it opens.
    private static let commandTimeout = 120_000

    /// The secret itself. Blocks while a file is read or a command runs, so call it before serving begins.
    func read() throws(SecretError) -> Secret {
        switch self {
        case .literal(let secret):
            return secret
        case .file(let path):
            let bytes: [UInt8]
            do throws(SystemError) {
                bytes = try Files.read(path, limit: 65536)
            } catch {
                throw SecretError("no password: \(error)")
            }
            return try SecretSource.firstLine(of: bytes, from: "the file \(path)")
        case .command(let command):
            return try SecretSource.firstLine(of: SecretSource.output(of: command), from: "the password command")
        case .credential(let name):
            guard let folder = Environment.current().directory("CREDENTIALS_DIRECTORY") else {
                throw SecretError(
                    "no password: \(name) is the name of a systemd credential, which only the service has; "
                        + "a file's path begins with / or ~/"
                )
            }
            return try SecretSource.file("\(folder)/\(name)").read()
        case .variable(let name):
            guard let value = Environment.current()[name] else {
                throw SecretError("no password: the variable \(name) of the environment is not set or empty")
            }
            return Secret(value)
        }
    }
}

extension SecretSource {
    /// What the command wrote to its standard output.
    private static func output(of command: String) throws(SecretError) -> [UInt8] {
        let result: ShellCommand.Result
        do throws(SystemError) {
            result = try ShellCommand.run(command, timeout: commandTimeout, limit: 65536)
        } catch {
            throw SecretError("the password command could not be run: \(error)")
        }
        switch result.end {
        case .exited(0): return result.output
        case .exited(let status): throw SecretError("the password command failed with status \(status)")
        case .signalled(let signal): throw SecretError("the password command was ended by signal \(signal)")
        case .timedOut: throw SecretError("the password command took longer than \(commandTimeout / 1000) seconds")
        }
    }

    private static func firstLine(of bytes: [UInt8], from origin: String) throws(SecretError) -> Secret {
        var line = bytes.prefix { $0 != UInt8(ascii: "\n") }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        guard !line.isEmpty else {
            throw SecretError("no password: the first line of what came from \(origin) is empty")
        }
        guard let text = String(validating: line, as: UTF8.self) else {
            throw SecretError("no password: what came from \(origin) is not valid UTF-8")
        }
        return Secret(text)
    }
}
