#include "json/scanner.h"

#include "base/utf8.h"

#include <stdatomic.h>
#include <string.h>

#define BLOCK_INLINE static inline __attribute__((always_inline))

/// Classes of the bytes of one block, as bit masks: bit i describes byte i.
typedef struct block_masks {
    uint64_t quote;
    uint64_t backslash;
    uint64_t control;  // below 0x20
    uint64_t space;    // white space of the JSON grammar
    uint64_t operator; // { } [ ] : , and bytes that the table lookup cannot distinguish from them
} block_masks;

/* --- escapes --- */

static int hex_value(uint8_t byte) {
    uint8_t lower = byte | 0x20;
    return byte >= '0' && byte <= '9' ? byte - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// Returns the value of the four hex digits at text[at], or -1 if there are no four hex digits.
static int read_unit(const uint8_t *text, size_t at, size_t length) {
    int unit = 0;
    if (length < 4 || at > length - 4) {
        return -1;
    }
    for (size_t i = 0; i < 4; i++) {
        int digit = hex_value(text[at + i]);
        if (digit < 0) {
            return -1;
        }
        unit = unit << 4 | digit;
    }
    return unit;
}

/// Checks a `\u` escape whose 'u' is at text[at]. After a high surrogate it also checks the escape of the low
/// surrogate.
static bool check_unit(nc_block_state *state, const uint8_t *text, size_t at, size_t length) {
    if (state->pair_at == at) {
        return true;
    }
    int unit = read_unit(text, at + 1, length);
    if (unit < 0) {
        return false;
    }
    state->escapes_end = at + 5;
    if (state->allows_lone_surrogates || unit < 0xD800 || unit > 0xDFFF) {
        return true;
    }
    if (unit >= 0xDC00 || length - at < 11 || text[at + 5] != '\\' || text[at + 6] != 'u') {
        return false;
    }
    int low = read_unit(text, at + 7, length);
    state->pair_at = at + 6;
    state->escapes_end = at + 11;
    return low >= 0xDC00 && low <= 0xDFFF;
}

/// Checks the escapes of a block. Bit i of `escaped` is set if byte i follows a '\'. Returns false if an escape is
/// invalid or the text ends within it.
static bool check_escapes(nc_block_state *state, const uint8_t *text, size_t at, size_t length, uint64_t escaped) {
    for (; escaped != 0; escaped &= escaped - 1) {
        size_t escape = at + (size_t)__builtin_ctzll(escaped);
        switch (text[escape]) {
        case '"':
        case '\\':
        case '/':
        case 'b':
        case 'f':
        case 'n':
        case 'r':
        case 't':
            break;
        case 'u':
            if (!check_unit(state, text, escape, length)) {
                return false;
            }
            break;
        default:
            return false;
        }
    }
    return true;
}

/* --- parts that all implementations share --- */

// These functions have no target attribute, so that each implementation can inline them and compile them for its
// instruction set.

/// Returns a mask whose bit i is the parity of bits 0 to i. If `bits` are the quotes, it is set from an opening quote
/// up to, but not including, its closing quote.
BLOCK_INLINE uint64_t prefix_xor(uint64_t bits) {
    bits ^= bits << 1;
    bits ^= bits << 2;
    bits ^= bits << 4;
    bits ^= bits << 8;
    bits ^= bits << 16;
    return bits ^ bits << 32;
}

/// Returns a mask of the bytes that follow an unescaped '\'. In a run of backslashes each second one is escaped, so the
/// parity of the run's first offset decides which. The addition carries each start through its run to the byte behind
/// it.
BLOCK_INLINE uint64_t find_escaped(uint64_t *is_escaped, uint64_t backslash) {
    const uint64_t even = UINT64_C(0x5555555555555555);
    backslash &= ~*is_escaped;
    uint64_t follows = backslash << 1 | *is_escaped;
    uint64_t odd_starts = backslash & ~even & ~follows;
    unsigned long long sum;
    *is_escaped = __builtin_uaddll_overflow(odd_starts, backslash, &sum) ? 1 : 0;
    return (even ^ (uint64_t)sum << 1) & follows;
}

/// The unescaped quotes of a block, and the state of the escapes.
typedef struct block_quotes {
    uint64_t quote;
    uint64_t is_escaped;
    size_t escapes_end; // its value before this block
} block_quotes;

/// Finds the unescaped quotes. Returns false if an escape is invalid.
BLOCK_INLINE bool find_quotes(block_quotes *out, nc_block_state *state, const block_masks *masks, const uint8_t *text,
                              size_t at, size_t length) {
    uint64_t is_escaped = state->is_escaped;
    uint64_t escaped = 0;
    size_t escapes_end = state->escapes_end;
    if ((masks->backslash | is_escaped) != 0) {
        state->backslashes |= UINT64_C(1) << ((at - state->batch_start) / NC_BLOCK_BYTES);
        escaped = find_escaped(&is_escaped, masks->backslash);
        if (!check_escapes(state, text, at, length, escaped)) {
            state->escapes_end = escapes_end;
            return false;
        }
    }
    *out = (block_quotes){masks->quote & ~escaped, is_escaped, escapes_end};
    return true;
}

/// Completes a block. `parity` is prefix_xor() of its quotes. Returns false if the block is not clean. Sets a bit in
/// `*found` for each offset to report.
BLOCK_INLINE bool complete_block(uint64_t *found, nc_block_state *state, const block_masks *masks, block_quotes quotes,
                                 uint64_t parity) {
    uint64_t in_string = parity ^ state->in_string;
    if ((masks->control & in_string) != 0) {
        state->escapes_end = quotes.escapes_end;
        return false;
    }
    uint64_t scalar = ~(masks->operator| masks->space | quotes.quote);
    uint64_t begins = scalar & ~(scalar << 1 | state->after_scalar);
    *found = ((masks->operator| begins) & ~in_string) | quotes.quote;
    state->in_string = (uint64_t)((int64_t)in_string >> 63);
    state->is_escaped = quotes.is_escaped;
    state->after_scalar = scalar >> 63;
    return true;
}

/// Writes the offset of each bit of `found`. May write up to 63 values more than the returned count.
BLOCK_INLINE size_t write_offsets(uint32_t *offsets, size_t count, uint64_t found, size_t at) {
    size_t bits = (size_t)__builtin_popcountll(found);
    uint32_t *out = offsets + count;
    for (size_t i = 0; i < bits; i += 8) {
        for (size_t k = 0; k < 8; k++) {
            out[i + k] = (uint32_t)at + (uint32_t)__builtin_ctzll(found | UINT64_C(1) << 63);
            found &= found - 1;
        }
    }
    return count + bits;
}

/* --- portable implementation --- */

enum { QUOTE = 1, BACKSLASH = 2, CONTROL = 4, SPACE = 8, OPERATOR = 16, HIGH = 32 };

static uint8_t class_of(uint8_t byte) {
    switch (byte) {
    case '"':
        return QUOTE;
    case '\\':
        return BACKSLASH;
    case ' ':
        return SPACE;
    case '\t':
    case '\n':
    case '\r':
        return SPACE | CONTROL;
    case '{':
    case '}':
    case '[':
    case ']':
    case ':':
    case ',':
        return OPERATOR;
    default:
        return byte < 0x20 ? CONTROL : byte >= 0x80 ? HIGH : 0;
    }
}

static uint64_t plain_masks(block_masks *masks, const uint8_t *bytes) {
    uint64_t high = 0;
    *masks = (block_masks){0};
    for (unsigned i = 0; i < NC_BLOCK_BYTES; i++) {
        uint64_t kind = class_of(bytes[i]);
        if (kind != 0) {
            masks->quote |= (kind & 1) << i;
            masks->backslash |= (kind >> 1 & 1) << i;
            masks->control |= (kind >> 2 & 1) << i;
            masks->space |= (kind >> 3 & 1) << i;
            masks->operator|=(kind >> 4 & 1) << i;
            high |= (kind >> 5 & 1) << i;
        }
    }
    return high;
}

/// Validates the UTF-8 characters that begin before `end`. Returns the offset after the last of them, or 0 if one is
/// invalid.
static size_t validate_sequences(const uint8_t *text, size_t at, size_t end, size_t length) {
    while (at < end) {
        size_t step = nc_utf8_sequence(text + at, length - at);
        if (step == 0) {
            return 0;
        }
        at += step;
    }
    return at;
}

static size_t scan_plain(nc_block_state *state, const uint8_t *text, size_t at, size_t length, uint32_t *offsets,
                         size_t *count) {
    size_t from = at;
    size_t valid_end = state->has_previous ? state->sequences_end : at;
    block_masks masks;
    block_quotes quotes;
    *count = 0;
    for (unsigned n = 0; n < NC_BLOCKS_PER_BATCH && length - at >= NC_BLOCK_BYTES; n++, at += NC_BLOCK_BYTES) {
        uint64_t found;
        uint64_t high = plain_masks(&masks, text + at);
        size_t end = at + NC_BLOCK_BYTES;
        bool is_utf8 = true;
        if (high != 0 && valid_end < end) {
            valid_end = validate_sequences(text, valid_end < at ? at : valid_end, end, length);
            is_utf8 = valid_end != 0;
        }
        if (!is_utf8 || !find_quotes(&quotes, state, &masks, text, at, length) ||
            !complete_block(&found, state, &masks, quotes, prefix_xor(quotes.quote))) {
            break;
        }
        *count = write_offsets(offsets, *count, found, at);
    }
    state->sequences_end = valid_end;
    state->has_previous = true;
    return at - from;
}

/// Returns the number of bytes of `word` that are zero.
static uint64_t count_zeros(uint64_t word) {
    uint64_t low = (word & UINT64_C(0x7F7F7F7F7F7F7F7F)) + UINT64_C(0x7F7F7F7F7F7F7F7F);
    uint64_t zero = ~(low | word) >> 7 & UINT64_C(0x0101010101010101);
    return (zero * UINT64_C(0x0101010101010101)) >> 56;
}

static uint64_t count_plain(const uint8_t *bytes, size_t length, bool continuations) {
    uint64_t count = 0;
    size_t at = 0;
    for (; length - at >= 8; at += 8) {
        uint64_t word;
        memcpy(&word, bytes + at, sizeof word);
        // Continuation bytes are 10xxxxxx.
        count += continuations ? count_zeros((word & UINT64_C(0xC0C0C0C0C0C0C0C0)) ^ UINT64_C(0x8080808080808080))
                               : count_zeros(word ^ UINT64_C(0x0A0A0A0A0A0A0A0A));
    }
    for (; at < length; at++) {
        count += continuations ? (bytes[at] & 0xC0) == 0x80 : bytes[at] == '\n';
    }
    return count;
}

/* --- implementations for x86-64 --- */

#if defined(__x86_64__)
#include <immintrin.h>

// Tables that detect ill-formed UTF-8 from three nibbles of a byte and the byte before it (Keiser and Lemire, 2020).
// Each bit of an entry stands for one error. The error is present if its bit is set in all three entries.
enum {
    UTF8_SHORT = 1,       // a lead byte without its continuation
    UTF8_LONG = 2,        // a continuation after ASCII
    UTF8_OVERLONG_3 = 4,  // E0 80 to E0 9F
    UTF8_LARGE = 8,       // F4 90 and up
    UTF8_SURROGATE = 16,  // ED A0 and up
    UTF8_OVERLONG_2 = 32, // C0 and C1
    UTF8_VAST = 64,       // F5 80 and up; F0 80 to F0 8F are overlong
    UTF8_TWO = 128,       // two continuations; the bytes before decide whether they are valid
    UTF8_ANY = UTF8_SHORT | UTF8_LONG | UTF8_TWO,
};

/// Indexed by the high nibble of the preceding byte.
#define UTF8_FIRST_HIGH                                                                                                \
    UTF8_LONG, UTF8_LONG, UTF8_LONG, UTF8_LONG, UTF8_LONG, UTF8_LONG, UTF8_LONG, UTF8_LONG, (char)UTF8_TWO,            \
        (char)UTF8_TWO, (char)UTF8_TWO, (char)UTF8_TWO, UTF8_SHORT | UTF8_OVERLONG_2, UTF8_SHORT,                      \
        UTF8_SHORT | UTF8_OVERLONG_3 | UTF8_SURROGATE, UTF8_SHORT | UTF8_LARGE | UTF8_VAST

#define UTF8_LOW(more) (char)(UTF8_ANY | (more))
/// Indexed by the low nibble of the preceding byte.
#define UTF8_FIRST_LOW                                                                                                 \
    UTF8_LOW(UTF8_OVERLONG_3 | UTF8_OVERLONG_2 | UTF8_VAST), UTF8_LOW(UTF8_OVERLONG_2), UTF8_LOW(0), UTF8_LOW(0),      \
        UTF8_LOW(UTF8_LARGE), UTF8_LOW(UTF8_LARGE | UTF8_VAST), UTF8_LOW(UTF8_LARGE | UTF8_VAST),                      \
        UTF8_LOW(UTF8_LARGE | UTF8_VAST), UTF8_LOW(UTF8_LARGE | UTF8_VAST), UTF8_LOW(UTF8_LARGE | UTF8_VAST),          \
        UTF8_LOW(UTF8_LARGE | UTF8_VAST), UTF8_LOW(UTF8_LARGE | UTF8_VAST), UTF8_LOW(UTF8_LARGE | UTF8_VAST),          \
        UTF8_LOW(UTF8_LARGE | UTF8_VAST | UTF8_SURROGATE), UTF8_LOW(UTF8_LARGE | UTF8_VAST),                           \
        UTF8_LOW(UTF8_LARGE | UTF8_VAST)

#define UTF8_NEXT(more) (char)(UTF8_LONG | UTF8_OVERLONG_2 | UTF8_TWO | (more))
/// Indexed by the high nibble of the byte itself.
#define UTF8_SECOND_HIGH                                                                                               \
    UTF8_SHORT, UTF8_SHORT, UTF8_SHORT, UTF8_SHORT, UTF8_SHORT, UTF8_SHORT, UTF8_SHORT, UTF8_SHORT,                    \
        UTF8_NEXT(UTF8_OVERLONG_3 | UTF8_VAST), UTF8_NEXT(UTF8_OVERLONG_3 | UTF8_LARGE),                               \
        UTF8_NEXT(UTF8_SURROGATE | UTF8_LARGE), UTF8_NEXT(UTF8_SURROGATE | UTF8_LARGE), UTF8_SHORT, UTF8_SHORT,        \
        UTF8_SHORT, UTF8_SHORT

/// White space and operators, indexed by low nibble. A byte is one of them if it equals its entry. Unused entries have
/// another low nibble than their index, so no byte equals them. Operators are looked up with bit 5 set, which maps [ to
/// { and ] to }.
#define BLOCK_SPACES ' ', -1, -1, -1, -1, -1, -1, -1, -1, '\t', '\n', -1, -1, '\r', -1, 0
#define BLOCK_OPERATORS -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, ':', '{', ',', '}', -1, 0

#define ISA(name) name##_ssse3
#define ISA_TARGET __attribute__((target("ssse3,popcnt")))
#define ISA_PREFIX_XOR prefix_xor
#define ISA_WRITE_OFFSETS write_offsets
#define VEC __m128i
#define VEC_ALL(byte) _mm_set1_epi8(byte)
#define VEC_TABLE(...) _mm_setr_epi8(__VA_ARGS__)
#define VEC_LOAD(address) _mm_loadu_si128((const __m128i *)(const void *)(address))
#define VEC_AND(a, b) _mm_and_si128(a, b)
#define VEC_OR(a, b) _mm_or_si128(a, b)
#define VEC_XOR(a, b) _mm_xor_si128(a, b)
#define VEC_MIN(a, b) _mm_min_epu8(a, b)
#define VEC_MINUS(a, b) _mm_subs_epu8(a, b)
#define VEC_EQUAL_BITS(a, b) (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(a, b))
#define VEC_LOOK_UP(table, nibbles) _mm_shuffle_epi8(table, nibbles)
#define VEC_SHIFT_NIBBLE(a) _mm_srli_epi16(a, 4)
#define VEC_SHIFT_IN(bytes, before, by) _mm_alignr_epi8(bytes, before, 16 - (by))
#define VEC_HIGH_BITS(a) (unsigned)_mm_movemask_epi8(a)
#define VEC_LESS_BITS(a, b) (unsigned)_mm_movemask_epi8(_mm_cmplt_epi8(a, b))
#include "json/block_vectors.inc"

#define ISA_AVX2 __attribute__((target("avx2,pclmul,bmi,bmi2,popcnt")))

/// A carry-less product with all ones is the parity of all lower bits.
ISA_AVX2 BLOCK_INLINE uint64_t prefix_xor_by_product(uint64_t bits) {
    __m128i product = _mm_clmulepi64_si128(_mm_set_epi64x(0, (int64_t)bits), _mm_set1_epi8((char)0xFF), 0);
    return (uint64_t)_mm_cvtsi128_si64(product);
}

#define ISA(name) name##_avx2
#define ISA_TARGET ISA_AVX2
#define ISA_PREFIX_XOR prefix_xor_by_product
#define ISA_WRITE_OFFSETS write_offsets
#define VEC __m256i
#define VEC_ALL(byte) _mm256_set1_epi8(byte)
#define VEC_TABLE(...) _mm256_setr_epi8(__VA_ARGS__, __VA_ARGS__)
#define VEC_LOAD(address) _mm256_loadu_si256((const __m256i *)(const void *)(address))
#define VEC_AND(a, b) _mm256_and_si256(a, b)
#define VEC_OR(a, b) _mm256_or_si256(a, b)
#define VEC_XOR(a, b) _mm256_xor_si256(a, b)
#define VEC_MIN(a, b) _mm256_min_epu8(a, b)
#define VEC_MINUS(a, b) _mm256_subs_epu8(a, b)
#define VEC_EQUAL_BITS(a, b) (unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, b))
#define VEC_LOOK_UP(table, nibbles) _mm256_shuffle_epi8(table, nibbles)
#define VEC_SHIFT_NIBBLE(a) _mm256_srli_epi16(a, 4)
#define VEC_SHIFT_IN(bytes, before, by)                                                                                \
    _mm256_alignr_epi8(bytes, _mm256_permute2x128_si256(before, bytes, 0x21), 16 - (by))
#define VEC_HIGH_BITS(a) (unsigned)_mm256_movemask_epi8(a)
#define VEC_LESS_BITS(a, b) (unsigned)_mm256_movemask_epi8(_mm256_cmpgt_epi8(b, a))
#include "json/block_vectors.inc"

#define ISA_AVX512                                                                                                     \
    __attribute__((target("avx2,avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,pclmul,bmi,bmi2,popcnt")))

/// Writes the offset of each bit of `found`, sixteen at a time. May write up to 31 values more than the returned count.
ISA_AVX512 BLOCK_INLINE size_t write_offsets_avx512(uint32_t *offsets, size_t count, uint64_t found, size_t at) {
    static const uint8_t positions[NC_BLOCK_BYTES] = {
        0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
        22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
        44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63,
    };
    size_t bits = (size_t)__builtin_popcountll(found);
    __m512i packed = _mm512_maskz_compress_epi8(found, _mm512_loadu_si512(positions));
    __m512i base = _mm512_set1_epi32((int)at);
    uint32_t *out = offsets + count;
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

#define ISA(name) name##_avx512
#define ISA_TARGET ISA_AVX512
#define ISA_PREFIX_XOR prefix_xor_by_product
#define ISA_WRITE_OFFSETS write_offsets_avx512
#define VEC __m512i
#define VEC_ALL(byte) _mm512_set1_epi8(byte)
#define VEC_LOAD(address) _mm512_loadu_si512(address)
#define VEC_TABLE(...) _mm512_broadcast_i32x4(_mm_setr_epi8(__VA_ARGS__))
#define VEC_AND(a, b) _mm512_and_si512(a, b)
#define VEC_OR(a, b) _mm512_or_si512(a, b)
#define VEC_XOR(a, b) _mm512_xor_si512(a, b)
#define VEC_MIN(a, b) _mm512_min_epu8(a, b)
#define VEC_MINUS(a, b) _mm512_subs_epu8(a, b)
#define VEC_LOOK_UP(table, nibbles) _mm512_shuffle_epi8(table, nibbles)
#define VEC_SHIFT_NIBBLE(a) _mm512_srli_epi16(a, 4)
#define VEC_SHIFT_IN(bytes, before, by) _mm512_alignr_epi8(bytes, _mm512_alignr_epi64(bytes, before, 6), 16 - (by))
#define VEC_EQUAL_BITS(a, b) _mm512_cmpeq_epi8_mask(a, b)
#define VEC_HIGH_BITS(a) _mm512_movepi8_mask(a)
#define VEC_LESS_BITS(a, b) _mm512_cmplt_epi8_mask(a, b)
#include "json/block_vectors.inc"
#endif

/* --- selection --- */

static bool is_always_supported(void) {
    return true;
}

#if defined(__x86_64__)
static bool has_ssse3(void) {
    return __builtin_cpu_supports("ssse3") && __builtin_cpu_supports("popcnt");
}

static bool has_avx2(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
}

static bool has_avx512(void) {
    return has_avx2() && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2");
}
#endif

const nc_block_scanner nc_block_scanners[] = {
#if defined(__x86_64__)
    {"avx512", scan_avx512, count_avx512, has_avx512},
    {"avx2", scan_avx2, count_avx2, has_avx2},
    {"ssse3", scan_ssse3, count_ssse3, has_ssse3},
#endif
    {"plain", scan_plain, count_plain, is_always_supported},
};
const size_t nc_block_scanner_count = sizeof nc_block_scanners / sizeof nc_block_scanners[0];

/// The selected implementation, or NULL before the first use. Threads that set it concurrently set the same value.
static _Atomic(const nc_block_scanner *) selected;

const nc_block_scanner *nc_block_scanner_best(void) {
    const nc_block_scanner *scanner = atomic_load_explicit(&selected, memory_order_relaxed);
    for (size_t i = 0; scanner == NULL; i++) {
        if (nc_block_scanners[i].is_supported()) {
            scanner = &nc_block_scanners[i];
            atomic_store_explicit(&selected, scanner, memory_order_relaxed);
        }
    }
    return scanner;
}

void nc_block_scanner_select(const nc_block_scanner *scanner) {
    atomic_store_explicit(&selected, scanner, memory_order_relaxed);
}
