extension Subcommand {
    /// Shows the queue with its tiers.
    static let queue = Subcommand(
        name: "queue",
        usage: ["[--config FILE] [--partition NAME]"],
        summary: "show the queue of the running server with its tiers",
        details: "The sections are history, current song, Play Next, album queue and user queue.",
        options: [
            CommandOption(
                name: "--partition",
                value: "NAME",
                summary: "that of this partition instead of the default one"
            )
        ]
    ) { call in
        let partition = call.invocation["--partition"]
        call.console.write(try QueueOverview.fetch(by: try call.configuration(), partition).text)
        return .success
    }
}
