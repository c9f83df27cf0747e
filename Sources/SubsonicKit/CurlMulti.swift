internal import CCurl

/// Owns the multi handle of one transport.
@safe struct CurlMulti: ~Copyable {
    private let handle: UnsafeMutableRawPointer

    /// Nil when memory or file descriptors are short.
    init?() {
        // Initialises libcurl once; its own lock makes this safe from any thread.
        guard curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK, let handle = unsafe curl_multi_init() else {
            return nil
        }
        unsafe self.handle = handle
        // Idle connections kept open.
        _ = unsafe shelv_curl_multi_set_long(handle, CURLMOPT_MAXCONNECTS, 16)
    }

    deinit { _ = unsafe curl_multi_cleanup(handle) }

    /// Wakes this handle's `poll` from other threads; must not outlive the handle.
    var waker: CurlWaker { unsafe CurlWaker(handle) }

    /// Waits until there is something to do, at most `milliseconds`.
    func poll(milliseconds: Int32) { _ = unsafe curl_multi_poll(handle, nil, 0, milliseconds, nil) }

    /// Does what can be done without waiting; calls the callbacks.
    func perform() {
        var running: Int32 = 0
        _ = unsafe curl_multi_perform(handle, &running)
    }

    /// The next transfer that has ended, with its result.
    func nextFinished() -> (transfer: CurlActiveTransfer, code: CURLcode)? {
        var left: Int32 = 0
        while let message = unsafe curl_multi_info_read(handle, &left) {
            guard unsafe message.pointee.msg == CURLMSG_DONE, let easy = unsafe message.pointee.easy_handle else {
                continue
            }
            let code = unsafe shelv_curl_message_result(message)
            var pointer: UnsafeMutableRawPointer?
            guard unsafe shelv_curl_get_pointer(easy, CURLINFO_PRIVATE, &pointer) == CURLE_OK,
                let pointer = unsafe pointer
            else { continue }
            return (unsafe Unmanaged<CurlActiveTransfer>.fromOpaque(pointer).takeUnretainedValue(), code)
        }
        return nil
    }

    @unsafe func add(_ easy: UnsafeMutableRawPointer) -> Bool {
        unsafe curl_multi_add_handle(handle, easy) == CURLM_OK
    }

    @unsafe func remove(_ easy: UnsafeMutableRawPointer) {
        _ = unsafe curl_multi_remove_handle(handle, easy)
    }
}

/// Ends a `poll` of a multi handle that is under way, or its next one.
// Sendable: curl_multi_wakeup is the one call that libcurl allows from any thread; `CurlMailbox` keeps the handle alive.
@safe struct CurlWaker: @unchecked Sendable {
    private let handle: UnsafeMutableRawPointer

    fileprivate init(_ handle: UnsafeMutableRawPointer) { unsafe self.handle = handle }

    /// Any thread; never blocks.
    func wake() { _ = unsafe curl_multi_wakeup(handle) }
}
