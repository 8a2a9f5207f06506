#include "base/file.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/// What is asked for when a file does not tell its size (as those of /proc do not).
#define READ_STEP_BYTES 65536u

/* --- the system's table --- */

static int system_open(void *ctx, const char *path, int flags, mode_t mode) {
    (void)ctx;
    return openat(AT_FDCWD, path, flags, mode);
}

static ssize_t system_read(void *ctx, int fd, void *bytes, size_t length) {
    (void)ctx;
    return read(fd, bytes, length);
}

static ssize_t system_write(void *ctx, int fd, const void *bytes, size_t length) {
    (void)ctx;
    return write(fd, bytes, length);
}

static int system_sync(void *ctx, int fd) {
    (void)ctx;
    return fsync(fd);
}

static int system_status(void *ctx, int fd, struct stat *out) {
    (void)ctx;
    return fstat(fd, out);
}

static int system_close(void *ctx, int fd) {
    (void)ctx;
    return close(fd);
}

static int system_rename(void *ctx, const char *from, const char *to) {
    (void)ctx;
    return rename(from, to);
}

static int system_unlink(void *ctx, const char *path) {
    (void)ctx;
    return unlink(path);
}

nc_file_ops nc_file_ops_system(void) {
    return (nc_file_ops){
        .ctx = NULL,
        .open = system_open,
        .read = system_read,
        .write = system_write,
        .sync = system_sync,
        .status = system_status,
        .close = system_close,
        .rename = system_rename,
        .unlink = system_unlink,
    };
}

/* --- reading whole files --- */

static nc_status fail(nc_error *err, int code, const char *path, const char *what) {
    return nc_error_set(err, NC_ERR_FILE, code, -1, "'%s' cannot be %s: %s", path, what, strerror(code));
}

static nc_status fail_full(nc_error *err, const nc_buf *out, const char *path) {
    return nc_error_set(err, out->status, 0, -1, "'%s' does not fit: %s", path, nc_status_text(out->status));
}

static ssize_t read_retrying(const nc_file_ops *ops, int fd, void *bytes, size_t length) {
    for (;;) {
        ssize_t got = ops->read(ops->ctx, fd, bytes, length);
        if (got >= 0 || errno != EINTR) {
            return got;
        }
    }
}

/// Reads until the end of the file. A full buffer is not yet an error: one byte more is asked for, aside.
static nc_status read_to_end(nc_buf *out, const nc_file_ops *ops, int fd, const char *path, nc_error *err) {
    for (;;) {
        uint8_t aside = 0;
        size_t room = out->capacity - out->length;
        uint8_t *into = room == 0 ? &aside : out->data + out->length;
        ssize_t got = read_retrying(ops, fd, into, room == 0 ? 1 : room);
        if (got < 0) {
            return fail(err, errno, path, "read");
        }
        if (got == 0) {
            return NC_OK;
        }
        if (room != 0) {
            out->length += (size_t)got;
            continue;
        }
        nc_buf_append_byte(out, aside);
        size_t left = out->max_bytes - out->length;
        if (out->status != NC_OK || nc_buf_reserve(out, left < READ_STEP_BYTES ? left : READ_STEP_BYTES) != NC_OK) {
            return fail_full(err, out, path);
        }
    }
}

static nc_status read_open_file(nc_buf *out, const nc_file_ops *ops, int fd, const char *path, nc_error *err) {
    struct stat info;
    if (ops->status(ops->ctx, fd, &info) != 0) {
        return fail(err, errno, path, "examined");
    }
    if (S_ISDIR(info.st_mode)) {
        return fail(err, EISDIR, path, "read");
    }
    size_t announced = info.st_size > 0 ? (size_t)info.st_size : 0;
    if (nc_buf_reserve(out, announced) != NC_OK) {
        return fail_full(err, out, path);
    }
    return read_to_end(out, ops, fd, path, err);
}

nc_status nc_file_read_all(nc_buf *out, const nc_file_ops *ops, const char *path, nc_error *err) {
    int fd = -1;
    do {
        fd = ops->open(ops->ctx, path, O_RDONLY | O_CLOEXEC, 0);
    } while (fd < 0 && errno == EINTR);
    if (fd < 0) {
        return fail(err, errno, path, "opened");
    }
    size_t length_before = out->length;
    nc_status status = read_open_file(out, ops, fd, path, err);
    if (status != NC_OK) {
        out->length = length_before;
    }
    // A close that says EINTR has closed on Linux: asking again could close another thread's descriptor.
    (void)ops->close(ops->ctx, fd);
    return status == NC_OK ? nc_error_clear(err) : status;
}
