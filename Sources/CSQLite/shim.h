#ifndef SHELVMPD_CSQLITE_H
#define SHELVMPD_CSQLITE_H
#include <sqlite3.h>
// SQLITE_TRANSIENT is a cast macro, which Swift does not import.
static inline int shelv_bind_text(sqlite3_stmt *s, int index, const char *text, int length) {
    return sqlite3_bind_text(s, index, text, length, SQLITE_TRANSIENT);
}
static inline int shelv_bind_blob(sqlite3_stmt *s, int index, const void *bytes, int length) {
    return sqlite3_bind_blob(s, index, bytes, length, SQLITE_TRANSIENT);
}
#endif
