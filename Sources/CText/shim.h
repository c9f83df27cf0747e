// ICU renames every symbol by a macro, PCRE2 by its code unit width: both need wrappers to be importable.
#ifndef SHELVMPD_CTEXT_H
#define SHELVMPD_CTEXT_H
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unicode/uchar.h>
#include <unicode/ucol.h>
#include <unicode/unorm2.h>
#include <unicode/ustring.h>
#include <unicode/utrans.h>

// Collation: the root collator, as MPD uses it. NULL if ICU has no data. Its const functions may be called from any
// thread.
static inline void *shelv_collator_open(void) {
    UErrorCode error = U_ZERO_ERROR;
    UCollator *collator = ucol_open("", &error);
    return U_FAILURE(error) ? NULL : collator;
}

static inline void shelv_collator_close(void *collator) { ucol_close((UCollator *)collator); }

// Makes UTF-16 of UTF-8, bad sequences replaced by U+FFFD. Needs room for `length` units. Returns the units.
static inline int32_t shelv_utf16(const char *text, int32_t length, uint16_t *to) {
    UErrorCode error = U_ZERO_ERROR;
    int32_t count = 0;
    u_strFromUTF8WithSub((UChar *)to, length, &count, text, length, 0xFFFD, NULL, &error);
    return error == U_ZERO_ERROR || error == U_STRING_NOT_TERMINATED_WARNING ? count : 0;
}

// Makes UTF-8 of UTF-16, lone surrogates replaced by U+FFFD. Needs room for 3 bytes a unit. Returns the bytes.
static inline int32_t shelv_utf8(const uint16_t *text, int32_t length, char *to, int32_t capacity) {
    UErrorCode error = U_ZERO_ERROR;
    int32_t count = 0;
    u_strToUTF8WithSub(to, capacity, &count, (const UChar *)text, length, 0xFFFD, NULL, &error);
    return error == U_ZERO_ERROR || error == U_STRING_NOT_TERMINATED_WARNING ? count : 0;
}

// The sort key of a text: keys compare bytewise. Returns the bytes needed, also when `capacity` is too small.
static inline int32_t shelv_collation_key(
    const void *collator, const uint16_t *text, int32_t length, uint8_t *to, int32_t capacity
) {
    return ucol_getSortKey((const UCollator *)collator, (const UChar *)text, length, to, capacity);
}

// NFKC with case folding. Returns the units needed (more than `capacity`: again with more room), or -1.
static inline int32_t shelv_fold(const uint16_t *text, int32_t length, uint16_t *to, int32_t capacity) {
    UErrorCode error = U_ZERO_ERROR;
    const UNormalizer2 *normalizer = unorm2_getNFKCCasefoldInstance(&error);
    if (U_FAILURE(error)) return -1;
    int32_t count = unorm2_normalize(normalizer, (const UChar *)text, length, (UChar *)to, capacity, &error);
    return U_FAILURE(error) && error != U_BUFFER_OVERFLOW_ERROR ? -1 : count;
}

// NFKC without folding. Returns like `shelv_fold`.
static inline int32_t shelv_normalize(const uint16_t *text, int32_t length, uint16_t *to, int32_t capacity) {
    UErrorCode error = U_ZERO_ERROR;
    const UNormalizer2 *normalizer = unorm2_getNFKCInstance(&error);
    if (U_FAILURE(error)) return -1;
    int32_t count = unorm2_normalize(normalizer, (const UChar *)text, length, (UChar *)to, capacity, &error);
    return U_FAILURE(error) && error != U_BUFFER_OVERFLOW_ERROR ? -1 : count;
}

// Letters without their marks: decomposed, all marks removed, composed again. Returns like `shelv_fold`.
static inline int32_t shelv_strip_marks(const uint16_t *text, int32_t length, uint16_t *to, int32_t capacity) {
    UErrorCode error = U_ZERO_ERROR;
    const UNormalizer2 *decompose = unorm2_getNFDInstance(&error);
    const UNormalizer2 *compose = unorm2_getNFCInstance(&error);
    if (U_FAILURE(error)) return -1;
    int32_t room = length * 4 + 16;
    UChar *parts = (UChar *)malloc((size_t)room * sizeof(UChar));
    if (!parts) return -1;
    int32_t count = unorm2_normalize(decompose, (const UChar *)text, length, parts, room, &error);
    int32_t kept = 0;
    for (int32_t at = 0; U_SUCCESS(error) && at < count;) {
        int32_t start = at;
        UChar32 scalar;
        U16_NEXT(parts, at, count, scalar);
        if (U_GET_GC_MASK(scalar) & U_GC_M_MASK) continue;
        while (start < at) parts[kept++] = parts[start++];
    }
    int32_t needed = U_FAILURE(error) ? -1 : unorm2_normalize(compose, parts, kept, (UChar *)to, capacity, &error);
    free(parts);
    return U_FAILURE(error) && error != U_BUFFER_OVERFLOW_ERROR ? -1 : needed;
}

