import CMPV
import Glibc

/// Owns an `mpv_handle`; the only file that speaks libmpv's C. Every call is asynchronous and returns at once.
///
/// `@unchecked Sendable`: made on one thread and then used by the player's thread alone.
@safe final class MPVHandle: @unchecked Sendable {
    private let raw: OpaquePointer
    /// Lives as long as libmpv may open streams.
    private let registry: StreamRegistry
    /// Called by libmpv on its threads when there is something to tell, until `destroy` returns.
    private let waker: Waker

    private final class Waker: Sendable {
        let wake: @Sendable () -> Void

        init(_ wake: @escaping @Sendable () -> Void) { self.wake = wake }
    }

    /// Makes and starts libmpv. Takes some milliseconds.
    ///
    /// - Parameter wake: called on any thread when `next` has something to give; must not block.
    /// - Throws: `PlayerError` naming the option that this libmpv refuses, if it is one.
    init(
        options: [(String, String)],
        registry: StreamRegistry,
        wake: @escaping @Sendable () -> Void
    ) throws(PlayerError) {
        // libmpv refuses to start where numbers are written in another way.
        unsafe setlocale(LC_NUMERIC, "C")
        shelv_silence_audio_libraries()
        guard let handle = unsafe mpv_create() else { throw PlayerError("libmpv cannot be started") }
        unsafe raw = handle
        self.registry = registry
        waker = Waker(wake)
        do throws(PlayerError) {
            for (name, value) in options {
                let code = unsafe mpv_set_option_string(handle, name, value)
                // Builds without scripts, and other versions, have nothing to switch off there.
                if code == MPV_ERROR_OPTION_NOT_FOUND.rawValue { continue }
                try Self.check(code, "option \(name)=\(value)")
            }
            try Self.check(unsafe mpv_initialize(handle), "start")
            guard unsafe registry.register(with: handle) else { throw PlayerError("libmpv: protocol refused") }
            unsafe mpv_request_log_messages(handle, "warn")
            for (index, (property, format)) in MPVProperty.observed.enumerated() {
                let tag = UInt64(index)
                try Self.check(unsafe mpv_observe_property(handle, tag, property.rawValue, format.raw), "observe")
            }
            unsafe mpv_set_wakeup_callback(handle, wakePlayer, Unmanaged.passUnretained(waker).toOpaque())
        } catch {
            unsafe mpv_terminate_destroy(handle)
            throw error
        }
    }

    private static func check(_ code: CInt, _ what: String) throws(PlayerError) {
        guard code < 0 else { return }
        throw PlayerError("libmpv: \(what): \(message(code))")
    }

    private static func message(_ code: CInt) -> String {
        guard let text = unsafe mpv_error_string(code) else { return "error \(code)" }
        return unsafe String(cString: text)
    }

    /// Ends libmpv; blocks until its threads and streams are gone. Nothing may be called afterwards.
    func destroy() { unsafe mpv_terminate_destroy(raw) }

    /// Runs a command; its outcome comes as a reply with `tag`.
    func command(_ words: [String], tag: UInt64 = 0) {
        var copies: [UnsafePointer<CChar>?] = unsafe words.map { unsafe UnsafePointer(strdup($0)) }
        unsafe copies.append(nil)
        unsafe mpv_command_async(raw, tag, &copies)
        for index in unsafe copies.indices { unsafe free(UnsafeMutablePointer(mutating: copies[index])) }
    }

    /// Loads an address with options for this entry alone; the reply with `tag` holds `playlist_entry_id`.
    ///
    /// Named arguments, because the positions of `loadfile` differ between versions.
    func load(_ address: String, flags: String, options: [(String, String)], tag: UInt64) {
        let fields: [(String, MPVNode)] = [
            ("name", .text("loadfile")), ("url", .text(address)), ("flags", .text(flags)),
            ("options", .map(options.map { ($0.0, .text($0.1)) })),
        ]
        _ = unsafe MPVNode.map(fields).withRaw { node in unsafe mpv_command_node_async(raw, tag, node) }
    }

    /// Sets a property; a failure comes as a reply with `tag`.
    func set(_ property: MPVProperty, _ value: Bool, tag: UInt64 = 0) {
        var flag: CInt = value ? 1 : 0
        unsafe mpv_set_property_async(raw, tag, property.rawValue, MPV_FORMAT_FLAG, &flag)
    }

