#include "base/file.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/// The read size for files without a size, such as those of /proc.
#define READ_STEP_BYTES 65536u

/// The largest total wait for a pipe without data. A poll that takes no time counts as LEAST_LOOK_US.
enum { LOOK_MS = 100, LEAST_LOOK_US = 100, MAX_WAIT_US = 10000000 };

nc_status nc_file_fail(nc_error *err, const char *path, const char *what, int code) {
    return nc_file_fail_in(err, "", path, what, code);
}

nc_status nc_file_fail_in(nc_error *err, const char *folder, const char *name, const char *what, int code) {
    size_t length = strlen(folder);
    const char *slash = length > 0 && folder[length - 1] != '/' ? "/" : "";
    return nc_error_set(err, nc_error_of_file(code), code, -1, "'%s%s%s' cannot be %s: %s", folder, slash, name, what,
                        strerror(code));
}

/* --- reading whole files --- */

static nc_status fail_full(nc_error *err, const nc_buf *out, const char *path) {
    return nc_error_set(err, out->status, 0, -1, "'%s' does not fit: %s", path, nc_status_text(out->status));
}

int nc_file_open(const nc_file_ops *ops, const char *path, int flags, mode_t mode) {
    int fd;
    NC_FILE_RETRYING(fd, ops->open(ops->ctx, path, flags | O_CLOEXEC, mode));
    return fd;
}

int nc_file_status(const nc_file_ops *ops, int fd, struct stat *out) {
    int result;
    NC_FILE_RETRYING(result, ops->status(ops->ctx, fd, out));
    return result;
}

/// Polls for data and returns the elapsed time in microseconds.
static uint64_t look(int fd) {
    nc_clock clock = nc_clock_system();
    uint64_t began_ns = clock.monotonic_ns(clock.ctx);
    (void)poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, LOOK_MS);
    uint64_t took_us = (clock.monotonic_ns(clock.ctx) - began_ns) / 1000;
    return took_us > LEAST_LOOK_US ? took_us : LEAST_LOOK_US;
}

static ssize_t read_retrying(const nc_file_ops *ops, int fd, void *bytes, size_t length, uint64_t *waited_us) {
    for (;;) {
        ssize_t got = ops->read(ops->ctx, fd, bytes, length);
        bool is_waiting = got < 0 && errno == EAGAIN && *waited_us < MAX_WAIT_US;
        if (got >= 0 || (errno != EINTR && !is_waiting)) {
            return got;
        }
        if (is_waiting) {
            *waited_us += look(fd);
        }
    }
}

