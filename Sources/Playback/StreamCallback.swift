import CMPV
import Synchronization

/// The songs that libmpv may open, by the number in the address `shelv://NUMBER`.
final class StreamRegistry: Sendable {
    /// libmpv's name for our protocol.
    static let scheme = "shelv"

    private let songs = Mutex<[UInt64: CachedSong]>([:])

    /// Lets libmpv open a song by the number of its load.
    func add(_ song: CachedSong, number: UInt64) {
        songs.withLock { $0[number] = song }
    }

    /// Refuses further opens; streams that are open stay so.
    func remove(number: UInt64) {
        songs.withLock { _ = $0.removeValue(forKey: number) }
    }

    fileprivate func song(at address: String) -> CachedSong? {
        let prefix = "\(Self.scheme)://"
        guard address.hasPrefix(prefix), let number = UInt64(address.dropFirst(prefix.count)) else { return nil }
        return songs.withLock { $0[number] }
    }

    /// The address by which libmpv opens a song.
    static func address(of number: UInt64) -> String { "\(scheme)://\(number)" }

    /// Teaches libmpv the protocol. The registry must live longer than the handle. Returns false when refused.
    func register(with handle: OpaquePointer) -> Bool {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        return unsafe mpv_stream_cb_add_ro(handle, Self.scheme, context, openStream) >= 0
    }
}

/// Readers that are open, by cookie.
///
/// The cookie is a number and no reference: libmpv 0.35 frees what calls `cancelStream` only after it has called
/// `closeStream`, so a cancel may come during the close or after it, and must then find nothing.
private final class OpenReaders: Sendable {
    private let table = Mutex<(last: UInt, readers: [UInt: StreamReader])>((0, [:]))

    func add(_ reader: StreamReader) -> UnsafeMutableRawPointer? {
        let number = table.withLock { table in
            // Never 0, which would be no pointer; a 64-bit number does not come round.
            table.last &+= 1
            table.readers[table.last] = reader
            return table.last
        }
        return unsafe UnsafeMutableRawPointer(bitPattern: number)
    }

    func reader(_ cookie: UnsafeMutableRawPointer?) -> StreamReader? {
        let number = UInt(bitPattern: cookie)
        return table.withLock { $0.readers[number] }
    }

    /// The reader ends here, outside of the lock.
    func remove(_ cookie: UnsafeMutableRawPointer?) {
        let number = UInt(bitPattern: cookie)
        _ = table.withLock { $0.readers.removeValue(forKey: number) }
    }
}

private let openReaders = OpenReaders()

// libmpv calls these on its own threads.
// `openStream` never waits: libmpv can't cancel an open, only reads.

private func openStream(
    _ context: UnsafeMutableRawPointer?,
    _ address: UnsafeMutablePointer<CChar>?,
    _ info: UnsafeMutablePointer<mpv_stream_cb_info>?
) -> CInt {
    guard let context = unsafe context, let address = unsafe address, let info = unsafe info else {
        return MPV_ERROR_LOADING_FAILED.rawValue
    }
    let registry = unsafe Unmanaged<StreamRegistry>.fromOpaque(context).takeUnretainedValue()
    guard let song = unsafe registry.song(at: String(cString: address)) else {
        return MPV_ERROR_LOADING_FAILED.rawValue
    }
    song.fetcher.begin()
    unsafe info.pointee.cookie = openReaders.add(StreamReader(song))
    unsafe info.pointee.read_fn = readStream
    unsafe info.pointee.seek_fn = seekStream
    unsafe info.pointee.size_fn = sizeOfStream
    unsafe info.pointee.close_fn = closeStream
    unsafe info.pointee.cancel_fn = cancelStream
    return 0
}

private func reader(_ cookie: UnsafeMutableRawPointer?) -> StreamReader? {
    unsafe openReaders.reader(cookie)
}

private func readStream(
    _ cookie: UnsafeMutableRawPointer?,
    _ buffer: UnsafeMutablePointer<CChar>?,
    _ count: UInt64
) -> Int64 {
    guard let reader = unsafe reader(cookie), let buffer = unsafe buffer else { return -1 }
    let room = unsafe UnsafeMutableRawBufferPointer(start: buffer, count: Int(clamping: count))
    return unsafe Int64(reader.read(into: room))
}

private func seekStream(_ cookie: UnsafeMutableRawPointer?, _ position: Int64) -> Int64 {
    guard let reader = unsafe reader(cookie), let position = reader.seek(to: position) else {
        return Int64(MPV_ERROR_GENERIC.rawValue)
    }
    return position
}

private func sizeOfStream(_ cookie: UnsafeMutableRawPointer?) -> Int64 {
    unsafe reader(cookie)?.size() ?? Int64(MPV_ERROR_UNSUPPORTED.rawValue)
}

private func closeStream(_ cookie: UnsafeMutableRawPointer?) {
    unsafe openReaders.remove(cookie)
}

private func cancelStream(_ cookie: UnsafeMutableRawPointer?) {
    unsafe reader(cookie)?.cancel()
}
