internal import CCurl

/// Owns one easy handle of libcurl: one request and its answer. Freed when it goes out of scope, which must not happen
/// while it is part of a multi handle.
@safe struct CurlEasy: ~Copyable {
    private let handle: UnsafeMutableRawPointer
    private var headers: UnsafeMutablePointer<curl_slist>?
    private var addresses: UnsafeMutablePointer<curl_slist>?
    /// Where libcurl writes the cause of a failure; at least CURL_ERROR_SIZE bytes, at a fixed address.
    private let errorText: UnsafeMutablePointer<CChar>

    /// Nil when memory is short.
    init?() {
        guard let handle = unsafe curl_easy_init() else { return nil }
        unsafe self.handle = handle
        unsafe headers = nil
        unsafe addresses = nil
        unsafe errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        _ = unsafe shelv_curl_set_pointer(handle, CURLOPT_ERRORBUFFER, errorText)
    }

    deinit {
        unsafe curl_easy_cleanup(handle)
        unsafe curl_slist_free_all(headers)
        unsafe curl_slist_free_all(addresses)
        unsafe errorText.deallocate()
    }

    func set(_ option: CURLoption, _ value: Int) {
        _ = unsafe shelv_curl_set_long(handle, option, value)
    }

    /// Copies `value`; a NUL inside ends it. False when libcurl does not accept it.
    @discardableResult
    func set(_ option: CURLoption, _ value: String) -> Bool {
        unsafe shelv_curl_set_string(handle, option, value) == CURLE_OK
    }

    /// Makes the request a POST of `form`, which is copied.
    func setForm(_ form: String) {
        _ = unsafe shelv_curl_set_offset(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(form.utf8.count))
        _ = unsafe shelv_curl_set_string(handle, CURLOPT_COPYPOSTFIELDS, form)
    }

    /// Replaces the request's own header lines (`Name: value`).
    mutating func setHeaders(_ lines: [String]) {
        var list: UnsafeMutablePointer<curl_slist>?
        for line in lines {
            // A nil result leaves the list as it was.
            if let longer = unsafe curl_slist_append(list, line) { unsafe list = longer }
        }
        _ = unsafe shelv_curl_set_list(handle, CURLOPT_HTTPHEADER, list)
        unsafe curl_slist_free_all(headers)
        unsafe headers = list
    }

    /// Fills libcurl's memory of addresses with `+host:port:address`, which ages as a resolved one would.
    mutating func setKnownAddress(_ line: String) {
        guard let list = unsafe curl_slist_append(nil, line) else { return }
        _ = unsafe shelv_curl_set_list(handle, CURLOPT_RESOLVE, list)
        unsafe curl_slist_free_all(addresses)
        unsafe addresses = list
    }

    /// Has header lines, body bytes and the moment before the request is sent reported to `owner`, which must outlive
    /// this handle's transfers.
    func report(to owner: CurlActiveTransfer) {
        let pointer = unsafe Unmanaged.passUnretained(owner).toOpaque()
        _ = unsafe shelv_curl_set_write(handle, CURLOPT_HEADERFUNCTION, curlDidReceiveHeader)
        _ = unsafe shelv_curl_set_pointer(handle, CURLOPT_HEADERDATA, pointer)
        _ = unsafe shelv_curl_set_write(handle, CURLOPT_WRITEFUNCTION, curlDidReceiveBody)
        _ = unsafe shelv_curl_set_pointer(handle, CURLOPT_WRITEDATA, pointer)
        _ = unsafe shelv_curl_set_prereq(handle, curlWillSendRequest)
        _ = unsafe shelv_curl_set_pointer(handle, CURLOPT_PREREQDATA, pointer)
        _ = unsafe shelv_curl_set_pointer(handle, CURLOPT_PRIVATE, pointer)
    }

    /// A number about the transfer, 0 where it is unknown.
    func number(_ info: CURLINFO) -> Int {
        var value = 0
        return unsafe shelv_curl_get_long(handle, info, &value) == CURLE_OK ? value : 0
    }

    /// A size or time (µs) of the transfer, 0 where it is unknown.
    func offset(_ info: CURLINFO) -> Int64 {
        var value: curl_off_t = 0
        return unsafe shelv_curl_get_offset(handle, info, &value) == CURLE_OK ? Int64(value) : 0
    }

    /// A text about the transfer, empty where it is unknown.
    func text(_ info: CURLINFO) -> String {
        var value: UnsafeMutablePointer<CChar>?
        guard unsafe shelv_curl_get_string(handle, info, &value) == CURLE_OK, let value = unsafe value else {
            return ""
        }
        return unsafe String(cString: value)
    }

    /// What libcurl says about a failure; never holds the URL's query.
    func message(for code: CURLcode) -> String {
        let text = unsafe String(cString: errorText)
        return text.isEmpty ? unsafe String(cString: curl_easy_strerror(code)) : text
    }

    /// Forgets the message of an earlier transfer of this handle.
    func clearMessage() { unsafe errorText.pointee = 0 }

    /// Starts the transfer; false when memory is short.
    func start(in multi: borrowing CurlMulti) -> Bool { unsafe multi.add(handle) }

    /// Ends the transfer, or takes the ended one out. Does not wait, also while a host's address is being looked up.
    func leave(_ multi: borrowing CurlMulti) { unsafe multi.remove(handle) }
}
