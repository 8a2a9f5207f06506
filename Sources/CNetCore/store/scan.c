#include "base/alloc.h"
#include "base/error.h"
#include "store/index.h"
#include "store/internal.h"

#include <errno.h>
#include <string.h>

enum {
    /// A scan indexes up to this number of files above the limit, so that the oldest ones are evicted. Further files
    /// are removed regardless of their age.
    MAX_SURPLUS_ENTRIES = 65536,
    /// The number of own changes after which a scan for changes of other processes can be due.
    MIN_CHANGES = 64,
    /// On a system without locks, a temporary file that was not changed for this time is taken for abandoned.
    LEFTOVER_AGE_MS = 3600000,
    /// The largest expected difference between the clocks of processes that share a directory.
    MAX_CLOCK_SKEW_MS = 86400000,
};

/// The state of one scan of the directory.
typedef struct scan {
    nc_store *store;
    int64_t now_ms;
    nc_index fresh;
    uint64_t leftovers;
    uint64_t foreign;
    nc_status status;
    nc_error *err;
} scan;

static int64_t changed_at_ms(const struct stat *info) {
#if defined(__APPLE__)
    const struct timespec *changed = &info->st_mtimespec;
#else
    const struct timespec *changed = &info->st_mtim;
#endif
    return (int64_t)changed->tv_sec * 1000 + (int64_t)changed->tv_nsec / 1000000;
}

/// Returns the time of an entry's last use, which is its file's modification time. A time far in the future counts as
/// the oldest: otherwise an entry that was written under a wrong clock would stay the newest, and newer entries would
/// be evicted before it.
static int64_t used_at_ms_of(const scan *at, const struct stat *info) {
    int64_t used_at_ms = changed_at_ms(info);
    return used_at_ms > at->now_ms + MAX_CLOCK_SKEW_MS ? INT64_MIN : used_at_ms;
}

static bool fail(scan *at, int code, const char *name) {
    at->status = nc_store_fail(at->store, at->err, code, name, "examined");
    return false;
}

static bool visit_entry(scan *at, const char *text, const nc_store_name *name) {
    nc_store *store = at->store;
    struct stat info;
    int code = nc_store_status_at(store, text, &info);
    if (code != 0) {
        return code == ENOENT || fail(at, code, text); // another process may have removed it
    }
    uint64_t file_bytes = (uint64_t)info.st_size;
    if (!S_ISREG(info.st_mode) || file_bytes <= NC_ENTRY_HEADER_BYTES) {
        (void)nc_store_unlink(store, text);
        store->stats.damaged++;
        return true;
    }
    if (file_bytes > store->max_entry_bytes ||
        at->fresh.record_count >= (uint64_t)store->max_entries + MAX_SURPLUS_ENTRIES) {
        (void)nc_store_unlink(store, text);
        store->stats.evictions++;
        return true;
    }
    if (!nc_index_reserve(&at->fresh)) {
        return fail(at, ENOMEM, text);
    }
    const nc_record *known = nc_index_find(&store->index, name);
    int64_t used_at_ms = used_at_ms_of(at, &info);
    used_at_ms = known != NULL && known->used_at_ms > used_at_ms ? known->used_at_ms : used_at_ms;
    nc_index_set(&at->fresh, name, file_bytes, used_at_ms);
    return true;
}

static bool is_left_over(const nc_store *store, const char *text, uint64_t instance) {
    struct stat info;
    if (instance == store->instance) {
        return false;
    }
    if (store->lock_fd >= 0) {
        return !nc_store_is_alive(store, instance);
    }
    return nc_store_status_at(store, text, &info) == 0 &&
           nc_store_now_ms(store) - changed_at_ms(&info) > LEFTOVER_AGE_MS;
}

static bool visit(void *ctx, const char *text) {
    scan *at = ctx;
    nc_store_name name;
    uint64_t instance = 0;
    if (nc_entry_name_parse(&name, text)) {
        return visit_entry(at, text, &name);
    }
    if (nc_temp_name_parse(&instance, text)) {
        if (is_left_over(at->store, text, instance)) {
            // If the file cannot be removed, the next scan tries again.
            at->leftovers += nc_store_unlink(at->store, text) == 0;
        }
    } else if (strcmp(text, NC_STORE_LOCK_NAME) != 0 && strcmp(text, NC_STORE_TAG_NAME) != 0) {
        at->foreign++;
    }
    return true;
}

/// Called under the mutex.
static nc_status scan_now(scan *at) {
    nc_store *store = at->store;
    int code = 0;
    at->now_ms = nc_store_now_ms(store);
    do {
        nc_index_deinit(&at->fresh);
        code = store->files.list(store->files.ctx, store->directory_fd, visit, at) == 0 ? 0 : errno;
    } while (code == EINTR && at->status == NC_OK);
    if (at->status == NC_OK && code != 0) {
        at->status = nc_store_fail(store, at->err, code, NULL, "read");
    }
    if (at->status == NC_OK && !nc_index_sort(&at->fresh, &store->index)) {
        at->status = nc_store_fail(store, at->err, ENOMEM, NULL, "read");
    }
    if (at->status != NC_OK) {
        nc_index_deinit(&at->fresh);
        return at->status;
    }
    nc_index_deinit(&store->index);
    store->index = at->fresh;
    store->changes_since_scan = 0;
    store->bytes_since_scan = 0;
    store->stats.scans++;
    nc_store_make_room(store);
    return NC_OK;
}

nc_status nc_store_scan(nc_store *store, uint64_t *leftovers, uint64_t *foreign, nc_error *err) {
    pthread_mutex_lock(&store->mutex);
    scan at = {.store = store, .fresh = {.seed = {store->index.seed[0], store->index.seed[1]}}, .err = err};
    nc_status status = scan_now(&at);
    pthread_mutex_unlock(&store->mutex);
    if (leftovers != NULL) {
        *leftovers = at.leftovers;
    }
    if (foreign != NULL) {
        *foreign = at.foreign;
    }
    return status;
}

void nc_store_make_room(nc_store *store) {
    nc_index *index = &store->index;
    while (index->bytes > store->max_bytes || index->record_count > store->max_entries) {
        char text[NC_ENTRY_NAME_BYTES];
        nc_record *oldest = nc_index_oldest(index);
        nc_entry_name_format(text, &oldest->name);
        if (nc_store_unlink(store, text) != 0) {
            // The file cannot be removed: make it the newest, so that the next eviction starts with another entry.
            nc_index_use(index, oldest, oldest->used_at_ms);
            break;
        }
        nc_store_name name = oldest->name;
        (void)nc_index_remove(index, &name);
        store->stats.evictions++;
    }
}

void nc_store_scan_if_shared(nc_store *store) {
    pthread_mutex_lock(&store->mutex);
    // A scan is due after changes of an eighth of the entries, so that its cost is at most eight files for each change.
    // It is also due after changes of an eighth of the bytes, which a few large entries can reach.
    bool is_due =
        store->bytes_since_scan >= store->max_bytes / 8 ||
        (store->changes_since_scan >= MIN_CHANGES && store->changes_since_scan >= store->index.record_count / 8);
    if (is_due) {
        store->changes_since_scan = 0;
        store->bytes_since_scan = 0;
        if (nc_store_is_shared(store)) {
            scan at = {.store = store, .fresh = {.seed = {store->index.seed[0], store->index.seed[1]}}};
            // If the directory cannot be read, the index stays unchanged.
            (void)scan_now(&at);
        }
    }
    pthread_mutex_unlock(&store->mutex);
}
