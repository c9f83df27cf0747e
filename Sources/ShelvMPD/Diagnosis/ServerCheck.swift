import CLinux
import Glibc
import Library
import SubsonicKit

/// Looks, step by step, whether and how a server can be used; tells each step. Ends where going on makes no sense.
struct ServerCheck {
    let server: SubsonicServer
    let transport: CurlTransport
    let report: CheckReport

    /// Whether everything that is needed works.
    func run() async -> Bool {
        let before = report.failures
        guard let answer = await reachesOne(), await logsIn(answer) else { return false }
        return report.failures == before
    }

    // MARK: The address

    /// The first answer, of several addresses: one is enough.
    private func reachesOne() async -> AddressAnswer? {
        if server.alternatives.isEmpty { return await reaches(server.url) }
        var answers: [AddressAnswer] = []
        for url in [server.url] + server.alternatives {
            report.add(.good("Address \(url)"))
            if let answer = await reaches(url) { answers.append(answer) }
        }
        guard let first = answers.first else {
            report.add(.bad("None of its addresses answers", "See above what each of them needs"))
            return nil
        }
        let kinds = Set(answers.map { "\($0.server?.type ?? "") \($0.server?.serverVersion ?? "")" })
        if kinds.count > 1 {
            report.add(
                .bad(
                    "The addresses are not of one server",
                    "Give each server a block \(Settings.serverBlock) of its own"
                )
            )
            return nil
        }
        return first
    }

    /// One of several addresses may be out of reach.
    private func tell(_ line: CheckLine) {
        let isHarmless = line.verdict == .bad && !server.alternatives.isEmpty
        report.add(isHarmless ? .notice(line.text, line.advice) : line)
    }

    /// The answer of a Subsonic server there, or nil when there is none.
    func reaches(_ url: ServerURL) async -> AddressAnswer? {
        if !server.hasProxy { NameLookup.tell(url, report) }
        let answer: AddressAnswer
        do throws(TransportError) {
            answer = try await transport.whoAnswers(at: url, server.connection)
        } catch {
            var line = ServerAdvice.line(error, at: url, hasProxy: server.hasProxy)
            if error.mayWantOtherScheme(at: url.base), let advice = await adviceToTryOtherScheme(than: url) {
                line.advice = advice
            }
            tell(line)
            return nil
        }
        let peer = answer.head.peer.isEmpty ? "" : " at \(answer.head.peer)"
        report.add(.good(!server.hasProxy ? "Connected\(peer)" : "Connected through a proxy"))
        let isProtected = (answer.url ?? url).base.hasPrefix("https:")
        if isProtected { report.add(.good("TLS works, and the certificate is trusted")) }
        if !isProtected, !answer.head.isLoopback {
            report.add(.notice("The connection is not encrypted", "Use https where the server can"))
        }
        checkClock(answer.head)
        if let place = answer.url, place.base != url.base {
            report.add(.notice("\(url) leads to \(place)", "Write url \"\(place)\" to spare the detour"))
            if !url.mayLead(to: place) {
                tell(
                    .bad(
                        "That is another host, where passwords do not follow",
                        "Write url \"\(place)\" if you trust it"
                    )
                )
                return nil
            }
        }
        guard answer.server != nil else {
            var advice = ServerAdvice.advice(answer)
            // Some doors for TLS answer plain requests, to say so.
            if advice == nil, !isProtected { advice = await adviceToTryOtherScheme(than: answer.url ?? url) }
            tell(
                .bad(
                    "No Subsonic server answers at \(answer.url ?? url): \(answer.reason)",
                    advice ?? ServerAdvice.path
                )
            )
            return nil
        }
        report.add(.good("A Subsonic server answers"))
        return answer
    }

    /// Looks whether a server is there by `https` instead of `http`, or the other way round. Nothing secret goes there.
    private func adviceToTryOtherScheme(than url: ServerURL) async -> String? {
        guard let other = url.withOtherScheme else { return nil }
        var connection = server.connection
        connection.headers = []
        connection.clientCertificate = nil
        do throws(TransportError) {
            let answer = try await transport.whoAnswers(at: other, connection)
            return answer.server == nil ? nil : "Write url \"\(other)\": a Subsonic server answers there"
        } catch {
            // It speaks TLS; whether we trust it is another matter.
            return error.showsTLS ? "Write url \"\(other)\": that port speaks TLS" : nil
        }
    }

    /// Certificates and some servers' tokens need clocks that agree.
    private func checkClock(_ head: HTTPHead) {
        guard let date = head.value(of: "date").flatMap(HTTPDate.seconds) else { return }
        let difference = shelv_wall_milliseconds() / 1000 - date
        guard abs(difference) > 300 else { return }
        report.add(
            .notice(
                "The clocks differ: this machine is \(abs(difference)) s \(difference > 0 ? "ahead" : "behind")",
                "Set the clock (timedatectl set-ntp true); certificates depend on it"
            )
        )
    }

