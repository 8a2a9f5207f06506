#include "text/percent.h"
#include "base/alloc.h"

#include <stdatomic.h>
#include <string.h>

#if defined(__x86_64__) || defined(__i386__)
#define IS_X86
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

/* --- tables --- */

#define IS_UNRESERVED(c)                                                                                               \
    (((c) >= 'A' && (c) <= 'Z') || ((c) >= 'a' && (c) <= 'z') || ((c) >= '0' && (c) <= '9') || (c) == '-' ||           \
     (c) == '.' || (c) == '_' || (c) == '~')
#define IS_UNESCAPED(c, slash) (IS_UNRESERVED(c) || ((slash) && ((c) == '/' || (c) == '?')))
#define DIGIT(n) (uint8_t)((n) < 10 ? '0' + (n) : 'A' + (n)-10)

#define ENTRY(c, slash, space)                                                                                         \
    {                                                                                                                  \
        {IS_UNESCAPED(c, slash)         ? (uint8_t)(c)                                                                 \
         : (c) == ' ' && (space) != ' ' ? (uint8_t)(space)                                                             \
                                        : (uint8_t)'%',                                                                \
         DIGIT((c) >> 4), DIGIT((c)&15)},                                                                              \
            (IS_UNESCAPED(c, slash) || ((c) == ' ' && (space) != ' ')) ? 1 : 3                                         \
    }
#define FOUR(c, slash, space)                                                                                          \
    ENTRY(c, slash, space), ENTRY((c) + 1, slash, space), ENTRY((c) + 2, slash, space), ENTRY((c) + 3, slash, space)
#define SIXTEEN(c, slash, space)                                                                                       \
    FOUR(c, slash, space), FOUR((c) + 4, slash, space), FOUR((c) + 8, slash, space), FOUR((c) + 12, slash, space)
#define SIXTY_FOUR(c, slash, space)                                                                                    \
    SIXTEEN(c, slash, space), SIXTEEN((c) + 16, slash, space), SIXTEEN((c) + 32, slash, space),                        \
        SIXTEEN((c) + 48, slash, space)

#define BIT(h, n, slash, space)                                                                                        \
    ((IS_UNESCAPED(16 * (h) + (n), slash) || (16 * (h) + (n) == ' ' && (space) != ' ')) ? 1u << (h) : 0u)
#define NIBBLE(n, slash, space)                                                                                        \
    (uint8_t)(BIT(2, n, slash, space) | BIT(3, n, slash, space) | BIT(4, n, slash, space) | BIT(5, n, slash, space) |  \
              BIT(6, n, slash, space) | BIT(7, n, slash, space))
#define FOUR_NIBBLES(n, slash, space)                                                                                  \
    NIBBLE(n, slash, space), NIBBLE((n) + 1, slash, space), NIBBLE((n) + 2, slash, space), NIBBLE((n) + 3, slash, space)

#define SET(slash, space)                                                                                              \
    {                                                                                                                  \
        {SIXTY_FOUR(0, slash, space), SIXTY_FOUR(64, slash, space), SIXTY_FOUR(128, slash, space),                     \
         SIXTY_FOUR(192, slash, space)},                                                                               \
            {FOUR_NIBBLES(0, slash, space), FOUR_NIBBLES(4, slash, space), FOUR_NIBBLES(8, slash, space),              \
             FOUR_NIBBLES(12, slash, space)},                                                                          \
            space, slash                                                                                               \
    }

/// Indexed by nc_percent_style.
static const nc_percent_set sets[] = {SET(true, ' '), SET(true, '+'), SET(false, ' '), SET(false, '+')};

const nc_percent_set *nc_percent_set_of(nc_percent_style style) {
    return &sets[(unsigned)style < sizeof sets / sizeof *sets ? style : NC_PERCENT_COMPONENT];
}

/* --- byte by byte, with the table --- */

/// Not inlined, because the SIMD functions would otherwise have to save more registers and be slower.
__attribute__((noinline)) static size_t escape_scalar(uint8_t *out, const uint8_t *text, size_t length,
                                                      const nc_percent_set *set) {
    uint8_t *cursor = out;
    for (size_t i = 0; i < length; i++) {
        nc_percent_entry entry = set->entries[text[i]];
        // Copying all four bytes is one store. Only one or three of them are used.
        memcpy(cursor, &entry, sizeof entry);
        cursor += entry.length;
    }
    return (size_t)(cursor - out);
}

