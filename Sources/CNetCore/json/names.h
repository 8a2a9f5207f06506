/// The names of all open objects, to detect duplicates.
///
/// A name is kept as 128 bits of SipHash-2-4 under a random key, never as text. A server cannot provoke collisions, and
/// two different names collide once in 2^127 pairs. A name of any length takes 24 bytes. Names are dropped when
/// their object ends. Confined: one thread at a time.
#ifndef NETCORE_PRIVATE_JSON_NAMES_H
#define NETCORE_PRIVATE_JSON_NAMES_H

#include "json/scan.h"
#include "json/text.h"

typedef struct nc_names nc_names;

/// Creates an empty set that allocates later. Returns NULL if memory or randomness is unavailable.
NC_NODISCARD nc_names *nc_names_new(uint32_t max_names);
/// Frees the set. NULL is allowed.
void nc_names_free(nc_names *names);
/// Removes every name and object.
void nc_names_reset(nc_names *names);

/// Begins an object. Returns false if memory is exhausted.
NC_NODISCARD bool nc_names_begin(nc_names *names);
/// Ends the innermost object.
void nc_names_end(nc_names *names);
/// Adds the next part of a name as it is written. `place` comes from the scan; `offset` is the name's.
///
/// Returns NC_OK, NC_ERR_BAD_JSON after recording a fault in the scan (a duplicate, or too many names), or
/// NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_names_check(nc_names *names, nc_scan *scan, nc_slice part, unsigned place, uint64_t offset);

#endif
