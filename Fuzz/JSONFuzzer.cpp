// A libFuzzer target, compiled together with Sources/CJSON by Scripts/fuzz.

#include <cstdlib>
#include <cstring>

#include "CJSON.h"

namespace {

void require(bool condition) {
    if (!condition) { std::abort(); }
}

// Walks the value at `index`, checks that everything it names lies inside the document, and returns the index behind it.
size_t walk(const shelv_json_document &document, size_t index) {
    require(index < document.node_count);
    const shelv_json_node &node = document.nodes[index];
    require(node.key_start < document.text_length || node.key_start == 0);
    // A name ends inside the text.
    if (node.key_start != 0) {
        require(std::memchr(document.text + node.key_start, 0, document.text_length - node.key_start) != nullptr);
    }
    switch (node.kind) {
    case SHELV_JSON_ARRAY:
    case SHELV_JSON_OBJECT: {
        size_t next = index + 1;
        for (uint32_t i = 0; i < node.start; ++i) { next = walk(document, next); }
        require(next == node.length);
        return next;
    }
    case SHELV_JSON_NUMBER: {
        require(size_t{node.start} + node.length <= document.text_length && node.length > 0);
        double value = 0;
        (void)shelv_json_number(document.text + node.start, node.length, &value);
        return index + 1;
    }
    case SHELV_JSON_STRING: {
        require(size_t{node.start} + node.length <= document.text_length);
        // Every byte is read, so that the address sanitizer sees one outside.
        unsigned sum = 0;
        for (uint32_t i = 0; i < node.length; ++i) { sum += static_cast<unsigned char>(document.text[node.start + i]); }
        require(sum != 1u << 31);
        return index + 1;
    }
    default: require(node.kind <= SHELV_JSON_TRUE); return index + 1;
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char names[] = "subsonic-response\0status\0song\0id\0title\0track";
    static const shelv_json_keys *const keys = shelv_json_keys_create(names, 6);
    require(keys != nullptr);
    shelv_json_document document;
    size_t position = 0;
    if (shelv_json_parse(data, size, keys, &document, &position) == SHELV_JSON_OK) {
        require(document.node_count > 0);
        require(walk(document, 0) == document.node_count);
        shelv_json_free(document);
    }
    return 0;
}
