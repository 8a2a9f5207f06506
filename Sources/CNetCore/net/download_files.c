#include "net/download_files.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

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
        (void)ops->close(ops->ctx, *fd); // The descriptor is closed even after an error.
        *fd = -1;
    }
}
