/// What every way of looking at blocks does with a block's masks. Each way includes this, so that it is inlined into
/// code for its own processor; BLOCKS_TARGET is that code's attribute, and BLOCKS_PREFIX_XOR may be its own.
#ifndef NETCORE_PRIVATE_JSON_BLOCKS_CORE_H
#define NETCORE_PRIVATE_JSON_BLOCKS_CORE_H

#include "json/blocks.h"

#define BLOCKS_INLINE static inline __attribute__((always_inline)) BLOCKS_TARGET

/// Bit i is the parity of bits 0 to i: from an opening quote up to its closing one.
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

/// Which bytes stand behind a '\' that is not itself escaped. A run of backslashes that begins at an odd place escapes
/// other places than one that begins at an even one; adding the runs' beginnings to them finds their ends.
BLOCKS_INLINE uint64_t blocks_find_escaped(uint64_t *is_escaped, uint64_t backslash) {
    const uint64_t even = UINT64_C(0x5555555555555555);
    backslash &= ~*is_escaped;
    uint64_t follows = backslash << 1 | *is_escaped;
    uint64_t odd_starts = backslash & ~even & ~follows;
    unsigned long long sum;
    *is_escaped = __builtin_uaddll_overflow(odd_starts, backslash, &sum) ? 1 : 0;
    return (even ^ (uint64_t)sum << 1) & follows;
}

/// Goes through one block's masks; false when it is not clean. `*found` gets a bit for everything worth looking at.
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

/// Writes the places of a block's bits; up to 63 places beyond the count may be written too.
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
