#include "CJSON.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <simdjson.h>

#include "keys.h"
#include "repair.h"
#include "text.h"

namespace {

// The nodes of the longest document that means something: its songs have a value for each thirty bytes.
constexpr size_t maximum_length = size_t{128} << 20;
constexpr size_t maximum_nodes = size_t{12} << 20;
constexpr size_t maximum_depth = 128;

struct free_deleter {
    void operator()(void *pointer) const noexcept { std::free(pointer); }
};
using text_buffer = std::unique_ptr<char[], free_deleter>;

// A growing array of nodes in malloc'd memory, because it is handed to a caller that frees it.
class node_list {
public:
    node_list() = default;
    node_list(const node_list &) = delete;
    node_list &operator=(const node_list &) = delete;
    ~node_list() { std::free(nodes); }

    // False: no memory, or more nodes than allowed.
    bool reserve(size_t wanted) noexcept {
        if (wanted > maximum_nodes) { wanted = maximum_nodes; }
        if (wanted <= capacity) { return capacity > count; }
        void *grown = std::realloc(nodes, wanted * sizeof(shelv_json_node));
        if (grown == nullptr) { return false; }
        nodes = static_cast<shelv_json_node *>(grown);
        capacity = wanted;
        return true;
    }

    bool add(shelv_json_node node) noexcept {
        if (count == capacity && !(count < maximum_nodes && reserve(capacity * 2 + 64))) { return false; }
        nodes[count++] = node;
        return true;
    }

    shelv_json_node &operator[](size_t index) noexcept { return nodes[index]; }
    size_t size() const noexcept { return count; }

