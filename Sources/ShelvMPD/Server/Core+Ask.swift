extension Core {
    /// What `question` finds on the core; nil once the core has ended, or when the task is cancelled.
    nonisolated func ask<Answer: Sendable>(_ question: @escaping @Sendable (Server) -> Answer) async -> Answer? {
        let (stream, answer) = AsyncStream.makeStream(of: Answer.self)
        post { server in
            answer.yield(question(server))
            answer.finish()
        }
        for await value in stream { return value }
        return nil
    }
}
