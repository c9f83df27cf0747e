import SubsonicKit

/// Fetches the pages of one list, several at once, and hands them over one at a time.
struct PageRun<Content: Sendable>: Sendable {
    /// Requests at once, once the first page has come.
    let width: Int
    /// Fetches one page, repetitions included. Runs outside of the caller's isolation, several at once.
    let fetch: @Sendable (PageCursor.Page) async throws(SubsonicError) -> Content

    /// What a child task brings.
    private enum Event: Sendable {
        case page(PageCursor.Page, Result<Content, SubsonicError>)
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
        try await withThrowingTaskGroup(of: Event.self) { group in
            var running = 0
            var isBusyBeside = false
            while true {
                while running < width, let page = cursor.next() {
                    running += 1
                    group.addTask {
                        do throws(SubsonicError) {
                            return .page(page, .success(try await fetch(page)))
                        } catch {
                            return .page(page, .failure(error))
                        }
                    }
                }
                guard let event = try await group.next() else { break }
                switch event {
                case .besideDone: isBusyBeside = false
                case .page(let page, .success(let content)):
                    running -= 1
                    let (items, new) = try take(page, content)
                    cursor.received(page, items: items, new: new)
                case .page(let page, .failure(let error)):
                    running -= 1
                    guard Self.mayHelpToAskForLess(error), cursor.failed(page) else { throw error }
                }
                try Task.checkCancellation()
                if cursor.isFinished, running == 0 {
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
