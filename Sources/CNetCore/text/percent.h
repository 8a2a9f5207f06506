/// The implementations of percent-encoding. All have the same results.
#ifndef NETCORE_PRIVATE_PERCENT_H
#define NETCORE_PRIVATE_PERCENT_H

#include <netcore/percent.h>

/// The number of bytes behind the encoded text that an implementation may overwrite.
enum { NC_PERCENT_SLACK = 32 };
/// Texts below this length are encoded byte by byte, which is faster for them.
enum { NC_PERCENT_FEW = 8 };

/// The output for one byte: one byte or three.
typedef struct nc_percent_entry {
    uint8_t bytes[3];
    uint8_t length;
} nc_percent_entry;

/// The tables of one style.
typedef struct nc_percent_set {
    /// Encodings by byte.
    nc_percent_entry entries[256];
    /// Indexed by the low nibble n: bit h is set if the byte 16 * h + n is not percent-encoded. A space that becomes
    /// '+' counts as not percent-encoded.
    uint8_t nibbles[16];
    /// '+' if it replaces a space; ' ' if spaces are percent-encoded.
    uint8_t space;
    /// True if '/' and '?' are not encoded.
    bool keeps_slash;
} nc_percent_set;

/// Encodes `length` bytes of `text` to `out`, which must have three times that size plus NC_PERCENT_SLACK. Returns the
/// length of the output.
typedef size_t (*nc_percent_kernel)(uint8_t *out, const uint8_t *text, size_t length, const nc_percent_set *set);

/// An implementation with its name. Tests and benchmarks run each one.
typedef struct nc_percent_named_kernel {
    const char *name;
    nc_percent_kernel escape;
} nc_percent_named_kernel;

/// Returns the tables of a style.
const nc_percent_set *nc_percent_set_of(nc_percent_style style);

/// Fills `kernels` with the implementations for this processor, the fastest last. Returns their number, at least one.
size_t nc_percent_kernels(nc_percent_named_kernel kernels[4]);

#endif
