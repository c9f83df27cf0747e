import Glibc

@main
enum Main {
    static func main() async {
        switch StartUp.decide(Array(CommandLine.arguments.dropFirst()), .current()) {
        case .end(let status, let output, let errors):
            write(output, to: 1)
            write(errors, to: 2)
            exit(status.rawValue)
        case .ask(.queue, let configuration):
            do {
                write(try QueueOverview.fetch(by: configuration).text, to: 1)
            } catch {
                write("shelvmpd: \(error)\n", to: 2)
                exit(ExitStatus.failure.rawValue)
            }
        case .ask(.sync, let configuration):
            do {
                try SyncProgress.follow(by: configuration, isTerminal: isatty(1) == 1) { write($0, to: 1) }
            } catch {
                write("shelvmpd: \(error)\n", to: 2)
                exit(ExitStatus.failure.rawValue)
            }
        case .ask(.cache, let configuration): showCache(configuration, clearing: nil)
        case .showCache(let configuration, let clearing): showCache(configuration, clearing: clearing)
        case .serve(let configuration, let notices):
            exit(await Launch.serve(configuration, notices: notices).rawValue)
        }
    }

    private static func showCache(_ configuration: Configuration, clearing: CommandLineOptions.Clearing?) {
        let overview = CacheOverview(configuration)
        if let clearing {
            do throws(CacheInUse) {
                try overview.clear(clearing)
            } catch {
                write("shelvmpd: \(error)\n", to: 2)
                exit(ExitStatus.failure.rawValue)
            }
        }
        write(overview.text, to: 1)
    }

    private static func write(_ text: String, to descriptor: CInt) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            rest.removeFirst(count)
        }
    }
}