    /// Sets a property; a failure comes as a reply with `tag`.
    func set(_ property: MPVProperty, _ value: Double, tag: UInt64 = 0) {
        var number = value
        unsafe mpv_set_property_async(raw, tag, property.rawValue, MPV_FORMAT_DOUBLE, &number)
    }

    /// Sets a property; a failure comes as a reply with `tag`.
    func set(_ property: MPVProperty, _ value: String, tag: UInt64 = 0) {
        unsafe value.withCString { text in
            var pointer: UnsafePointer<CChar>? = unsafe text
            unsafe mpv_set_property_async(raw, tag, property.rawValue, MPV_FORMAT_STRING, &pointer)
        }
    }

    /// Asks for a property; its value comes as a reply with `tag`.
    func get(_ property: MPVProperty, _ format: MPVValue.Format, tag: UInt64) {
        unsafe mpv_get_property_async(raw, tag, property.rawValue, format.raw)
    }

    /// Has changes of the devices told from now on, and first of all what there is.
    func observeDevices() {
        for (index, (property, format)) in MPVProperty.observable.enumerated() {
            let tag = UInt64(MPVProperty.observed.count + index)
            unsafe mpv_observe_property(raw, tag, property.rawValue, format.raw)
        }
    }

    fileprivate static func wake(_ context: UnsafeMutableRawPointer) {
        unsafe Unmanaged<Waker>.fromOpaque(context).takeUnretainedValue().wake()
    }

    /// From now on libmpv stops before it decodes the first sample of an entry, and tells `.opened`, until `goOn`.
    func stopAtOpening() { unsafe mpv_hook_add(raw, 0, "on_preloaded", 0) }

    /// Lets libmpv go on after `.opened`.
    func goOn(after hook: UInt64) { unsafe mpv_hook_continue(raw, hook) }

    /// What libmpv has told next, or `.nothing`.
    func next() -> MPVEvent {
        guard let event = unsafe mpv_wait_event(raw, 0)?.pointee else { return .nothing }
        switch unsafe event.event_id {
        case MPV_EVENT_NONE:
            return .nothing
        case MPV_EVENT_SHUTDOWN:
            return .shutdown
        case MPV_EVENT_FILE_LOADED:
            return .fileLoaded
        case MPV_EVENT_PLAYBACK_RESTART:
            return .playbackRestart
        case MPV_EVENT_HOOK:
            guard let data = unsafe event.data?.assumingMemoryBound(to: mpv_event_hook.self).pointee else {
                return .other
            }
            return unsafe .opened(hook: data.id)
        case MPV_EVENT_START_FILE:
            let data = unsafe event.data?.assumingMemoryBound(to: mpv_event_start_file.self).pointee
            return .startFile(entry: data?.playlist_entry_id ?? 0)
        case MPV_EVENT_END_FILE:
            return unsafe Self.endFile(event)
        case MPV_EVENT_PROPERTY_CHANGE, MPV_EVENT_GET_PROPERTY_REPLY:
            let data = unsafe event.data?.assumingMemoryBound(to: mpv_event_property.self).pointee
            let value = unsafe MPVValue(data?.format ?? MPV_FORMAT_NONE, data?.data)
            if unsafe event.event_id == MPV_EVENT_GET_PROPERTY_REPLY {
                return unsafe .reply(tag: event.reply_userdata, isError: event.error < 0, value)
            }
            let index = unsafe Int(clamping: event.reply_userdata)
            let all = MPVProperty.observed + MPVProperty.observable
            guard all.indices.contains(index) else { return .other }
            return .property(all[index].0, value)
        case MPV_EVENT_COMMAND_REPLY:
            var data = unsafe event.data?.assumingMemoryBound(to: mpv_event_command.self).pointee.result
            let value = unsafe MPVValue(data == nil ? MPV_FORMAT_NONE : MPV_FORMAT_NODE, &data)
            return unsafe .reply(tag: event.reply_userdata, isError: event.error < 0, value)
        case MPV_EVENT_SET_PROPERTY_REPLY:
            return unsafe .reply(tag: event.reply_userdata, isError: event.error < 0, .none)
        case MPV_EVENT_LOG_MESSAGE:
            guard let data = unsafe event.data?.assumingMemoryBound(to: mpv_event_log_message.self).pointee,
                let prefix = unsafe data.prefix, let text = unsafe data.text
            else { return .other }
            let line = unsafe "\(String(cString: prefix)): \(String(cString: text))"
            return .log(String(line.prefix { !$0.isNewline }))
        default:
            return .other
        }
    }

