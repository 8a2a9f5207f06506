#include "base/alloc.h"
#include "base/error.h"
#include "store/format.h"
#include "store/internal.h"

#include <string.h>

/// The state of an iteration over all entries.
typedef struct walk {
    nc_store *store;
    /// Called for each file; returning false ends the iteration. `entry` is NULL unless the file is a hit.
    bool (*visit)(struct walk *at, const nc_store_name *name, nc_loading *loading, const nc_store_entry *entry);
    bool checks_bodies;
    nc_status status; // set by `visit`
    nc_error *err;
    nc_store_entry_fn caller;
    void *caller_ctx;
    nc_slice wanted;
    bool wants_host;
    uint64_t removed;
    nc_store_report report;
} walk;

/// Scans the directory, to include entries of other processes. Then copies the names of all entries, so that no lock is
/// held while the files are visited.
static nc_status copy_names(nc_store_name **out, size_t *count, walk *at) {
    nc_store *store = at->store;
    nc_status status = nc_store_scan(store, &at->report.leftovers, &at->report.foreign, at->err);
    if (status != NC_OK) {
        return status;
    }
    pthread_mutex_lock(&store->mutex);
    const nc_index *index = &store->index;
    size_t used = 0;
    nc_store_name *names = nc_alloc((size_t)index->record_count * sizeof *names);
    if (names != NULL && index->record_count != 0) {
        for (uint32_t number = index->records[0].newer; number != 0; number = index->records[number].newer) {
            names[used++] = index->records[number].name;
        }
    }
    pthread_mutex_unlock(&store->mutex);
    if (names == NULL) {
        return nc_error_set(at->err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a list");
    }
    *out = names;
    *count = used;
    return NC_OK;
}

/// Loads one file and calls `visit` for it. Removes the file if it is damaged or expired.
static nc_status visit_file(walk *at, const nc_store_name *name, nc_buf *room, uint8_t *piece, bool *should_continue) {
    nc_loading loading;
    nc_store_entry entry;
    nc_status status = nc_store_load(&loading, at->store, &(nc_load_request){.name = name}, room, at->err);
    if (status == NC_OK && loading.what == NC_LOADED_HIT && at->checks_bodies) {
        status = nc_store_check_body(&loading, at->store, piece, at->err);
    }
    if (status == NC_OK) {
        if (loading.what == NC_LOADED_DAMAGED || loading.what == NC_LOADED_EXPIRED) {
            nc_store_sweep(at->store, name, &loading);
        }
        bool is_hit = loading.what == NC_LOADED_HIT;
        if (is_hit) {
            nc_entry_describe(&entry, &loading.head, room->data + NC_ENTRY_HEADER_BYTES);
        }
        *should_continue = at->visit(at, name, &loading, is_hit ? &entry : NULL);
        status = at->status;
    }
    nc_loading_end(&loading, at->store);
    return status;
}

static nc_status run(walk *at) {
    nc_store_name *names = NULL;
    size_t count = 0;
    uint8_t *piece = NULL;
    nc_buf room = nc_buf_init(SIZE_MAX / 2);
    nc_status status = copy_names(&names, &count, at);
    if (status == NC_OK && at->checks_bodies) {
        piece = nc_alloc(NC_ENTRY_PIECE_BYTES + NC_ENTRY_TAG_BYTES);
        status = piece == NULL
                     ? nc_error_set(at->err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a piece of a cache entry")
                     : NC_OK;
    }
    bool should_continue = true;
    for (size_t i = 0; i < count && status == NC_OK && should_continue; i++) {
        status = visit_file(at, &names[i], &room, piece, &should_continue);
    }
    nc_buf_deinit(&room);
    nc_free(piece);
    nc_free(names);
    return status == NC_OK ? nc_error_clear(at->err) : status;
}

/* --- lists --- */

static bool show(walk *at, const nc_store_name *name, nc_loading *loading, const nc_store_entry *entry) {
    (void)name;
    (void)loading;
    return entry == NULL || at->caller(at->caller_ctx, entry);
}

nc_status nc_store_list(nc_store *store, nc_store_entry_fn visit, void *ctx, nc_error *err) {
    if (store == NULL || visit == NULL) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the store or the callback is NULL");
    }
    walk at = {.store = store, .visit = show, .err = err, .caller = visit, .caller_ctx = ctx};
    return run(&at);
}

bool nc_store_next_tag(nc_slice *tag, nc_slice *rest) {
    while (rest->length != 0) {
        const uint8_t *end = memchr(rest->data, '\0', rest->length);
        size_t length = end == NULL ? rest->length : (size_t)(end - rest->data);
        nc_slice first = nc_slice_make(rest->data, length);
        size_t taken = end == NULL ? length : length + 1;
        *rest = nc_slice_make(rest->data + taken, rest->length - taken);
        if (length != 0) {
            *tag = first;
            return true;
        }
    }
    return false;
}

/* --- verification --- */

static bool count(walk *at, const nc_store_name *name, nc_loading *loading, const nc_store_entry *entry) {
    (void)name;
    if (entry != NULL) {
        at->report.good++;
        at->report.bytes += entry->file_bytes;
    } else if (loading->what == NC_LOADED_DAMAGED) {
        at->report.damaged++;
    } else if (loading->what == NC_LOADED_EXPIRED) {
        at->report.expired++;
    } else if (loading->what == NC_LOADED_LOCKED) {
        at->report.locked++;
    }
    return true;
}

nc_status nc_store_verify(nc_store_report *out, nc_store *store, nc_error *err) {
    if (out == NULL || store == NULL) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the store or the report is NULL");
    }
    uint64_t damaged_before = nc_store_figures(store).damaged;
    walk at = {.store = store, .visit = count, .err = err, .checks_bodies = true};
    nc_status status = run(&at);
    if (status == NC_OK) {
        // The scan before the iteration has already removed some damaged files; they are in the store's figures only.
        uint64_t damaged = nc_store_figures(store).damaged - damaged_before;
        at.report.damaged = damaged > at.report.damaged ? damaged : at.report.damaged;
        *out = at.report;
    }
    return status;
}

