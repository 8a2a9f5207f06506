/// The implementations of percent-encoding. All have the same results.
#ifndef NETCORE_PRIVATE_PERCENT_H
#define NETCORE_PRIVATE_PERCENT_H

#include <netcore/percent.h>

/// Bytes after the encoded text that an implementation may overwrite.
enum { NC_PERCENT_SLACK = 32 };
/// Shorter texts are fastest byte by byte.
enum { NC_PERCENT_FEW = 8 };

/// The encoding of one byte: one byte or three.
typedef struct nc_percent_entry {
    uint8_t bytes[3];
    uint8_t length;
} nc_percent_entry;

/// The tables of one style.
typedef struct nc_percent_set {
    /// Encodings by byte.
    nc_percent_entry entries[256];
    /// By low nibble: bit h is set if byte 16 h + nibble is not encoded. A space that becomes '+' counts as not
    /// encoded.
    uint8_t nibbles[16];
    /// The replacement of a space that is not encoded: ' ' or '+'.
    uint8_t space;
    /// True if '/' and '?' are not encoded.
    bool keeps_slash;
} nc_percent_set;

/// Encodes `length` bytes to `out`, which has three times that size and NC_PERCENT_SLACK. Returns the length.
typedef size_t (*nc_percent_way)(uint8_t *out, const uint8_t *text, size_t length, const nc_percent_set *set);

/// An implementation with its name, for tests and benchmarks of each.
typedef struct nc_percent_named_way {
    const char *name;
    nc_percent_way escape;
} nc_percent_named_way;

/// Returns the tables of a style.
const nc_percent_set *nc_percent_set_of(nc_percent_style style);

/// Encodes byte by byte, with the table.
size_t nc_percent_scalar(uint8_t *out, const uint8_t *text, size_t length, const nc_percent_set *set);

/// Fills `ways` with the implementations for this processor, the fastest last. Returns their number, at least one.
size_t nc_percent_ways(nc_percent_named_way ways[4]);

/// Fill `ways` with the SIMD implementations for this processor, and return their number.
size_t nc_percent_x86_ways(nc_percent_named_way ways[3]);
size_t nc_percent_neon_ways(nc_percent_named_way ways[1]);

/// Shuffles for encoding four bytes, indexed by a mask of the bytes to encode. A shuffle selects the output from a
/// vector of four high digits, four low digits, the four bytes, and four '%'.
extern const uint8_t nc_percent_shuffles[16][16];
extern const uint8_t nc_percent_lengths[16];

#endif
