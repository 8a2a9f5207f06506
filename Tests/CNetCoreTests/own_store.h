/// A store of a caller for the HTTP cache: a list in memory that fails and lies as a test requires.
///
///     own_store own;
///     own_store_init(&own);
///     caching_start_with_cache(&c, &(nc_http_cache_options){.cache_store = &own.store});
///     own.fault = OWN_STORE_CUTS;
#ifndef NETCORE_TEST_OWN_STORE_H
#define NETCORE_TEST_OWN_STORE_H

#include <netcore/cache_store.h>
#include <pthread.h>

enum { OWN_STORE_ENTRIES = 16 };

/// A copy of an entry: its texts one after the other.
typedef struct own_entry {
    uint8_t *bytes; // NULL for a free place
    size_t key, host, metadata, body;
} own_entry;

typedef enum own_store_fault {
    OWN_STORE_WORKS,
    OWN_STORE_CHANGES,      // the byte at `at` is changed
    OWN_STORE_CUTS,         // only `at` bytes are returned
    OWN_STORE_ADDS,         // one more byte is returned
    OWN_STORE_MOVES,        // a byte of the body counts as metadata
    OWN_STORE_REORDERS,     // the end of the metadata, without the checksum, is returned as the start of the body
    OWN_STORE_SWAPS,        // the entry of another key, of the same length, is returned
    OWN_STORE_COUNTS_WRONG, // lengths beyond the buffer
    OWN_STORE_NEVER_ENDS,   // bytes until the buffer is full
    OWN_STORE_SETS_NOTHING, // a hit without bytes
    OWN_STORE_FAILS,        // all functions fail
    OWN_STORE_KEEPS,        // removals fail
} own_store_fault;

typedef struct own_store {
    nc_cache_store store;  // for the options of a cache
    nc_cache_store second; // of a test with two tiers
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    own_entry entries[OWN_STORE_ENTRIES];
    own_store_fault fault;
    size_t at;
    size_t gets, puts, removals, clearings, releases;
    bool is_slow; // a lookup waits until it is false
    size_t waiting;
} own_store;

void own_store_init(own_store *own);
void own_store_deinit(own_store *own);
/// Returns the number of entries.
size_t own_store_count(own_store *own);
/// Returns the length of metadata and body of the entry of the last put.
size_t own_store_last_bytes(own_store *own);
/// Waits until a lookup waits.
void own_store_wait_for_lookup(own_store *own);
/// Sets `is_slow`.
void own_store_set_slow(own_store *own, bool is_slow);

#endif