    shelv_json_node *release() noexcept {
        shelv_json_node *result = nodes;
        nodes = nullptr;
        return result;
    }

private:
    shelv_json_node *nodes = nullptr;
    size_t count = 0;
    size_t capacity = 0;
};

bool is_space(char c) noexcept { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

// Walks the structural positions that stage 1 found: every bracket, colon and comma, and the first byte of every
// string, number and word. Grammar is checked here; stage 1 has checked UTF-8, quotes and control characters.
class walker {
public:
    walker(char *text, size_t length, const uint32_t *positions, size_t count, const shelv_json_keys &keys)
        : text(text), length(length), positions(positions), count(count), keys(keys) {}

    node_list nodes;
    size_t error_position = 0;

    shelv_json_result run() noexcept {
        // Two names or values need three positions at least, so this is rarely too little and never much.
        nodes.reserve(count / 3 + 16);
        shelv_json_result result = value(0, 0);
        while (result == SHELV_JSON_OK && depth > 0) { result = next(); }
        if (result == SHELV_JSON_OK && at < count) { return fail(); }
        return result;
    }

private:
    struct frame {
        uint32_t node;
        uint32_t elements;
        bool is_object;
    };

    char *const text;
    const size_t length;
    const uint32_t *const positions;
    const size_t count;
    const shelv_json_keys &keys;
    size_t at = 0;
    size_t depth = 0;
    frame frames[maximum_depth];

    shelv_json_result fail() noexcept {
        error_position = here();
        return SHELV_JSON_SYNTAX;
    }

    size_t here() const noexcept { return at < count ? positions[at] : length; }

    // The byte at the current position, or 0 at the end: no structure begins with a zero byte.
    char peek() const noexcept { return at < count ? text[positions[at]] : '\0'; }

    // Leads `at` past a string and gives its place; the closing quote becomes a zero byte. False: syntax error.
    bool string(uint32_t &start, uint32_t &bytes) noexcept {
        const size_t first = size_t{positions[at]} + 1;
        at += 1;
        size_t last = here();
        // Between the closing quote and the next structure there is only white space.
        while (last > first && is_space(text[last - 1])) { last -= 1; }
        if (last <= first || text[last - 1] != '"') { return false; }
        last -= 1;
        const size_t size = unescape(text + first, last - first);
        text[first + size] = '\0';
        start = static_cast<uint32_t>(first);
        bytes = static_cast<uint32_t>(size);
        return true;
    }

    // Reads what begins at the current position: a scalar whole, of a container only its bracket.
    shelv_json_result value(uint16_t key, uint32_t key_start) noexcept {
        shelv_json_node node{SHELV_JSON_NULL, 0, key, key_start, 0, 0};
        switch (peek()) {
        case '{':
        case '[': {
            if (depth == maximum_depth) {
                error_position = here();
                return SHELV_JSON_DEPTH;
            }
            const bool is_object = peek() == '{';
            node.kind = is_object ? SHELV_JSON_OBJECT : SHELV_JSON_ARRAY;
            frames[depth++] = frame{static_cast<uint32_t>(nodes.size()), 0, is_object};
            at += 1;
            break;
        }
        case '"':
            node.kind = SHELV_JSON_STRING;
            if (!string(node.start, node.length)) { return fail(); }
            break;
        default:
            if (!scalar(node)) { return fail(); }
        }
        return nodes.add(node) ? SHELV_JSON_OK : SHELV_JSON_MEMORY;
    }

    // One step inside the innermost container: its end, or the next element.
    shelv_json_result next() noexcept {
        frame &current = frames[depth - 1];
        const char c = peek();
        if (c == (current.is_object ? '}' : ']')) {
            at += 1;
            nodes[current.node].start = current.elements;
            nodes[current.node].length = static_cast<uint32_t>(nodes.size());
            depth -= 1;
            return SHELV_JSON_OK;
        }
        if (current.elements > 0) {
            if (c != ',') { return fail(); }
            at += 1;
        }
        current.elements += 1;
        if (!current.is_object) { return value(0, 0); }
        uint32_t key_start = 0;
        uint32_t key_length = 0;
        if (peek() != '"' || !string(key_start, key_length) || peek() != ':') { return fail(); }
        at += 1;
        return value(keys.find(text + key_start, key_length), key_start);
    }

    // true, false, null, a number; also NaN and Infinity, which Python writes and which mean nothing here.
    bool scalar(shelv_json_node &node) noexcept {
        if (at >= count) { return false; }
        const size_t first = positions[at];
        size_t last = first;
        while (last < length && !ends_scalar(text[last])) { last += 1; }
        const size_t size = last - first;
        const char *word = text + first;
        const auto is = [&](const char *name) { return size == std::strlen(name) && std::memcmp(word, name, size) == 0; };
        if (size == 0) { return false; }
        if (is("true")) {
            node.kind = SHELV_JSON_TRUE;
        } else if (is("false")) {
            node.kind = SHELV_JSON_FALSE;
        } else if (is("null") || is("NaN") || is("Infinity") || is("-Infinity")) {
            node.kind = SHELV_JSON_NULL;
        } else if (is_number(word, size)) {
            node.kind = SHELV_JSON_NUMBER;
            node.start = static_cast<uint32_t>(first);
            node.length = static_cast<uint32_t>(size);
        } else {
            return false;
        }
        at += 1;
        return true;
    }

    static bool ends_scalar(char c) noexcept {
        return is_space(c) || c == ',' || c == '}' || c == ']' || c == ':' || c == '"' || c == '{' || c == '[';
    }
};

shelv_json_result parse_once(
    text_buffer &text,
    size_t length,
    const shelv_json_keys &keys,
    shelv_json_document &document,
    size_t &position
) {
    std::unique_ptr<simdjson::internal::dom_parser_implementation> stage;
    if (simdjson::get_active_implementation()->create_dom_parser_implementation(length, maximum_depth, stage)) {
        return SHELV_JSON_MEMORY;
    }
    const auto *bytes = reinterpret_cast<const uint8_t *>(text.get());
    if (stage->stage1(bytes, length, simdjson::stage1_mode::regular)) {
        position = length;
        return SHELV_JSON_SYNTAX;
    }
    walker walk(text.get(), length, stage->structural_indexes.get(), stage->n_structural_indexes, keys);
    const shelv_json_result result = walk.run();
    if (result != SHELV_JSON_OK) {
        position = walk.error_position;
        return result;
    }
    document.node_count = walk.nodes.size();
    document.nodes = walk.nodes.release();
    document.text = text.release();
    document.text_length = length;
    return SHELV_JSON_OK;
}

// Room for `length` bytes and what stage 1 may read beyond them.
text_buffer make_buffer(size_t length) noexcept {
    char *memory = static_cast<char *>(std::malloc(length + simdjson::SIMDJSON_PADDING));
    if (memory != nullptr) { std::memset(memory + length, 0, simdjson::SIMDJSON_PADDING); }
    return text_buffer(memory);
}

shelv_json_result parse(
    const uint8_t *bytes,
    size_t length,
    const shelv_json_keys &keys,
    shelv_json_document &document,
    size_t &position
) {
    if (length > maximum_length) { return SHELV_JSON_SIZE; }
    if (length == 0) { return SHELV_JSON_EMPTY; }
    text_buffer text = make_buffer(length);
    if (!text) { return SHELV_JSON_MEMORY; }
    std::memcpy(text.get(), bytes, length);
    shelv_json_result result = parse_once(text, length, keys, document, position);
    if (result != SHELV_JSON_SYNTAX) { return result; }

    // The walk may have unescaped strings in place, so the repair starts from the original bytes.
    const size_t repaired_length = repair(bytes, length, nullptr);
    if (repaired_length > maximum_length) { return SHELV_JSON_SIZE; }
    if (repaired_length == 0) { return SHELV_JSON_EMPTY; }
    text = make_buffer(repaired_length);
    if (!text) { return SHELV_JSON_MEMORY; }
    repair(bytes, length, text.get());
    if (repaired_length == length && std::memcmp(text.get(), bytes, length) == 0) { return SHELV_JSON_SYNTAX; }
    size_t repaired_position = 0;
    result = parse_once(text, repaired_length, keys, document, repaired_position);
    document.repaired = 1;
    return result;
}

}  // namespace

extern "C" shelv_json_keys *shelv_json_keys_create(const char *names, size_t count) {
    try {
        return new shelv_json_keys(names, count);
    } catch (...) {
        return nullptr;
    }
}

extern "C" shelv_json_result shelv_json_parse(
    const uint8_t *bytes,
    size_t length,
    const shelv_json_keys *keys,
    shelv_json_document *document,
    size_t *position
) {
    *document = shelv_json_document{};
    *position = 0;
    try {
        return parse(bytes, length, *keys, *document, *position);
    } catch (...) {
        return SHELV_JSON_MEMORY;
    }
}

extern "C" void shelv_json_free(shelv_json_document document) {
    std::free(const_cast<shelv_json_node *>(document.nodes));
    std::free(const_cast<char *>(document.text));
}

extern "C" int shelv_json_number(const char *text, size_t length, double *value) {
    const auto [end, error] = std::from_chars(text, text + length, *value);
    return error == std::errc() && end == text + length ? 1 : 0;
}
