/// Sets of hashes, one for each open container, to detect duplicate names and equal elements.
///
/// Confined: one thread at a time.
#ifndef NETCORE_PRIVATE_JSON_NAMES_H
#define NETCORE_PRIVATE_JSON_NAMES_H

#include "json/scanner.h"
#include "json/siphash.h"

typedef struct nc_names nc_names;

/// The result of adding a hash.
typedef enum nc_names_result {
    NC_NAMES_ADDED,
    NC_NAMES_DUPLICATE, // the innermost set already has it
    NC_NAMES_FULL,      // the sets have `max_names` hashes
    NC_NAMES_NO_MEMORY,
} nc_names_result;

/// Creates sets with at most `max_names` hashes together; 0 means NC_JSON_DEFAULT_MAX_NAMES. Returns NULL if memory or
/// random bytes are unavailable.
nc_names *nc_names_new(uint32_t max_names);
/// Frees the sets. NULL is allowed.
void nc_names_free(nc_names *names);
/// Removes every hash and set.
void nc_names_reset(nc_names *names);

/// Begins a set. Returns false if memory runs out.
NC_NODISCARD bool nc_names_begin(nc_names *names);
/// Ends the innermost set.
void nc_names_end(nc_names *names);
/// Adds a hash to the innermost set.
NC_NODISCARD nc_names_result nc_names_add(nc_names *names, nc_hash128 hash);

/// Adds the next part of a name, as written in the text. `flags` are NC_TEXT_ bits; `offset` is the offset of the name.
///
/// Returns NC_OK, NC_ERR_BAD_JSON after recording a fault in the scan (a duplicate, or too many names), or
/// NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_names_check(nc_names *names, nc_scan *scan, nc_slice part, unsigned flags, uint64_t offset);

#endif
