import Library
import SubsonicKit

extension MusicSource {
    /// The server's pictures, as the core shows them. For the core to own.
    func covers(_ configuration: Configuration, _ core: Core) -> Covers {
        let fetcher = CoverFetcher(client: client, transport: apiTransport, size: configuration.coverSize, log: log)
        let limit = configuration.coverCacheLimit
        return Covers(
            files: limit == 0
                ? nil
                : CoverFiles(
                    directory: "\(configuration.cacheDirectory)/covers/\(id.text)",
                    size: configuration.coverSize,
                    limit: limit,
                    log: log
                ),
            post: { core.post($0) },
            // Lives as long as the request, whose time is limited.
            fetch: { source, whenDone in Task { whenDone(await fetcher.fetch(source)) } }
        )
    }
}