#if defined(IS_X86) || defined(__aarch64__)

/// Byte shuffles that encode four bytes, indexed by a mask of the bytes that must be encoded. The input vector consists
/// of four high digits (0 to 3), four low digits (4 to 7), the four bytes (8 to 11), and four '%' (12 to 15).
static const uint8_t shuffles[16][16] = {
    {8, 9, 10, 11, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128},
    {12, 0, 4, 9, 10, 11, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128},
    {8, 12, 1, 5, 10, 11, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128},
    {12, 0, 4, 12, 1, 5, 10, 11, 128, 128, 128, 128, 128, 128, 128, 128},
    {8, 9, 12, 2, 6, 11, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128},
    {12, 0, 4, 9, 12, 2, 6, 11, 128, 128, 128, 128, 128, 128, 128, 128},
    {8, 12, 1, 5, 12, 2, 6, 11, 128, 128, 128, 128, 128, 128, 128, 128},
    {12, 0, 4, 12, 1, 5, 12, 2, 6, 11, 128, 128, 128, 128, 128, 128},
    {8, 9, 10, 12, 3, 7, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128},
    {12, 0, 4, 9, 10, 12, 3, 7, 128, 128, 128, 128, 128, 128, 128, 128},
    {8, 12, 1, 5, 10, 12, 3, 7, 128, 128, 128, 128, 128, 128, 128, 128},
    {12, 0, 4, 12, 1, 5, 10, 12, 3, 7, 128, 128, 128, 128, 128, 128},
    {8, 9, 12, 2, 6, 12, 3, 7, 128, 128, 128, 128, 128, 128, 128, 128},
    {12, 0, 4, 9, 12, 2, 6, 12, 3, 7, 128, 128, 128, 128, 128, 128},
    {8, 12, 1, 5, 12, 2, 6, 12, 3, 7, 128, 128, 128, 128, 128, 128},
    {12, 0, 4, 12, 1, 5, 12, 2, 6, 12, 3, 7, 128, 128, 128, 128},
};

static const uint8_t shuffled_lengths[16] = {4, 6, 6, 8, 6, 8, 8, 10, 6, 8, 8, 10, 8, 10, 10, 12};

#endif

#if defined(IS_X86)

/* --- SSE2: copies blocks in which no byte must be encoded; other blocks use the table --- */

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

/// If a byte of a block must be encoded, the next blocks probably contain such bytes too. Up to this number of bytes
/// then use the table without a check.
#define UNCHECKED_BYTES 64u

SSE2 static size_t escape_sse2(uint8_t *out, const uint8_t *text, size_t length, const nc_percent_set *set) {
    uint8_t *cursor = out;
    while (length >= 32) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)text);
        size_t taken = 16;
        if (unsafe_of_sse2(bytes, set->keeps_slash) == 0) {
            _mm_storeu_si128((__m128i *)(void *)cursor, bytes);
            cursor += 16;
        } else {
            taken = length < UNCHECKED_BYTES ? length : UNCHECKED_BYTES;
            cursor += escape_scalar(cursor, text, taken, set);
        }
        text += taken;
        length -= taken;
    }
    return (size_t)(cursor - out) + escape_scalar(cursor, text, length, set);
}

/* --- SSSE3: one shuffle turns four bytes into four to twelve --- */

#define SSSE3 __attribute__((target("ssse3")))
#define SSSE3_INLINE __attribute__((target("ssse3"), always_inline)) static inline

/// Indexed by the high nibble h: 1 << h, the bit in nc_percent_set.nibbles. For bytes from 0x80 up no bit can match.
#define BITS_OF_HIGH 1, 2, 4, 8, 16, 32, 64, -128, -1, -1, -1, -1, -1, -1, -1, -1
#define HEX_DIGITS '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F'

SSSE3_INLINE unsigned unsafe_of(__m128i bytes, __m128i nibbles) {
    __m128i high = _mm_and_si128(_mm_srli_epi16(bytes, 4), _mm_set1_epi8(15));
    __m128i bits = _mm_shuffle_epi8(_mm_setr_epi8(BITS_OF_HIGH), high);
    // The shuffle selects by the low nibble, and returns 0 for bytes from 0x80 up.
    __m128i row = _mm_shuffle_epi8(nibbles, bytes);
    return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_and_si128(row, bits), bits)) ^ 0xFFFFu;
}

