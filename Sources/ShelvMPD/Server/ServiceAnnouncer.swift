import CAvahi
import Glibc
import Logging
import Synchronization

/// Announces the server on the local network (DNS-SD, `_mpd._tcp`), so that clients find it.
///
/// Has a thread of its own: Avahi's daemon is asked over D-Bus, and such calls wait. Neither has to be there; who comes
/// later, or comes back, is asked then.
final class ServiceAnnouncer: Sendable {
    private struct State {
        /// The address of Avahi's loop, to wake it by; nil before the thread has made it, and once it goes.
        var poll: UInt?
        var isStopped = false
    }

    private let state = Mutex(State())
    private let hasEnded = Semaphore()

    /// Begins to announce; returns at once.
    init(name: String, port: Int, log: Log) {
        _ = PlatformThread(name: "announcer") { [self] in
            announce(name, port, log)
            hasEnded.signal()
        }
    }

    /// Takes the announcement back. Returns at once; `waitForEnd` tells when it is done.
    func stop() {
        state.withLock { state in
            state.isStopped = true
            guard let poll = unsafe state.poll.flatMap({ unsafe OpaquePointer(bitPattern: $0) }) else { return }
            unsafe avahi_simple_poll_wakeup(poll)
        }
    }

    /// Waits until it is taken back, but not for ever.
    func waitForEnd(atMost limit: Duration) { hasEnded.wait(atMost: limit) }

    private var isStopped: Bool { state.withLock { $0.isStopped } }

    private func announce(_ name: String, _ port: Int, _ log: Log) {
        guard let poll = unsafe avahi_simple_poll_new() else { return }
        let address = UInt(bitPattern: poll)
        state.withLock { $0.poll = address }
        let announcement = unsafe Announcement(poll, name, port, log)
        while !isStopped, announcement.goOn() {}
        announcement.disconnect()
        state.withLock { $0.poll = nil }
        unsafe avahi_simple_poll_free(poll)
    }
}

/// What is announced at the moment, and the connection to Avahi's daemon. Of the announcer's thread.
@safe private final class Announcement {
    private let poll: OpaquePointer
    private let port: Int
    private let log: Log
    private var name: String
    private var client: OpaquePointer?
    private var group: OpaquePointer?
    /// The connection is of no use any more; it must not be freed inside of its own callback.
    private var isBroken = false
    private var failures = 0

    private static let type = "_mpd._tcp"
    /// Seconds after which a bus that was away is looked for; longer each time.
    private static let longestWait = 30

    init(_ poll: OpaquePointer, _ name: String, _ port: Int, _ log: Log) {
        unsafe self.poll = poll
        self.name = name
        self.port = port
        self.log = log
    }

    /// Waits for something to happen and deals with it. Returns false when that is no longer possible.
    func goOn() -> Bool {
        if isBroken { disconnect() }
        let isConnected = unsafe client != nil || connect()
        let wait = isConnected ? -1 : Int32(1000 * min(failures, Self.longestWait))
        return unsafe avahi_simple_poll_iterate(poll, wait) == 0 || errno == EINTR
    }

    /// Looks for the daemon. Returns false when there is no bus; the daemon may come later.
    private func connect() -> Bool {
        var error: CInt = 0
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        let made = unsafe avahi_client_new(
            avahi_simple_poll_get(poll),
            AVAHI_CLIENT_NO_FAIL,
            clientChanged,
            context,
            &error
        )
        guard let made = unsafe made else {
            failures += 1
            if failures == 1 { log.info("The server is not announced: \(text(of: error)); it is tried again") }
            return false
        }
        unsafe client = made
        failures = 0
        return true
    }

    /// Lets go of the daemon, which takes the announcement back.
    func disconnect() {
        isBroken = false
        // Frees the group, too.
        if let old = unsafe client { unsafe avahi_client_free(old) }
        unsafe client = nil
        unsafe group = nil
    }

    fileprivate func changed(_ client: OpaquePointer, _ state: AvahiClientState) {
        switch state {
        case AVAHI_CLIENT_S_RUNNING: unsafe publish(client)
        case AVAHI_CLIENT_S_COLLISION, AVAHI_CLIENT_S_REGISTERING:
            // The machine changes its name.
            if let group = unsafe group { unsafe avahi_entry_group_reset(group) }
        case AVAHI_CLIENT_FAILURE:
            log.info("The server is not announced any more: \(unsafe text(of: avahi_client_errno(client)))")
            isBroken = true
        default: break
        }
    }

    fileprivate func changed(_ group: OpaquePointer, _ state: AvahiEntryGroupState) {
        guard let client = unsafe avahi_entry_group_get_client(group) else { return }
        switch state {
        case AVAHI_ENTRY_GROUP_ESTABLISHED: log.info("Announced as \"\(name)\"")
        case AVAHI_ENTRY_GROUP_COLLISION:
            rename()
            unsafe publish(client)
        case AVAHI_ENTRY_GROUP_FAILURE: unsafe complain(avahi_client_errno(client))
        default: break
        }
    }

    private func publish(_ client: OpaquePointer) {
        if unsafe group == nil {
            let context = unsafe Unmanaged.passUnretained(self).toOpaque()
            unsafe group = avahi_entry_group_new(client, groupChanged, context)
        }
        guard let group = unsafe group else { return unsafe complain(avahi_client_errno(client)) }
        unsafe avahi_entry_group_reset(group)
        var result: CInt
        repeat {
            result = unsafe shelv_avahi_add(group, name, Self.type, UInt16(clamping: port))
            if shelv_avahi_is_collision(result) != 0 { rename() }
        } while shelv_avahi_is_collision(result) != 0
        if result >= 0 { result = unsafe avahi_entry_group_commit(group) }
        if result < 0 { complain(result) }
    }

    /// Somebody else has the name.
    private func rename() {
        guard let other = unsafe avahi_alternative_service_name(name) else { return }
        name = unsafe String(cString: other)
        unsafe avahi_free(other)
    }

    private func complain(_ error: CInt) { log.notice("The server cannot be announced: \(text(of: error))") }

    private func text(of error: CInt) -> String {
        unsafe avahi_strerror(error).map { unsafe String(cString: $0) } ?? "error \(error)"
    }
}

private func clientChanged(_ client: OpaquePointer?, _ state: AvahiClientState, _ context: UnsafeMutableRawPointer?) {
    guard let client = unsafe client, let context = unsafe context else { return }
    unsafe Unmanaged<Announcement>.fromOpaque(context).takeUnretainedValue().changed(client, state)
}

private func groupChanged(
    _ group: OpaquePointer?,
    _ state: AvahiEntryGroupState,
    _ context: UnsafeMutableRawPointer?
) {
    guard let group = unsafe group, let context = unsafe context else { return }
    unsafe Unmanaged<Announcement>.fromOpaque(context).takeUnretainedValue().changed(group, state)
}

/// What a service is called on the network.
enum ServiceName {
    /// The most bytes that a label of DNS holds.
    static let limit = 63

    /// A name with `%h` replaced by the machine's, cut to what fits.
    static func expand(_ pattern: String, host: String) -> String {
        var name = pattern
        if let place = name.firstRange(of: "%h") { name.replaceSubrange(place, with: host) }
        while name.utf8.count > limit { name.removeLast() }
        return name
    }

    /// The machine's name, without its domain.
    static func host() -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&buffer, buffer.count - 1) == 0 else { return "localhost" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
