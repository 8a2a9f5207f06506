/// A block as several vectors of 16 or 32 bytes. The including file defines the vector by VEC_ macros.
#ifndef NETCORE_PRIVATE_JSON_BLOCKS_VECTORS_H
#define NETCORE_PRIVATE_JSON_BLOCKS_VECTORS_H

#include "json/blocks_core.h"
#include "json/blocks_utf8.h"

enum { VEC_COUNT = NC_BLOCK_BYTES / sizeof(VEC) };

/// Returns the bytes that are invalid UTF-8; `before` holds the bytes in front.
BLOCKS_INLINE VEC utf8_wrong(VEC bytes, VEC before) {
    const VEC low_nibble = VEC_ALL(0x0F);
    VEC first = VEC_BEHIND(bytes, before, 1);
    VEC wrong = VEC_AND(VEC_LOOK_UP(VEC_TABLE(UTF8_FIRST_HIGH), VEC_AND(VEC_SHIFT_NIBBLE(first), low_nibble)),
                        VEC_LOOK_UP(VEC_TABLE(UTF8_FIRST_LOW), VEC_AND(first, low_nibble)));
    wrong = VEC_AND(wrong, VEC_LOOK_UP(VEC_TABLE(UTF8_SECOND_HIGH), VEC_AND(VEC_SHIFT_NIBBLE(bytes), low_nibble)));
    // The third and fourth byte of a sequence must be second continuations, and no other byte may be one.
    VEC third = VEC_MINUS(VEC_BEHIND(bytes, before, 2), VEC_ALL(0xE0 - 0x80));
    VEC fourth = VEC_MINUS(VEC_BEHIND(bytes, before, 3), VEC_ALL(0xF0 - 0x80));
    return VEC_XOR(VEC_AND(VEC_OR(third, fourth), VEC_ALL((char)0x80)), wrong);
}

/// Concatenates the bits of all vectors.
#define BLOCK_GATHER(expression)                                                                                       \
    do {                                                                                                               \
        uint64_t row = 0;                                                                                              \
        for (unsigned i = 0; i < VEC_COUNT; i++) {                                                                     \
            row |= (uint64_t)VEC_BITS(expression) << (i * sizeof(VEC));                                                \
        }                                                                                                              \
        gathered = row;                                                                                                \
    } while (0)

BLOCKS_INLINE void blocks_classify(nc_block_masks *masks, const VEC v[VEC_COUNT]) {
    uint64_t gathered;
    BLOCK_GATHER(VEC_EQUAL(v[i], VEC_ALL('"')));
    masks->quote = gathered;
    BLOCK_GATHER(VEC_EQUAL(v[i], VEC_ALL('\\')));
    masks->backslash = gathered;
    BLOCK_GATHER(VEC_EQUAL(VEC_MIN(v[i], VEC_ALL(0x1F)), v[i]));
    masks->control = gathered;
    BLOCK_GATHER(VEC_EQUAL(v[i], VEC_LOOK_UP(VEC_TABLE(BLOCK_SPACES), v[i])));
    masks->space = gathered;
    BLOCK_GATHER(VEC_EQUAL(VEC_OR(v[i], VEC_ALL(0x20)), VEC_LOOK_UP(VEC_TABLE(BLOCK_OPERATORS), v[i])));
    masks->operator= gathered;
}

BLOCKS_INLINE bool blocks_is_utf8(const VEC v[VEC_COUNT], VEC before, bool is_behind_ascii) {
    VEC high = v[0];
    for (unsigned i = 1; i < VEC_COUNT; i++) {
        high = VEC_OR(high, v[i]);
    }
    if (VEC_BITS(high) == 0 && is_behind_ascii) {
        return true;
    }
    VEC wrong = utf8_wrong(v[0], before);
    for (unsigned i = 1; i < VEC_COUNT; i++) {
        wrong = VEC_OR(wrong, utf8_wrong(v[i], v[i - 1]));
    }
    return VEC_BITS(VEC_EQUAL(wrong, VEC_ALL(0))) == VEC_EVERY;
}

BLOCKS_INLINE uint64_t blocks_count(const uint8_t *bytes, size_t length, bool continuations) {
    uint64_t count = 0;
    size_t at = 0;
    for (; length - at >= NC_BLOCK_BYTES; at += NC_BLOCK_BYTES) {
        uint64_t gathered;
        if (continuations) {
            // As signed numbers, continuation bytes are the smallest.
            BLOCK_GATHER(VEC_LESS(VEC_LOAD(bytes + at + i * sizeof(VEC)), VEC_ALL((char)0xC0)));
        } else {
            BLOCK_GATHER(VEC_EQUAL(VEC_LOAD(bytes + at + i * sizeof(VEC)), VEC_ALL('\n')));
        }
        count += (uint64_t)__builtin_popcountll(gathered);
    }
    return count + nc_blocks_count_plain(bytes + at, length - at, continuations);
}

BLOCKS_INLINE size_t blocks_look(nc_blocks *blocks, const uint8_t *text, size_t at, size_t length, uint32_t *index,
                                 size_t *count) {
    size_t from = at;
    VEC before = blocks->has_before ? VEC_LOAD(text + at - sizeof(VEC)) : VEC_ALL(0);
    VEC v[VEC_COUNT];
    nc_block_masks masks;
    *count = 0;
    for (unsigned n = 0; n < NC_BLOCKS_AT_ONCE && length - at >= NC_BLOCK_BYTES; n++, at += NC_BLOCK_BYTES) {
        uint64_t found;
        for (unsigned i = 0; i < VEC_COUNT; i++) {
            v[i] = VEC_LOAD(text + at + i * sizeof(VEC));
        }
        blocks_classify(&masks, v);
        if (!blocks_is_utf8(v, before, VEC_BITS(before) == 0) ||
            !blocks_take(blocks, &masks, text, at, length, &found)) {
            break;
        }
        before = v[VEC_COUNT - 1];
        *count = blocks_write(index, *count, found, at);
    }
    blocks->has_before = true;
    return at - from;
}

#endif
