#include "base/utf8.h"

#include <stdbool.h>
#include <string.h>

static bool is_within(uint8_t byte, uint8_t low, uint8_t high) {
    return byte >= low && byte <= high;
}

/// The bounds of the second byte exclude overlong forms, surrogates and U+110000 up.
static size_t sequence_of_three(const uint8_t *bytes) {
    uint8_t low = bytes[0] == 0xE0 ? 0xA0 : 0x80;
    uint8_t high = bytes[0] == 0xED ? 0x9F : 0xBF;
    return is_within(bytes[1], low, high) && is_within(bytes[2], 0x80, 0xBF) ? 3 : 0;
}

static size_t sequence_of_four(const uint8_t *bytes) {
    uint8_t low = bytes[0] == 0xF0 ? 0x90 : 0x80;
    uint8_t high = bytes[0] == 0xF4 ? 0x8F : 0xBF;
    return is_within(bytes[1], low, high) && is_within(bytes[2], 0x80, 0xBF) && is_within(bytes[3], 0x80, 0xBF) ? 4 : 0;
}

size_t nc_utf8_sequence(const uint8_t *bytes, size_t length) {
    if (length == 0) {
        return 0;
    }
    uint8_t lead = bytes[0];
    if (lead < 0x80) {
        return 1;
    }
    if (is_within(lead, 0xC2, 0xDF)) {
        return length >= 2 && is_within(bytes[1], 0x80, 0xBF) ? 2 : 0;
    }
    if (is_within(lead, 0xE0, 0xEF)) {
        return length >= 3 ? sequence_of_three(bytes) : 0;
    }
    if (is_within(lead, 0xF0, 0xF4)) {
        return length >= 4 ? sequence_of_four(bytes) : 0;
    }
    return 0;
}

size_t nc_utf8_span(const uint8_t *bytes, size_t length) {
    size_t at = 0;
    while (at < length) {
        // Most text is ASCII: eight bytes without a high bit are skipped together.
        uint64_t word;
        if (length - at >= sizeof word) {
            memcpy(&word, bytes + at, sizeof word);
            if ((word & UINT64_C(0x8080808080808080)) == 0) {
                at += sizeof word;
                continue;
            }
        }
        size_t step = nc_utf8_sequence(bytes + at, length - at);
        if (step == 0) {
            break;
        }
        at += step;
    }
    return at;
}