SSSE3_INLINE uint8_t *put_four(uint8_t *cursor, __m128i row, unsigned unsafe) {
    __m128i shuffle = _mm_loadu_si128((const __m128i *)(const void *)shuffles[unsafe]);
    _mm_storeu_si128((__m128i *)(void *)cursor, _mm_shuffle_epi8(row, shuffle));
    return cursor + shuffled_lengths[unsafe];
}

/// Writes the first `count` bytes of a block, encoded. The bytes after them must count as safe.
SSSE3_INLINE uint8_t *put_block(uint8_t *cursor, __m128i bytes, unsigned unsafe, size_t count, uint8_t space) {
    __m128i kept = bytes;
    if (space != ' ') {
        // `space` is '+': spaces are replaced by it. (If spaces are percent-encoded, `space` is ' '.)
        __m128i is_space = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(' '));
        kept = _mm_xor_si128(bytes, _mm_and_si128(is_space, _mm_set1_epi8((char)(' ' ^ space))));
    }
    if (unsafe == 0) {
        _mm_storeu_si128((__m128i *)(void *)cursor, kept);
        return cursor + count;
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
    cursor = put_four(cursor, _mm_unpacklo_epi64(digits_low, kept_low), unsafe & 15);
    if (count > 4) {
        cursor = put_four(cursor, _mm_unpackhi_epi64(digits_low, kept_low), unsafe >> 4 & 15);
    }
    if (count > 8) {
        cursor = put_four(cursor, _mm_unpacklo_epi64(digits_high, kept_high), unsafe >> 8 & 15);
    }
    if (count > 12) {
        cursor = put_four(cursor, _mm_unpackhi_epi64(digits_high, kept_high), unsafe >> 12);
    }
    // Four bytes were counted for the last group, but it may have fewer.
    return cursor - ((16 - count) & 3);
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

/// Loads the last `rest` bytes of a text of at least 16 bytes, without reading beyond its end: loads the last 16 bytes
/// and shifts the wanted ones to the start.
SSSE3_INLINE __m128i load_last(const uint8_t *end, size_t rest) {
    static const int8_t moves[32] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                     -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(end - 16));
    return _mm_shuffle_epi8(bytes, _mm_loadu_si128((const __m128i *)(const void *)(moves + 16 - rest)));
}

SSSE3_INLINE uint8_t *put_rest(uint8_t *cursor, __m128i bytes, size_t rest, __m128i nibbles, uint8_t space) {
    unsigned unsafe = unsafe_of(bytes, nibbles) & ((1u << rest) - 1);
    return put_block(cursor, bytes, unsafe, rest, space);
}

SSSE3_INLINE size_t escape_few(uint8_t *out, const uint8_t *text, size_t length, const nc_percent_set *set) {
    if (length < NC_PERCENT_FEW) {
        return escape_scalar(out, text, length, set);
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
    uint8_t *cursor = out;
    for (; length >= 16; text += 16, length -= 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)text);
        cursor = put_block(cursor, bytes, unsafe_of(bytes, nibbles), 16, space);
    }
    if (length > 0) {
        cursor = put_rest(cursor, load_last(text + length, length), length, nibbles, space);
    }
    return (size_t)(cursor - out);
}

/* --- AVX2: like SSSE3, but copies blocks of 32 bytes --- */

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
    uint8_t *cursor = out;
    for (; length >= 32; text += 32, length -= 32) {
        __m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)text);
        unsigned unsafe = unsafe_of_32(bytes, nibbles_twice);
        if (unsafe == 0 && space == ' ') {
            _mm256_storeu_si256((__m256i *)(void *)cursor, bytes);
            cursor += 32;
            continue;
        }
        cursor = put_block(cursor, _mm256_castsi256_si128(bytes), unsafe & 0xFFFF, 16, space);
        cursor = put_block(cursor, _mm256_extracti128_si256(bytes, 1), unsafe >> 16, 16, space);
    }
    if (length >= 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)text);
        cursor = put_block(cursor, bytes, unsafe_of(bytes, nibbles), 16, space);
        text += 16;
        length -= 16;
    }
    if (length > 0) {
        cursor = put_rest(cursor, load_last(text + length, length), length, nibbles, space);
    }
    return (size_t)(cursor - out);
}