    private static func endFile(_ event: mpv_event) -> MPVEvent {
        guard let data = unsafe event.data?.assumingMemoryBound(to: mpv_event_end_file.self).pointee else {
            return .other
        }
        let error = data.error
        let end: MPVEvent.End =
            switch data.reason {
            case MPV_END_FILE_REASON_EOF: .endOfFile
            case MPV_END_FILE_REASON_STOP, MPV_END_FILE_REASON_QUIT: .stopped
            case MPV_END_FILE_REASON_ERROR where error == MPV_ERROR_AO_INIT_FAILED.rawValue: .outputFailure
            case MPV_END_FILE_REASON_ERROR where error == MPV_ERROR_NOTHING_TO_PLAY.rawValue: .nothingToPlay
            case MPV_END_FILE_REASON_ERROR: .error
            case MPV_END_FILE_REASON_REDIRECT: .redirect
            default: .other
            }
        return unsafe .endFile(entry: data.playlist_entry_id, end, message: message(error))
    }
}

/// libmpv has something to tell; it must not be called from here.
private func wakePlayer(_ context: UnsafeMutableRawPointer?) {
    guard let context = unsafe context else { return }
    unsafe MPVHandle.wake(context)
}

extension MPVValue.Format {
    fileprivate var raw: mpv_format {
        switch self {
        case .flag: MPV_FORMAT_FLAG
        case .number: MPV_FORMAT_DOUBLE
        case .text: MPV_FORMAT_STRING
        case .node: MPV_FORMAT_NODE
        }
    }
}

extension MPVValue {
    /// Copies what libmpv lends; `data` points to the type that `format` names.
    fileprivate init(_ format: mpv_format, _ data: UnsafeMutableRawPointer?) {
        guard let data = unsafe data else {
            self = .none
            return
        }
        switch format {
        case MPV_FORMAT_FLAG:
            self = unsafe .flag(data.load(as: CInt.self) != 0)
        case MPV_FORMAT_INT64:
            self = unsafe .integer(data.load(as: Int64.self))
        case MPV_FORMAT_DOUBLE:
            self = unsafe .number(data.load(as: Double.self))
        case MPV_FORMAT_STRING:
            let text = unsafe data.load(as: UnsafePointer<CChar>?.self)
            self = if let text = unsafe text { unsafe .text(String(cString: text)) } else { .none }
        case MPV_FORMAT_NODE:
            self = unsafe MPVValue(data.load(as: mpv_node.self))
        default:
            self = .none
        }
    }

    private init(_ node: mpv_node) {
        var node = unsafe node
        switch unsafe node.format {
        case MPV_FORMAT_NODE_ARRAY, MPV_FORMAT_NODE_MAP:
            guard let list = unsafe node.u.list?.pointee else {
                self = .none
                return
            }
            let values = unsafe UnsafeBufferPointer(start: list.values, count: Int(list.num)).map {
                unsafe MPVValue($0)
            }
            guard unsafe node.format == MPV_FORMAT_NODE_MAP else {
                self = .list(values)
                return
            }
            let keys = unsafe UnsafeBufferPointer(start: list.keys, count: Int(list.num)).map { key in
                if let key = unsafe key { unsafe String(cString: key) } else { "" }
            }
            self = .map(Dictionary(zip(keys, values)) { first, _ in first })
        default:
            let format = unsafe node.format
            self = unsafe withUnsafeMutablePointer(to: &node.u) { unsafe MPVValue(format, UnsafeMutableRawPointer($0)) }
        }
    }
}

/// A value given to libmpv.
enum MPVNode {
    case text(String)
    case map([(String, MPVNode)])

