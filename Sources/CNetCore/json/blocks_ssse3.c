#if defined(__x86_64__)

#include <immintrin.h>

#define BLOCKS_TARGET __attribute__((target("ssse3,popcnt")))
#define VEC __m128i
#define VEC_EVERY 0xFFFF
#define VEC_ALL(byte) _mm_set1_epi8(byte)
#define VEC_TABLE(...) _mm_setr_epi8(__VA_ARGS__)
#define VEC_LOAD(place) _mm_loadu_si128((const __m128i *)(const void *)(place))
#define VEC_AND(a, b) _mm_and_si128(a, b)
#define VEC_OR(a, b) _mm_or_si128(a, b)
#define VEC_XOR(a, b) _mm_xor_si128(a, b)
#define VEC_MIN(a, b) _mm_min_epu8(a, b)
#define VEC_MINUS(a, b) _mm_subs_epu8(a, b)
#define VEC_EQUAL(a, b) _mm_cmpeq_epi8(a, b)
#define VEC_LOOK_UP(table, nibbles) _mm_shuffle_epi8(table, nibbles)
#define VEC_SHIFT_NIBBLE(a) _mm_srli_epi16(a, 4)
#define VEC_BEHIND(bytes, before, by) _mm_alignr_epi8(bytes, before, 16 - (by))
#define VEC_BITS(a) (unsigned)_mm_movemask_epi8(a)
#define VEC_LESS(a, b) _mm_cmplt_epi8(a, b)
#include "json/blocks_vectors.h"

BLOCKS_TARGET size_t nc_blocks_ssse3(nc_blocks *blocks, const uint8_t *text, size_t at, size_t length, uint32_t *index,
                                     size_t *count) {
    return blocks_look(blocks, text, at, length, index, count);
}

BLOCKS_TARGET uint64_t nc_blocks_count_ssse3(const uint8_t *bytes, size_t length, bool continuations) {
    return blocks_count(bytes, length, continuations);
}

#else
typedef int nothing_here;
#endif
