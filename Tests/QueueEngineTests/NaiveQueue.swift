@testable import QueueEngine

/// The rules of the three tiers a second time, written for clarity alone: four lists and no positions. Without random, the
/// commit window and chance.
struct NaiveQueue {
    struct Item: Equatable {
        var key: UInt32
        var priority: UInt8 = 0
    }

    var history: [Item] = []
    var current: Item?
    var playNext: [Item] = []
    var album: [Item] = []
    var user: [Item] = []
    var state = PlayState.stopped
    var options = QueueOptions()
    var hasStarted = false
    var run: [UInt32] = []
    var failures = 0

    var all: [Item] { history + (current.map { [$0] } ?? []) + playNext + album + user }
    var count: Int { all.count }
    var place: Int? { current == nil ? nil : history.count }

    /// Everything that is compared.
    var picture: String {
        func names(_ items: [Item]) -> String { items.map { "\($0.key):\($0.priority)" }.joined(separator: " ") }
        return
            "\(state) \(names(history)) [\(names(current.map { [$0] } ?? []))] | \(names(playNext)) | \(names(album)) | "
            + names(user)
    }

    mutating func perform(_ operation: Operation, _ nextKey: inout UInt32) {
        let range = operation.span(count)
        switch operation.kind {
        case .append, .insert, .insertAfter, .insertBefore: add(operation, &nextKey)
        case .delete: delete(range)
        case .clear: if operation.c % 10 == 0 { clear() }
        case .move: move(range, to: operation.c % (count + 1))
        case .moveAfter: moveRelative(operation, range)
        case .swap: swap(operation.a % (count + 1), operation.b % (count + 1))
        case .prio: setPriority([0, 1, 1, 5, 9, 255][operation.c % 6], range)
        case .play: play(operation.a % (count + 1), .playing)
        case .seek: seek(operation.a % (count + 1))
        case .resume: resume()
        case .pause: if state != .stopped { pause([nil, true, false][operation.a % 3]) }
        case .stop: state = .stopped
        case .next: if state != .stopped { failures = 0; advance(natural: false, consuming: true) }
        case .previous: if state != .stopped { play(max(0, history.count - 1), .playing) }
        case .end, .flow: end(operation.kind)
        case .fail: fail()
        case .transportFail: if state == .playing { state = .paused }
        case .started: failures = 0
        case .repeat: options.repeat = operation.a % 2 == 0
        case .single: options.single = OneShotMode(rawValue: UInt8(operation.a % 3)) ?? .off
        case .consume: options.consume = OneShotMode(rawValue: UInt8(operation.a % 3)) ?? .off
        case .shuffle, .commit, .random: break
        }
        if all.isEmpty { hasStarted = false }
    }

    // MARK: Edits

    private mutating func add(_ operation: Operation, _ nextKey: inout UInt32) {
        let items = (0..<UInt32(operation.songs)).map { Item(key: nextKey + $0) }
        let position: Int
        switch operation.kind {
        case .insert: position = operation.a % (count + 1)
        case .insertAfter:
            guard let place, operation.a % 4 <= count - place - 1 else { return skip(&nextKey, operation) }
            position = place + 1 + operation.a % 4
        case .insertBefore:
            guard let place, operation.a % 3 <= place else { return skip(&nextKey, operation) }
            position = place - operation.a % 3
        default:
            if hasStarted { user += items } else { album += items }
            run += items.map(\.key)
            nextKey += UInt32(operation.songs)
            return
        }
        run = []
        land(items, at: position)
        nextKey += UInt32(operation.songs)
    }

    private func skip(_ nextKey: inout UInt32, _ operation: Operation) {
        nextKey += UInt32(operation.songs)
    }

    /// Explicit positions are obeyed; the block decides the tier.
    private mutating func land(_ items: [Item], at position: Int) {
        let plain = items.map { Item(key: $0.key) }
        if current != nil, position <= history.count {
            history.insert(contentsOf: plain, at: position)
            return
        }
        var rest = position - history.count - (current == nil ? 0 : 1)
        if rest <= playNext.count, current != nil || !playNext.isEmpty {
            let priority = rest < playNext.count ? playNext[rest].priority : 1
            playNext.insert(contentsOf: items.map { Item(key: $0.key, priority: priority) }, at: rest)
            return
        }
        rest -= playNext.count
        if rest < album.count || (rest == album.count && !user.isEmpty) || (user.isEmpty && !hasStarted) {
            album.insert(contentsOf: plain, at: rest)
        } else {
            user.insert(contentsOf: plain, at: rest - album.count)
        }
    }

