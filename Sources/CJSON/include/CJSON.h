/*
 * A JSON reader with a C face: a document becomes one flat array of nodes in document order.
 *
 * simdjson finds the structure (its first stage, with the widest vectors of the CPU at hand); the walk over it is ours,
 * because answers of Subsonic servers hold what a strict parser refuses: lone surrogates, numbers without end,
 * raw control characters, bytes that are not UTF-8, a byte order mark, warnings of PHP after the last brace.
 */
#ifndef SHELVMPD_CJSON_H
#define SHELVMPD_CJSON_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The kinds of nodes. Constants and no enumeration, so that they have the type of `kind`. */
static const uint8_t SHELV_JSON_NULL = 0;
static const uint8_t SHELV_JSON_FALSE = 1;
static const uint8_t SHELV_JSON_TRUE = 2;
static const uint8_t SHELV_JSON_NUMBER = 3;
static const uint8_t SHELV_JSON_STRING = 4;
static const uint8_t SHELV_JSON_ARRAY = 5;
static const uint8_t SHELV_JSON_OBJECT = 6;

/* One value. A container is followed by its elements, each of them whole, so `length` leads past it. */
typedef struct {
    uint8_t kind;
    uint8_t reserved;
    /* Position of the member's name in the key table + 1; 0 when it is not there or the value is no member. */
    uint16_t key;
    /* Where the member's name stands in the text, ended by a zero byte; 0 when the value is no member. */
    uint32_t key_start;
    /* String and number: where it stands in the text. Array and object: the number of elements or members. */
    uint32_t start;
    /* String and number: bytes. Array and object: index of the node behind the whole container. */
    uint32_t length;
} shelv_json_node;

/* A parsed document; owns both arrays. Strings in `text` are unescaped valid UTF-8. */
typedef struct {
    const shelv_json_node *nodes;
    const char *text;
    size_t node_count;
    size_t text_length;
    /* Whether the text had to be repaired before it could be read. */
    int repaired;
} shelv_json_document;

typedef enum {
    SHELV_JSON_OK = 0,
    SHELV_JSON_EMPTY = 1,
    SHELV_JSON_SYNTAX = 2,
    SHELV_JSON_DEPTH = 3,
    SHELV_JSON_SIZE = 4,
    SHELV_JSON_MEMORY = 5,
} shelv_json_result;

typedef struct shelv_json_keys shelv_json_keys;

/*
 * Makes a table of member names from `count` zero-terminated names that stand one behind the other in `names`.
 * It may be shared by threads and is meant to live for good. NULL: no memory.
 */
shelv_json_keys *shelv_json_keys_create(const char *names, size_t count);

/*
 * Parses `length` bytes; on success `*document` belongs to the caller. On a syntax error `*position` is the byte where it
 * was noticed. Larger than 128 MiB: SHELV_JSON_SIZE. Never throws.
 */
shelv_json_result shelv_json_parse(
    const uint8_t *bytes,
    size_t length,
    const shelv_json_keys *keys,
    shelv_json_document *document,
    size_t *position
);

/* Frees what a successful parse made. */
void shelv_json_free(shelv_json_document document);

/* The number that `text` spells as a whole, 1 on success. Neither the locale nor a terminator matters. */
int shelv_json_number(const char *text, size_t length, double *value);

#ifdef __cplusplus
}
#endif

#endif
