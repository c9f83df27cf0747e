/// The syntax of mpd.conf: one option a line, `name "value"`; blocks `name {` … `}`; `#` begins a comment.
///
/// A value is one word, or stands in double quotes, where `\"` and `\\` are escapes. `include "FILE"` reads another
/// file in that place, `include_optional "FILE"` one that may be missing; a relative path starts at the folder of the
/// file it stands in. Source: MPD 0.24 `src/config/File.cxx`, `src/util/Tokenizer.cxx`.
struct ConfigFile: Sendable, Equatable {
    /// A line `name "value"`.
    struct Option: Sendable, Equatable {
        var name: String
        var value: String
        var place: Place
    }

    /// What stands outside of blocks.
    enum Statement: Sendable, Equatable {
        case option(Option)
        /// `place` is that of the opening line.
        case block(name: String, options: [Option], place: Place)
    }

    /// Files within files; deeper means that one includes itself.
    static let maxDepth = 8

    var statements: [Statement] = []
    var problems: [ConfigProblem] = []
    /// Whether the file itself could be read, whatever stands in it.
    var isThere = false

    /// Parses a file and those that it includes.
    /// - Parameter read: Gives the bytes of a file, or nil when there is none; throws a sentence.
    static func parse(
        _ path: String,
        reading read: (String) throws(SystemError) -> [UInt8]?
    ) -> ConfigFile {
        var file = ConfigFile()
        file.include(path, from: Place(file: path), isOptional: false, depth: 0, read)
        return file
    }

    private mutating func include(
        _ path: String,
        from place: Place,
        isOptional: Bool,
        depth: Int,
        _ read: (String) throws(SystemError) -> [UInt8]?
    ) {
        guard depth < ConfigFile.maxDepth else {
            report(place, "too many files include one another")
            return
        }
        do throws(SystemError) {
            if let bytes = try read(path) {
                isThere = true
                parse(bytes, path: path, depth: depth, read)
            } else if !isOptional {
                report(place, "there is no file \(path)")
            }
        } catch {
            report(place, error.description)
        }
    }

    private mutating func parse(
        _ bytes: [UInt8],
        path: String,
        depth: Int,
        _ read: (String) throws(SystemError) -> [UInt8]?
    ) {
        /// The block that is open.
        var block: (name: String, options: [Option], place: Place)?
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let place = Place(file: path, line: index + 1)
            guard String(validating: line, as: UTF8.self) != nil, !line.contains(0) else {
                report(place, "the line is not valid UTF-8")
                continue
            }
            do throws(ConfigProblem) {
                switch try ConfigLine.parse(line, place: place) {
                case .empty:
                    break
                case .end:
                    guard let open = block else {
                        throw ConfigProblem(place: place, message: "} without a block")
                    }
                    statements.append(.block(name: open.name, options: open.options, place: open.place))
                    block = nil
                case .beginning(let name):
                    if let open = block {
                        throw ConfigProblem(
                            place: place,
                            message: "\(name) { inside of the block \(open.name), which has no } yet"
                        )
                    }
                    block = (name, [], place)
                case .option(let option):
                    if block != nil {
                        block?.options.append(option)
                    } else if option.name == "include" || option.name == "include_optional" {
                        include(
                            ConfigFile.resolve(option.value, besides: path),
                            from: place,
                            isOptional: option.name == "include_optional",
                            depth: depth + 1,
                            read
                        )
                    } else {
                        statements.append(.option(option))
                    }
                }
            } catch {
                problems.append(error)
            }
        }
        if let open = block {
            report(open.place, "the block \(open.name) has no } on a line of its own")
        }
    }

    private mutating func report(_ place: Place, _ message: String) {
        problems.append(ConfigProblem(place: place, message: message))
    }

    /// A relative path is one beside `file`.
    private static func resolve(_ path: String, besides file: String) -> String {
        guard !path.hasPrefix("/"), let slash = file.lastIndex(of: "/") else { return path }
        return file[...slash] + path
    }
}
