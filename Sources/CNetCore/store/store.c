#include "base/alloc.h"
#include "base/error.h"
#include "digest/seal.h"
#include "store/format.h"
#include "store/index.h"
#include "store/internal.h"

#include <string.h>

enum { MAX_SHARE = 100 };

/* --- opening and closing --- */

static bool has_valid_options(const nc_store_options *options) {
    return options != NULL && options->directory != NULL && options->directory[0] != '\0' &&
           options->max_share <= MAX_SHARE && options->durability >= NC_STORE_DURABILITY_NONE &&
           options->durability <= NC_STORE_DURABILITY_FULL && options->max_entries <= UINT32_MAX / 8;
}

/// Copies the path without trailing slashes. With a trailing slash, open(2) would follow a symbolic link.
static bool copy_path(nc_store *store, const char *directory) {
    size_t length = strlen(directory);
    while (length > 1 && directory[length - 1] == '/') {
        length--;
    }
    store->path = nc_alloc(length + 1);
    if (store->path != NULL) {
        memcpy(store->path, directory, length);
        store->path[length] = '\0';
    }
    return store->path != NULL;
}

static uint64_t share_of(uint64_t max_bytes, uint32_t percent) {
    return max_bytes / 100 * percent + max_bytes % 100 * percent / 100;
}

static nc_status init(nc_store *store, const nc_store_options *options, nc_error *err) {
    store->files = options->file_ops != NULL ? *options->file_ops : nc_file_ops_system();
    store->clock = options->clock != NULL ? *options->clock : nc_clock_system();
    store->random = options->random != NULL ? *options->random : nc_random_system();
    store->max_bytes = options->max_bytes != 0 ? options->max_bytes : NC_STORE_DEFAULT_MAX_BYTES;
    store->max_entries = options->max_entries != 0 ? options->max_entries : NC_STORE_DEFAULT_MAX_ENTRIES;
    store->max_entry_bytes =
        share_of(store->max_bytes, options->max_share != 0 ? options->max_share : NC_STORE_DEFAULT_MAX_SHARE);
    store->durability = options->durability;
    if (!copy_path(store, options->directory)) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a store");
    }
    if (!store->random.fill(store->random.ctx, (uint8_t *)store->index.seed, sizeof store->index.seed)) {
        return nc_error_set(err, NC_ERR_FILE, 0, -1,
                            "the system's random generator failed: cannot create a hash table");
    }
    nc_status status = nc_digest_new(&store->md5, NC_DIGEST_MD5, err);
    if (status == NC_OK && options->seal_key != NULL) {
        status = nc_seal_new(&store->seal, options->seal_key, err);
    }
    return status;
}

static nc_status open_store(nc_store *store, nc_error *err) {
    uint64_t foreign = 0;
    nc_status status = nc_store_open_directory(store, err);
    if (status == NC_OK) {
        status = nc_store_scan(store, NULL, &foreign, err);
    }
    if (status == NC_OK && foreign == 0) {
        nc_store_write_tag(store);
    }
    return status;
}

nc_status nc_store_new(nc_store **out, const nc_store_options *options, nc_error *err) {
    if (out == NULL || !has_valid_options(options)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1,
                            "the directory of the store is missing, or a limit is out of range");
    }
    nc_store *store = nc_alloc_zeroed(1, sizeof *store);
    if (store == NULL) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a store");
    }
    if (pthread_mutex_init(&store->mutex, NULL) != 0) {
        nc_free(store);
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a mutex");
    }
    if (pthread_mutex_init(&store->directory_mutex, NULL) != 0) {
        pthread_mutex_destroy(&store->mutex);
        nc_free(store);
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a mutex");
    }
    store->directory_fd = -1;
    store->lock_fd = -1;
    atomic_init(&store->temp_file_number, 0);
    nc_status status = init(store, options, err);
    if (status == NC_OK) {
        status = open_store(store, err);
    }
    if (status != NC_OK) {
        nc_store_free(store);
        return status;
    }
    *out = store;
    return nc_error_clear(err);
}