/* --- removals --- */

static bool remove_file(walk *at, const nc_store_name *name) {
    int code = nc_store_discard(at->store, name);
    if (code != 0) {
        at->status = nc_store_fail(at->store, at->err, code, NULL, "changed");
        return false;
    }
    at->removed++;
    return true;
}

static bool has_tag(const nc_store_entry *entry, nc_slice tag) {
    nc_slice rest = entry->tags;
    nc_slice one;
    while (nc_store_next_tag(&one, &rest)) {
        if (nc_slice_is_equal(one, tag)) {
            return true;
        }
    }
    return false;
}

static bool remove_wanted(walk *at, const nc_store_name *name, nc_loading *loading, const nc_store_entry *entry) {
    (void)loading;
    if (entry == NULL ||
        !(at->wants_host ? nc_slice_is_equal_ignoring_case(entry->host, at->wanted) : has_tag(entry, at->wanted))) {
        return true;
    }
    return remove_file(at, name);
}

/// Completes a removal. Entries that were removed before a failure stay removed.
static nc_status end_removal(uint64_t *removed, walk *at, nc_status status) {
    if (status == NC_OK && at->removed != 0) {
        int code = nc_store_sync_directory(at->store);
        status = code == 0 ? NC_OK : nc_store_fail(at->store, at->err, code, NULL, "synced");
    }
    if (status == NC_OK && removed != NULL) {
        *removed = at->removed;
    }
    return status;
}

static nc_status remove_matching(uint64_t *removed, nc_store *store, nc_slice wanted, bool wants_host, nc_error *err) {
    if (store == NULL || wanted.length == 0) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the store is NULL, or the tag or host is empty");
    }
    walk at = {.store = store, .visit = remove_wanted, .err = err, .wanted = wanted, .wants_host = wants_host};
    return end_removal(removed, &at, run(&at));
}

nc_status nc_store_remove_tag(uint64_t *removed, nc_store *store, nc_slice tag, nc_error *err) {
    return remove_matching(removed, store, tag, false, err);
}

nc_status nc_store_remove_host(uint64_t *removed, nc_store *store, nc_slice host, nc_error *err) {
    return remove_matching(removed, store, host, true, err);
}

nc_status nc_store_remove_all(uint64_t *removed, nc_store *store, nc_error *err) {
    if (store == NULL) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the store is NULL");
    }
    walk at = {.store = store, .err = err};
    nc_store_name *names = NULL;
    size_t name_count = 0;
    nc_status status = copy_names(&names, &name_count, &at);
    for (size_t i = 0; i < name_count && status == NC_OK; i++) {
        (void)remove_file(&at, &names[i]);
        status = at.status;
    }
    nc_free(names);
    status = end_removal(removed, &at, status);
    return status == NC_OK ? nc_error_clear(err) : status;
}
