/// An in-memory index of a store's files: their sizes and their order of use.
///
/// From it the store knows which entry to evict first, without reading the directory. It may be out of date: other
/// processes change the directory too, so a lookup always opens the file.
#ifndef NETCORE_PRIVATE_INDEX_H
#define NETCORE_PRIVATE_INDEX_H

#include <netcore/base.h>

enum { NC_STORE_ID_BYTES = 16, NC_STORE_SLOTS = 4 };

/// The name of an entry's file: the digest of the key, and a slot number, which differs between keys with the same
/// digest.
typedef struct nc_store_name {
    uint8_t id[NC_STORE_ID_BYTES];
    uint8_t slot;
} nc_store_name;

/// One file. The members are ordered so that there is padding only at the end; the record takes three quarters of a
/// cache line.
typedef struct nc_record {
    uint64_t file_bytes;
    int64_t used_at_ms; // as written to the file; the last use may be later
    uint32_t next;      // next record in the bucket, or in the free list
    uint32_t newer;     // next record in the order of use; 0 at the end
    uint32_t older;
    nc_store_name name;
} nc_record;

/// An index; empty if all fields except the seed are zero. Confined: the store's mutex guards it.
typedef struct nc_index {
    nc_record *records; // record 0 is the head of the ring in order of use: its `newer` is the oldest record, its
                        // `older` the newest
    uint32_t *buckets;  // `bucket_count`, a power of two; 0 is an empty bucket
    uint32_t capacity;
    uint32_t bucket_count;
    uint32_t record_count; // in use, without record 0
    uint32_t used_numbers; // 1 + the highest index ever used
    uint32_t free_number;  // head of the free list
    uint64_t bytes;
    uint64_t seed[2]; // secret, so that an attacker cannot choose keys that share a bucket
} nc_index;

void nc_index_deinit(nc_index *index);
/// Reserves a record, so that nc_index_set() cannot fail. Returns false if memory ran out.
NC_NODISCARD bool nc_index_reserve(nc_index *index);
/// Returns the record of a name, valid until the index changes, or NULL.
nc_record *nc_index_find(const nc_index *index, const nc_store_name *name);
/// Writes the sizes of the files with this digest, indexed by slot; UINT64_MAX if there is no such file.
void nc_index_find_all(uint64_t file_bytes[NC_STORE_SLOTS], const nc_index *index, const uint8_t id[NC_STORE_ID_BYTES]);
/// Adds or changes a name and makes it the newest. Call nc_index_reserve() first for a new name.
void nc_index_set(nc_index *index, const nc_store_name *name, uint64_t file_bytes, int64_t used_at_ms);
/// Sets the time of a record and makes it the newest.
void nc_index_use(nc_index *index, nc_record *record, int64_t used_at_ms);
/// Removes a name. Returns false if it was not in the index.
bool nc_index_remove(nc_index *index, const nc_store_name *name);
/// Returns the least recently used record, or NULL.
nc_record *nc_index_oldest(const nc_index *index);
/// Sorts the records by time. Those that are also in `before` keep the order that they have there. Returns false if
/// memory runs out.
NC_NODISCARD bool nc_index_sort(nc_index *index, const nc_index *before);

#endif
