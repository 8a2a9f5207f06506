/// What a store remembers of its files: how long they are, and in which order they were used.
///
/// The order decides who goes first when there is no room, so that no directory has to be read for it. It is memory
/// alone: the files are the truth, and whoever looks for an entry looks for its file too.
#ifndef NETCORE_PRIVATE_STORE_INDEX_H
#define NETCORE_PRIVATE_STORE_INDEX_H

#include <netcore/base.h>

enum { NC_STORE_ID_BYTES = 16, NC_STORE_SLOTS = 4 };

/// A file's name: the digest of a key, and which of the keys with this digest. All zero but the slot is possible.
typedef struct nc_store_name {
    uint8_t id[NC_STORE_ID_BYTES];
    uint8_t slot;
} nc_store_name;

/// One file. In this order it fills three quarters of a line of the processor's cache, without gaps but the last.
typedef struct nc_record {
    uint64_t file_bytes;
    int64_t used_at_ms; // as noted in the file: the order knows of more uses
    uint32_t next;      // in the bucket, or among the free ones
    uint32_t newer;     // in the order of use; the record's own number at the end
    uint32_t older;
    nc_store_name name;
} nc_record;

/// All zero but the seed is an empty index. Confined: the store's mutex guards it.
typedef struct nc_index {
    nc_record *records; // 0 is the ring's head: its `newer` was used longest ago, its `older` last
    uint32_t *buckets;  // a power of two of them; 0 is none
    uint32_t capacity;
    uint32_t bucket_count;
    uint32_t record_count; // in use, 0 not counted
    uint32_t used_numbers; // 1 + the highest number ever given
    uint32_t free_number;  // first of the free ones
    uint64_t bytes;
    uint64_t seed[2]; // so that nobody can choose keys that share a bucket
} nc_index;

void nc_index_deinit(nc_index *index);
/// Makes room for one more, so that nc_index_set() cannot fail; false when memory is short.
NC_NODISCARD bool nc_index_reserve(nc_index *index);
/// The record of a name, until the index is next changed; NULL when there is none.
nc_record *nc_index_find(const nc_index *index, const nc_store_name *name);
/// How long the files of this digest are, by slot; UINT64_MAX for a slot without one.
void nc_index_find_all(uint64_t file_bytes[NC_STORE_SLOTS], const nc_index *index, const uint8_t id[NC_STORE_ID_BYTES]);
/// Adds a name or changes it; it is the last one used then. After nc_index_reserve() for a new one.
void nc_index_set(nc_index *index, const nc_store_name *name, uint64_t file_bytes, int64_t used_at_ms);
/// Makes a record the last one used.
void nc_index_use(nc_index *index, nc_record *record, int64_t used_at_ms);
/// Forgets a name; false when it was not known.
bool nc_index_remove(nc_index *index, const nc_store_name *name);
/// The record that was used longest ago; NULL when there is none.
nc_record *nc_index_oldest(const nc_index *index);
/// Puts the records in the order of their times; those that are in `before` too are used as late as they are there.
NC_NODISCARD bool nc_index_sort(nc_index *index, const nc_index *before);

#endif
