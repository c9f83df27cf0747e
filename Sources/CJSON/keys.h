// Names of members → small numbers, so that a decoder switches over an integer.
#ifndef SHELVMPD_CJSON_KEYS_H
#define SHELVMPD_CJSON_KEYS_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "CJSON.h"

struct shelv_json_keys {
    shelv_json_keys(const char *list, size_t count) {
        size_t size = 16;
        while (size < count * 4) { size *= 2; }
        mask = size - 1;
        slots.assign(size, 0);
        names.reserve(count);
        for (size_t i = 0; i < count; ++i) {
            names.emplace_back(list);
            list += names.back().size() + 1;
            size_t slot = hash(names.back().data(), names.back().size()) & mask;
            while (slots[slot] != 0) { slot = (slot + 1) & mask; }
            slots[slot] = static_cast<uint16_t>(i + 1);
        }
    }

    // Position of the name + 1, or 0.
    uint16_t find(const char *text, size_t length) const noexcept {
        size_t slot = hash(text, length) & mask;
        while (const uint16_t found = slots[slot]) {
            const std::string &name = names[found - 1];
            if (name.size() == length && std::memcmp(name.data(), text, length) == 0) { return found; }
            slot = (slot + 1) & mask;
        }
        return 0;
    }

private:
    std::vector<std::string> names;
    std::vector<uint16_t> slots;
    size_t mask = 0;

    static size_t hash(const char *text, size_t length) noexcept {
        // Names are short; a long one from outside is known by its ends and its length.
        uint64_t first = 0;
        uint64_t last = 0;
        std::memcpy(&first, text, length < 8 ? length : 8);
        if (length > 8) { std::memcpy(&last, text + length - 8, 8); }
        uint64_t mixed = (first ^ (last * 0x9E3779B97F4A7C15u) ^ length) * 0xFF51AFD7ED558CCDu;
        return static_cast<size_t>(mixed >> 40);
    }
};

#endif
