import Glibc
import Testing

@testable import ShelvMPD

/// Command lines of the configuration.
@Suite struct ShellCommandTests {
    @Test func signalsReachItWhateverThisThreadHoldsBack() throws {
        var blocked = sigset_t()
        var before = sigset_t()
        unsafe sigemptyset(&blocked)
        unsafe sigaddset(&blocked, SIGTERM)
        unsafe pthread_sigmask(SIG_BLOCK, &blocked, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        let result = try ShellCommand.run("kill -TERM $$; echo alive", timeout: 10_000, limit: 100)
        #expect(result == ShellCommand.Result(output: [], end: .signalled(SIGTERM)))
    }
}
