#include "base/error.h"
#include "store/index.h"
#include "store/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

enum { MODE = 0600, MAX_TRIES = 16 };

/// Sets the mode explicitly, because open(2) applied the process's umask.
static int set_mode(const nc_store *store, int fd) {
    struct stat info;
    int code = nc_store_status(store, fd, &info);
    return code != 0 ? code : nc_store_set_mode(store, fd, &info, MODE);
}

nc_status nc_store_temp_file_open(nc_store_temp_file *out, nc_store *store, nc_error *err) {
    nc_store_temp_file temp_file = {.fd = -1};
    int code = EEXIST;
    for (int i = 0; i < MAX_TRIES && temp_file.fd < 0 && code == EEXIST; i++) {
        nc_temp_name_format(temp_file.name, store->instance, atomic_fetch_add(&store->temp_file_number, 1));
        temp_file.fd = nc_store_open_file(store, temp_file.name, O_WRONLY | O_CREAT | O_EXCL);
        code = temp_file.fd < 0 ? errno : 0;
    }
    if (code == 0) {
        code = set_mode(store, temp_file.fd);
    }
    if (code != 0) {
        nc_store_temp_file_drop(&temp_file, store);
        return nc_store_fail(store, err, code, NULL, "written");
    }
    *out = temp_file;
    return NC_OK;
}

nc_status nc_store_temp_file_close(nc_store_temp_file *temp_file, const nc_store *store, nc_error *err) {
    int code = store->durability == NC_STORE_DURABILITY_NONE ? 0 : nc_store_sync(store, temp_file->fd);
    // If close(2) fails with EINTR, Linux has closed the descriptor. Do not repeat it: another thread may have reused
    // the number.
    if (store->files.close(store->files.ctx, temp_file->fd) != 0 && errno != EINTR && code == 0) {
        code = errno;
    }
    temp_file->fd = -1;
    if (code == 0) {
        return NC_OK;
    }
    nc_store_temp_file_drop(temp_file, store);
    return nc_store_fail(store, err, code, NULL, "written");
}

void nc_store_temp_file_drop(nc_store_temp_file *temp_file, const nc_store *store) {
    nc_store_close_descriptor(store, &temp_file->fd);
    if (temp_file->name[0] != '\0') {
        (void)nc_store_unlink(store, temp_file->name);
    }
    temp_file->name[0] = '\0';
}

/* --- renaming --- */

/// Chooses the slot for a key: that of its old entry, or the first free one. If none is free, it is the last slot,
/// whose entry is replaced.
static nc_status choose_slot(nc_store_candidates *candidates, nc_store *store, nc_slice key, nc_error *err) {
    uint8_t first_free = NC_STORE_SLOTS;
    for (uint8_t slot = NC_STORE_SLOTS; slot-- > 0;) {
        if (candidates->file_bytes[slot] == UINT64_MAX) {
            first_free = slot;
        }
    }
    nc_buf room = nc_buf_init(SIZE_MAX / 2);
    nc_status status = NC_OK;
    for (uint8_t slot = 0; slot < NC_STORE_SLOTS && status == NC_OK; slot++) {
        if (candidates->file_bytes[slot] == UINT64_MAX) {
            continue;
        }
        candidates->name.slot = slot;
        nc_loading loading;
        status = nc_store_load(&loading, store, &(nc_load_request){.name = &candidates->name, .key = key}, &room, err);
        nc_loaded what = loading.what;
        nc_loading_end(&loading, store);
        if (status == NC_OK && (what == NC_LOADED_HIT || what == NC_LOADED_EXPIRED)) {
            nc_buf_deinit(&room);
            return NC_OK;
        }
        if (what == NC_LOADED_ABSENT || what == NC_LOADED_DAMAGED) {
            first_free = slot < first_free ? slot : first_free;
        }
    }
    nc_buf_deinit(&room);
    candidates->name.slot = first_free < NC_STORE_SLOTS ? first_free : NC_STORE_SLOTS - 1;
    return status;
}

static int rename_once(const nc_store *store, const char *from, const char *to) {
    int code = 0;
    do {
        code = store->files.rename_at(store->files.ctx, store->directory_fd, from, to) == 0 ? 0 : errno;
    } while (code == EINTR);
    return code;
}

/// Renames a temporary file to an entry's name. If a directory has that name, removes it if it is empty; otherwise uses
/// the next slot.
static int rename_to_entry(nc_store *store, const char *from, nc_store_name *name) {
    char to[NC_ENTRY_NAME_BYTES];
    for (;;) {
        nc_entry_name_format(to, name);
        int code = rename_once(store, from, to);
        if (code != EISDIR && code != ENOTEMPTY && code != EEXIST && code != ENOTDIR) {
            return code;
        }
        if (nc_store_unlink(store, to) == 0) {
            return rename_once(store, from, to);
        }
        if (name->slot + 1 == NC_STORE_SLOTS) {
            return code;
        }
        name->slot++;
    }
}

/// Renames the temporary file and adds it to the index. Called under the mutex, so that both change together.
static int link_or_rename(nc_store *store, const char *temp_name, nc_store_name *name, uint64_t file_bytes) {
    if (!nc_index_reserve(&store->index)) {
        return ENOMEM;
    }
    int code = rename_to_entry(store, temp_name, name);
    if (code == 0) {
        nc_index_set(&store->index, name, file_bytes, nc_store_now_ms(store));
        store->stats.puts++;
        store->changes_since_scan++;
        store->bytes_since_scan += file_bytes;
        nc_store_make_room(store);
    }
    return code;
}

nc_status nc_store_temp_file_commit(nc_store_temp_file *temp_file, nc_store *store, nc_slice key, uint64_t file_bytes,
                                    nc_error *err) {
    nc_store_candidates candidates;
    nc_status status = nc_store_locate(&candidates, store, key, err);
    if (status == NC_OK) {
        status = choose_slot(&candidates, store, key, err);
    }
    if (status == NC_OK) {
        pthread_mutex_lock(&store->mutex);
        int code = link_or_rename(store, temp_file->name, &candidates.name, file_bytes);
        pthread_mutex_unlock(&store->mutex);
        status = code == 0 ? NC_OK : nc_store_fail(store, err, code, NULL, "changed");
    }
    if (status != NC_OK) {
        nc_store_temp_file_drop(temp_file, store);
        return status;
    }
    temp_file->name[0] = '\0';
    nc_store_scan_if_shared(store);
    int code = nc_store_sync_directory(store);
    return code == 0 ? nc_error_clear(err) : nc_store_fail(store, err, code, NULL, "synced");
}