    // MARK: The account

    private func logsIn(_ answer: AddressAnswer) async -> Bool {
        let client = SubsonicClient(server, transport: transport)
        let info: ServerInfo
        do throws(SubsonicError) {
            info = try await client.ping()
            // Some answer a ping whoever asks.
            _ = try await client.musicFolders()
        } catch {
            report.add(ServerAdvice.line(error, of: server))
            return false
        }
        report.add(.good(Self.words(info)))
        switch client.workingAuthentication {
        case .apikey: report.add(.good("The API key is accepted"))
        case .token: report.add(.good("User and password are accepted, by token"))
        case .password:
            let isHidden = server.url.base.hasPrefix("https:") || answer.head.isLoopback
            report.add(
                isHidden
                    ? .good("User and password are accepted; the server knows no tokens")
                    : .notice(
                        "The server knows no tokens, so the password itself is sent in clear",
                        "Use https where the server can"
                    )
            )
        case nil: break
        }
        await looksAround(client)
        return true
    }

    /// Which program it is, as far as it says so.
    static func words(_ info: ServerInfo) -> String {
        let parts = [
            info.serverVersion, info.version.isEmpty ? nil : "protocol \(info.version)",
            info.isOpenSubsonic ? "OpenSubsonic" : nil,
        ].compactMap { $0 }.joined(separator: ", ")
        let details = parts.isEmpty ? "" : " (\(parts))"
        if let type = info.type { return "It is \(type)\(details)" }
        let guess = ServerKind(info) == .supysonic ? ", perhaps supysonic" : ""
        return "It does not say which program it is\(guess)\(details)"
    }

    private func looksAround(_ client: SubsonicClient) async {
        await tellUser(client)
        await tellFolders(client)
        await tellExtensions(client)
        await tellSong(client)
    }

    private func tellUser(_ client: SubsonicClient) async {
        guard !server.credentials.user.isEmpty, let user = try? await client.user(named: server.credentials.user)
        else { return }
        if user.isAdmin {
            report.add(.good("\(server.credentials.user) is an administrator: update can start a scan"))
        } else {
            report.add(.good("\(server.credentials.user) is no administrator: the server scans by itself"))
        }
        if !user.mayStream {
            report.add(
                .bad("\(server.credentials.user) may not stream", "Allow it in the server's settings of that user")
            )
        }
    }

    private func tellFolders(_ client: SubsonicClient) async {
        guard let folders = try? await client.musicFolders() else { return }
        if folders.isEmpty {
            report.add(.notice("The server names no music folders"))
        } else {
            let names = folders.prefix(10).map { $0.name ?? $0.id }.joined(separator: ", ")
            report.add(.good("Music folders: \(names)\(folders.count > 10 ? " and more" : "")"))
        }
    }

    private func tellExtensions(_ client: SubsonicClient) async {
        guard let extensions = try? await client.openSubsonicExtensions(), !extensions.isEmpty else { return }
        report.add(.good("OpenSubsonic extensions: \(extensions.map(\.name).sorted().joined(separator: ", "))"))
    }

    // MARK: Sound

    private func tellSong(_ client: SubsonicClient) async {
        let song: Song?
        do throws(SubsonicError) {
            song = try await firstSong(client)
        } catch {
            report.add(.bad("The songs cannot be listed: \(error)", "Look at the server's log"))
            return
        }
        guard let song else {
            report.add(.notice("The library is empty", "Let the server scan its music"))
            return
        }
        do throws(SubsonicError) {
            try await SongSample.fetch(client.streamRequest(songID: song.id), from: transport)
            report.add(.good("A song's first bytes come"))
            let hasRanges = try await SongSample.fetch(
                client.streamRequest(songID: song.id, rangeStart: 1),
                from: transport
            )
            if hasRanges {
                report.add(.good("Parts of songs can be fetched"))
            } else {
                report.add(
                    .notice(
                        "The server sends whole songs only",
                        "Seeking waits until the place has come; a proxy in front may drop the header Range"
                    )
                )
            }
        } catch {
            report.add(.bad("A song cannot be fetched: \(error)", ServerAdvice.song))
        }
    }

    private func firstSong(_ client: SubsonicClient) async throws(SubsonicError) -> Song? {
        for query in ["", "\"\""] {
            do throws(SubsonicError) {
                let found = try await client.search3(SearchPage(query: query, songs: 0..<1))
                if let song = found.songs.first { return song }
            } catch {
                // Some cannot search for nothing.
                if case .transport = error { throw error }
            }
        }
        guard let album = try await client.albumList2(type: .newest, size: 1).first else { return nil }
        return try await client.album(id: album.id)?.songs.first
    }
}
