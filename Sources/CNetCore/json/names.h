/// The names that the open objects have had, so that a second one of a kind is found.
///
/// A name is kept as 128 bits of SipHash-2-4 under a random key, never as text: no server can make names collide, two
/// different ones agree once in 2^127 pairs, and a name takes 24 bytes however long it is. An object's names go when
/// it ends. Confined: one thread at a time.
#ifndef NETCORE_PRIVATE_JSON_NAMES_H
#define NETCORE_PRIVATE_JSON_NAMES_H

#include "json/scan.h"
#include "json/text.h"

typedef struct nc_names nc_names;

/// Makes room for nothing yet; NULL when memory or randomness fails.
NC_NODISCARD nc_names *nc_names_new(uint32_t max_names);
/// Frees it; harmless on NULL.
void nc_names_free(nc_names *names);
/// Forgets every name and object.
void nc_names_reset(nc_names *names);

/// An object begins; false when memory runs out.
NC_NODISCARD bool nc_names_begin(nc_names *names);
/// The innermost object ends.
void nc_names_end(nc_names *names);
/// Takes the next part of a name as it is written; `place` as the scan gives it, `offset` is the name's.
///
/// Returns NC_OK to go on, NC_ERR_BAD_JSON with the scan's fault noted for a second name or too many, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_names_check(nc_names *names, nc_scan *scan, nc_slice part, unsigned place, uint64_t offset);

#endif
