/// Simulated files of a form. As the input chooses, they change their length, are read in small pieces, or fail. The
/// file of a part is "/f" with the part's letter. The form is written to "/w".
#include "form_model.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { WRITTEN_FD = 1000, PLACE_FD = 1001 };

static int fake_open(void *ctx, const char *path, int flags, mode_t mode) {
    form_case *at = ctx;
    (void)flags;
    (void)mode;
    if (at->slowness % 3 == 1 && at->calls++ % 2 == 0) {
        errno = EINTR;
        return -1;
    }
    if (strcmp(path, "/w") == 0) {
        return PLACE_FD;
    }
    if (path[1] != 'f') {
        at->written.length = 0;
        return WRITTEN_FD;
    }
    return path[2] - 'a';
}

static ssize_t fake_read_at(void *ctx, int fd, void *bytes, size_t length, off_t offset) {
    form_case *at = ctx;
    const model *part = &at->parts[fd];
    size_t left = (size_t)offset < part->content.length ? part->content.length - (size_t)offset : 0;
    size_t count = left < length ? left : length;
    if (at->slowness % 3 == 1 && at->calls++ % 2 == 0) {
        errno = EINTR;
        return -1;
    }
    if (part->behaviour % 8 == 1) {
        errno = EIO;
        return -1;
    }
    if (part->behaviour % 8 == 2 && left == 0) {
        memset(bytes, 'x', length);
        return (ssize_t)length; // the file has grown
    }
    count = part->behaviour % 8 == 3 && count > 1 ? count / 2 : count;
    count = part->behaviour % 8 == 4 && offset > 0 ? 0 : count; // the file has shrunk
    if (count > 0) {
        memcpy(bytes, part->content.data + offset, count);
    }
    return (ssize_t)count;
}

static int fake_status(void *ctx, int fd, struct stat *out) {
    form_case *at = ctx;
    if (fd == PLACE_FD) {
        *out = (struct stat){.st_mode = S_IFCHR};
        return 0;
    }
    *out = (struct stat){.st_mode = S_IFREG, .st_size = (off_t)at->parts[fd].content.length};
    if (at->parts[fd].behaviour % 8 == 5) {
        out->st_mode = at->parts[fd].behaviour % 16 == 5 ? S_IFDIR : S_IFIFO;
    }
    if (at->parts[fd].behaviour % 8 == 6) {
        out->st_size += (off_t)at->calls; // another length at each call
    }
    at->calls++;
    return 0;
}

static int fake_status_at(void *ctx, int directory_fd, const char *name, struct stat *out) {
    const form_case *at = ctx;
    CHECK(directory_fd == AT_FDCWD && strcmp(name, "/w") == 0);
    *out = (struct stat){.st_mode = at->slowness == PLACE_IS_PIPE           ? S_IFIFO
                                    : at->slowness == PLACE_LEADS_TO_DEVICE ? S_IFLNK
                                                                            : S_IFREG};
    errno = ENOENT;
    return at->slowness >= PLACE_IS_FILE && at->slowness <= PLACE_IS_PIPE ? 0 : -1;
}

static ssize_t fake_write(void *ctx, int fd, const void *bytes, size_t length) {
    form_case *at = ctx;
    CHECK(fd == WRITTEN_FD && length > 0);
    if (at->slowness % 3 == 1 && at->calls++ % 2 == 0) {
        errno = EINTR;
        return -1;
    }
    if (at->slowness == 255 && at->written.length > 20) {
        errno = ENOSPC;
        return -1;
    }
    size_t count = at->slowness % 3 == 2 && length > 7 ? 7 : length;
    nc_buf_append(&at->written, nc_slice_make(bytes, count));
    return (ssize_t)count;
}

static int fake_sync(void *ctx, int fd) {
    errno = EIO;
    return ((form_case *)ctx)->slowness == 254 && fd == WRITTEN_FD ? -1 : 0;
}

static int fake_close(void *ctx, int fd) {
    errno = EIO;
    return ((form_case *)ctx)->slowness == 253 && fd == WRITTEN_FD ? -1 : 0;
}

static int fake_rename(void *ctx, const char *from, const char *to) {
    errno = EACCES;
    CHECK(strcmp(to, "/w") == 0 && strncmp(from, "/.", 2) == 0);
    return ((form_case *)ctx)->slowness == 252 ? -1 : 0;
}

static int fake_unlink(void *ctx, const char *path) {
    CHECK(strstr(path, ".part") != NULL);
    ((form_case *)ctx)->written.length = 0;
    return 0;
}

nc_file_ops form_files(form_case *at) {
    nc_file_ops ops = nc_file_ops_system();
    ops.ctx = at;
    ops.open = fake_open;
    ops.read_at = fake_read_at;
    ops.status = fake_status;
    ops.status_at = fake_status_at;
    ops.write = fake_write;
    ops.sync = fake_sync;
    ops.close = fake_close;
    ops.rename = fake_rename;
    ops.unlink = fake_unlink;
    return ops;
}