static size_t simd_kernels(nc_percent_named_kernel kernels[3]) {
    size_t count = 0;
    if (__builtin_cpu_supports("sse2")) {
        kernels[count++] = (nc_percent_named_kernel){"sse2", escape_sse2};
    }
    if (__builtin_cpu_supports("ssse3")) {
        kernels[count++] = (nc_percent_named_kernel){"ssse3", escape_ssse3};
    }
    if (__builtin_cpu_supports("avx2")) {
        kernels[count++] = (nc_percent_named_kernel){"avx2", escape_avx2};
    }
    return count;
}

#elif defined(__aarch64__)

/* --- NEON: like SSSE3; every 64-bit ARM processor has it --- */

static inline uint8x16_t unsafe_of(uint8x16_t bytes, uint8x16_t nibbles) {
    static const uint8_t bits_of_high[16] = {1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t bits = vqtbl1q_u8(vld1q_u8(bits_of_high), vshrq_n_u8(bytes, 4));
    uint8x16_t row = vqtbl1q_u8(nibbles, vandq_u8(bytes, vdupq_n_u8(15)));
    // Bytes from 0x80 up have no bit, so they are encoded.
    return vceqq_u8(vandq_u8(row, bits), vdupq_n_u8(0));
}

/// Returns four masks of four bytes each, one in each byte of the result.
static inline uint32_t masks_of(uint8x16_t unsafe) {
    static const uint8_t weights[16] = {1, 2, 4, 8, 1, 2, 4, 8, 1, 2, 4, 8, 1, 2, 4, 8};
    uint8x16_t weighted = vandq_u8(unsafe, vld1q_u8(weights));
    uint8x16_t pairs = vpaddq_u8(weighted, weighted);
    return vgetq_lane_u32(vreinterpretq_u32_u8(vpaddq_u8(pairs, pairs)), 0);
}

static inline uint8_t *put_four(uint8_t *cursor, uint64x2_t row, unsigned unsafe) {
    vst1q_u8(cursor, vqtbl1q_u8(vreinterpretq_u8_u64(row), vld1q_u8(shuffles[unsafe])));
    return cursor + shuffled_lengths[unsafe];
}

/// Writes the first `count` bytes of a block, encoded. The bytes after them must count as safe.
static inline uint8_t *put_block(uint8_t *cursor, uint8x16_t bytes, uint32_t masks, size_t count, uint8_t space) {
    static const uint8_t hex[] = "0123456789ABCDEF";
    uint8x16_t kept = vbslq_u8(vceqq_u8(bytes, vdupq_n_u8(' ')), vdupq_n_u8(space), bytes);
    if (masks == 0) {
        vst1q_u8(cursor, kept);
        return cursor + count;
    }
    uint8x16_t digits = vld1q_u8(hex);
    uint32x4_t high = vreinterpretq_u32_u8(vqtbl1q_u8(digits, vshrq_n_u8(bytes, 4)));
    uint32x4_t low = vreinterpretq_u32_u8(vqtbl1q_u8(digits, vandq_u8(bytes, vdupq_n_u8(15))));
    uint32x4_t percent = vreinterpretq_u32_u8(vdupq_n_u8('%'));
    uint64x2_t digits_low = vreinterpretq_u64_u32(vzip1q_u32(high, low));
    uint64x2_t digits_high = vreinterpretq_u64_u32(vzip2q_u32(high, low));
    uint64x2_t kept_low = vreinterpretq_u64_u32(vzip1q_u32(vreinterpretq_u32_u8(kept), percent));
    uint64x2_t kept_high = vreinterpretq_u64_u32(vzip2q_u32(vreinterpretq_u32_u8(kept), percent));
    cursor = put_four(cursor, vzip1q_u64(digits_low, kept_low), masks & 15);
    if (count > 4) {
        cursor = put_four(cursor, vzip2q_u64(digits_low, kept_low), masks >> 8 & 15);
    }
    if (count > 8) {
        cursor = put_four(cursor, vzip1q_u64(digits_high, kept_high), masks >> 16 & 15);
    }
    if (count > 12) {
        cursor = put_four(cursor, vzip2q_u64(digits_high, kept_high), masks >> 24);
    }
    // Four bytes were counted for the last group, but it may have fewer.
    return cursor - ((16 - count) & 3);
}

static size_t escape_neon(uint8_t *out, const uint8_t *text, size_t length, const nc_percent_set *set) {
    uint8x16_t nibbles = vld1q_u8(set->nibbles);
    uint8_t *cursor = out;
    for (; length >= 16; text += 16, length -= 16) {
        uint8x16_t bytes = vld1q_u8(text);
        cursor = put_block(cursor, bytes, masks_of(unsafe_of(bytes, nibbles)), 16, set->space);
    }
    if (length < NC_PERCENT_FEW) {
        return (size_t)(cursor - out) + escape_scalar(cursor, text, length, set);
    }
    // Pads the block with letters, which need no encoding.
    uint8_t rest[16];
    memset(rest, 'a', sizeof rest);
    memcpy(rest, text, length);
    uint8x16_t bytes = vld1q_u8(rest);
    return (size_t)(put_block(cursor, bytes, masks_of(unsafe_of(bytes, nibbles)), length, set->space) - out);
}

static size_t simd_kernels(nc_percent_named_kernel kernels[1]) {
    kernels[0] = (nc_percent_named_kernel){"neon", escape_neon};
    return 1;
}

#else

static size_t simd_kernels(nc_percent_named_kernel *kernels) {
    (void)kernels;
    return 0;
}

#endif

/* --- choosing the implementation --- */

size_t nc_percent_kernels(nc_percent_named_kernel kernels[4]) {
    kernels[0] = (nc_percent_named_kernel){"scalar", escape_scalar};
    return 1 + simd_kernels(kernels + 1);
}

/// The fastest function, or NULL before the first use. Threads that set it concurrently set the same value.
static _Atomic(nc_percent_kernel) best_kernel;

static nc_percent_kernel find_best_kernel(void) {
    nc_percent_named_kernel kernels[4];
    nc_percent_kernel kernel = kernels[nc_percent_kernels(kernels) - 1].escape;
    atomic_store_explicit(&best_kernel, kernel, memory_order_relaxed);
    return kernel;
}

static size_t escape(uint8_t *out, const uint8_t *text, size_t length, const nc_percent_set *set) {
    // For short texts the indirect call would take longer than the encoding.
    if (length < NC_PERCENT_FEW) {
        return escape_scalar(out, text, length, set);
    }
    nc_percent_kernel kernel = atomic_load_explicit(&best_kernel, memory_order_relaxed);
    return (kernel != NULL ? kernel : find_best_kernel())(out, text, length, set);
}

size_t nc_percent_escape(uint8_t *out, nc_slice text, nc_percent_style style) {
    return escape(out, text.data, text.length, nc_percent_set_of(style));
}

/* --- appending to a buffer --- */

/// Texts are encoded in pieces of this size, so that at most three times this size is reserved and not used.
#define PIECE_BYTES 4096u

/// Appends the encoded text and reserves exactly its size. Used near the buffer's maximum, where three times the size
/// of a piece does not fit.
static void append_exactly(nc_buf *out, nc_slice text, const nc_percent_set *set) {
    size_t needed = 0;
    for (size_t i = 0; i < text.length; i++) {
        // If the sum overflows, the text exceeds every buffer.
        if (!nc_size_add(&needed, needed, set->entries[text.data[i]].length)) {
            needed = SIZE_MAX;
            break;
        }
    }
    if (nc_buf_reserve(out, needed) != NC_OK) {
        return;
    }
    for (size_t i = 0; i < text.length; i++) {
        nc_percent_entry entry = set->entries[text.data[i]];
        memcpy(out->data + out->length, entry.bytes, entry.length);
        out->length += entry.length;
    }
}

void nc_percent_append(nc_buf *out, nc_slice text, nc_percent_style style) {
    const nc_percent_set *set = nc_percent_set_of(style);
    size_t length_before = out->length;
    while (text.length > 0 && out->status == NC_OK) {
        size_t piece = text.length < PIECE_BYTES ? text.length : PIECE_BYTES;
        size_t room = NC_PERCENT_ROOM(piece);
        if (out->capacity - out->length < room) {
            if (room > out->max_bytes - out->length) {
                append_exactly(out, text, set);
                break;
            }
            if (nc_buf_reserve(out, room) != NC_OK) {
                break;
            }
        }
        out->length += escape(out->data + out->length, text.data, piece, set);
        text = nc_slice_make(text.data + piece, text.length - piece);
    }
    if (out->status != NC_OK) {
        out->length = length_before;
    }
}
