import CSQLite

/// One connection to an SQLite file, with prepared statements kept. Belongs to one thread at a time.
///
/// The only file with SQLite's C calls in it.
@safe final class Database {
    private let connection: OpaquePointer
    /// Prepared statements by their text; there are a few dozen different ones.
    private var statements: [String: OpaquePointer] = unsafe [:]

    /// Opens a file, and makes it when it is missing.
    ///
    /// - Parameter isReadOnly: whether it is another program's, which must be there and stays as it is.
    init(path: String, isReadOnly: Bool = false) throws(StoreError) {
        var opened: OpaquePointer?
        let access = isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        let code = unsafe sqlite3_open_v2(
            path,
            &opened,
            access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
            nil
        )
        guard code == SQLITE_OK, let connection = unsafe opened else {
            let error = unsafe Database.error(code, opened, "cannot open \(path)")
            _ = unsafe sqlite3_close_v2(opened)
            throw error
        }
        unsafe self.connection = connection
        _ = unsafe sqlite3_busy_timeout(connection, 5000)
    }

    deinit {
        unsafe statements.values.forEach { _ = unsafe sqlite3_finalize($0) }
        _ = unsafe sqlite3_close_v2(connection)
    }

    /// Runs a statement that gives no rows that matter.
    func run(_ sql: String, _ values: SQLValue...) throws(StoreError) {
        try step(sql, values) { _ in }
    }

    /// All rows of a query.
    func rows(_ sql: String, _ values: SQLValue...) throws(StoreError) -> [[SQLValue]] {
        var rows: [[SQLValue]] = []
        try step(sql, values) { rows.append($0) }
        return rows
    }

    /// The first value of the first row, or nil when there is no row.
    func value(_ sql: String, _ values: SQLValue...) throws(StoreError) -> SQLValue? {
        var first: SQLValue?
        try step(sql, values) { row in
            if first == nil { first = row.first }
        }
        return first
    }

    /// Number of rows that the last statement changed.
    var changes: Int { Int(unsafe sqlite3_changes(connection)) }

    /// Runs several statements without values, as in a schema.
    func script(_ sql: String) throws(StoreError) {
        let code = unsafe sqlite3_exec(connection, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw unsafe Database.error(code, connection, "a statement failed") }
    }

    /// Does all of `body`, or nothing. May be nested.
    func transaction<T>(_ body: () throws(StoreError) -> T) throws(StoreError) -> T {
        try run("SAVEPOINT step")
        do throws(StoreError) {
            let result = try body()
            try run("RELEASE step")
            return result
        } catch {
            // SQLite may have rolled everything back by itself, as for a full disk; then these do nothing.
            try? run("ROLLBACK TO step")
            try? run("RELEASE step")
            throw error
        }
    }

    private func step(_ sql: String, _ values: [SQLValue], _ take: ([SQLValue]) -> Void) throws(StoreError) {
        let statement = unsafe try prepared(sql)
        defer {
            _ = unsafe sqlite3_reset(statement)
            _ = unsafe sqlite3_clear_bindings(statement)
        }
        for (index, value) in values.enumerated() {
            let code = unsafe Database.bind(statement, Int32(clamping: index + 1), value)
            guard code == SQLITE_OK else { throw unsafe Database.error(code, connection, "a value does not fit") }
        }
        while true {
            switch unsafe sqlite3_step(statement) {
            case SQLITE_ROW: take(unsafe Database.row(statement))
            case SQLITE_DONE: return
            case let code: throw unsafe Database.error(code, connection, "a statement failed")
            }
        }
    }

    private func prepared(_ sql: String) throws(StoreError) -> OpaquePointer {
        if let statement = unsafe statements[sql] { return unsafe statement }
        var statement: OpaquePointer?
        let code = unsafe sqlite3_prepare_v3(connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK, let statement = unsafe statement else {
            throw unsafe Database.error(code, connection, "a statement failed")
        }
        unsafe statements[sql] = statement
        return unsafe statement
    }

    private static func bind(_ statement: OpaquePointer, _ index: Int32, _ value: SQLValue) -> Int32 {
        switch value {
        case .null: return unsafe sqlite3_bind_null(statement, index)
        case .integer(let number): return unsafe sqlite3_bind_int64(statement, index, number)
        case .real(let number): return unsafe sqlite3_bind_double(statement, index, number)
        case .text(let text):
            var text = text
            return text.withUTF8 { utf8 in
                unsafe utf8.withMemoryRebound(to: CChar.self) { characters in
                    // An empty text has no address, which SQLite would take for null.
                    guard let base = characters.baseAddress else {
                        return unsafe shelv_bind_text(statement, index, "", 0)
                    }
                    return unsafe shelv_bind_text(statement, index, base, Int32(clamping: characters.count))
                }
            }
        case .blob(let bytes):
            return unsafe bytes.withUnsafeBytes { bytes in
                guard let base = bytes.baseAddress else { return unsafe sqlite3_bind_zeroblob(statement, index, 0) }
                return unsafe shelv_bind_blob(statement, index, base, Int32(clamping: bytes.count))
            }
        }
    }

    private static func row(_ statement: OpaquePointer) -> [SQLValue] {
        unsafe (0..<sqlite3_column_count(statement)).map { column in
            switch unsafe sqlite3_column_type(statement, column) {
            case SQLITE_INTEGER: return .integer(unsafe sqlite3_column_int64(statement, column))
            case SQLITE_FLOAT: return .real(unsafe sqlite3_column_double(statement, column))
            case SQLITE_TEXT:
                guard let text = unsafe sqlite3_column_text(statement, column) else { return .null }
                let count = Int(unsafe sqlite3_column_bytes(statement, column))
                return unsafe .text(String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self))
            case SQLITE_BLOB:
                let count = Int(unsafe sqlite3_column_bytes(statement, column))
                guard let bytes = unsafe sqlite3_column_blob(statement, column) else { return .blob([]) }
                return unsafe .blob([UInt8](UnsafeRawBufferPointer(start: bytes, count: count)))
            default: return .null
            }
        }
    }

    /// SQLite's own message names tables and columns, never values.
    private static func error(_ code: Int32, _ connection: OpaquePointer?, _ attempt: String) -> StoreError {
        let message = unsafe sqlite3_errmsg(connection).map { unsafe String(cString: $0) } ?? "no memory"
        let kind: StoreError.Kind
        switch code & 0xFF {
        case SQLITE_CORRUPT, SQLITE_NOTADB: kind = .damaged
        case SQLITE_FULL: kind = .full
        case SQLITE_BUSY, SQLITE_LOCKED: kind = .busy
        default: kind = .failed
        }
        return StoreError(kind, "\(attempt): \(message)")
    }
}
