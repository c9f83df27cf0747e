// Makes text that a strict reader refuses readable: called only after it was refused.
#ifndef SHELVMPD_CJSON_REPAIR_H
#define SHELVMPD_CJSON_REPAIR_H

#include <cstddef>
#include <cstdint>

// The length of the UTF-8 sequence at `bytes`, or 0 when there is no sound one (RFC 3629).
inline size_t utf8_length(const uint8_t *bytes, size_t available) noexcept {
    const uint8_t first = bytes[0];
    const auto follows = [&](size_t i, uint8_t low, uint8_t high) {
        return i < available && bytes[i] >= low && bytes[i] <= high;
    };
    if (first < 0x80) { return 1; }
    if (first >= 0xC2 && first <= 0xDF) { return follows(1, 0x80, 0xBF) ? 2 : 0; }
    if (first >= 0xE0 && first <= 0xEF) {
        const uint8_t low = first == 0xE0 ? 0xA0 : 0x80;
        const uint8_t high = first == 0xED ? 0x9F : 0xBF;
        return follows(1, low, high) && follows(2, 0x80, 0xBF) ? 3 : 0;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        const uint8_t low = first == 0xF0 ? 0x90 : 0x80;
        const uint8_t high = first == 0xF4 ? 0x8F : 0xBF;
        return follows(1, low, high) && follows(2, 0x80, 0xBF) && follows(3, 0x80, 0xBF) ? 4 : 0;
    }
    return 0;
}

// Writes the repaired text to `out` (unless it is null) and returns its length: no byte order mark, bytes that are not
// UTF-8 as U+FFFD, control characters inside strings escaped and outside as spaces, nothing behind the first value's
// last bracket.
inline size_t repair(const uint8_t *bytes, size_t length, char *out) noexcept {
    static const char digits[] = "0123456789abcdef";
    size_t written = 0;
    const auto put = [&](char c) {
        if (out != nullptr) { out[written] = c; }
        written += 1;
    };
    size_t at = length >= 3 && bytes[0] == 0xEF && bytes[1] == 0xBB && bytes[2] == 0xBF ? 3 : 0;
    size_t depth = 0;
    bool in_string = false;
    while (at < length) {
        const uint8_t c = bytes[at];
        if (c >= 0x80) {
            const size_t sequence = utf8_length(bytes + at, length - at);
            if (sequence == 0) {
                put('\xEF');
                put('\xBF');
                put('\xBD');
                at += 1;
            } else {
                for (size_t i = 0; i < sequence; ++i) { put(static_cast<char>(bytes[at + i])); }
                at += sequence;
            }
            continue;
        }
        at += 1;
        if (!in_string) {
            put(c < 0x20 ? ' ' : static_cast<char>(c));
            if (c == '"') {
                in_string = true;
            } else if (c == '{' || c == '[') {
                depth += 1;
            } else if ((c == '}' || c == ']') && (depth == 0 || --depth == 0)) {
                break;
            }
            continue;
        }
        if (c < 0x20) {
            for (const char *p = "\\u00"; *p != '\0'; ++p) { put(*p); }
            put(digits[c >> 4]);
            put(digits[c & 15]);
            continue;
        }
        // A backslash before a control character escapes nothing; kept, it would escape the escape written for that.
        if (c == '\\' && at < length && bytes[at] < 0x20) { continue; }
        put(static_cast<char>(c));
        if (c == '"') {
            in_string = false;
        } else if (c == '\\' && at < length && bytes[at] < 0x80) {
            put(static_cast<char>(bytes[at]));
            at += 1;
        }
    }
    return written;
}

#endif
