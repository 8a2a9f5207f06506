/// The scripted replies of a server. Each path has a sequence of replies.
#ifndef NCT_TABLE_H
#define NCT_TABLE_H

#include "script.h"

#include <pthread.h>

/// A hash table from paths to replies. Zero the struct before nct_table_init().
typedef struct nct_table {
    /// Guards the rows.
    pthread_mutex_t mutex;
    /// Linked lists of rows. The index is the hash of the path.
    struct nct_table_row *rows[1024];
    /// The reply for a path without a script; owned.
    nct_script *fallback;
} nct_table;

/// Initializes an empty table. Returns false if memory is exhausted.
bool nct_table_init(nct_table *table);

/// Frees every row. Allowed after a failed init.
void nct_table_deinit(nct_table *table);

/// Sets the replies of a path; `count` is at least 1. If memory is exhausted, returns false and changes nothing.
bool nct_table_set(nct_table *table, const char *path, const nct_reply *replies, size_t count);

/// Returns the next reply for a path. If the path has none, returns the next reply of "*", or else the 404 reply. The
/// reply is retained for the caller.
nct_script *nct_table_next(nct_table *table, const void *path, size_t length);

#endif