    private mutating func take(_ keys: Set<UInt32>) {
        history.removeAll { keys.contains($0.key) }
        playNext.removeAll { keys.contains($0.key) }
        album.removeAll { keys.contains($0.key) }
        user.removeAll { keys.contains($0.key) }
    }

    private mutating func delete(_ range: Range<Int>) {
        guard !range.isEmpty else { return }
        run = []
        let keys = Set(all[range].map(\.key))
        take(keys)
        guard let gone = current, keys.contains(gone.key) else { return }
        let repeatsOne = options.single != .off && options.repeat && options.consume == .off && playNext.isEmpty
        let wasPlaying = state == .playing
        current = nil
        if state == .stopped || repeatsOne {
            state = .stopped
            fallIntoAlbum()
            return
        }
        state = .stopped
        if let next = popNext() {
            current = next
        } else if options.repeat, let first = history.first {
            album = Array(history.dropFirst())
            history = []
            current = first
        } else {
            fallIntoAlbum()
            return
        }
        if wasPlaying { begin(.playing) }
    }

    private mutating func clear() {
        self = NaiveQueue(options: options)
    }

    private mutating func move(_ range: Range<Int>, to target: Int) {
        guard range.lowerBound < count, target <= count - range.count, target != range.lowerBound else { return }
        run = []
        let items = Array(all[range])
        if let place, range.contains(place), let moving = current {
            var line = all.map { (item: $0, tier: tier(of: $0)) }
            let block = Array(line[range])
            line.removeSubrange(range)
            line.insert(contentsOf: block, at: target)
            normalize(line, current: moving)
        } else {
            take(Set(items.map(\.key)))
            land(items, at: target)
        }
    }

    private mutating func moveRelative(_ operation: Operation, _ range: Range<Int>) {
        guard let place, range.lowerBound < count, !range.contains(place) else { return }
        let anchor = place >= range.upperBound ? place - range.count : place
        let distance = operation.c % 3
        let target = operation.c % 2 == 0 ? anchor + 1 + distance : anchor - distance
        guard target >= 0, target <= count - range.count else { return }
        move(range, to: target)
    }

    private func tier(of item: Item) -> Tier {
        playNext.contains(item) ? .playNext : user.contains(item) ? .userQueue : .albumQueue
    }

    /// “All up to the last Play Next label are Play Next, all from the first user queue label behind that are user queue.”
    private mutating func normalize(_ line: [(item: Item, tier: Tier)], current moving: Item) {
        let place = line.firstIndex { $0.item.key == moving.key } ?? 0
        history = line[..<place].map { Item(key: $0.item.key) }
        current = moving
        let upcoming = Array(line[(place + 1)...])
        let playNextEnd = (upcoming.lastIndex { $0.tier == .playNext } ?? -1) + 1
        playNext = upcoming[..<playNextEnd].map { Item(key: $0.item.key, priority: $0.item.priority) }
        for index in playNext.indices.reversed() {
            let behind = index + 1 < playNext.count ? playNext[index + 1].priority : 1
            playNext[index].priority = max(behind, playNext[index].priority)
        }
        let rest = Array(upcoming[playNextEnd...])
        let userStart = rest.firstIndex { $0.tier == .userQueue } ?? rest.count
        album = rest[..<userStart].map { Item(key: $0.item.key) }
        user = rest[userStart...].map { Item(key: $0.item.key) }
    }

    private mutating func swap(_ first: Int, _ second: Int) {
        guard first < count, second < count else { return }
        run = []
        var line = all.map { (item: $0, tier: tier(of: $0)) }
        if let place, first == place || second == place, let moving = current {
            line.swapAt(first, second)
            normalize(line, current: moving)
        } else {
            let keys = (line[first].item.key, line[second].item.key)
            (line[first].item.key, line[second].item.key) = (keys.1, keys.0)
            let place = place
            history = place.map { line[..<$0].map(\.item) } ?? []
            let upcoming = line[(place.map { $0 + 1 } ?? 0)...]
            playNext = upcoming.filter { $0.tier == .playNext }.map(\.item)
            album = upcoming.filter { $0.tier == .albumQueue }.map(\.item)
            user = upcoming.filter { $0.tier == .userQueue }.map(\.item)
        }
    }