void nc_store_free(nc_store *store) {
    if (store == NULL) {
        return;
    }
    // Closing the descriptor releases the lock.
    nc_store_close_descriptor(store, &store->lock_fd);
    nc_store_close_descriptor(store, &store->directory_fd);
    nc_index_deinit(&store->index);
    nc_digest_free(store->md5);
    nc_seal_free(store->seal);
    nc_free(store->path);
    pthread_mutex_destroy(&store->directory_mutex);
    pthread_mutex_destroy(&store->mutex);
    nc_free(store);
}

/* --- one entry --- */

static nc_store_found found_of(nc_loaded what) {
    switch (what) {
    case NC_LOADED_HIT:
        return NC_STORE_HIT;
    case NC_LOADED_EXPIRED:
        return NC_STORE_EXPIRED;
    case NC_LOADED_DAMAGED:
        return NC_STORE_DAMAGED;
    default:
        return NC_STORE_MISS;
    }
}

nc_status nc_store_miss(nc_store_entry *out, nc_store *store, nc_loaded what, nc_error *err) {
    pthread_mutex_lock(&store->mutex);
    store->stats.misses++;
    pthread_mutex_unlock(&store->mutex);
    *out = (nc_store_entry){.found = found_of(what)};
    return nc_error_clear(err);
}

static nc_status find_whole(nc_loading *loading, nc_store_candidates *candidates, nc_store *store, nc_slice key,
                            nc_buf *room, nc_error *err) {
    nc_status status = nc_store_locate(candidates, store, key, err);
    return status == NC_OK
               ? nc_store_find(loading, candidates, store, (nc_load_request){.key = key, .whole = true}, room, err)
               : status;
}

nc_status nc_store_get(nc_store_entry *out, nc_store *store, nc_slice key, nc_buf *room, nc_error *err) {
    if (out == NULL || store == NULL || room == NULL) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the store, the entry or the buffer is NULL");
    }
    nc_store_candidates candidates;
    nc_loading loading;
    nc_status status = find_whole(&loading, &candidates, store, key, room, err);
    // If the directory was removed, another process may have created it again and put the entry there. A failure to
    // open it counts as a miss.
    if (status == NC_OK && loading.what == NC_LOADED_ABSENT && nc_store_is_removed(store) &&
        nc_store_recreate_directory(store, NULL) == NC_OK) {
        nc_loading_end(&loading, store);
        status = find_whole(&loading, &candidates, store, key, room, err);
    }
    if (status != NC_OK) {
        return status;
    }
    if (loading.what != NC_LOADED_HIT) {
        return nc_store_miss(out, store, loading.what, err);
    }
    nc_store_record_use(store, &candidates.name, &loading);
    nc_entry_describe(out, &loading.head, room->data + NC_ENTRY_HEADER_BYTES);
    out->body = nc_slice_make(room->data + nc_entry_front_bytes(&loading.head), (size_t)loading.head.body_bytes);
    nc_loading_end(&loading, store);
    return nc_error_clear(err);
}

nc_status nc_store_remove(uint64_t *removed, nc_store *store, nc_slice key, nc_error *err) {
    if (store == NULL) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the store is NULL");
    }
    nc_store_candidates candidates;
    nc_loading loading = {.fd = -1};
    nc_buf room = nc_buf_init(SIZE_MAX / 2);
    nc_status status = nc_store_locate(&candidates, store, key, err);
    if (status == NC_OK) {
        status = nc_store_find(&loading, &candidates, store, (nc_load_request){.key = key}, &room, err);
    }
    nc_buf_deinit(&room);
    if (status != NC_OK) {
        return status;
    }
    bool is_there = loading.what == NC_LOADED_HIT;
    nc_loading_end(&loading, store);
    int code = is_there ? nc_store_discard(store, &candidates.name) : 0;
    if (code == 0 && is_there) {
        code = nc_store_sync_directory(store);
    }
    if (code != 0) {
        return nc_store_fail(store, err, code, NULL, "changed");
    }
    if (removed != NULL) {
        *removed = is_there;
    }
    return nc_error_clear(err);
}

nc_store_stats nc_store_figures(nc_store *store) {
    pthread_mutex_lock(&store->mutex);
    nc_store_stats stats = store->stats;
    stats.entries = store->index.record_count;
    stats.bytes = store->index.bytes;
    pthread_mutex_unlock(&store->mutex);
    stats.max_bytes = store->max_bytes;
    stats.max_entry_bytes = store->max_entry_bytes;
    return stats;
}
