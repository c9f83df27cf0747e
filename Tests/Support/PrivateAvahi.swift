import Glibc

/// A system bus and an Avahi of a test's own, on loopback alone.
public final class PrivateAvahi {
    /// For programs that shall find them.
    public let environment: [String: String]
    private let folder: TemporaryFolder
    private var bus: TestProcess?
    private var daemon: TestProcess?

    /// Prepares both; nothing runs yet.
    public init(in folder: TemporaryFolder) {
        self.folder = folder
        environment = ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(folder.path("bus"))"]
    }

    deinit { stop() }

    /// Ends both.
    public func stop() {
        stopDaemon()
        bus?.send(SIGKILL)
    }

    /// What they complained about.
    public var errors: String { (bus?.errors ?? "") + (daemon?.errors ?? "") }

    /// Starts the bus; false when it does not come.
    public func startBus() -> Bool {
        let rules = folder.write(
            "bus.conf",
            """
            <busconfig><type>system</type><listen>unix:path=\(folder.path("bus"))</listen><auth>EXTERNAL</auth>
            <policy context="default"><allow user="*"/><allow own="*"/><allow send_type="method_call"/>
            <allow send_destination="*"/><allow receive_sender="*"/></policy></busconfig>
            """
        )
        bus = TestProcess(["dbus-daemon", "--nofork", "--config-file=\(rules)"])
        return waitUntil { unsafe access(self.folder.path("bus"), R_OK) == 0 }
    }

    /// Starts the daemon; false when it does not come.
    public func startDaemon() -> Bool {
        // It keeps its number in a fixed place, where that of the machine may stand: it gets another `/run`, if it can.
        let apart =
            "unshare -m true 2>&- && exec unshare -m sh -c 'mount -t tmpfs none /run && exec \"$@\"' x \"$@\"; exec \"$@\""
        let settings = folder.write("avahi.conf", "[server]\nallow-interfaces=lo\nhost-name=test\nenable-dbus=yes\n")
        let words = ["avahi-daemon", "--no-drop-root", "--no-rlimits", "--no-chroot", "-f", settings]
        let daemon = TestProcess(["sh", "-c", apart, "x"] + words, environment: environment)
        self.daemon = daemon
        return waitUntil { daemon?.errors.contains("Server startup complete") == true }
    }

    /// Ends the daemon without a word.
    public func stopDaemon() {
        daemon?.send(SIGKILL)
        _ = daemon?.wait(milliseconds: 5000)
        daemon = nil
    }
}
