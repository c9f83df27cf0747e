/// First come, first served.
struct WaitingLine<Element> {
    /// Nil where somebody was taken out: what belongs to them is let go of at once.
    private var elements: [Element?] = []
    private var head = 0

    /// Nobody waits.
    init() {}

    /// How many wait.
    var count: Int { elements.count - head }

    mutating func append(_ element: Element) { elements.append(element) }

    /// Takes those out that need not wait any more.
    mutating func remove(where isOver: (Element) -> Bool) {
        elements = elements.dropFirst(head).filter { $0.map { !isOver($0) } ?? false }
        head = 0
    }

    /// Takes out who came first.
    mutating func next() -> Element? {
        guard head < elements.count else { return nil }
        let element = elements[head].take()
        head += 1
        // The room is given back also where somebody always waits.
        if head == elements.count {
            elements.removeAll(keepingCapacity: head <= 1024)
            head = 0
        } else if head >= 1024, head * 2 >= elements.count {
            elements.removeFirst(head)
            head = 0
        }
        return element
    }
}
