#include "base/error.h"
#include "digest/seal.h"
#include "store/format.h"
#include "store/index.h"
#include "store/internal.h"

#include <errno.h>

nc_status nc_store_locate(nc_store_candidates *out, nc_store *store, nc_slice key, nc_error *err) {
    nc_status status = NC_OK;
    if (key.length == 0) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the key is empty");
    }
    out->name.slot = 0;
    if (store->seal != NULL) {
        status = nc_seal_name(out->name.id, store->seal, key, err);
    }
    pthread_mutex_lock(&store->mutex);
    if (store->seal == NULL) {
        status = nc_digest_of(out->name.id, store->md5, key, err);
    }
    if (status == NC_OK) {
        nc_index_find_all(out->file_bytes, &store->index, out->name.id);
    }
    pthread_mutex_unlock(&store->mutex);
    return status;
}

/// Returns true if the name still refers to the opened file. Called under the mutex, so that no put of this store can
/// replace the file before it is removed. A put of another process can, and its entry is then lost.
static bool is_same_file(const nc_store *store, const char *name, int fd) {
    struct stat seen;
    struct stat now;
    if (nc_store_status_at(store, name, &now) != 0) {
        return false;
    }
    if (fd < 0) {
        return !S_ISREG(now.st_mode);
    }
    return nc_store_status(store, fd, &seen) == 0 && seen.st_ino == now.st_ino && seen.st_dev == now.st_dev;
}

int nc_store_discard(nc_store *store, const nc_store_name *name) {
    char text[NC_ENTRY_NAME_BYTES];
    nc_entry_name_format(text, name);
    pthread_mutex_lock(&store->mutex);
    int code = nc_store_unlink(store, text);
    if (code == 0) {
        (void)nc_index_remove(&store->index, name);
        store->changes_since_scan++;
    }
    pthread_mutex_unlock(&store->mutex);
    return code;
}

void nc_store_sweep(nc_store *store, const nc_store_name *name, const nc_loading *loading) {
    char text[NC_ENTRY_NAME_BYTES];
    nc_entry_name_format(text, name);
    pthread_mutex_lock(&store->mutex);
    if (is_same_file(store, text, loading->fd)) {
        // If the file cannot be removed, it is still removed from the index, and the next lookup handles it again.
        (void)nc_store_unlink(store, text);
        (void)nc_index_remove(&store->index, name);
        store->changes_since_scan++;
        if (loading->what == NC_LOADED_EXPIRED) {
            store->stats.expired++;
        } else {
            store->stats.damaged++;
        }
    }
    pthread_mutex_unlock(&store->mutex);
}

static void forget(nc_store *store, const nc_store_name *name) {
    pthread_mutex_lock(&store->mutex);
    (void)nc_index_remove(&store->index, name);
    pthread_mutex_unlock(&store->mutex);
}

/// Combines the results of a key's slots if none is a hit: damaged and expired take precedence over absent.
static nc_loaded more_specific(nc_loaded so_far, nc_loaded now) {
    return now == NC_LOADED_DAMAGED || now == NC_LOADED_EXPIRED ? now : so_far;
}

nc_status nc_store_find(nc_loading *out, nc_store_candidates *candidates, nc_store *store, nc_load_request wanted,
                        nc_buf *room, nc_error *err) {
    nc_loaded what = NC_LOADED_ABSENT;
    bool may_follow = true;
    for (uint8_t slot = 0; slot < NC_STORE_SLOTS; slot++) {
        bool is_known = candidates->file_bytes[slot] != UINT64_MAX;
        // The index may lack entries of other processes. So the first slot is always tried, and after a slot with
        // another key also the next one.
        if (!is_known && !may_follow) {
            continue;
        }
        candidates->name.slot = slot;
        wanted.name = &candidates->name;
        wanted.expected_bytes = is_known ? candidates->file_bytes[slot] : 0;
        nc_status status = nc_store_load(out, store, &wanted, room, err);
        if (status != NC_OK || out->what == NC_LOADED_HIT) {
            return status;
        }
        if (out->what == NC_LOADED_DAMAGED || out->what == NC_LOADED_EXPIRED) {
            nc_store_sweep(store, &candidates->name, out);
        } else if (out->what == NC_LOADED_ABSENT && is_known) {
            forget(store, &candidates->name);
        }
        what = more_specific(what, out->what);
        may_follow = out->what == NC_LOADED_OTHER_KEY || out->what == NC_LOADED_LOCKED;
        nc_loading_end(out, store);
    }
    *out = (nc_loading){.fd = -1, .what = what};
    return NC_OK;
}

/// Takes one credit for writing a use to a file. Returns false if there is none. Called under the mutex.
static bool take_use_credit(nc_store *store, int64_t now_ms) {
    int64_t added = 0;
    // If the clock was set back, no credit is added, and the interval starts again.
    if (now_ms < store->credited_at_ms) {
        store->credited_at_ms = now_ms;
    } else {
        added = (int64_t)(((uint64_t)now_ms - (uint64_t)store->credited_at_ms) / NC_STORE_USE_CREDIT_STEP_MS);
    }
    if (added >= NC_STORE_MAX_USE_CREDITS - store->use_credits) {
        store->use_credits = NC_STORE_MAX_USE_CREDITS;
        store->credited_at_ms = now_ms;
    } else {
        store->use_credits += added;
        store->credited_at_ms += added * NC_STORE_USE_CREDIT_STEP_MS;
    }
    if (store->use_credits == 0) {
        return false;
    }
    store->use_credits--;
    return true;
}

void nc_store_record_use(nc_store *store, const nc_store_name *name, const nc_loading *loading) {
    int64_t now_ms = nc_store_now_ms(store);
    bool is_due = true;
    pthread_mutex_lock(&store->mutex);
    nc_record *record = nc_index_find(&store->index, name);
    if (record != NULL) {
        uint64_t apart_ms = now_ms > record->used_at_ms ? (uint64_t)now_ms - (uint64_t)record->used_at_ms
                                                        : (uint64_t)record->used_at_ms - (uint64_t)now_ms;
        is_due = apart_ms >= NC_STORE_USE_STEP_MS && take_use_credit(store, now_ms);
        nc_index_use(&store->index, record, is_due ? now_ms : record->used_at_ms);
    } else if (nc_index_reserve(&store->index)) {
        nc_index_set(&store->index, name, nc_entry_file_bytes(&loading->head), now_ms);
    }
    store->stats.hits++;
    pthread_mutex_unlock(&store->mutex);
    if (is_due) {
        // A failure is ignored. The entry then seems to have been used less recently.
        (void)store->files.set_time(store->files.ctx, loading->fd, store->clock.realtime_ns(store->clock.ctx));
    }
}
