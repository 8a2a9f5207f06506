#include "base/error.h"
#include "store/state.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

enum { MODE = 0600, MAX_TRIES = 16 };

/// Sets the mode explicitly, because the process's umask restricts the mode of open(2).
static int set_mode(const nc_store *store, int fd) {
    struct stat info;
    int code = nc_store_status(store, fd, &info);
    return code != 0 ? code : nc_store_set_mode(store, fd, &info, MODE);
}

nc_status nc_store_part_open(nc_store_part *out, nc_store *store, nc_error *err) {
    nc_store_part part = {.fd = -1};
    int code = EEXIST;
    for (int i = 0; i < MAX_TRIES && part.fd < 0 && code == EEXIST; i++) {
        nc_part_name_format(part.name, store->instance, atomic_fetch_add(&store->part_number, 1));
        part.fd = nc_store_open_file(store, part.name, O_WRONLY | O_CREAT | O_EXCL);
        code = part.fd < 0 ? errno : 0;
    }
    if (code == 0) {
        code = set_mode(store, part.fd);
    }
    if (code != 0) {
        nc_store_part_drop(&part, store);
        return nc_store_fail(store, err, code, NULL, "written");
    }
    *out = part;
    return NC_OK;
}

nc_status nc_store_part_close(nc_store_part *part, const nc_store *store, nc_error *err) {
    int code = store->durability == NC_STORE_DURABILITY_NONE ? 0 : nc_store_sync(store, part->fd);
    // On Linux a close(2) that fails with EINTR has closed. Another call could close another thread's descriptor.
    if (store->files.close(store->files.ctx, part->fd) != 0 && errno != EINTR && code == 0) {
        code = errno;
    }
    part->fd = -1;
    if (code == 0) {
        return NC_OK;
    }
    nc_store_part_drop(part, store);
    return nc_store_fail(store, err, code, NULL, "written");
}

void nc_store_part_drop(nc_store_part *part, const nc_store *store) {
    if (part->fd >= 0) {
        (void)store->files.close(store->files.ctx, part->fd);
        (void)nc_store_unlink(store, part->name);
    } else if (part->name[0] != '\0') {
        (void)nc_store_unlink(store, part->name);
    }
    part->fd = -1;
    part->name[0] = '\0';
}

/* --- renaming --- */

/// Chooses the key's slot: the old entry's, or the first free one. Keys with the same digest have a slot each; the last
/// slot is shared by those that find none.
static nc_status choose_slot(nc_places *places, nc_store *store, nc_slice key, nc_error *err) {
    uint8_t first_free = NC_STORE_SLOTS;
    for (uint8_t slot = NC_STORE_SLOTS; slot-- > 0;) {
        if (places->file_bytes[slot] == UINT64_MAX) {
            first_free = slot;
        }
    }
    nc_buf room = nc_buf_init(SIZE_MAX / 2);
    nc_status status = NC_OK;
    for (uint8_t slot = 0; slot < NC_STORE_SLOTS && status == NC_OK; slot++) {
        if (places->file_bytes[slot] == UINT64_MAX) {
            continue;
        }
        places->name.slot = slot;
        nc_loading loading;
        status = nc_store_load(&loading, store, &(nc_wanted){.name = &places->name, .key = key}, &room, err);
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
    places->name.slot = first_free < NC_STORE_SLOTS ? first_free : NC_STORE_SLOTS - 1;
    return status;
}

static int rename_once(const nc_store *store, const char *from, const char *to) {
    int code = 0;
    do {
        code = store->files.rename_at(store->files.ctx, store->directory_fd, from, to) == 0 ? 0 : errno;
    } while (code == EINTR);
    return code;
}

/// If a directory has the name, removes it if it is empty and uses another slot if it is not.
static int rename_into_place(nc_store *store, const char *from, nc_store_name *name) {
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

/// Called under the mutex, so that the directory and the index change together.
static int put_in_place(nc_store *store, const char *part_name, nc_store_name *name, uint64_t file_bytes) {
    if (!nc_index_reserve(&store->index)) {
        return ENOMEM;
    }
    int code = rename_into_place(store, part_name, name);
    if (code == 0) {
        nc_index_set(&store->index, name, file_bytes, nc_store_now_ms(store));
        store->stats.puts++;
        store->changes_since_scan++;
        store->bytes_since_scan += file_bytes;
        nc_store_make_room(store);
    }
    return code;
}

nc_status nc_store_part_commit(nc_store_part *part, nc_store *store, nc_slice key, uint64_t file_bytes, nc_error *err) {
    nc_places places;
    nc_status status = nc_store_locate(&places, store, key, err);
    if (status == NC_OK) {
        status = choose_slot(&places, store, key, err);
    }
    if (status == NC_OK) {
        pthread_mutex_lock(&store->mutex);
        int code = put_in_place(store, part->name, &places.name, file_bytes);
        pthread_mutex_unlock(&store->mutex);
        status = code == 0 ? NC_OK : nc_store_fail(store, err, code, NULL, "changed");
    }
    if (status != NC_OK) {
        nc_store_part_drop(part, store);
        return status;
    }
    part->name[0] = '\0';
    nc_store_scan_if_shared(store);
    int code = nc_store_sync_directory(store);
    return code == 0 ? nc_error_clear(err) : nc_store_fail(store, err, code, NULL, "synced");
}
