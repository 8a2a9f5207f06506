#include "base/error.h"
#include "store/state.h"

#include <errno.h>

nc_status nc_store_locate(nc_places *out, nc_store *store, nc_slice key, nc_error *err) {
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

/// Returns true if the name still refers to the opened file. Called under the mutex, so that no put of this store
/// intervenes. A put of another process can intervene, and its entry is then lost.
static bool is_still_there(const nc_store *store, const char *name, int fd) {
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
    if (is_still_there(store, text, loading->fd)) {
        // A file that cannot be removed is dropped from the index, and the next lookup finds it damaged again.
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

/// Combines the results of a key's slots when none is a hit: damaged or expired takes precedence over absent.
static nc_loaded worse(nc_loaded so_far, nc_loaded now) {
    return now == NC_LOADED_DAMAGED || now == NC_LOADED_EXPIRED ? now : so_far;
}

nc_status nc_store_find(nc_loading *out, nc_places *places, nc_store *store, nc_wanted wanted, nc_buf *room,
                        nc_error *err) {
    nc_loaded what = NC_LOADED_ABSENT;
    bool may_follow = true;
    for (uint8_t slot = 0; slot < NC_STORE_SLOTS; slot++) {
        bool is_known = places->file_bytes[slot] != UINT64_MAX;
        // Entries of other processes are not in the index. The first slot is always tried, and the next one if this
        // slot has another key.
        if (!is_known && !may_follow) {
            continue;
        }
        places->name.slot = slot;
        wanted.name = &places->name;
        wanted.expected_bytes = is_known ? places->file_bytes[slot] : 0;
        nc_status status = nc_store_load(out, store, &wanted, room, err);
        if (status != NC_OK || out->what == NC_LOADED_HIT) {
            return status;
        }
        if (out->what == NC_LOADED_DAMAGED || out->what == NC_LOADED_EXPIRED) {
            nc_store_sweep(store, &places->name, out);
        } else if (out->what == NC_LOADED_ABSENT && is_known) {
            forget(store, &places->name);
        }
        what = worse(what, out->what);
        may_follow = out->what == NC_LOADED_OTHER_KEY || out->what == NC_LOADED_LOCKED;
        nc_loading_end(out, store);
    }
    *out = (nc_loading){.fd = -1, .what = what};
    return NC_OK;
}

/// Returns true if another use may be written to its file now. Called under the mutex.
static bool take_note(nc_store *store, int64_t now_ms) {
    int64_t added = 0;
    // A clock that was set back grants nothing and restarts the interval.
    if (now_ms < store->noted_at_ms) {
        store->noted_at_ms = now_ms;
    } else {
        added = (int64_t)(((uint64_t)now_ms - (uint64_t)store->noted_at_ms) / NC_STORE_NOTE_STEP_MS);
    }
    if (added >= NC_STORE_MAX_NOTES - store->notes) {
        store->notes = NC_STORE_MAX_NOTES;
        store->noted_at_ms = now_ms;
    } else {
        store->notes += added;
        store->noted_at_ms += added * NC_STORE_NOTE_STEP_MS;
    }
    if (store->notes == 0) {
        return false;
    }
    store->notes--;
    return true;
}

void nc_store_note_use(nc_store *store, const nc_store_name *name, const nc_loading *loading) {
    int64_t now_ms = nc_store_now_ms(store);
    bool is_due = true;
    pthread_mutex_lock(&store->mutex);
    nc_record *record = nc_index_find(&store->index, name);
    if (record != NULL) {
        uint64_t apart_ms = now_ms > record->used_at_ms ? (uint64_t)now_ms - (uint64_t)record->used_at_ms
                                                        : (uint64_t)record->used_at_ms - (uint64_t)now_ms;
        is_due = apart_ms >= NC_STORE_USE_STEP_MS && take_note(store, now_ms);
        nc_index_use(&store->index, record, is_due ? now_ms : record->used_at_ms);
    } else if (nc_index_reserve(&store->index)) {
        nc_index_set(&store->index, name, nc_entry_file_bytes(&loading->head), now_ms);
    }
    store->stats.hits++;
    pthread_mutex_unlock(&store->mutex);
    if (is_due) {
        // A failure is ignored: the entry then seems older than it is.
        (void)store->files.set_time(store->files.ctx, loading->fd, store->clock.realtime_ns(store->clock.ctx));
    }
}
