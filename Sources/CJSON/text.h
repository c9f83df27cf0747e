// Strings and numbers inside a document whose quotes and UTF-8 are known to be sound.
#ifndef SHELVMPD_CJSON_TEXT_H
#define SHELVMPD_CJSON_TEXT_H

#include <cstddef>
#include <cstdint>
#include <cstring>

// Whether the bytes spell a JSON number; leading zeros and a leading plus are let pass.
inline bool is_number(const char *text, size_t length) noexcept {
    size_t at = 0;
    const auto digits = [&] {
        const size_t first = at;
        while (at < length && text[at] >= '0' && text[at] <= '9') { at += 1; }
        return at > first;
    };
    if (at < length && (text[at] == '-' || text[at] == '+')) { at += 1; }
    if (!digits()) { return false; }
    if (at < length && text[at] == '.') {
        at += 1;
        if (!digits()) { return false; }
    }
    if (at < length && (text[at] == 'e' || text[at] == 'E')) {
        at += 1;
        if (at < length && (text[at] == '-' || text[at] == '+')) { at += 1; }
        if (!digits()) { return false; }
    }
    return at == length;
}

// Four hexadecimal digits, or -1.
inline int32_t hexadecimal(const char *text) noexcept {
    int32_t value = 0;
    for (int i = 0; i < 4; ++i) {
        const char c = text[i];
        int32_t digit = 0;
        if (c >= '0' && c <= '9') {
            digit = c - '0';
        } else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') {
            digit = (c | 0x20) - 'a' + 10;
        } else {
            return -1;
        }
        value = value * 16 + digit;
    }
    return value;
}

// Writes a code point as UTF-8 and returns the number of bytes.
inline size_t put_utf8(char *out, uint32_t code) noexcept {
    if (code < 0x80) {
        out[0] = static_cast<char>(code);
        return 1;
    }
    if (code < 0x800) {
        out[0] = static_cast<char>(0xC0 | (code >> 6));
        out[1] = static_cast<char>(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = static_cast<char>(0xE0 | (code >> 12));
        out[1] = static_cast<char>(0x80 | ((code >> 6) & 0x3F));
        out[2] = static_cast<char>(0x80 | (code & 0x3F));
        return 3;
    }
    out[0] = static_cast<char>(0xF0 | (code >> 18));
    out[1] = static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    out[2] = static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out[3] = static_cast<char>(0x80 | (code & 0x3F));
    return 4;
}

// Unescapes in place and returns the new length, which is never larger: an escape of six bytes makes three at most, a
// pair of twelve makes four. A lone surrogate becomes U+FFFD; a backslash before anything else is dropped.
inline size_t unescape(char *text, size_t length) noexcept {
    char *in = static_cast<char *>(std::memchr(text, '\\', length));
    if (in == nullptr) { return length; }
    char *const end = text + length;
    char *out = in;
    while (in < end) {
        if (*in != '\\' || in + 1 == end) {
            *out++ = *in++;
            continue;
        }
        const char c = in[1];
        in += 2;
        switch (c) {
        case 'n': *out++ = '\n'; break;
        case 't': *out++ = '\t'; break;
        case 'r': *out++ = '\r'; break;
        case 'b': *out++ = '\b'; break;
        case 'f': *out++ = '\f'; break;
        case 'u': {
            const int32_t first = end - in >= 4 ? hexadecimal(in) : -1;
            if (first < 0) {
                *out++ = 'u';
                break;
            }
            in += 4;
            uint32_t code = static_cast<uint32_t>(first);
            if (code >= 0xD800 && code < 0xE000) {
                const bool is_pair = code < 0xDC00 && end - in >= 6 && in[0] == '\\' && in[1] == 'u';
                const int32_t second = is_pair ? hexadecimal(in + 2) : -1;
                if (second >= 0xDC00 && second < 0xE000) {
                    code = 0x10000 + ((code - 0xD800) << 10) + (static_cast<uint32_t>(second) - 0xDC00);
                    in += 6;
                } else {
                    code = 0xFFFD;
                }
            }
            out += put_utf8(out, code);
            break;
        }
        default: *out++ = c;
        }
    }
    return static_cast<size_t>(out - text);
}

#endif
