extension Subcommand {
    /// Updates the library, and shows how far it is.
    static let sync = Subcommand(
        name: "sync",
        usage: ["[--config FILE]"],
        summary: "let the running server update its library, and show how far it is"
    ) { call in
        let console = call.console
        try SyncProgress.follow(
            by: try call.configuration(),
            isTerminal: console.hasScreen,
            columns: console.columns,
            write: console.write
        )
        return .success
    }
}
