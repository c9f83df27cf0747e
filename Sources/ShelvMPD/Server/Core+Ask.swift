extension Core {
    /// What `question` finds on the core; nil once the core has ended, or when the task is cancelled.
    nonisolated func ask<Answer: Sendable>(_ question: @escaping @Sendable (Server) -> Answer) async -> Answer? {
        let (stream, answer) = AsyncStream.makeStream(of: Answer.self)
        post(question, answer)
        for await value in stream { return value }
        return nil
    }

    /// Nobody but what is posted holds on to who answers.
    private nonisolated func post<Answer: Sendable>(
        _ question: @escaping @Sendable (Server) -> Answer,
        _ answer: AsyncStream<Answer>.Continuation
    ) {
        let answerer = Answerer(answer: answer)
        post { server in answerer.answer.yield(question(server)) }
    }
}

/// Lets the asker go on when it goes, having answered or not.
private final class Answerer<Answer: Sendable>: Sendable {
    let answer: AsyncStream<Answer>.Continuation

    init(answer: AsyncStream<Answer>.Continuation) { self.answer = answer }

    deinit { answer.finish() }
}
