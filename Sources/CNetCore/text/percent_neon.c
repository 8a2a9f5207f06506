#include "text/percent.h"

#if defined(__aarch64__)

#include <arm_neon.h>
#include <string.h>

// Like the SSSE3 implementation: a table lookup turns four bytes into four to twelve. Every 64-bit ARM has NEON.

static inline uint8x16_t unsafe_of(uint8x16_t bytes, uint8x16_t nibbles) {
    static const uint8_t bits_of_high[16] = {1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t bits = vqtbl1q_u8(vld1q_u8(bits_of_high), vshrq_n_u8(bytes, 4));
    uint8x16_t row = vqtbl1q_u8(nibbles, vandq_u8(bytes, vdupq_n_u8(15)));
    // Bytes from 0x80 up have no bit and are encoded.
    return vceqq_u8(vandq_u8(row, bits), vdupq_n_u8(0));
}

/// Returns four masks of four bytes each, one in each byte of the result.
static inline uint32_t masks_of(uint8x16_t unsafe) {
    static const uint8_t weights[16] = {1, 2, 4, 8, 1, 2, 4, 8, 1, 2, 4, 8, 1, 2, 4, 8};
    uint8x16_t weighted = vandq_u8(unsafe, vld1q_u8(weights));
    uint8x16_t pairs = vpaddq_u8(weighted, weighted);
    return vgetq_lane_u32(vreinterpretq_u32_u8(vpaddq_u8(pairs, pairs)), 0);
}

static inline uint8_t *put_four(uint8_t *place, uint64x2_t row, unsigned unsafe) {
    vst1q_u8(place, vqtbl1q_u8(vreinterpretq_u8_u64(row), vld1q_u8(nc_percent_shuffles[unsafe])));
    return place + nc_percent_lengths[unsafe];
}

/// Writes the first `count` bytes of a block. The bytes after them must be safe.
static inline uint8_t *put_block(uint8_t *place, uint8x16_t bytes, uint32_t masks, size_t count, uint8_t space) {
    static const uint8_t hex[] = "0123456789ABCDEF";
    uint8x16_t kept = vbslq_u8(vceqq_u8(bytes, vdupq_n_u8(' ')), vdupq_n_u8(space), bytes);
    if (masks == 0) {
        vst1q_u8(place, kept);
        return place + count;
    }
    uint8x16_t digits = vld1q_u8(hex);
    uint32x4_t high = vreinterpretq_u32_u8(vqtbl1q_u8(digits, vshrq_n_u8(bytes, 4)));
    uint32x4_t low = vreinterpretq_u32_u8(vqtbl1q_u8(digits, vandq_u8(bytes, vdupq_n_u8(15))));
    uint32x4_t percent = vreinterpretq_u32_u8(vdupq_n_u8('%'));
    uint64x2_t digits_low = vreinterpretq_u64_u32(vzip1q_u32(high, low));
    uint64x2_t digits_high = vreinterpretq_u64_u32(vzip2q_u32(high, low));
    uint64x2_t kept_low = vreinterpretq_u64_u32(vzip1q_u32(vreinterpretq_u32_u8(kept), percent));
    uint64x2_t kept_high = vreinterpretq_u64_u32(vzip2q_u32(vreinterpretq_u32_u8(kept), percent));
    place = put_four(place, vzip1q_u64(digits_low, kept_low), masks & 15);
    if (count > 4) {
        place = put_four(place, vzip2q_u64(digits_low, kept_low), masks >> 8 & 15);
    }
    if (count > 8) {
        place = put_four(place, vzip1q_u64(digits_high, kept_high), masks >> 16 & 15);
    }
    if (count > 12) {
        place = put_four(place, vzip2q_u64(digits_high, kept_high), masks >> 24);
    }
    // The last group may have fewer than four bytes.
    return place - ((16 - count) & 3);
}

static size_t escape_neon(uint8_t *out, const uint8_t *text, size_t length, const nc_percent_set *set) {
    uint8x16_t nibbles = vld1q_u8(set->nibbles);
    uint8_t *place = out;
    for (; length >= 16; text += 16, length -= 16) {
        uint8x16_t bytes = vld1q_u8(text);
        place = put_block(place, bytes, masks_of(unsafe_of(bytes, nibbles)), 16, set->space);
    }
    if (length < NC_PERCENT_FEW) {
        return (size_t)(place - out) + nc_percent_scalar(place, text, length, set);
    }
    // Pads the block with letters, which are safe.
    uint8_t rest[16];
    memset(rest, 'a', sizeof rest);
    memcpy(rest, text, length);
    uint8x16_t bytes = vld1q_u8(rest);
    return (size_t)(put_block(place, bytes, masks_of(unsafe_of(bytes, nibbles)), length, set->space) - out);
}

size_t nc_percent_neon_ways(nc_percent_named_way ways[1]) {
    ways[0] = (nc_percent_named_way){"neon", escape_neon};
    return 1;
}

#endif
