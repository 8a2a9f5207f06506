#include "base/utf8.h"

#include <stdbool.h>
#include <string.h>

static bool is_within(uint8_t byte, uint8_t low, uint8_t high) {
    return byte >= low && byte <= high;
}

/// The bounds of the second byte exclude overlong forms and surrogates.
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
        // Most text is ASCII, so eight bytes without a high bit are skipped together.
        uint64_t word;
        if (length - at >= sizeof word) {
            memcpy(&word, bytes + at, sizeof word);
            if ((word & UINT64_C(0x8080808080808080)) == 0) {
                at += sizeof word;
                continue;
            }
        }
        size_t sequence_length = nc_utf8_sequence(bytes + at, length - at);
        if (sequence_length == 0) {
            break;
        }
        at += sequence_length;
    }
    return at;
}

/// Sets the state after the first byte of a character with more than one byte. Returns false for other bytes.
static bool begin_sequence(nc_utf8_check *check, uint8_t lead) {
    if (!is_within(lead, 0xC2, 0xF4)) {
        return false;
    }
    check->needed = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
    check->low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    check->high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    return true;
}

bool nc_utf8_check_piece(nc_utf8_check *check, nc_slice piece) {
    size_t at = 0;
    while (at < piece.length) {
        if (check->needed > 0) {
            if (!is_within(piece.data[at++], check->low, check->high)) {
                return false;
            }
            check->needed--;
            check->low = 0x80;
            check->high = 0xBF;
            continue;
        }
        at += nc_utf8_span(piece.data + at, piece.length - at);
        if (at < piece.length && !begin_sequence(check, piece.data[at++])) {
            return false;
        }
    }
    return true;
}

void nc_utf8_append(nc_buf *out, uint32_t c) {
    uint8_t bytes[] = {(uint8_t)(0xF0 | c >> 18), (uint8_t)(0x80 | (c >> 12 & 0x3F)), (uint8_t)(0x80 | (c >> 6 & 0x3F)),
                       (uint8_t)(0x80 | (c & 0x3F))};
    size_t skipped = c >= 0x10000 ? 0 : c >= 0x800 ? 1 : c >= 0x80 ? 2 : 3;
    if (skipped == 1) {
        bytes[1] = (uint8_t)(0xE0 | c >> 12);
    } else if (skipped == 2) {
        bytes[2] = (uint8_t)(0xC0 | c >> 6);
    } else if (skipped == 3) {
        bytes[3] = (uint8_t)c;
    }
    nc_buf_append(out, nc_slice_make(bytes + skipped, sizeof bytes - skipped));
}
