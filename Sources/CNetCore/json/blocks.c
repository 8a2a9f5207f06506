#include "json/blocks.h"

#include "base/utf8.h"

#include <stdatomic.h>
#include <string.h>

#define BLOCKS_TARGET
#include "json/blocks_core.h"

/* --- escapes --- */

static int hex_value(uint8_t byte) {
    uint8_t lower = byte | 0x20;
    return byte >= '0' && byte <= '9' ? byte - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// Returns the value of the four hex digits at text[at], or -1 if they are invalid or the text ends first.
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

/// Checks a `\u` escape whose 'u' is at text[at]. A surrogate pair is checked as one unit.
static bool check_unit(nc_blocks *blocks, const uint8_t *text, size_t at, size_t length) {
    if (blocks->pair_at == at) {
        return true;
    }
    int unit = read_unit(text, at + 1, length);
    if (unit < 0) {
        return false;
    }
    blocks->escapes_end = at + 5;
    if (blocks->allows_lone_surrogates || unit < 0xD800 || unit > 0xDFFF) {
        return true;
    }
    if (unit >= 0xDC00 || length - at < 11 || text[at + 5] != '\\' || text[at + 6] != 'u') {
        return false;
    }
    int low = read_unit(text, at + 7, length);
    blocks->pair_at = at + 6;
    blocks->escapes_end = at + 11;
    return low >= 0xDC00 && low <= 0xDFFF;
}

bool nc_blocks_check_escapes(nc_blocks *blocks, const uint8_t *text, size_t at, size_t length, uint64_t escaped) {
    for (; escaped != 0; escaped &= escaped - 1) {
        size_t place = at + (size_t)__builtin_ctzll(escaped);
        switch (text[place]) {
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
            if (!check_unit(blocks, text, place, length)) {
                return false;
            }
            break;
        default:
            return false;
        }
    }
    return true;
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

static uint64_t plain_masks(nc_block_masks *masks, const uint8_t *bytes) {
    uint64_t high = 0;
    *masks = (nc_block_masks){0};
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

/// Validates UTF-8 up to the first sequence that begins at or after `end`. Returns its offset, or 0 for an invalid one.
static size_t pass_sequences(const uint8_t *text, size_t at, size_t end, size_t length) {
    while (at < end) {
        size_t step = nc_utf8_sequence(text + at, length - at);
        if (step == 0) {
            return 0;
        }
        at += step;
    }
    return at;
}

size_t nc_blocks_plain(nc_blocks *blocks, const uint8_t *text, size_t at, size_t length, uint32_t *index,
                       size_t *count) {
    size_t from = at;
    size_t passed = blocks->has_before ? blocks->sequences_end : at;
    nc_block_masks masks;
    *count = 0;
    for (unsigned n = 0; n < NC_BLOCKS_AT_ONCE && length - at >= NC_BLOCK_BYTES; n++, at += NC_BLOCK_BYTES) {
        uint64_t found;
        uint64_t high = plain_masks(&masks, text + at);
        size_t end = at + NC_BLOCK_BYTES;
        bool is_utf8 = true;
        if (high != 0 && passed < end) {
            passed = pass_sequences(text, passed < at ? at : passed, end, length);
            is_utf8 = passed != 0;
        }
        if (!is_utf8 || !blocks_take(blocks, &masks, text, at, length, &found)) {
            break;
        }
        *count = blocks_write(index, *count, found, at);
    }
    blocks->sequences_end = passed;
    blocks->has_before = true;
    return at - from;
}

/// Returns how many of the eight bytes are zero, without a borrow between bytes.
static uint64_t count_zeros(uint64_t word) {
    uint64_t low = (word & UINT64_C(0x7F7F7F7F7F7F7F7F)) + UINT64_C(0x7F7F7F7F7F7F7F7F);
    uint64_t zero = ~(low | word) >> 7 & UINT64_C(0x0101010101010101);
    return (zero * UINT64_C(0x0101010101010101)) >> 56;
}

uint64_t nc_blocks_count_plain(const uint8_t *bytes, size_t length, bool continuations) {
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

/* --- selection --- */

static bool is_always_possible(void) {
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

const nc_blocks_way nc_blocks_ways[] = {
#if defined(__x86_64__)
    {"avx512", nc_blocks_avx512, nc_blocks_count_avx512, has_avx512},
    {"avx2", nc_blocks_avx2, nc_blocks_count_avx2, has_avx2},
    {"ssse3", nc_blocks_ssse3, nc_blocks_count_ssse3, has_ssse3},
#endif
    {"plain", nc_blocks_plain, nc_blocks_count_plain, is_always_possible},
};
const size_t nc_blocks_way_count = sizeof nc_blocks_ways / sizeof nc_blocks_ways[0];

/// The first caller decides. Two concurrent callers make the same choice.
static _Atomic(const nc_blocks_way *) chosen;

const nc_blocks_way *nc_blocks_best(void) {
    const nc_blocks_way *way = atomic_load_explicit(&chosen, memory_order_relaxed);
    for (size_t i = 0; way == NULL; i++) {
        if (nc_blocks_ways[i].is_possible()) {
            way = &nc_blocks_ways[i];
            atomic_store_explicit(&chosen, way, memory_order_relaxed);
        }
    }
    return way;
}

void nc_blocks_choose(const nc_blocks_way *way) {
    atomic_store_explicit(&chosen, way, memory_order_relaxed);
}
