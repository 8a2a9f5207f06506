#include "text/percent.h"

#if defined(__x86_64__) || defined(__i386__)

#include <immintrin.h>
#include <string.h>

/* --- SSE2: copies blocks without encoded bytes; others use the table --- */

#define SSE2 __attribute__((target("sse2")))

SSE2 static inline __m128i is_in_range(__m128i bytes, char first, char count) {
    __m128i offset = _mm_sub_epi8(bytes, _mm_set1_epi8(first));
    return _mm_cmpeq_epi8(_mm_min_epu8(offset, _mm_set1_epi8((char)(count - 1))), offset);
}

SSE2 static inline unsigned unsafe_of_sse2(__m128i bytes, bool keeps_slash) {
    __m128i letters = is_in_range(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), 'a', 26);
    __m128i digits = is_in_range(bytes, '0', 10);
    __m128i marks = is_in_range(bytes, '-', keeps_slash ? 3 : 2); // - . /
    __m128i others = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('_')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('~')));
    if (keeps_slash) {
        others = _mm_or_si128(others, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('?')));
    }
    __m128i safe = _mm_or_si128(_mm_or_si128(letters, digits), _mm_or_si128(marks, others));
    return (unsigned)_mm_movemask_epi8(safe) ^ 0xFFFFu;
}

/// After a block with encoded bytes the next ones probably have some too, so they skip the check.
#define BYTES_WITHOUT_A_LOOK 64u

SSE2 static size_t escape_sse2(uint8_t *out, const uint8_t *text, size_t length, const nc_percent_set *set) {
    uint8_t *place = out;
    while (length >= 32) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)text);
        size_t taken = 16;
        if (unsafe_of_sse2(bytes, set->keeps_slash) == 0) {
            _mm_storeu_si128((__m128i *)(void *)place, bytes);
            place += 16;
        } else {
            taken = length < BYTES_WITHOUT_A_LOOK ? length : BYTES_WITHOUT_A_LOOK;
            place += nc_percent_scalar(place, text, taken, set);
        }
        text += taken;
        length -= taken;
    }
    return (size_t)(place - out) + nc_percent_scalar(place, text, length, set);
}

/* --- SSSE3: one shuffle turns four bytes into four to twelve --- */

#define SSSE3 __attribute__((target("ssse3")))
#define SSSE3_INLINE __attribute__((target("ssse3"), always_inline)) static inline

/// By high nibble: the bit in the set's row. Bytes from 0x80 up have none.
#define BITS_OF_HIGH 1, 2, 4, 8, 16, 32, 64, -128, -1, -1, -1, -1, -1, -1, -1, -1
#define HEX_DIGITS '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F'

SSSE3_INLINE unsigned unsafe_of(__m128i bytes, __m128i nibbles) {
    __m128i high = _mm_and_si128(_mm_srli_epi16(bytes, 4), _mm_set1_epi8(15));
    __m128i bits = _mm_shuffle_epi8(_mm_setr_epi8(BITS_OF_HIGH), high);
    // The shuffle returns 0 for bytes from 0x80 up.
    __m128i row = _mm_shuffle_epi8(nibbles, bytes);
    return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_and_si128(row, bits), bits)) ^ 0xFFFFu;
}

SSSE3_INLINE uint8_t *put_four(uint8_t *place, __m128i row, unsigned unsafe) {
    __m128i shuffle = _mm_loadu_si128((const __m128i *)(const void *)nc_percent_shuffles[unsafe]);
    _mm_storeu_si128((__m128i *)(void *)place, _mm_shuffle_epi8(row, shuffle));
    return place + nc_percent_lengths[unsafe];
}

/// Writes the first `count` bytes of a block. The bytes after them must be safe.
SSSE3_INLINE uint8_t *put_block(uint8_t *place, __m128i bytes, unsigned unsafe, size_t count, uint8_t space) {
    __m128i kept = bytes;
    if (space != ' ') {
        // A style that encodes spaces has ' ' here, and encodes them below.
        __m128i is_space = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(' '));
        kept = _mm_xor_si128(bytes, _mm_and_si128(is_space, _mm_set1_epi8((char)(' ' ^ space))));
    }
    if (unsafe == 0) {
        _mm_storeu_si128((__m128i *)(void *)place, kept);
        return place + count;
    }
    __m128i digits = _mm_setr_epi8(HEX_DIGITS);
    __m128i nibble = _mm_set1_epi8(15);
    __m128i high = _mm_shuffle_epi8(digits, _mm_and_si128(_mm_srli_epi16(bytes, 4), nibble));
    __m128i low = _mm_shuffle_epi8(digits, _mm_and_si128(bytes, nibble));
    __m128i percent = _mm_set1_epi8('%');
    __m128i digits_low = _mm_unpacklo_epi32(high, low);
    __m128i digits_high = _mm_unpackhi_epi32(high, low);
    __m128i kept_low = _mm_unpacklo_epi32(kept, percent);
    __m128i kept_high = _mm_unpackhi_epi32(kept, percent);
    place = put_four(place, _mm_unpacklo_epi64(digits_low, kept_low), unsafe & 15);
    if (count > 4) {
        place = put_four(place, _mm_unpackhi_epi64(digits_low, kept_low), unsafe >> 4 & 15);
    }
    if (count > 8) {
        place = put_four(place, _mm_unpacklo_epi64(digits_high, kept_high), unsafe >> 8 & 15);
    }
    if (count > 12) {
        place = put_four(place, _mm_unpackhi_epi64(digits_high, kept_high), unsafe >> 12);
    }
    // The last group may have fewer than four bytes.
    return place - ((16 - count) & 3);
}

