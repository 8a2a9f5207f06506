#include "base/file.h"
#include "base/state_file.h"
#include "store/state.h"

#include <errno.h>
#include <fcntl.h>

#define NS_PER_MS 1000000

nc_status nc_store_fail(const nc_store *store, nc_error *err, int code, const char *name, const char *what) {
    return name == NULL ? nc_file_fail(err, store->path, what, code)
                        : nc_file_fail_in(err, store->path, name, what, code);
}

int nc_store_open_file(const nc_store *store, const char *name, int flags) {
    int fd = -1;
    struct stat info;
    const nc_state_folder folder = {
        .fd = store->directory_fd, .path = store->path, .files = store->files, .is_shared = store->is_shared};
    int code = nc_state_file_try(&fd, &info, &folder, name, flags);
    errno = code;
    return fd;
}

ssize_t nc_store_read(const nc_store *store, int fd, uint8_t *bytes, size_t length) {
    size_t at = 0;
    while (at < length) {
        ssize_t got = store->files.read(store->files.ctx, fd, bytes + at, length - at);
        if (got == 0) {
            break;
        }
        if (got > 0) {
            at += (size_t)got;
        } else if (errno != EINTR) {
            return -1;
        }
    }
    return (ssize_t)at;
}

ssize_t nc_store_read_at(const nc_store *store, int fd, uint8_t *bytes, size_t length, uint64_t offset) {
    size_t at = 0;
    while (at < length) {
        ssize_t got = store->files.read_at(store->files.ctx, fd, bytes + at, length - at, (off_t)(offset + at));
        if (got == 0) {
            break;
        }
        if (got > 0) {
            at += (size_t)got;
        } else if (errno != EINTR) {
            return -1;
        }
    }
    return (ssize_t)at;
}

int nc_store_write(const nc_store *store, int fd, nc_slice bytes) {
    size_t at = 0;
    while (at < bytes.length) {
        ssize_t wrote = store->files.write(store->files.ctx, fd, bytes.data + at, bytes.length - at);
        if (wrote > 0) {
            at += (size_t)wrote;
        } else if (wrote == 0 || errno != EINTR) {
            return wrote == 0 ? EIO : errno;
        }
    }
    return 0;
}

int nc_store_write_at(const nc_store *store, int fd, nc_slice bytes, uint64_t offset) {
    size_t at = 0;
    while (at < bytes.length) {
        ssize_t wrote =
            store->files.write_at(store->files.ctx, fd, bytes.data + at, bytes.length - at, (off_t)(offset + at));
        if (wrote > 0) {
            at += (size_t)wrote;
        } else if (wrote == 0 || errno != EINTR) {
            return wrote == 0 ? EIO : errno;
        }
    }
    return 0;
}

int nc_store_sync(const nc_store *store, int fd) {
    int code = 0;
    do {
        code = store->files.sync(store->files.ctx, fd) == 0 ? 0 : errno;
    } while (code == EINTR);
    return code;
}

int nc_store_status(const nc_store *store, int fd, struct stat *out) {
    int code = 0;
    do {
        code = store->files.status(store->files.ctx, fd, out) == 0 ? 0 : errno;
    } while (code == EINTR);
    return code;
}

int nc_store_status_at(const nc_store *store, const char *name, struct stat *out) {
    int code = 0;
    do {
        code = store->files.status_at(store->files.ctx, store->directory_fd, name, out) == 0 ? 0 : errno;
    } while (code == EINTR);
    return code;
}

int nc_store_set_mode(const nc_store *store, int fd, const struct stat *info, mode_t mode) {
    int code = 0;
    while ((info->st_mode & 07777) != mode) {
        code = store->files.set_mode(store->files.ctx, fd, mode) == 0 ? 0 : errno;
        if (code != EINTR) {
            break;
        }
    }
    return code;
}

int nc_store_sync_directory(const nc_store *store) {
    return store->durability == NC_STORE_DURABILITY_FULL ? nc_store_sync(store, store->directory_fd) : 0;
}

static int unlink_once(const nc_store *store, const char *name, bool is_directory) {
    int code = 0;
    do {
        code = store->files.unlink_at(store->files.ctx, store->directory_fd, name, is_directory) == 0 ? 0 : errno;
    } while (code == EINTR);
    return code == ENOENT ? 0 : code;
}

int nc_store_unlink(const nc_store *store, const char *name) {
    int code = unlink_once(store, name, false);
    // For a directory POSIX specifies EPERM, Linux returns EISDIR.
    return code == EISDIR || code == EPERM ? unlink_once(store, name, true) : code;
}

bool nc_store_is_foreign(int code) {
    return code == ELOOP || code == ENXIO || code == EISDIR || code == ENODEV || code == EPERM || code == EINVAL ||
           code == EMLINK;
}

int64_t nc_store_now_ms(const nc_store *store) {
    return store->clock.realtime_ns(store->clock.ctx) / NS_PER_MS;
}
