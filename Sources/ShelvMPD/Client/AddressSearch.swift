import SubsonicKit

/// Finds the server that a user means among the addresses that may be meant.
struct AddressSearch {
    let transport: CurlTransport
    var connection = ConnectionSettings()

    struct Found: Sendable {
        /// Where a Subsonic server answers.
        var url: ServerURL
        /// What was tried for it.
        var asked: ServerURL

        /// Whether it is where it was looked for, or below the same host: a password may go there.
        var isThere: Bool { asked.mayLead(to: url) }
    }

    /// The best address with a server, else nil. One that only leads to another host comes last.
    ///
    /// All are asked at once, so that firewalls that answer nothing cost their patience once; then, where something else
    /// answers, its usual folders.
    func search(_ guess: AddressGuess) async -> Found? {
        let first = await ask(guess.addresses)
        let found = first.compactMap(\.found)
        if let best = found.first(where: \.isThere) ?? found.first { return best }
        let folders = first.filter(\.answers).flatMap { place in AddressGuess.paths.map { place.address + $0 } }
        let below = await ask(Array(folders.prefix(40))).compactMap(\.found)
        return below.first(where: \.isThere) ?? below.first
    }

    private struct Place: Sendable {
        var address: String
        var answers = false
        var found: Found?
    }

    /// In the order of `addresses`.
    private func ask(_ addresses: [String]) async -> [Place] {
        await withTaskGroup(of: (Int, Place).self) { group in
            for (index, address) in addresses.enumerated() {
                group.addTask { (index, await look(at: address)) }
            }
            var places = addresses.map { Place(address: $0) }
            var open = Set(places.indices)
            for await (index, place) in group {
                places[index] = place
                open.remove(index)
                // Nothing better can come any more.
                if let best = places.indices.first(where: { open.contains($0) || places[$0].found?.isThere == true }),
                    !open.contains(best)
                {
                    group.cancelAll()
                    break
                }
            }
            return places
        }
    }

    private func look(at address: String) async -> Place {
        var place = Place(address: address)
        guard let url = try? ServerURL(address),
            let answer = try? await transport.whoAnswers(
                at: url,
                connection,
                connectTimeout: .seconds(4),
                stallTimeout: .seconds(6)
            )
        else { return place }
        place.answers = true
        if answer.server != nil { place.found = Found(url: answer.url ?? url, asked: url) }
        return place
    }
}
