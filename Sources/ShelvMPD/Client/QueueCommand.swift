extension Subcommand {
    /// Shows the queue with its tiers.
    static let queue = Subcommand(
        name: "queue",
        usage: ["[--config FILE]"],
        summary: "show the queue of the running server with its tiers",
        details: "The sections are history, current song, Play Next, album queue and user queue."
    ) { call in
        call.console.write(try QueueOverview.fetch(by: try call.configuration()).text)
        return .success
    }
}
