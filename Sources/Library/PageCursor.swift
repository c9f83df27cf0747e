/// Decides which pages of a long list to ask for: pure, fed with what came back.
///
/// The first page is asked alone, to learn how many items the server gives at most (Funkwhale: 100, whatever is asked).
/// After that as many as the caller likes are asked at once. A list ends at the first *empty* page, because a short one may
/// come in the middle (LMS, Funkwhale); where a page was short, its rest is asked for.
struct PageCursor: Sendable, Equatable {
    /// A range of positions in the list.
    struct Page: Sendable, Hashable {
        var offset: Int
        var count: Int
    }

    /// The smallest page that is tried when larger ones fail.
    static let smallestPage = 50

    private(set) var pageSize: Int
    /// Positions below were asked for at least once.
    private var frontier = 0
    /// Where nothing was found any more.
    private var end: Int?
    /// Parts of pages that did not come.
    private var gaps: [Page] = []
    private var asked: Set<Page> = []
    /// Items of the first page when it was short: perhaps the most that the server gives.
    private var suspectedCap: Int?
    private var isWarm = false
    /// Pages in a row that held nothing new.
    private var stalePages = 0
    /// The server gives the same items for every position.
    private(set) var isRepeating = false

    /// How many items there should be, if that is known. What lies behind is asked for one page at a time.
    private let expected: Int?

    init(pageSize: Int, expected: Int? = nil) {
        self.pageSize = pageSize
        self.expected = expected
    }

    /// Everything was asked for and has come.
    var isFinished: Bool { end != nil && asked.isEmpty && gaps.allSatisfy { !isBeforeEnd($0.offset) } }

    /// The next page to ask for; nil when there is none before another one has come.
    mutating func next() -> Page? {
        while let gap = gaps.popLast() {
            if isBeforeEnd(gap.offset) { return ask(gap) }
        }
        guard end == nil, isWarm || asked.isEmpty else { return nil }
        if let expected, frontier >= expected, asked.contains(where: { $0.offset >= expected }) { return nil }
        let page = Page(offset: frontier, count: pageSize)
        frontier += pageSize
        return ask(page)
    }

    /// A page came.
    ///
    /// - Parameters:
    ///   - items: how many items it held.
    ///   - new: how many of them had not come before.
    mutating func received(_ page: Page, items: Int, new: Int) {
        asked.remove(page)
        if items == 0 {
            end = min(end ?? .max, page.offset)
            isWarm = true
            return
        }
        noteNews(new, at: page)
        if items > page.count {
            // It does not count, so more than was asked for is there already.
            frontier = max(frontier, page.offset + items)
            isWarm = true
        } else if isWarm {
            if items < page.count { gaps.append(Page(offset: page.offset + items, count: page.count - items)) }
        } else if items == page.count {
            isWarm = true
        } else if let cap = suspectedCap {
            if items == cap { pageSize = cap }
            isWarm = true
            frontier = page.offset + items
        } else {
            suspectedCap = items
            frontier = page.offset + items
        }
    }

    /// A page failed for good: it is asked for again in halves.
    ///
    /// - Returns: False if it is too small for that.
    mutating func failed(_ page: Page) -> Bool {
        asked.remove(page)
        guard page.count > Self.smallestPage else { return false }
        pageSize = max(Self.smallestPage, min(pageSize, page.count) / 2)
        var start = page.offset
        var halves: [Page] = []
        while start < page.offset + page.count {
            let count = min(pageSize, page.offset + page.count - start)
            halves.append(Page(offset: start, count: count))
            start += count
        }
        gaps += halves.reversed()
        return true
    }

    /// Goes on after an earlier run that received these pages, in any order; what is missing between them is asked for.
    mutating func resume(after pages: [(page: Page, items: Int)]) {
        for (page, items) in pages.sorted(by: { $0.page.offset < $1.page.offset }) where items > 0 {
            while frontier < page.offset {
                let count = min(pageSize, page.offset - frontier)
                gaps.append(Page(offset: frontier, count: count))
                frontier += count
            }
            frontier = max(frontier, page.offset + items)
            isWarm = true
        }
    }

    private func isBeforeEnd(_ offset: Int) -> Bool { end.map { offset < $0 } ?? true }

    private mutating func ask(_ page: Page) -> Page {
        asked.insert(page)
        return page
    }

    private mutating func noteNews(_ new: Int, at page: Page) {
        stalePages = new == 0 ? stalePages + 1 : 0
        if stalePages >= 3 {
            end = min(end ?? .max, page.offset)
            isRepeating = true
            isWarm = true
        }
    }
}
