import SubsonicKit

/// Asks for a server and its account, as far as the options have not told, and tests each step.
///
/// Without anybody who answers, what the options say must be enough.
struct ServerDialogue {
    let call: CommandCall
    let transport: CurlTransport

    /// Options that tell what would be asked for.
    static let options: [CommandOption] =
        [
            CommandOption(
                name: "--url",
                value: "ADDRESS",
                isRepeatable: true,
                summary: "the server's address; again for further ones"
            ),
            CommandOption(name: "--name", value: "NAME", summary: "what to call the server"),
            CommandOption(name: "--user", value: "NAME", summary: "the user's name"),
            CommandOption(name: "--password-file", value: "FILE", summary: "a file whose first line is the password"),
            CommandOption(name: "--password-command", value: "COMMAND", summary: "a command that writes the password"),
            CommandOption(name: "--password-env", value: "VARIABLE", summary: "a variable that holds the password"),
            CommandOption(name: "--api-key-file", value: "FILE", summary: "a file whose first line is an API key"),
        ] + FurtherOptions.commandOptions + [CommandOption(name: "--no-test", summary: "do not ask the server")]

    /// A server, and the secret that is not in a file yet.
    struct Answers {
        var draft = ServerDraft()
        var name = ""
        var password: String?
        var apiKey: String?
    }

    /// Where a server is, and what the user wrote for it.
    private struct Place {
        var url: String
        var guess: AddressGuess
    }

    private var console: Console { call.console }
    private var invocation: Invocation { call.invocation }

    /// - Parameters:
    ///   - taken: names of servers that are there already.
    /// - Returns: nil when the user gives up.
    /// - Throws: `CommandFailure` when nobody answers, or the server cannot be used.
    func run(taken: [String]) async throws -> Answers? {
        let extra = try FurtherOptions.read(call)
        var given = invocation.values["--url"] ?? []
        while true {
            let first = given.isEmpty ? nil : given.removeFirst()
            guard let place = try await place(first, extra) else {
                guard first == nil || console.hasKeyboard else { throw CommandFailure("there is no server to use") }
                continue
            }
            let answers = try answers(place, given, extra, taken: taken)
            if await isUsable(answers) { return answers }
            guard console.hasKeyboard else { throw CommandFailure("the server cannot be used") }
            guard let triesAgain = console.confirm("\nTry again with other answers?", proposal: true) else {
                return nil
            }
            if !triesAgain {
                return console.confirm("Use these nevertheless?", proposal: false) == true ? answers : nil
            }
            given = []
        }
    }

    /// Whether a test finds the server usable, or none is wanted.
    private func isUsable(_ answers: Answers) async -> Bool {
        guard tests else { return true }
        console.write("\n")
        return await check(answers)
    }

    private var tests: Bool { !invocation.has("--no-test") }

    /// What makes the server that was found: its account, its name, what the options add.
    /// - Parameters:
    ///   - others: its further addresses.
    ///   - extra: what `--set` and `--set-file` told.
    private func answers(
        _ place: Place,
        _ others: [String],
        _ extra: [(name: String, value: String)],
        taken: [String]
    ) throws -> Answers {
        var answers = Answers()
        answers.name = try name(proposal: Self.proposedName(place.url, taken), taken)
        answers.draft.set("name", answers.name)
        answers.draft.set("url", place.url)
        for other in others { answers.draft.set("url", try Self.plain(other)) }
        try account(&answers, place.guess)
        for (name, value) in extra { answers.draft.set(name, value) }
        return answers
    }

    // MARK: Questions

    /// Nil when nothing answers there.
    private func place(_ given: String?, _ extra: [(name: String, value: String)]) async throws -> Place? {
        guard let text = given ?? console.ask("Address of the server, such as music.example.org"), !text.isEmpty else {
            throw CommandFailure("an address is needed: --url")
        }
        guard let guess = AddressGuess(text) else {
            console.complain("\"\(given == nil ? text : "--url")\" is no address of a server\n")
            return nil
        }
        if given != nil, guess.password != nil {
            throw CommandFailure(
                "whoever is on this machine can see what stands behind --url, and it holds a password; give it by --password-file"
            )
        }
        if !tests { return Place(url: try Self.plain(text), guess: guess) }
        console.write("Looking for a Subsonic server …\n")
        let settings = try connection(extra)
        guard let found = await AddressSearch(transport: transport, connection: settings).search(guess) else {
            await explain(guess, settings)
            return nil
        }
        return try isMeant(found, by: text, isGiven: given != nil, guess)
            ? Place(url: found.url.base, guess: guess) : nil
    }

    /// The steps of the likeliest address say why there is no server.
    private func explain(_ guess: AddressGuess, _ settings: ConnectionSettings) async {
        do throws(ServerURL.Problem) {
            let url = try ServerURL(guess.addresses.first ?? "")
            var server = SubsonicServer(id: "", name: "", url: url, credentials: Credentials(user: "", password: nil))
            server.connection = settings
            _ = await ServerCheck(server: server, transport: transport, report: CheckReport(console.write)).reaches(url)
        } catch {
            console.complain("\(error)\n")
        }
        if guess.addresses.count > 2 {
            console.write("         \(guess.addresses.count - 1) other ports and schemes were tried as well\n")
        }
    }

