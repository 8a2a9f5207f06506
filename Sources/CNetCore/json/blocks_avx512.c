#if defined(__x86_64__)

#include <immintrin.h>
#include <stdint.h>

#define BLOCKS_TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,pclmul,bmi,bmi2,popcnt")))

/// A carry-less product with all ones is the parity of all lower bits.
#define BLOCKS_PREFIX_XOR multiply_by_ones
static inline __attribute__((always_inline)) BLOCKS_TARGET uint64_t multiply_by_ones(uint64_t bits) {
    __m128i product = _mm_clmulepi64_si128(_mm_set_epi64x(0, (int64_t)bits), _mm_set1_epi8((char)0xFF), 0);
    return (uint64_t)_mm_cvtsi128_si64(product);
}

#define VEC __m512i
#define VEC_ALL(byte) _mm512_set1_epi8(byte)
#define VEC_TABLE(...) _mm512_broadcast_i32x4(_mm_setr_epi8(__VA_ARGS__))
#define VEC_AND(a, b) _mm512_and_si512(a, b)
#define VEC_OR(a, b) _mm512_or_si512(a, b)
#define VEC_XOR(a, b) _mm512_xor_si512(a, b)
#define VEC_MINUS(a, b) _mm512_subs_epu8(a, b)
#define VEC_LOOK_UP(table, nibbles) _mm512_shuffle_epi8(table, nibbles)
#define VEC_SHIFT_NIBBLE(a) _mm512_srli_epi16(a, 4)
#define VEC_BEHIND(bytes, before, by) _mm512_alignr_epi8(bytes, _mm512_alignr_epi64(bytes, before, 6), 16 - (by))
#include "json/blocks_core.h"
#include "json/blocks_utf8.h"

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

/// Writes the offsets of a block's bits, sixteen at a time. Up to 16 offsets beyond the count may be written too.
BLOCKS_INLINE size_t write_places(uint32_t *index, size_t count, uint64_t found, size_t at) {
    static const uint8_t places[NC_BLOCK_BYTES] = {
        0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
        22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
        44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63,
    };
    size_t bits = (size_t)__builtin_popcountll(found);
    __m512i packed = _mm512_maskz_compress_epi8(found, _mm512_loadu_si512(places));
    __m512i base = _mm512_set1_epi32((int)at);
    uint32_t *out = index + count;
    _mm512_storeu_si512(out, _mm512_add_epi32(base, _mm512_cvtepu8_epi32(_mm512_castsi512_si128(packed))));
    if (bits > 16) {
        __m128i part = _mm512_extracti32x4_epi32(packed, 1);
        _mm512_storeu_si512(out + 16, _mm512_add_epi32(base, _mm512_cvtepu8_epi32(part)));
    }
    if (bits > 32) {
        __m128i part = _mm512_extracti32x4_epi32(packed, 2);
        _mm512_storeu_si512(out + 32, _mm512_add_epi32(base, _mm512_cvtepu8_epi32(part)));
        part = _mm512_extracti32x4_epi32(packed, 3);
        _mm512_storeu_si512(out + 48, _mm512_add_epi32(base, _mm512_cvtepu8_epi32(part)));
    }
    return count + bits;
}

BLOCKS_INLINE void classify(nc_block_masks *masks, __m512i bytes) {
    masks->quote = _mm512_cmpeq_epi8_mask(bytes, VEC_ALL('"'));
    masks->backslash = _mm512_cmpeq_epi8_mask(bytes, VEC_ALL('\\'));
    masks->control = _mm512_cmplt_epu8_mask(bytes, VEC_ALL(0x20));
    masks->space = _mm512_cmpeq_epi8_mask(bytes, VEC_LOOK_UP(VEC_TABLE(BLOCK_SPACES), bytes));
    masks->operator=
        _mm512_cmpeq_epi8_mask(VEC_OR(bytes, VEC_ALL(0x20)), VEC_LOOK_UP(VEC_TABLE(BLOCK_OPERATORS), bytes));
}

BLOCKS_TARGET size_t nc_blocks_avx512(nc_blocks *blocks, const uint8_t *text, size_t at, size_t length, uint32_t *index,
                                      size_t *count) {
    size_t from = at;
    size_t written = 0;
    __m512i before = blocks->has_before ? _mm512_loadu_si512(text + at - NC_BLOCK_BYTES) : _mm512_setzero_si512();
    uint64_t high_before = _mm512_movepi8_mask(before);
    nc_block_masks masks;
    nc_blocks state = *blocks;
    for (unsigned n = 0; n < NC_BLOCKS_AT_ONCE && length - at >= NC_BLOCK_BYTES; n++, at += NC_BLOCK_BYTES) {
        uint64_t found;
        __m512i bytes = _mm512_loadu_si512(text + at);
        uint64_t high = _mm512_movepi8_mask(bytes);
        classify(&masks, bytes);
        if ((high | high_before) != 0) {
            __m512i wrong = utf8_wrong(bytes, before);
            if (_mm512_test_epi8_mask(wrong, wrong) != 0) {
                break;
            }
        }
        if (!blocks_take(&state, &masks, text, at, length, &found)) {
            break;
        }
        before = bytes;
        high_before = high;
        written = write_places(index, written, found, at);
    }
    *count = written;
    *blocks = state;
    blocks->has_before = true;
    return at - from;
}

BLOCKS_TARGET uint64_t nc_blocks_count_avx512(const uint8_t *bytes, size_t length, bool continuations) {
    uint64_t count = 0;
    size_t at = 0;
    for (; length - at >= NC_BLOCK_BYTES; at += NC_BLOCK_BYTES) {
        __m512i block = _mm512_loadu_si512(bytes + at);
        // As signed numbers, continuation bytes are the smallest.
        uint64_t found = continuations ? _mm512_cmplt_epi8_mask(block, VEC_ALL((char)0xC0))
                                       : _mm512_cmpeq_epi8_mask(block, VEC_ALL('\n'));
        count += (uint64_t)__builtin_popcountll(found);
    }
    return count + nc_blocks_count_plain(bytes + at, length - at, continuations);
}

#else
typedef int nothing_here;
#endif
