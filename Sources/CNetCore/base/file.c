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

/// The number of bytes by which the buffer grows if a file has more bytes than fstat(2) reported. Files of /proc report
/// 0.
#define READ_STEP_BYTES 65536u

/// Waiting for data in a pipe: timeout of one poll(2), and limit of the total wait. Each poll counts as at least
/// MIN_POLL_US, so that polls which return immediately cannot repeat without end.
enum { POLL_MS = 100, MIN_POLL_US = 100, MAX_WAIT_US = 10000000 };

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
    return nc_error_set(err, out->status, 0, -1, "cannot load '%s': %s", path, nc_status_text(out->status));
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

/// Waits for data and returns the elapsed time in microseconds, at least MIN_POLL_US.
static uint64_t poll_pipe(int fd) {
    nc_clock clock = nc_clock_system();
    uint64_t began_ns = clock.monotonic_ns(clock.ctx);
    (void)poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, POLL_MS);
    uint64_t took_us = (clock.monotonic_ns(clock.ctx) - began_ns) / 1000;
    return took_us > MIN_POLL_US ? took_us : MIN_POLL_US;
}

static ssize_t read_retrying(const nc_file_ops *ops, int fd, void *bytes, size_t length, uint64_t *waited_us) {
    for (;;) {
        ssize_t got = ops->read(ops->ctx, fd, bytes, length);
        bool is_waiting = got < 0 && errno == EAGAIN && *waited_us < MAX_WAIT_US;
        if (got >= 0 || (errno != EINTR && !is_waiting)) {
            return got;
        }
        if (is_waiting) {
            *waited_us += poll_pipe(fd);
        }
    }
}

/// Reads to the end of the file. If the buffer is full, one byte is read into `extra`, to find out whether the file has
/// ended.
static nc_status read_to_end(nc_buf *out, const nc_file_ops *ops, int fd, const char *path, nc_error *err) {
    uint64_t waited_us = 0;
    for (;;) {
        uint8_t extra = 0;
        size_t room = out->capacity - out->length;
        uint8_t *into = room == 0 ? &extra : out->data + out->length;
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
        nc_buf_append_byte(out, extra);
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
    int fd = nc_file_open(ops, path, O_RDONLY | O_NONBLOCK, 0); // O_NONBLOCK: open(2) of a FIFO must not block
    if (fd < 0) {
        return nc_file_fail(err, path, "opened", errno);
    }
    nc_status status = nc_error_clear(err);
    if (nc_file_status(ops, fd, &info) != 0) {
        status = nc_file_fail(err, path, "examined", errno);
    } else if (!S_ISREG(info.st_mode)) {
        int code = S_ISDIR(info.st_mode) ? EISDIR : EINVAL;
        status = nc_error_set(err, NC_ERR_FILE, code, -1, "'%s' is not a regular file", path);
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
    // Never repeat close() after EINTR: Linux has already closed the descriptor, and another thread may have reused its
    // number.
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
    uint64_t suffix = 0;
    nc_random random = nc_random_system();
    const char *slash = strrchr(path, '/');
    int folder_length = slash != NULL ? (int)(slash - path) + 1 : 0;
    if (!random.fill(random.ctx, (uint8_t *)&suffix, sizeof suffix)) {
        return false;
    }
    (void)snprintf(out, (size_t)folder_length + NC_FILE_BESIDE_BYTES, "%.*s.nk-%016llx.part", folder_length, path,
                   (unsigned long long)suffix);
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

/// Sets exactly this mode. open(2) applied the umask to it.
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
        return nc_error_set(err, NC_ERR_FILE, 0, -1,
                            "the system's random generator failed: cannot choose a temporary file name");
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

/* --- system calls --- */

int nc_files_open_at(const nc_file_ops *ops, int folder_fd, const char *name, int flags, mode_t mode) {
    int fd;
    NC_FILE_RETRYING(fd, ops->open_at(ops->ctx, folder_fd, name, flags | O_CLOEXEC, mode));
    return fd;
}

int nc_files_sync(const nc_file_ops *ops, int fd) {
    int result;
    NC_FILE_RETRYING(result, ops->sync(ops->ctx, fd));
    return result;
}

int nc_files_status_at(const nc_file_ops *ops, int folder_fd, const char *name, struct stat *out) {
    int result;
    NC_FILE_RETRYING(result, ops->status_at(ops->ctx, folder_fd, name, out));
    return result;
}

int nc_files_truncate(const nc_file_ops *ops, int fd, uint64_t length) {
    int result;
    NC_FILE_RETRYING(result, ops->truncate(ops->ctx, fd, (off_t)length));
    return result;
}

int nc_files_set_rights(const nc_file_ops *ops, int fd, const struct stat *like) {
    int result;
    NC_FILE_RETRYING(result, ops->set_owner(ops->ctx, fd, like->st_uid, like->st_gid));
    if (result < 0) {
        NC_FILE_RETRYING(result, ops->set_owner(ops->ctx, fd, (uid_t)-1, like->st_gid));
    }
    NC_FILE_RETRYING(result, ops->set_mode(ops->ctx, fd, like->st_mode & 0777));
    return result;
}

ssize_t nc_files_read_at(const nc_file_ops *ops, int fd, void *bytes, size_t length, uint64_t offset) {
    size_t at = 0;
    while (at < length) {
        ssize_t got;
        NC_FILE_RETRYING(got, ops->read_at(ops->ctx, fd, (uint8_t *)bytes + at, length - at, (off_t)(offset + at)));
        if (got < 0) {
            return -1;
        }
        if (got == 0) {
            break;
        }
        at += (size_t)got;
    }
    return (ssize_t)at;
}

bool nc_files_write_at(const nc_file_ops *ops, int fd, nc_slice bytes, uint64_t offset) {
    size_t at = 0;
    while (at < bytes.length) {
        ssize_t wrote;
        NC_FILE_RETRYING(wrote, ops->write_at(ops->ctx, fd, bytes.data + at, bytes.length - at, (off_t)(offset + at)));
        if (wrote <= 0) {
            errno = wrote == 0 ? EIO : errno;
            return false;
        }
        at += (size_t)wrote;
    }
    return true;
}

int nc_files_unlink_at(const nc_file_ops *ops, int folder_fd, const char *name) {
    int result;
    NC_FILE_RETRYING(result, ops->unlink_at(ops->ctx, folder_fd, name, false));
    return result < 0 && errno == ENOENT ? 0 : result;
}

void nc_files_close_locked(const nc_file_ops *ops, int *fd) {
    struct flock range = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
    if (*fd >= 0) {
        int result;
        NC_FILE_RETRYING(result, ops->lock(ops->ctx, *fd, &range, false));
    }
    nc_files_close_fd(ops, fd);
}

void nc_files_close_fd(const nc_file_ops *ops, int *fd) {
    if (*fd >= 0) {
        (void)ops->close(ops->ctx, *fd); // Linux closes the descriptor even if close(2) fails.
        *fd = -1;
    }
}
