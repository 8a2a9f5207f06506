/// The ways to escape that processors have; all do the same.
#ifndef NETCORE_PRIVATE_PERCENT_H
#define NETCORE_PRIVATE_PERCENT_H

#include <netcore/percent.h>

/// Bytes beyond the escaped text that a way may write to.
enum { NC_PERCENT_SLACK = 32 };
/// Texts shorter than this are fastest byte by byte.
enum { NC_PERCENT_FEW = 8 };

/// What one byte becomes: one byte or three.
typedef struct nc_percent_entry {
    uint8_t bytes[3];
    uint8_t length;
} nc_percent_entry;

/// One style as each way wants it.
typedef struct nc_percent_set {
    /// By byte.
    nc_percent_entry entries[256];
    /// By low nibble: bit h is set when the byte 16 h + nibble stands for itself, a replaced space included.
    uint8_t nibbles[16];
    /// What a space becomes where it is not escaped: ' ' or '+'.
    uint8_t space;
    /// Whether '/' and '?' stand for themselves.
    bool keeps_slash;
} nc_percent_set;

/// Escapes `length` bytes to `out`, which has room for three times as many and NC_PERCENT_SLACK; returns the length.
typedef size_t (*nc_percent_way)(uint8_t *out, const uint8_t *text, size_t length, const nc_percent_set *set);

/// One way, for those that try each.
typedef struct nc_percent_named_way {
    const char *name;
    nc_percent_way escape;
} nc_percent_named_way;

/// The set of a style.
const nc_percent_set *nc_percent_set_of(nc_percent_style style);

/// Byte by byte, through the table.
size_t nc_percent_scalar(uint8_t *out, const uint8_t *text, size_t length, const nc_percent_set *set);

/// Fills `ways` with what this processor can do, the best last; returns how many, at least one.
size_t nc_percent_ways(nc_percent_named_way ways[4]);

/// What nc_percent_ways() finds beyond the scalar way, on the processors of that kind.
size_t nc_percent_x86_ways(nc_percent_named_way ways[3]);
size_t nc_percent_neon_ways(nc_percent_named_way ways[1]);

/// By a mask of four bytes, which have to be escaped: where each byte of the result comes from in a row of their four
/// high digits, their four low digits, the bytes themselves and four '%'; and how many bytes the result has.
extern const uint8_t nc_percent_shuffles[16][16];
extern const uint8_t nc_percent_lengths[16];

#endif
