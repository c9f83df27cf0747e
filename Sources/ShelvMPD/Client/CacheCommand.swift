extension Subcommand {
    /// Shows how much the cache takes, or empties it.
    static let cache = Subcommand(
        name: "cache",
        usage: ["[--config FILE] [--clear songs|covers|all]"],
        summary: "show how much songs and covers take in cache_directory",
        options: [
            CommandOption(
                name: "--clear",
                value: "KIND",
                choices: CacheOverview.Clearing.allCases.map(\.rawValue),
                summary: "remove them first"
            )
        ]
    ) { call in
        let overview = CacheOverview(try call.configuration())
        if let clearing = call.invocation["--clear"].flatMap(CacheOverview.Clearing.init) {
            try overview.clear(clearing)
        }
        call.console.write(overview.text)
        return .success
    }
}