/// Reads to the end of the file. A full buffer is no error yet: one more byte is read into `aside`.
static nc_status read_to_end(nc_buf *out, const nc_file_ops *ops, int fd, const char *path, nc_error *err) {
    uint64_t waited_us = 0;
    for (;;) {
        uint8_t aside = 0;
        size_t room = out->capacity - out->length;
        uint8_t *into = room == 0 ? &aside : out->data + out->length;
        ssize_t got = read_retrying(ops, fd, into, room == 0 ? 1 : room, &waited_us);
        if (got < 0) {
            return nc_file_fail(err, path, "read", errno);
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
    if (nc_file_status(ops, fd, &info) != 0) {
        return nc_file_fail(err, path, "examined", errno);
    }
    if (S_ISDIR(info.st_mode)) {
        return nc_file_fail(err, path, "read", EISDIR);
    }
    size_t announced = info.st_size > 0 ? (size_t)info.st_size : 0;
    if (nc_buf_reserve(out, announced) != NC_OK) {
        return fail_full(err, out, path);
    }
    return read_to_end(out, ops, fd, path, err);
}

nc_status nc_file_check(const nc_file_ops *ops, const char *path, nc_error *err) {
    struct stat info;
    int fd = nc_file_open(ops, path, O_RDONLY | O_NONBLOCK, 0); // O_NONBLOCK: a FIFO must not block
    if (fd < 0) {
        return nc_file_fail(err, path, "opened", errno);
    }
    nc_status status = nc_error_clear(err);
    if (nc_file_status(ops, fd, &info) != 0) {
        status = nc_file_fail(err, path, "examined", errno);
    } else if (!S_ISREG(info.st_mode)) {
        int code = S_ISDIR(info.st_mode) ? EISDIR : EINVAL;
        status = nc_error_set(err, NC_ERR_FILE, code, -1, "'%s' is no regular file", path);
    }
    (void)ops->close(ops->ctx, fd);
    return status;
}

nc_status nc_file_read_and_close(nc_buf *out, const nc_file_ops *ops, int fd, const char *path, nc_error *err) {
    size_t length_before = out->length;
    nc_status status = read_open_file(out, ops, fd, path, err);
    if (status != NC_OK) {
        out->length = length_before;
    }
    // Never retry close() after EINTR: Linux has closed the descriptor, and a retry could close another thread's.
    (void)ops->close(ops->ctx, fd);
    return status == NC_OK ? nc_error_clear(err) : status;
}

nc_status nc_file_read_all(nc_buf *out, const nc_file_ops *ops, const char *path, nc_error *err) {
    // O_NONBLOCK, because opening a FIFO without a writer would block.
    int fd = nc_file_open(ops, path, O_RDONLY | O_NONBLOCK, 0);
    return fd < 0 ? nc_file_fail(err, path, "opened", errno) : nc_file_read_and_close(out, ops, fd, path, err);
}

/* --- replacing whole files --- */

bool nc_file_is_special(const nc_file_ops *ops, const char *path, const struct stat *named) {
    struct stat behind = *named;
    if (!S_ISLNK(named->st_mode)) {
        return !S_ISREG(named->st_mode);
    }
    int fd = nc_file_open(ops, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
    if (fd < 0) {
        return false;
    }
    int known = nc_file_status(ops, fd, &behind);
    (void)ops->close(ops->ctx, fd);
    return known == 0 && !S_ISREG(behind.st_mode);
}

bool nc_file_name_beside(char *out, const char *path) {
    uint64_t chance = 0;
    nc_random random = nc_random_system();
    const char *slash = strrchr(path, '/');
    int folder_length = slash != NULL ? (int)(slash - path) + 1 : 0;
    if (!random.fill(random.ctx, (uint8_t *)&chance, sizeof chance)) {
        return false;
    }
    (void)snprintf(out, (size_t)folder_length + NC_FILE_BESIDE_BYTES, "%.*s.nk-%016llx.part", folder_length, path,
                   (unsigned long long)chance);
    return true;
}

static nc_status write_all(const nc_file_ops *ops, int fd, const char *path, nc_slice bytes, nc_error *err) {
    size_t at = 0;
    while (at < bytes.length) {
        ssize_t wrote = ops->write(ops->ctx, fd, bytes.data + at, bytes.length - at);
        if (wrote > 0) {
            at += (size_t)wrote;
        } else if (wrote == 0 || errno != EINTR) {
            return nc_file_fail(err, path, "written", wrote == 0 ? EIO : errno);
        }
    }
    int synced;
    NC_FILE_RETRYING(synced, ops->sync(ops->ctx, fd));
    return synced == 0 ? NC_OK : nc_file_fail(err, path, "written", errno);
}

/// Sets the mode, because open(2) applies the umask.
static nc_status set_mode(const nc_file_ops *ops, int fd, const char *path, mode_t mode, nc_error *err) {
    struct stat info;
    int result = nc_file_status(ops, fd, &info);
    if (result == 0 && (info.st_mode & 07777) != mode) {
        NC_FILE_RETRYING(result, ops->set_mode(ops->ctx, fd, mode));
    }
    return result == 0 ? NC_OK : nc_file_fail(err, path, "written", errno);
}

nc_status nc_file_replace(const nc_file_ops *ops, const char *path, nc_slice bytes, mode_t mode, nc_error *err) {
    char part_path[PATH_MAX + NC_FILE_BESIDE_BYTES];
    if (strlen(path) >= PATH_MAX) {
        return nc_file_fail(err, path, "written", ENAMETOOLONG);
    }
    if (!nc_file_name_beside(part_path, path)) {
        return nc_error_set(err, NC_ERR_FILE, 0, -1, "no random bytes for a file name");
    }
    int fd = nc_file_open(ops, part_path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
    if (fd < 0) {
        return nc_file_fail(err, path, "written", errno);
    }
    nc_status status = set_mode(ops, fd, path, mode, err);
    if (status == NC_OK) {
        status = write_all(ops, fd, path, bytes, err);
    }
    if (ops->close(ops->ctx, fd) != 0 && errno != EINTR && status == NC_OK) {
        status = nc_file_fail(err, path, "written", errno);
    }
    if (status == NC_OK) {
        int renamed;
        NC_FILE_RETRYING(renamed, ops->rename(ops->ctx, part_path, path));
        status = renamed == 0 ? NC_OK : nc_file_fail(err, path, "replaced", errno);
    }
    if (status != NC_OK) {
        (void)ops->unlink(ops->ctx, part_path);
    }
    return status == NC_OK ? nc_error_clear(err) : status;
}
