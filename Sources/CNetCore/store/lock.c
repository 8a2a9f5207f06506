#include "base/error.h"
#include "store/internal.h"

#include <errno.h>
#include <fcntl.h>

enum { LOCK_MODE = 0600, MAX_DRAWS = 8 };

/// Offsets of lock ranges are signed.
#define MAX_INSTANCE (UINT64_MAX >> 2)

static int open_lock_file(nc_store *store) {
    struct stat info;
    store->lock_fd = nc_store_open_file(store, NC_STORE_LOCK_NAME, O_RDWR | O_CREAT);
    if (store->lock_fd < 0) {
        return errno;
    }
    int code = nc_store_status(store, store->lock_fd, &info);
    return code == 0 ? nc_store_set_mode(store, store->lock_fd, &info, LOCK_MODE) : code;
}

static int lock(const nc_store *store, struct flock *range, bool is_asking) {
    int code = 0;
    do {
        code = store->files.lock(store->files.ctx, store->lock_fd, range, is_asking) == 0 ? 0 : errno;
    } while (code == EINTR);
    return code;
}

/// Returns the lock range of an instance: one byte. UINT64_MAX means the whole file.
static struct flock range_of(uint64_t instance) {
    return (struct flock){
        .l_type = F_WRLCK,
        .l_whence = SEEK_SET,
        .l_start = instance == UINT64_MAX ? 0 : (off_t)instance,
        .l_len = instance == UINT64_MAX ? 0 : 1,
    };
}

nc_status nc_store_lock_open(nc_store *store, nc_error *err) {
    int code = open_lock_file(store);
    if (code != 0 && nc_store_is_foreign(code)) {
        (void)nc_store_unlink(store, NC_STORE_LOCK_NAME);
        code = open_lock_file(store);
    }
    return code == 0 ? NC_OK : nc_store_fail(store, err, code, NC_STORE_LOCK_NAME, "opened");
}

int nc_store_lock_take(const nc_store *store, uint64_t instance) {
    struct flock range = range_of(instance);
    return lock(store, &range, false);
}

nc_status nc_store_lock_choose(nc_store *store, nc_error *err) {
    int code = EAGAIN;
    for (int i = 0; i < MAX_DRAWS && (code == EAGAIN || code == EACCES); i++) {
        if (!store->random.fill(store->random.ctx, (uint8_t *)&store->instance, sizeof store->instance)) {
            return nc_error_set(err, NC_ERR_FILE, 0, -1,
                                "the system's random generator failed: cannot choose a temporary file name");
        }
        store->instance &= MAX_INSTANCE;
        code = nc_store_lock_take(store, store->instance);
    }
    if (code != 0) {
        nc_store_close_descriptor(store, &store->lock_fd);
    }
    return NC_OK;
}

bool nc_store_is_alive(const nc_store *store, uint64_t instance) {
    if (store->lock_fd < 0 || instance > MAX_INSTANCE) {
        return store->lock_fd < 0;
    }
    struct flock range = range_of(instance);
    return lock(store, &range, true) != 0 || range.l_type != F_UNLCK;
}

bool nc_store_is_shared(const nc_store *store) {
    struct flock range = range_of(UINT64_MAX);
    return store->lock_fd >= 0 && lock(store, &range, true) == 0 && range.l_type != F_UNLCK;
}