/// Reads exactly 8 to 15 bytes.
SSSE3_INLINE __m128i load_few(const uint8_t *text, size_t length) {
    uint64_t first;
    uint64_t last;
    memcpy(&first, text, 8);
    memcpy(&last, text + length - 8, 8);
    last = length == 8 ? 0 : last >> (8 * (16 - length));
    return _mm_set_epi64x((long long)last, (long long)first);
}

/// Loads the rest of a text of at least 16 bytes: its last 16 bytes, shifted so that the rest comes first.
SSSE3_INLINE __m128i load_last(const uint8_t *end, size_t rest) {
    static const int8_t moves[32] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                     -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(end - 16));
    return _mm_shuffle_epi8(bytes, _mm_loadu_si128((const __m128i *)(const void *)(moves + 16 - rest)));
}

SSSE3_INLINE uint8_t *put_rest(uint8_t *place, __m128i bytes, size_t rest, __m128i nibbles, uint8_t space) {
    unsigned unsafe = unsafe_of(bytes, nibbles) & ((1u << rest) - 1);
    return put_block(place, bytes, unsafe, rest, space);
}

SSSE3_INLINE size_t escape_few(uint8_t *out, const uint8_t *text, size_t length, const nc_percent_set *set) {
    if (length < NC_PERCENT_FEW) {
        return nc_percent_scalar(out, text, length, set);
    }
    __m128i nibbles = _mm_loadu_si128((const __m128i *)(const void *)set->nibbles);
    return (size_t)(put_rest(out, load_few(text, length), length, nibbles, set->space) - out);
}

SSSE3 static size_t escape_ssse3(uint8_t *out, const uint8_t *text, size_t length, const nc_percent_set *set) {
    if (length < 16) {
        return escape_few(out, text, length, set);
    }
    __m128i nibbles = _mm_loadu_si128((const __m128i *)(const void *)set->nibbles);
    uint8_t space = set->space;
    uint8_t *place = out;
    for (; length >= 16; text += 16, length -= 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)text);
        place = put_block(place, bytes, unsafe_of(bytes, nibbles), 16, space);
    }
    if (length > 0) {
        place = put_rest(place, load_last(text + length, length), length, nibbles, space);
    }
    return (size_t)(place - out);
}

/* --- AVX2: as SSSE3, but copies blocks of 32 bytes --- */

#define AVX2 __attribute__((target("avx2")))
#define AVX2_INLINE __attribute__((target("avx2"), always_inline)) static inline

AVX2_INLINE unsigned unsafe_of_32(__m256i bytes, __m256i nibbles) {
    __m256i high = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(15));
    __m256i bits = _mm256_shuffle_epi8(_mm256_setr_epi8(BITS_OF_HIGH, BITS_OF_HIGH), high);
    __m256i row = _mm256_shuffle_epi8(nibbles, bytes);
    return ~(unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_and_si256(row, bits), bits));
}

AVX2 static size_t escape_avx2(uint8_t *out, const uint8_t *text, size_t length, const nc_percent_set *set) {
    if (length < 16) {
        return escape_few(out, text, length, set);
    }
    __m128i nibbles = _mm_loadu_si128((const __m128i *)(const void *)set->nibbles);
    __m256i nibbles_twice = _mm256_broadcastsi128_si256(nibbles);
    uint8_t space = set->space;
    uint8_t *place = out;
    for (; length >= 32; text += 32, length -= 32) {
        __m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)text);
        unsigned unsafe = unsafe_of_32(bytes, nibbles_twice);
        if (unsafe == 0 && space == ' ') {
            _mm256_storeu_si256((__m256i *)(void *)place, bytes);
            place += 32;
            continue;
        }
        place = put_block(place, _mm256_castsi256_si128(bytes), unsafe & 0xFFFF, 16, space);
        place = put_block(place, _mm256_extracti128_si256(bytes, 1), unsafe >> 16, 16, space);
    }
    if (length >= 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)text);
        place = put_block(place, bytes, unsafe_of(bytes, nibbles), 16, space);
        text += 16;
        length -= 16;
    }
    if (length > 0) {
        place = put_rest(place, load_last(text + length, length), length, nibbles, space);
    }
    return (size_t)(place - out);
}

size_t nc_percent_x86_ways(nc_percent_named_way ways[3]) {
    size_t count = 0;
    if (__builtin_cpu_supports("sse2")) {
        ways[count++] = (nc_percent_named_way){"sse2", escape_sse2};
    }
    if (__builtin_cpu_supports("ssse3")) {
        ways[count++] = (nc_percent_named_way){"ssse3", escape_ssse3};
    }
    if (__builtin_cpu_supports("avx2")) {
        ways[count++] = (nc_percent_named_way){"avx2", escape_avx2};
    }
    return count;
}

#endif
