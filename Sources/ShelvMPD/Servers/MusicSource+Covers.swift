import Library
import Logging
import SubsonicKit

extension MusicSources {
    /// A server's pictures, as the core shows them. For the core to own.
    func covers(of id: ServerID, _ home: MusicServer.Reference, _ configuration: Configuration, log: Log) -> Covers {
        let size = configuration.coverSize
        let limit = configuration.coverCacheLimit
        return Covers(
            files: limit == 0
                ? nil
                : CoverFiles(
                    directory: "\(configuration.cacheDirectory)/covers/\(id.text)",
                    size: size,
                    limit: limit,
                    log: log
                ),
            post: { action in home.post { $0.covers.map(action) } },
            // Lives as long as the request, whose time is limited.
            fetch: { [self] source, whenDone in
                guard let server = self[id] else { return whenDone(.failed) }
                let fetcher = CoverFetcher(
                    client: server.client,
                    transport: server.apiTransport,
                    size: size,
                    log: log
                )
                Task { whenDone(await fetcher.fetch(source)) }
            }
        )
    }
}
