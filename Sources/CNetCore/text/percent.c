#include "text/percent.h"
#include "base/alloc.h"

#include <stdatomic.h>
#include <string.h>

/* --- tables --- */

#define IS_UNRESERVED(c)                                                                                               \
    (((c) >= 'A' && (c) <= 'Z') || ((c) >= 'a' && (c) <= 'z') || ((c) >= '0' && (c) <= '9') || (c) == '-' ||           \
     (c) == '.' || (c) == '_' || (c) == '~')
#define IS_KEPT(c, slash) (IS_UNRESERVED(c) || ((slash) && ((c) == '/' || (c) == '?')))
#define DIGIT(n) (uint8_t)((n) < 10 ? '0' + (n) : 'A' + (n)-10)

#define ENTRY(c, slash, space)                                                                                         \
    {                                                                                                                  \
        {IS_KEPT(c, slash)              ? (uint8_t)(c)                                                                 \
         : (c) == ' ' && (space) != ' ' ? (uint8_t)(space)                                                             \
                                        : (uint8_t)'%',                                                                \
         DIGIT((c) >> 4), DIGIT((c)&15)},                                                                              \
            (IS_KEPT(c, slash) || ((c) == ' ' && (space) != ' ')) ? 1 : 3                                              \
    }
#define FOUR(c, slash, space)                                                                                          \
    ENTRY(c, slash, space), ENTRY((c) + 1, slash, space), ENTRY((c) + 2, slash, space), ENTRY((c) + 3, slash, space)
#define SIXTEEN(c, slash, space)                                                                                       \
    FOUR(c, slash, space), FOUR((c) + 4, slash, space), FOUR((c) + 8, slash, space), FOUR((c) + 12, slash, space)
#define SIXTY_FOUR(c, slash, space)                                                                                    \
    SIXTEEN(c, slash, space), SIXTEEN((c) + 16, slash, space), SIXTEEN((c) + 32, slash, space),                        \
        SIXTEEN((c) + 48, slash, space)

#define BIT(h, n, slash, space)                                                                                        \
    ((IS_KEPT(16 * (h) + (n), slash) || (16 * (h) + (n) == ' ' && (space) != ' ')) ? 1u << (h) : 0u)
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

const uint8_t nc_percent_shuffles[16][16] = {
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

const uint8_t nc_percent_lengths[16] = {4, 6, 6, 8, 6, 8, 8, 10, 6, 8, 8, 10, 8, 10, 10, 12};

const nc_percent_set *nc_percent_set_of(nc_percent_style style) {
    return &sets[(unsigned)style < sizeof sets / sizeof *sets ? style : NC_PERCENT_COMPONENT];
}

/* --- implementations --- */

size_t nc_percent_scalar(uint8_t *out, const uint8_t *text, size_t length, const nc_percent_set *set) {
    uint8_t *place = out;
    for (size_t i = 0; i < length; i++) {
        nc_percent_entry entry = set->entries[text[i]];
        // A four-byte store; one or three bytes are used.
        memcpy(place, &entry, sizeof entry);
        place += entry.length;
    }
    return (size_t)(place - out);
}

size_t nc_percent_ways(nc_percent_named_way ways[4]) {
    ways[0] = (nc_percent_named_way){"scalar", nc_percent_scalar};
    size_t count = 1;
#if defined(__x86_64__) || defined(__i386__)
    count += nc_percent_x86_ways(ways + count);
#elif defined(__aarch64__)
    count += nc_percent_neon_ways(ways + count);
#endif
    return count;
}

/// Threads that initialize it concurrently find the same function.
static _Atomic(nc_percent_way) best_way;

static nc_percent_way find_best_way(void) {
    nc_percent_named_way ways[4];
    nc_percent_way way = ways[nc_percent_ways(ways) - 1].escape;
    atomic_store_explicit(&best_way, way, memory_order_relaxed);
    return way;
}

static size_t escape(uint8_t *out, const uint8_t *text, size_t length, const nc_percent_set *set) {
    // Short texts avoid the indirect call.
    if (length < NC_PERCENT_FEW) {
        return nc_percent_scalar(out, text, length, set);
    }
    nc_percent_way way = atomic_load_explicit(&best_way, memory_order_relaxed);
    return (way != NULL ? way : find_best_way())(out, text, length, set);
}

size_t nc_percent_escape(uint8_t *out, nc_slice text, nc_percent_style style) {
    return escape(out, text.data, text.length, nc_percent_set_of(style));
}

/* --- appending to a buffer --- */

/// The size of a piece. A buffer wastes at most three times that.
#define PIECE_BYTES 4096u

/// Near the buffer's maximum, reserves exactly the needed size.
static void append_exactly(nc_buf *out, nc_slice text, const nc_percent_set *set) {
    size_t needed = 0;
    for (size_t i = 0; i < text.length; i++) {
        // A sum that overflows exceeds any buffer. The length of each byte is 1 or 3.
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
