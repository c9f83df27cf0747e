import Testing

@testable import Library

/// Which pages are asked for, against lists that behave like those of real servers.
struct PageCursorTests {
    /// A list of so many items, behind a server.
    private struct List {
        var count: Int
        var most = Int.max
        var ignoresOffset = false
        var ignoresCount = false

        func items(_ page: PageCursor.Page) -> Range<Int> {
            let start = ignoresOffset ? 0 : min(page.offset, count)
            return start..<(ignoresCount ? count : min(count, start + min(page.count, most)))
        }
    }

    /// Reads a whole list with so many requests at once, answered in an order that a seed chooses.
    private func read(
        _ list: List,
        pageSize: Int = 10,
        width: Int,
        seed: UInt64 = 1
    ) -> (items: Set<Int>, requests: Int, cursor: PageCursor) {
        var cursor = PageCursor(pageSize: pageSize)
        var found: Set<Int> = []
        var open: [PageCursor.Page] = []
        var requests = 0
        var random = seed
        while true {
            while open.count < width, let page = cursor.next() {
                open.append(page)
                requests += 1
            }
            if open.isEmpty { break }
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let page = open.remove(at: Int((random >> 33) % UInt64(open.count)))
            let items = list.items(page)
            let before = found.count
            found.formUnion(items)
            cursor.received(page, items: items.count, new: found.count - before)
            if requests > 10_000 { break }
        }
        return (found, requests, cursor)
    }

    @Test func readsListsOfEveryLengthWithAnyNumberOfRequestsAtOnce() {
        for count in 0...45 {
            for width in 1...5 {
                for seed in UInt64(1)...3 {
                    let (items, requests, cursor) = read(List(count: count), width: width, seed: seed)
                    #expect(items.count == count, "\(count) items, \(width) at once")
                    #expect(cursor.isFinished)
                    #expect(requests <= count / 10 + 2 + width, "\(requests) for \(count) items, \(width) at once")
                }
            }
        }
    }

    @Test func findsOutHowMuchAServerGivesAtMost() {
        for count in [3, 4, 5, 39, 40, 41] {
            for width in 1...4 {
                let (items, requests, _) = read(List(count: count, most: 4), width: width)
                #expect(items.count == count)
                #expect(requests <= count / 4 + 3 + width)
            }
        }
    }

    @Test func takesMoreThanItAskedFor() {
        let (items, requests, _) = read(List(count: 100, ignoresCount: true), width: 3)
        #expect(items.count == 100)
        #expect(requests <= 4)
    }

    @Test func noticesAServerThatRepeatsItself() {
        let (items, requests, cursor) = read(List(count: 100, ignoresOffset: true), width: 2)
        #expect(items.count == 10)
        #expect(cursor.isRepeating)
        #expect(cursor.isFinished)
        #expect(requests < 10)
    }

    @Test func asksForAFailedPageInHalves() {
        var cursor = PageCursor(pageSize: 500)
        let page = { (offset: Int, count: Int) in PageCursor.Page(offset: offset, count: count) }
        var asked = [cursor.next()]
        var isHalved = [cursor.failed(page(0, 500))]
        asked.append(cursor.next())
        cursor.received(page(0, 250), items: 250, new: 250)
        asked += [cursor.next(), cursor.next()]
        isHalved += [cursor.failed(page(500, 250)), cursor.failed(page(250, 250))]
        asked.append(cursor.next())
        #expect(asked == [page(0, 500), page(0, 250), page(250, 250), page(500, 250), page(250, 62)])
        #expect(isHalved == [true, true, true])
        var smallest = PageCursor(pageSize: 50)
        _ = smallest.next()
        let isHalvedAgain = smallest.failed(page(0, 50))
        #expect(!isHalvedAgain)
    }

    @Test func goesOnAfterAnInterruption() {
        var cursor = PageCursor(pageSize: 10)
        cursor.resume(after: [
            (.init(offset: 20, count: 10), 10), (.init(offset: 0, count: 10), 10), (.init(offset: 40, count: 10), 7),
            (.init(offset: 60, count: 10), 0),
        ])
        var asked: [PageCursor.Page] = []
        for _ in 0..<3 { if let page = cursor.next() { asked.append(page) } }
        #expect(
            Set(asked) == [.init(offset: 10, count: 10), .init(offset: 30, count: 10), .init(offset: 47, count: 10)]
        )
    }

    @Test func behindTheExpectedEndOnePageIsAskedFor() {
        var cursor = PageCursor(pageSize: 10, expected: 25)
        let first = cursor.next()
        #expect(first == .init(offset: 0, count: 10))
        cursor.received(.init(offset: 0, count: 10), items: 10, new: 10)
        #expect(cursor.next()?.offset == 10)
        #expect(cursor.next()?.offset == 20)
        #expect(cursor.next()?.offset == 30)
        #expect(cursor.next() == nil)
        // There is more than was expected.
        cursor.received(.init(offset: 30, count: 10), items: 10, new: 10)
        #expect(cursor.next()?.offset == 40)
        #expect(cursor.next() == nil)
        for offset in [10, 20] { cursor.received(.init(offset: offset, count: 10), items: 10, new: 10) }
        #expect(!cursor.isFinished)
        cursor.received(.init(offset: 40, count: 10), items: 0, new: 0)
        #expect(cursor.isFinished)
    }
}
