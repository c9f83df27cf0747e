import SubsonicKit

/// Fetches the pages of one list, several at once, and hands them over one at a time.
///
/// What has come is read while the next pages are on their way: a server that waits for us to read is a slow one.
struct PageRun<Answer: Sendable, Content: Sendable>: Sendable {
    /// Requests at once, once the first page has come.
    let width: Int
    /// Fetches one page, repetitions included. Runs outside of the caller's isolation, several at once.
    let fetch: @Sendable (PageCursor.Page) async throws(SubsonicError) -> Answer
    /// Makes of an answer what is wanted of it. Runs outside of the caller's isolation, several at once.
    let read: @Sendable (PageCursor.Page, Answer) -> Content

    /// Answers that may wait to be read: they are the largest things in a sync.
    private static var unreadAnswers: Int { 4 }

    /// What a child task brings.
    private enum Event: Sendable {
        case answer(PageCursor.Page, Result<Answer, SubsonicError>)
        case page(PageCursor.Page, Content)
        case besideDone
    }

    /// Runs until the list is complete.
    ///
    /// - Parameters:
    ///   - cursor: Decides what is asked for.
    ///   - take: Takes a page in, and says how many items it held and how many of them were new.
    ///   - beside: Asked after each page for work to be done meanwhile; one piece at a time.
    /// - Throws: The `SubsonicError` of a page that cannot be had in any size; what `take` throws; cancellation.
    func run(
        _ cursor: inout PageCursor,
        take: (PageCursor.Page, Content) throws -> (items: Int, new: Int),
        beside: () -> (@Sendable () async -> Void)? = { nil }
    ) async throws {
        let width = width
        let fetch = fetch
        let read = read
        try await withThrowingTaskGroup(of: Event.self) { group in
            var running = 0
            var reading = 0
            var isBusyBeside = false
            var failure: SubsonicError?
            while true {
                while failure == nil, running < width, reading < Self.unreadAnswers, let page = cursor.next() {
                    running += 1
                    group.addTask {
                        do throws(SubsonicError) {
                            return .answer(page, .success(try await fetch(page)))
                        } catch {
                            return .answer(page, .failure(error))
                        }
                    }
                }
                guard let event = try await group.next() else { break }
                switch event {
                case .besideDone: isBusyBeside = false
                case .answer(let page, .success(let answer)):
                    running -= 1
                    reading += 1
                    // Of lower priority, so that no request waits for a processor.
                    group.addTask(priority: .utility) { .page(page, read(page, answer)) }
                    continue
                case .page(let page, let content):
                    reading -= 1
                    let (items, new) = try take(page, content)
                    cursor.received(page, items: items, new: new)
                case .answer(let page, .failure(let error)):
                    running -= 1
                    if failure == nil, !(Self.mayHelpToAskForLess(error) && cursor.failed(page)) {
                        // What has come is not asked for again the next time.
                        failure = error
                        group.cancelAll()
                    }
                }
                try Task.checkCancellation()
                if let failure {
                    if running == 0, reading == 0 { throw failure }
                    continue
                }
                if cursor.isFinished, running == 0, reading == 0 {
                    // What is shown meanwhile is of no use any more.
                    group.cancelAll()
                    break
                }
                if !isBusyBeside, !cursor.isFinished, let work = beside() {
                    isBusyBeside = true
                    group.addTask {
                        await work()
                        return .besideDone
                    }
                }
            }
        }
    }

    /// A proxy's limits of size and time, or one song that breaks the page around it; not a server that is away or refuses.
    private static func mayHelpToAskForLess(_ error: SubsonicError) -> Bool {
        switch error {
        case .transport(let error): error.step == .receive
        case .http(let status, _): status >= 500
        case .decoding: true
        case .server(let failure): failure.code == 0
        }
    }
}

extension PageRun where Answer == Content {
    /// Of pages that are small enough to be read where they come.
    init(width: Int, fetch: @escaping @Sendable (PageCursor.Page) async throws(SubsonicError) -> Content) {
        self.init(width: width, fetch: fetch, read: { $1 })
    }
}