    private mutating func setPriority(_ priority: UInt8, _ range: Range<Int>) {
        guard !range.isEmpty else { return }
        run = []
        var chosen = all[range].filter { $0.key != current?.key }
        if priority == 0 {
            chosen = chosen.filter { playNext.contains($0) }
            take(Set(chosen.map(\.key)))
            album = chosen.map { Item(key: $0.key) } + album
        } else {
            take(Set(chosen.map(\.key)))
            let place = playNext.firstIndex { $0.priority < priority } ?? playNext.count
            playNext.insert(contentsOf: chosen.map { Item(key: $0.key, priority: priority) }, at: place)
        }
    }

    // MARK: Transport

    private mutating func popNext() -> Item? {
        if !playNext.isEmpty { return playNext.removeFirst() }
        if !album.isEmpty { return album.removeFirst() }
        return user.isEmpty ? nil : user.removeFirst()
    }

    private mutating func begin(_ newState: PlayState) {
        current?.priority = 0
        state = newState
        hasStarted = true
        if let key = current?.key, run.contains(key) { run = [] }
    }

    private mutating func fallIntoAlbum() {
        album = history + album
        history = []
    }

    private mutating func play(_ position: Int, _ newState: PlayState) {
        guard position < count else { return }
        failures = 0
        let target = all[position]
        guard let old = current else {
            let before = all[..<position].filter { !playNext.contains($0) }
            let isPlayNext = playNext.contains(target)
            take([target.key])
            if !isPlayNext {
                take(Set(before.map(\.key)))
                history = before.map { Item(key: $0.key) }
            }
            current = target
            return begin(newState)
        }
        if position < history.count {
            album = Array(history[(position + 1)...]) + [Item(key: old.key)] + album
            history = Array(history[..<position])
        } else if position > history.count {
            let comesAlong = run.contains(target.key)
            let rest = all[(position + 1)...].map { Item(key: $0.key) }
            take([target.key])
            if comesAlong {
                take(Set(rest.map(\.key)))
                album = rest + album
            }
            history.append(Item(key: old.key))
        }
        current = target
        begin(newState)
    }

    private mutating func seek(_ position: Int) {
        guard position < count else { return }
        failures = 0
        if position == place, state != .stopped { return }
        play(position, state == .paused ? .paused : .playing)
    }

    private mutating func resume() {
        switch state {
        case .playing: break
        case .paused: state = .playing
        case .stopped: play(place ?? 0, .playing)
        }
    }

    private mutating func pause(_ shallPause: Bool?) {
        state = shallPause ?? (state == .playing) ? .paused : .playing
    }

    private mutating func end(_ kind: Operation.Kind) {
        guard state != .stopped, current != nil else { return }
        failures = 0
        if options.single != .off, options.repeat, options.consume == .off, playNext.isEmpty {
            // The report of a gapless change comes while playing or paused; the end of a paused entry starts it again.
            return begin(.playing)
        }
        advance(natural: true, consuming: true)
    }

    private mutating func fail() {
        guard state != .stopped, current != nil else { return }
        failures += 1
        let wasPaused = state == .paused
        if failures >= 5 {
            failures = 0
            state = .stopped
            return
        }
        if options.repeat, count == 1 {
            state = .stopped
            fallIntoNothing()
            return
        }
        advance(natural: false, consuming: false)
        if wasPaused, state == .playing { state = .paused }
    }

    private mutating func fallIntoNothing() {
        if let old = current { history.append(Item(key: old.key)) }
        current = nil
        fallIntoAlbum()
        failures = 0
    }

    private mutating func advance(natural: Bool, consuming: Bool) {
        guard let old = current else { return }
        let consumes = consuming && options.consume != .off
        let next = popNext()
        if !consumes || (next == nil && options.repeat && history.isEmpty && options.consume == .off) {
            history.append(Item(key: old.key))
        }
        if consumes, options.consume == .oneShot { options.consume = .off }
        if let next {
            current = next
            let isHeld = natural && options.single != .off && !options.repeat
            begin(isHeld ? .paused : .playing)
            if isHeld, options.single == .oneShot { options.single = .off }
        } else if options.repeat, let first = history.first {
            album = Array(history.dropFirst())
            history = []
            current = first
            begin(.playing)
        } else {
            current = nil
            state = .stopped
            failures = 0
            fallIntoAlbum()
        }
    }
}
