/// The names of a store's files. Files with other names do not belong to the store.
#ifndef NETCORE_PRIVATE_STORE_NAMES_H
#define NETCORE_PRIVATE_STORE_NAMES_H

#include "store/index.h"

/// "0123456789abcdef0123456789abcdef.0" and "part-0123456789abcdef-0123456789abcdef", with a NUL.
enum { NC_ENTRY_NAME_BYTES = 35, NC_PART_NAME_BYTES = 39 };

/// The lock file: each open store of the directory holds a lock on one byte of it.
#define NC_STORE_LOCK_NAME "lock"
/// Marks the directory for backup programs (bford.info/cachedir).
#define NC_STORE_TAG_NAME "CACHEDIR.TAG"

void nc_entry_name_format(char out[NC_ENTRY_NAME_BYTES], const nc_store_name *name);
/// Parses an entry's name. Returns false for any other name.
NC_NODISCARD bool nc_entry_name_parse(nc_store_name *out, const char *text);
/// Writes the name of an open store's temporary file.
void nc_part_name_format(char out[NC_PART_NAME_BYTES], uint64_t instance, uint64_t number);
/// Parses the store's number in a temporary file's name. Returns false for any other name.
NC_NODISCARD bool nc_part_name_parse(uint64_t *instance, const char *text);

#endif
