/// Finds the offsets of brackets, commas, colons, quotes and the first bytes of scalars, 64 bytes at a time.
///
/// A block is clean if its strings contain only valid UTF-8, valid escapes and no control characters. The byte machine
/// handles the first block that is not clean, and determines the fault. The implementation is chosen once per process
/// by the processor's features. All implementations return the same results.
#ifndef NETCORE_PRIVATE_JSON_BLOCKS_H
#define NETCORE_PRIVATE_JSON_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    NC_BLOCK_BYTES = 64,
    NC_BLOCKS_AT_ONCE = 64,
    /// Room for an index per byte of one batch of blocks, and for what is written beyond the count.
    NC_BLOCK_INDEXES = NC_BLOCK_BYTES * NC_BLOCKS_AT_ONCE + 64,
};

/// The state carried from one block to the next.
typedef struct nc_blocks {
    uint64_t in_string;    // all bits set within a string
    uint64_t is_escaped;   // 1 after a '\'
    uint64_t after_scalar; // 1 after a byte of a number or word
    bool allows_lone_surrogates;
    bool has_before;      // true if text[at - NC_BLOCK_BYTES] begins a clean block
    size_t sequences_end; // end of the validated UTF-8 sequences; portable implementation only
    size_t from;          // first block of the batch
    uint64_t backslashes; // one bit per block of the batch that contains a backslash
    size_t pair_at;       // the 'u' of a low surrogate that was checked with its high surrogate
    size_t escapes_end;   // end of the last checked escape
} nc_blocks;

/// The offsets found in one batch of blocks.
typedef struct nc_blocks_places {
    size_t count;
    uint32_t index[NC_BLOCK_INDEXES];
} nc_blocks_places;

/// Masks of one block: bit i is for byte i.
typedef struct nc_block_masks {
    uint64_t quote;
    uint64_t backslash;
    uint64_t control;  // below 0x20
    uint64_t space;    // white space of the JSON grammar
    uint64_t operator; // { } [ ] : , and bytes that map to them
} nc_block_masks;

/// Scans up to NC_BLOCKS_AT_ONCE blocks of text[at, length). Writes the offsets that it found, relative to `text`,
/// to `index`. Returns the number of bytes in clean blocks.
typedef size_t (*nc_blocks_fn)(nc_blocks *blocks, const uint8_t *text, size_t at, size_t length, uint32_t *index,
                               size_t *count);

/// Counts line feeds, or UTF-8 continuation bytes.
typedef uint64_t (*nc_blocks_count_fn)(const uint8_t *bytes, size_t length, bool continuations);

/// One implementation, and the check whether this processor supports it.
typedef struct nc_blocks_way {
    const char *name;
    nc_blocks_fn look;
    nc_blocks_count_fn count;
    bool (*is_possible)(void);
} nc_blocks_way;

/// The implementations that were compiled, the fastest first. The last one runs on every processor.
extern const nc_blocks_way nc_blocks_ways[];
extern const size_t nc_blocks_way_count;

/// Returns the fastest implementation that this processor supports.
const nc_blocks_way *nc_blocks_best(void);
/// For tests and benchmarks: selects an implementation; NULL selects the fastest. No scan may run meanwhile.
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

/// Checks the escapes of a block. Bit i of `escaped` marks a byte after a '\'. Returns false if an escape is invalid or
/// the text ends within it.
bool nc_blocks_check_escapes(nc_blocks *blocks, const uint8_t *text, size_t at, size_t length, uint64_t escaped);

#endif