static inline int shelv_is_punctuation(uint32_t scalar) { return u_ispunct((UChar32)scalar) != 0; }

// Punctuation to its ASCII equivalents. NULL if ICU has no data.
static inline void *shelv_punctuation_open(void) {
    static const char name[] = "[:Punctuation:] Latin-ASCII";
    UChar id[sizeof name];
    UErrorCode error = U_ZERO_ERROR;
    u_uastrcpy(id, name);
    void *rules = utrans_openU(id, -1, UTRANS_FORWARD, NULL, 0, NULL, &error);
    return U_FAILURE(error) ? NULL : rules;
}

static inline void shelv_punctuation_close(void *rules) { utrans_close((UTransliterator *)rules); }

// Transliterates in place; `capacity` units of room. Returns the new length, or -1 if that does not suffice.
static inline int32_t shelv_punctuation(const void *rules, uint16_t *text, int32_t length, int32_t capacity) {
    UErrorCode error = U_ZERO_ERROR;
    int32_t limit = length;
    utrans_transUChars((const UTransliterator *)rules, (UChar *)text, &length, capacity, 0, &limit, &error);
    return U_FAILURE(error) ? -1 : length;
}

// A compiled regular expression with what matching needs: for one thread at a time.
typedef struct {
    pcre2_code *code;
    pcre2_match_data *data;
    pcre2_match_context *context;
} shelv_regex;

static inline void shelv_regex_close(shelv_regex *regex) {
    pcre2_match_data_free(regex->data);
    pcre2_match_context_free(regex->context);
    pcre2_code_free(regex->code);
    free(regex);
}

// NULL on failure, with PCRE2's error number (0: out of memory) and the offset in the pattern.
static inline shelv_regex *shelv_regex_open(
    const uint8_t *pattern, size_t length, int caseless, uint32_t match_limit, int *error, size_t *offset
) {
    uint32_t options = PCRE2_UTF | PCRE2_DOTALL | PCRE2_NO_AUTO_CAPTURE | PCRE2_NEVER_BACKSLASH_C;
    if (caseless) options |= PCRE2_CASELESS;
    *error = 0;
    *offset = 0;
    shelv_regex *regex = (shelv_regex *)calloc(1, sizeof(shelv_regex));
    if (!regex) return NULL;
    PCRE2_SIZE position = 0;
    regex->code = pcre2_compile(pattern, length, options, error, &position, NULL);
    if (!regex->code) {
        *offset = position;
        free(regex);
        return NULL;
    }
    *error = 0;
    // A refusal (no executable memory) leaves the interpreter.
    (void)pcre2_jit_compile(regex->code, PCRE2_JIT_COMPLETE);
    regex->data = pcre2_match_data_create(1, NULL);
    regex->context = pcre2_match_context_create(NULL);
    if (!regex->data || !regex->context) {
        shelv_regex_close(regex);
        return NULL;
    }
    pcre2_set_match_limit(regex->context, match_limit);
    pcre2_set_heap_limit(regex->context, 20000);
    return regex;
}

// 1: matches, 0: does not, -1: a limit was reached.
static inline int shelv_regex_matches(shelv_regex *regex, const uint8_t *text, size_t length) {
    int result = pcre2_match(regex->code, text, length, 0, 0, regex->data, regex->context);
    if (result == PCRE2_ERROR_JIT_STACKLIMIT)
        result = pcre2_match(regex->code, text, length, 0, PCRE2_NO_JIT, regex->data, regex->context);
    if (result >= 0) return 1;
    if (result == PCRE2_ERROR_MATCHLIMIT || result == PCRE2_ERROR_DEPTHLIMIT || result == PCRE2_ERROR_HEAPLIMIT)
        return -1;
    return 0;
}

// The text of an error number, NUL-terminated.
static inline void shelv_regex_message(int error, uint8_t *to, size_t capacity) {
    if (capacity > 0) to[0] = 0;
    (void)pcre2_get_error_message(error, to, capacity);
}
#endif
