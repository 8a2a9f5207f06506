/// The part of block scanning that all implementations share. Each one includes this file, so that it is inlined into
/// code for its processor. BLOCKS_TARGET is the attribute for that code. An implementation may define
/// BLOCKS_PREFIX_XOR.
#ifndef NETCORE_PRIVATE_JSON_BLOCKS_CORE_H
#define NETCORE_PRIVATE_JSON_BLOCKS_CORE_H

#include "json/blocks.h"

#define BLOCKS_INLINE static inline __attribute__((always_inline)) BLOCKS_TARGET

/// Bit i is the parity of bits 0 to i: set from an opening quote to its closing quote.
#ifndef BLOCKS_PREFIX_XOR
#define BLOCKS_PREFIX_XOR blocks_prefix_xor
BLOCKS_INLINE uint64_t blocks_prefix_xor(uint64_t bits) {
    bits ^= bits << 1;
    bits ^= bits << 2;
    bits ^= bits << 4;
    bits ^= bits << 8;
    bits ^= bits << 16;
    return bits ^ bits << 32;
}
#endif

/// Returns the bytes that follow a '\' that is not itself escaped. The parity of the offset where a run of backslashes
/// begins decides which bytes it escapes. Adding the run starts to the runs finds their ends.
BLOCKS_INLINE uint64_t blocks_find_escaped(uint64_t *is_escaped, uint64_t backslash) {
    const uint64_t even = UINT64_C(0x5555555555555555);
    backslash &= ~*is_escaped;
    uint64_t follows = backslash << 1 | *is_escaped;
    uint64_t odd_starts = backslash & ~even & ~follows;
    unsigned long long sum;
    *is_escaped = __builtin_uaddll_overflow(odd_starts, backslash, &sum) ? 1 : 0;
    return (even ^ (uint64_t)sum << 1) & follows;
}

/// Processes one block's masks. Returns false if it is not clean. `*found` gets a bit for every offset to report.
BLOCKS_INLINE bool blocks_take(nc_blocks *blocks, const nc_block_masks *masks, const uint8_t *text, size_t at,
                               size_t length, uint64_t *found) {
    uint64_t is_escaped = blocks->is_escaped;
    uint64_t escaped = 0;
    size_t escapes_end = blocks->escapes_end;
    if ((masks->backslash | is_escaped) != 0) {
        blocks->backslashes |= UINT64_C(1) << ((at - blocks->from) / NC_BLOCK_BYTES);
        escaped = blocks_find_escaped(&is_escaped, masks->backslash);
        if (!nc_blocks_check_escapes(blocks, text, at, length, escaped)) {
            blocks->escapes_end = escapes_end;
            return false;
        }
    }
    uint64_t quote = masks->quote & ~escaped;
    uint64_t in_string = BLOCKS_PREFIX_XOR(quote) ^ blocks->in_string;
    if ((masks->control & in_string) != 0) {
        blocks->escapes_end = escapes_end;
        return false;
    }
    uint64_t scalar = ~(masks->operator| masks->space | quote);
    uint64_t begins = scalar & ~(scalar << 1 | blocks->after_scalar);
    *found = ((masks->operator| begins) & ~in_string) | quote;
    blocks->in_string = (uint64_t)((int64_t)in_string >> 63);
    blocks->is_escaped = is_escaped;
    blocks->after_scalar = scalar >> 63;
    return true;
}

/// Writes the offsets of a block's bits. Up to 63 offsets beyond the count may be written too.
BLOCKS_INLINE size_t blocks_write(uint32_t *index, size_t count, uint64_t found, size_t at) {
    size_t bits = (size_t)__builtin_popcountll(found);
    uint32_t *out = index + count;
    for (size_t i = 0; i < bits; i += 8) {
        for (size_t k = 0; k < 8; k++) {
            out[i + k] = (uint32_t)at + (uint32_t)__builtin_ctzll(found | UINT64_C(1) << 63);
            found &= found - 1;
        }
    }
    return count + bits;
}

#endif
