#if defined(__x86_64__)

#include <immintrin.h>
#include <stdint.h>

#define BLOCKS_TARGET __attribute__((target("avx2,pclmul,bmi,bmi2,popcnt")))

/// A carry-less product with all ones is the parity of all lower bits.
#define BLOCKS_PREFIX_XOR multiply_by_ones
static inline __attribute__((always_inline)) BLOCKS_TARGET uint64_t multiply_by_ones(uint64_t bits) {
    __m128i product = _mm_clmulepi64_si128(_mm_set_epi64x(0, (int64_t)bits), _mm_set1_epi8((char)0xFF), 0);
    return (uint64_t)_mm_cvtsi128_si64(product);
}

#define VEC __m256i
#define VEC_EVERY UINT32_MAX
#define VEC_ALL(byte) _mm256_set1_epi8(byte)
#define VEC_TABLE(...) _mm256_setr_epi8(__VA_ARGS__, __VA_ARGS__)
#define VEC_LOAD(place) _mm256_loadu_si256((const __m256i *)(const void *)(place))
#define VEC_AND(a, b) _mm256_and_si256(a, b)
#define VEC_OR(a, b) _mm256_or_si256(a, b)
#define VEC_XOR(a, b) _mm256_xor_si256(a, b)
#define VEC_MIN(a, b) _mm256_min_epu8(a, b)
#define VEC_MINUS(a, b) _mm256_subs_epu8(a, b)
#define VEC_EQUAL(a, b) _mm256_cmpeq_epi8(a, b)
#define VEC_LOOK_UP(table, nibbles) _mm256_shuffle_epi8(table, nibbles)
#define VEC_SHIFT_NIBBLE(a) _mm256_srli_epi16(a, 4)
#define VEC_BEHIND(bytes, before, by)                                                                                  \
    _mm256_alignr_epi8(bytes, _mm256_permute2x128_si256(before, bytes, 0x21), 16 - (by))
#define VEC_BITS(a) (unsigned)_mm256_movemask_epi8(a)
#define VEC_LESS(a, b) _mm256_cmpgt_epi8(b, a)
#include "json/blocks_vectors.h"

BLOCKS_TARGET size_t nc_blocks_avx2(nc_blocks *blocks, const uint8_t *text, size_t at, size_t length, uint32_t *index,
                                    size_t *count) {
    return blocks_look(blocks, text, at, length, index, count);
}

BLOCKS_TARGET uint64_t nc_blocks_count_avx2(const uint8_t *bytes, size_t length, bool continuations) {
    return blocks_count(bytes, length, continuations);
}

#else
typedef int nothing_here;
#endif
