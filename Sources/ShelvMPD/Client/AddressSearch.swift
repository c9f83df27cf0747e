import SubsonicKit

/// Finds the server that a user means among the addresses that may be meant.
struct AddressSearch {
    let transport: CurlTransport
    var connection = ConnectionSettings()

    struct Found: Sendable {
        /// Where a Subsonic server answers.
        var url: ServerURL
        /// What was tried for it.
        var asked: String
    }

    /// The best address with a server, else nil.
    ///
    /// All are asked at once, so that firewalls that answer nothing cost their patience once; then, where something else
    /// answers, its usual folders.
    func search(_ guess: AddressGuess) async -> Found? {
        let first = await ask(guess.addresses)
        if let found = first.compactMap(\.found).first { return found }
        let folders = first.filter(\.answers).flatMap { place in AddressGuess.paths.map { place.address + $0 } }
        return await ask(Array(folders.prefix(40))).compactMap(\.found).first
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
                if let best = places.indices.first(where: { open.contains($0) || places[$0].found != nil }),
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
        if answer.server != nil { place.found = Found(url: answer.url ?? url, asked: address) }
        return place
    }
}