    /// Lends the value in libmpv's form.
    fileprivate func withRaw<Result>(_ body: (UnsafeMutablePointer<mpv_node>) -> Result) -> Result {
        var node = unsafe mpv_node()
        unsafe fill(&node)
        defer { unsafe Self.release(node) }
        return unsafe body(&node)
    }

    private func fill(_ node: inout mpv_node) {
        switch self {
        case .text(let text):
            unsafe node.format = MPV_FORMAT_STRING
            unsafe node.u.string = strdup(text)
        case .map(let pairs):
            let list = UnsafeMutablePointer<mpv_node_list>.allocate(capacity: 1)
            let values = UnsafeMutablePointer<mpv_node>.allocate(capacity: max(1, pairs.count))
            let keys = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: max(1, pairs.count))
            for (index, (key, value)) in pairs.enumerated() {
                unsafe (values + index).initialize(to: mpv_node())
                unsafe value.fill(&values[index])
                unsafe (keys + index).initialize(to: strdup(key))
            }
            unsafe list.initialize(to: mpv_node_list(num: CInt(pairs.count), values: values, keys: keys))
            unsafe node.format = MPV_FORMAT_NODE_MAP
            unsafe node.u.list = list
        }
    }

    private static func release(_ node: mpv_node) {
        if unsafe node.format == MPV_FORMAT_STRING { unsafe free(node.u.string) }
        guard unsafe node.format == MPV_FORMAT_NODE_MAP, let list = unsafe node.u.list else { return }
        for index in unsafe 0..<Int(list.pointee.num) {
            unsafe release(list.pointee.values[index])
            unsafe free(list.pointee.keys[index])
        }
        unsafe list.pointee.values.deallocate()
        unsafe list.pointee.keys.deallocate()
        unsafe list.deallocate()
    }
}

extension MPVHandle {
    /// Lets a libmpv of its own play a moment of silence, and tells who took it. Blocks.
    static func trial(driver: String?, device: String?) throws(PlayerError) -> SoundTrial.Outcome {
        unsafe setlocale(LC_NUMERIC, "C")
        shelv_silence_audio_libraries()
        guard let handle = unsafe mpv_create() else { throw PlayerError("libmpv cannot be started") }
        defer { unsafe mpv_terminate_destroy(handle) }
        var options = [
            ("config", "no"), ("terminal", "no"), ("idle", "yes"), ("vid", "no"), ("load-scripts", "no"),
            ("audio-fallback-to-null", "no"), ("audio-client-name", "ShelvMPD"),
        ]
        if let driver {
            options.append(("ao", driver))
            if let device { options.append(("audio-device", "\(driver)/\(device)")) }
        }
        for (name, value) in options {
            let code = unsafe mpv_set_option_string(handle, name, value)
            if code != MPV_ERROR_OPTION_NOT_FOUND.rawValue { try check(code, "option \(name)=\(value)") }
        }
        try check(unsafe mpv_initialize(handle), "start")
        var outcome = SoundTrial.Outcome(
            driver: nil,
            devices: [],
            version: unsafe text("mpv-version", of: handle) ?? "mpv"
        )
        var node = unsafe mpv_node()
        if unsafe mpv_get_property(handle, "audio-device-list", MPV_FORMAT_NODE, &node) >= 0 {
            outcome.devices = unsafe AudioDevice.list(MPVValue(MPV_FORMAT_NODE, &node))
            unsafe mpv_free_node_contents(&node)
        }
        try check(unsafe mpv_command_string(handle, "loadfile av://lavfi:anullsrc=duration=0.2"), "loadfile")
        while let event = unsafe mpv_wait_event(handle, 3) {
            switch unsafe event.pointee.event_id {
            case MPV_EVENT_PLAYBACK_RESTART:
                outcome.driver = unsafe text("current-ao", of: handle)
                return outcome
            case MPV_EVENT_END_FILE, MPV_EVENT_SHUTDOWN, MPV_EVENT_NONE: return outcome
            default: break
            }
        }
        return outcome
    }

    private static func text(_ property: String, of handle: OpaquePointer) -> String? {
        guard let pointer = unsafe mpv_get_property_string(handle, property) else { return nil }
        defer { unsafe mpv_free(pointer) }
        return unsafe String(cString: pointer)
    }
}