    /// Whether what was found is what the user has written, or agrees to.
    private func isMeant(
        _ found: AddressSearch.Found,
        by text: String,
        isGiven: Bool,
        _ guess: AddressGuess
    ) throws -> Bool {
        if found.url.base == guess.addresses.first {
            console.write("It is at \(found.url)\n")
            return true
        }
        guard found.isThere else {
            let kind =
                found.url.base.hasPrefix("http:") && found.asked.base.hasPrefix("https:")
                ? "which is not encrypted" : "another host"
            console.write(
                "\(found.asked) leads to \(found.url), \(kind), where passwords do not follow; "
                    + "write \(found.url) if you trust it\n"
            )
            return false
        }
        console.write("There is one at \(found.url)\n")
        // Who wrote https means it.
        let isLess = text.lowercased().hasPrefix("https:") && found.url.base.hasPrefix("http:")
        if isLess, !console.hasKeyboard {
            throw CommandFailure("there is no https at that address; write \(found.url) if you want to go without")
        }
        let isClear = isGiven && !isLess
        return isClear || console.confirm("Is that the one?", proposal: true) == true
    }

    private func connection(_ extra: [(name: String, value: String)]) throws -> ConnectionSettings {
        var draft = ServerDraft()
        draft.set("url", "http://127.0.0.1")
        draft.set("user", "x")
        draft.set("password", "x")
        let own = ["ca_file", "client_certificate", "client_key", "proxy", "header"]
        for (name, value) in extra where own.contains(name) || name.hasPrefix("client_key_password") {
            draft.set(name, value)
        }
        return try ConnectionSettings(try draft.configuration(call.environment))
    }

    private func name(proposal: String, _ taken: [String]) throws -> String {
        if let name = invocation["--name"] {
            guard !taken.contains(name) else { throw CommandFailure("there is a server \(name) already") }
            return name
        }
        guard console.hasKeyboard || invocation["--url"] == nil else { return proposal }
        while true {
            let answer = console.ask("A name for it", proposal: proposal) ?? proposal
            let isFree = !taken.contains(answer)
            if isFree, answer.count <= 64, !answer.contains("/") { return answer }
            console.write(
                isFree ? "A name has at most 64 characters and no /.\n" : "There is a server of that name already.\n"
            )
            if !console.hasKeyboard { throw CommandFailure("a name is needed: --name") }
        }
    }

    private func account(_ result: inout Answers, _ guess: AddressGuess) throws {
        if let file = invocation["--api-key-file"] {
            result.draft.set("api_key_file", try Self.absolute(file))
            return
        }
        guard let user = invocation["--user"] ?? guess.user ?? console.ask("User (empty for an API key)") else {
            throw CommandFailure("a user is needed: --user, or --api-key-file")
        }
        if user.isEmpty {
            guard let key = console.askSecret("API key"), !key.isEmpty else {
                throw CommandFailure("an API key is needed")
            }
            result.apiKey = key
            return
        }
        result.draft.set("user", user)
        if let file = invocation["--password-file"] {
            result.draft.set("password_file", try Self.absolute(file))
        } else if let command = invocation["--password-command"] {
            result.draft.set("password_command", command)
        } else if let variable = invocation["--password-env"] {
            result.draft.set("password_env", variable)
        } else if let password = guess.password ?? console.askSecret("Password"), !password.isEmpty {
            result.password = password
        } else {
            throw CommandFailure("a password is needed: --password-file, --password-command or --password-env")
        }
    }

    // MARK: The test

    private func check(_ result: Answers) async -> Bool {
        let report = CheckReport(console.write)
        do {
            var draft = result.draft
            if let password = result.password { draft.set("password", password) }
            if let key = result.apiKey { draft.set("api_key", key) }
            let server = try SubsonicServer(try draft.configuration(call.environment), id: "")
            return await ServerCheck(server: server, transport: transport, report: report).run()
        } catch {
            report.add(.bad("\(error)", "Look at the options"))
            return false
        }
    }

    // MARK: Words

    /// As the configuration takes an address.
    static func plain(_ text: String) throws -> String {
        guard let guess = AddressGuess(text), guess.user == nil, let address = guess.addresses.first else {
            throw CommandFailure("--url is no address of a server, or holds a user, who belongs to --user")
        }
        return try ServerURL(text.contains("://") ? address : text).base
    }

    /// A file that is there, by a path that means the same for a server with another folder.
    static func absolute(_ path: String) throws(CommandFailure) -> String {
        if path.hasPrefix("/") || path.hasPrefix("~/") { return path }
        guard let whole = Files.realPath(path) else { throw CommandFailure("there is no file \(path)") }
        return whole
    }

    /// The host's most telling part, free of those that are taken.
    static func proposedName(_ url: String, _ taken: [String]) -> String {
        let host = url.split(separator: "/").dropFirst().first.map(String.init) ?? "home"
        let isNumber =
            host.hasPrefix("[") || host.utf8.allSatisfy { ($0 >= 0x30 && $0 <= 0x3A) || $0 == UInt8(ascii: ".") }
        let base = isNumber ? "home" : String(host.prefix { $0 != ":" })
        var name = base
        var number = 2
        while taken.contains(name) {
            name = "\(base) \(number)"
            number += 1
        }
        return name
    }
}
