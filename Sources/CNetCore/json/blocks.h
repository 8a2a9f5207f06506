/// Finds what is worth looking at, 64 bytes at a time: brackets, commas, colons, quotes and where scalars begin.
///
/// A block counts as clean when nothing within its strings is wrong: UTF-8, control characters, escapes. The first that
/// is not clean is left to the machine that goes byte by byte, which knows why. Which code does it is decided once per
/// process, by what the processor can do; all of it gives the same answers.
#ifndef NETCORE_PRIVATE_JSON_BLOCKS_H
#define NETCORE_PRIVATE_JSON_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    NC_BLOCK_BYTES = 64,
    NC_BLOCKS_AT_ONCE = 64,
    /// Room for every byte of the blocks that are looked at at once, and for what is written beyond the count.
    NC_BLOCK_INDEXES = NC_BLOCK_BYTES * NC_BLOCKS_AT_ONCE + 64,
};

/// What one block tells the next.
typedef struct nc_blocks {
    uint64_t in_string;    // all bits set within a string
    uint64_t is_escaped;   // 1 behind a '\'
    uint64_t after_scalar; // 1 behind a byte of a number or word
    bool allows_lone_surrogates;
    bool has_before;      // text[at - NC_BLOCK_BYTES] on is the clean block in front
    size_t sequences_end; // where the UTF-8 sequences end that were looked at; the plain way's
    size_t from;          // of the first block that is looked at at once
    uint64_t backslashes; // the blocks of those with a backslash, a bit each
    size_t pair_at;       // the 'u' of a low surrogate that was looked at with its high one
    size_t escapes_end;   // where the last escape that was looked at ends
} nc_blocks;

/// What was found in the blocks that were looked at at once.
typedef struct nc_blocks_places {
    size_t count;
    uint32_t index[NC_BLOCK_INDEXES];
} nc_blocks_places;

/// The masks of one block, bit i for byte i.
typedef struct nc_block_masks {
    uint64_t quote;
    uint64_t backslash;
    uint64_t control;  // below 0x20
    uint64_t space;    // white space of the grammar
    uint64_t operator; // { } [ ] : , and what looks like them
} nc_block_masks;

/// Looks at blocks of text[at, length), NC_BLOCKS_AT_ONCE at most, and writes the places of what it found, counted from
/// `text`, into `index`. Returns the bytes of the clean blocks.
typedef size_t (*nc_blocks_fn)(nc_blocks *blocks, const uint8_t *text, size_t at, size_t length, uint32_t *index,
                               size_t *count);

/// Counts bytes: line feeds, or those that continue a UTF-8 sequence.
typedef uint64_t (*nc_blocks_count_fn)(const uint8_t *bytes, size_t length, bool continuations);

/// A way of looking at blocks, and whether this processor can.
typedef struct nc_blocks_way {
    const char *name;
    nc_blocks_fn look;
    nc_blocks_count_fn count;
    bool (*is_possible)(void);
} nc_blocks_way;

/// The ways that were compiled, the best first; the last goes everywhere.
extern const nc_blocks_way nc_blocks_ways[];
extern const size_t nc_blocks_way_count;

/// The best way that is possible here.
const nc_blocks_way *nc_blocks_best(void);
/// For tests and benchmarks: this way from now on, NULL for the best. Not while a scan is under way elsewhere.
void nc_blocks_choose(const nc_blocks_way *way);

uint64_t nc_blocks_count_plain(const uint8_t *bytes, size_t length, bool continuations);

size_t nc_blocks_plain(nc_blocks *blocks, const uint8_t *text, size_t at, size_t length, uint32_t *index,
                       size_t *count);
#if defined(__x86_64__)
#define NC_BLOCKS_DECLARE(way)                                                                                         \
    size_t nc_blocks_##way(nc_blocks *blocks, const uint8_t *text, size_t at, size_t length, uint32_t *index,          \
                           size_t *count);                                                                             \
    uint64_t nc_blocks_count_##way(const uint8_t *bytes, size_t length, bool continuations);
NC_BLOCKS_DECLARE(ssse3)
NC_BLOCKS_DECLARE(avx2)
NC_BLOCKS_DECLARE(avx512)
#endif

/// Looks at the escapes of a block: bit i of `escaped` for a byte behind a '\'. False when one is wrong, or cannot be
/// told because the text ends.
bool nc_blocks_check_escapes(nc_blocks *blocks, const uint8_t *text, size_t at, size_t length, uint64_t escaped);

#endif
