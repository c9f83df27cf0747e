import Glibc
import Playback

/// The outputs: is there sound, and who plays it.
struct OutputCheck {
    let configuration: Configuration
    let report: CheckReport

    func run() {
        var needsTap = false
        for output in configuration.outputs {
            let name = "Output \"\(output.name)\""
            switch output.kind {
            case .null: report.add(.good("\(name) is silent"))
            case .device(let driver, let device):
                if output.enabled { tryDevice(name, driver, device, output.server) }
            case .file(let path, _), .fifo(let path, _):
                needsTap = true
                tryPath(name, path)
            case .tcp(let host, let port, _):
                needsTap = true
                if TCPAddress.canConnect(host: host, port: port) {
                    report.add(.good("\(name): a server answers at \(host):\(port)"))
                } else {
                    report.add(
                        .bad(
                            "\(name): nobody answers at \(host):\(port)",
                            "Start snapserver with source = tcp://\(host):\(port)?mode=server…, or change host and port"
                        )
                    )
                }
            case .stream(let stream):
                needsTap = true
                tellStream(name, stream)
            }
        }
        guard needsTap, let problem = SoundTrial.tapProblem(configured: configuration.tapLibrary) else { return }
        report.add(.bad("Outputs that are no device: \(problem)", "Install the whole package, or set tap_library"))
    }

    private func tryDevice(_ name: String, _ driver: String?, _ device: String?, _ server: String?) {
        if let server { unsafe setenv("PULSE_SERVER", server, 1) }
        do throws(PlayerError) {
            let outcome = try SoundTrial.run(driver: driver, device: device)
            report.add(.good(outcome.version))
            if let found = outcome.driver {
                let count = outcome.devices.count
                let others = count > 0 ? "; \(count) \(count == 1 ? "device" : "devices") found" : ""
                report.add(.good("\(name) plays through \(found)\(others)"))
                return
            }
            let known = outcome.devices.map(\.name).prefix(6).joined(separator: ", ")
            let what = driver.map { "\($0)\(device.map { "/\($0)" } ?? "")" } ?? "any sound system"
            report.add(
                .bad(
                    "\(name) cannot play through \(what)",
                    known.isEmpty
                        ? "Look whether PipeWire, PulseAudio or ALSA runs for this user (group audio, XDG_RUNTIME_DIR); or use an "
                            + "output of type httpd, snapcast, fifo or null"
                        : "These devices were found: \(known)"
                )
            )
        } catch {
            report.add(.bad("\(name): \(error)", "Look at type and device of the audio_output; install libmpv"))
        }
    }

    private func tryPath(_ name: String, _ path: String) {
        let place = Files.exists(path) ? path : Files.folder(of: path)
        if unsafe access(place, W_OK) == 0 {
            report.add(.good("\(name) can be written: \(path)"))
        } else {
            report.add(
                .bad("\(name): \(SystemError("cannot write \(place)", code: errno))", "Look at path and its rights")
            )
        }
    }

    private func tellStream(_ name: String, _ stream: StreamOutput) {
        let host = stream.host ?? "localhost"
        if TCPAddress.canConnect(host: host, port: stream.port) {
            report.add(.good("\(name) is served at \(host):\(stream.port), or somebody else has the port"))
        } else {
            report.add(.good("\(name) will be served at \(host):\(stream.port)"))
        }
    }
}
