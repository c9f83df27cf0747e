internal import CCurl

// What libcurl calls. Plain functions: a closure could be bound to an actor. `owner` is the transfer's
// `CurlActiveTransfer`, which its loop holds for as long as the handle is part of the multi handle.

func curlDidReceiveHeader(
    _ bytes: UnsafeMutablePointer<CChar>?,
    _ size: Int,
    _ count: Int,
    _ owner: UnsafeMutableRawPointer?
) -> Int {
    guard let bytes = unsafe bytes, let owner = unsafe owner else { return 0 }
    let line = unsafe [UInt8](UnsafeRawBufferPointer(start: bytes, count: size * count))
    let active = unsafe Unmanaged<CurlActiveTransfer>.fromOpaque(owner).takeUnretainedValue()
    return active.receive(header: line) ? size * count : (size * count == 0 ? 1 : 0)
}

func curlDidReceiveBody(
    _ bytes: UnsafeMutablePointer<CChar>?,
    _ size: Int,
    _ count: Int,
    _ owner: UnsafeMutableRawPointer?
) -> Int {
    guard let bytes = unsafe bytes, let owner = unsafe owner else { return 0 }
    let active = unsafe Unmanaged<CurlActiveTransfer>.fromOpaque(owner).takeUnretainedValue()
    let body = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
    return unsafe active.receive(body: body) ? size * count : (size * count == 0 ? 1 : 0)
}

func curlWillSendRequest(
    _ owner: UnsafeMutableRawPointer?,
    _ peer: UnsafeMutablePointer<CChar>?,
    _ local: UnsafeMutablePointer<CChar>?,
    _ peerPort: Int32,
    _ localPort: Int32
) -> Int32 {
    guard let owner = unsafe owner else { return Int32(CURL_PREREQFUNC_ABORT) }
    let active = unsafe Unmanaged<CurlActiveTransfer>.fromOpaque(owner).takeUnretainedValue()
    let address: String
    if let peer = unsafe peer { address = unsafe String(cString: peer) } else { address = "" }
    return Int32(active.willSend(to: address) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT)
}
