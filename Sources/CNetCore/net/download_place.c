#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "net/download_files.h"
#include "net/download_partial.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { COPY_BYTES = 256 * 1024, OWNER_RW = 0600, ALL_RW = 0666, OTHERS_WRITE = 0022 };

bool nc_partial_is_directory(const nc_file_ops *ops, const char *path) {
    int fd = nc_file_open(ops, path, O_RDONLY | O_DIRECTORY | O_NONBLOCK, 0);
    bool is_directory = fd >= 0;
    nc_files_close_fd(ops, &fd);
    return is_directory;
}

/// A rename only needs permissions of the directory, so it would replace a write-protected file. A running program is
/// not a reason to refuse: it continues with the old bytes.
static nc_status check_writable(const nc_file_ops *ops, const char *path, nc_error *err) {
    int fd = nc_file_open(ops, path, O_WRONLY | O_NONBLOCK, 0);
    if (fd < 0 && errno != ETXTBSY && errno != ENOENT) {
        return nc_file_fail(err, path, "written", errno);
    }
    nc_files_close_fd(ops, &fd);
    return NC_OK;
}

nc_status nc_partial_check_place(nc_partial *partial, const char *path, bool may_exist, nc_error *err) {
    const nc_file_ops *ops = &partial->ops;
    struct stat info;
    if (nc_files_status_at(ops, AT_FDCWD, path, &info) != 0) {
        return errno == ENOENT ? NC_OK : nc_file_fail(err, path, "written", errno);
    }
    if (S_ISDIR(info.st_mode)) {
        return nc_file_fail(err, path, "written", EISDIR);
    }
    if (nc_file_is_special(ops, path, &info)) {
        return nc_error_set(err, NC_ERR_FILE, ESPIPE, -1, "'%s' is no regular file, and would be lost", path);
    }
    if (!may_exist) {
        return nc_file_fail(err, path, "written", EEXIST);
    }
    if (!S_ISREG(info.st_mode)) {
        return NC_OK; // The link is replaced, and its target stays.
    }
    partial->mode = (info.st_mode & ALL_RW) | OWNER_RW;
    return check_writable(ops, path, err);
}

/// Syncs the directory of a path.
static nc_status sync_directory(const nc_file_ops *ops, const char *path, nc_error *err) {
    const char *slash = strrchr(path, '/');
    size_t length = slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path);
    char *directory = nc_alloc(length + 2);
    if (directory == NULL) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a path");
    }
    memcpy(directory, length > 0 ? path : ".", length > 0 ? length : 1);
    directory[length > 0 ? length : 1] = '\0';
    int fd = nc_file_open(ops, directory, O_RDONLY | O_DIRECTORY, 0);
    bool is_synced = fd >= 0 && (nc_files_sync(ops, fd) == 0 || errno == EINVAL);
    nc_status status = is_synced ? NC_OK : nc_file_fail(err, directory, "synced", errno);
    nc_files_close_fd(ops, &fd);
    nc_free(directory);
    return status;
}

static int move(const nc_file_ops *ops, int folder_fd, const char *name, const char *path, bool replaces) {
    int result;
    do {
        result = ops->move_at(ops->ctx, folder_fd, name, path, replaces);
    } while (result < 0 && errno == EINTR);
    return result;
}

/// Keeps the properties that writing into the old file would keep.
static nc_status keep_rights(const nc_partial *partial, const char *path, nc_error *err) {
    const nc_file_ops *ops = &partial->ops;
    struct stat old;
    if (nc_files_status_at(ops, AT_FDCWD, path, &old) != 0 || !S_ISREG(old.st_mode)) {
        return NC_OK;
    }
    // If a file system has no such permissions, nothing is lost.
    bool is_kept = nc_files_set_rights(ops, partial->fd, &old) == 0 || errno == EPERM || errno == EOPNOTSUPP;
    return is_kept ? NC_OK
                   : nc_file_fail_in(err, partial->folder, partial->part, "given the mode of what it replaces", errno);
}

/// Returns the write permissions that a new file gets here and a partial file must not have. The umask cannot be read
/// without changing it, so a file is created to find them.
static mode_t others_bits(const nc_partial *partial) {
    const nc_file_ops *ops = &partial->ops;
    struct stat usual = {0};
    if (nc_files_unlink_at(ops, partial->folder_fd, partial->fresh) != 0) {
        return 0;
    }
    int fd = nc_files_open_at(ops, partial->folder_fd, partial->fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
                              partial->mode);
    bool is_known = fd >= 0 && nc_file_status(ops, fd, &usual) == 0;
    nc_files_close_fd(ops, &fd);
    (void)nc_files_unlink_at(ops, partial->folder_fd, partial->fresh);
    return is_known ? usual.st_mode & OTHERS_WRITE : 0;
}

/// Adds them to a file that is complete.
static void add_bits(const nc_partial *placed, mode_t bits) {
    struct stat info;
    if (bits != 0 && nc_file_status(&placed->ops, placed->fd, &info) == 0) {
        int ignored; // The file is complete, and its owner can read it.
        NC_FILE_RETRYING(ignored, placed->ops.set_mode(placed->ops.ctx, placed->fd, (info.st_mode | bits) & ALL_RW));
    }
}

/// Opens an empty, locked file beside the destination, with a name that no other partial file and no other copy has.
static nc_status begin_copy(nc_partial *copy, const nc_partial *partial, const char *path, nc_error *err) {
    const char *slash = strrchr(path, '/');
    const char *last = slash == NULL ? path : slash + 1;
    size_t parent_bytes = slash == path ? 1 : (size_t)(last - path) - (slash != NULL);
    struct stat info;
    nc_partial_init(copy, &partial->ops, partial->skips_sync, partial->is_cancelled);
    copy->mode = partial->mode;
    nc_status status = nc_partial_open_folder(copy, nc_slice_make(path, parent_bytes), err);
    if (status == NC_OK) {
        status = nc_partial_set_name(copy, nc_slice_of(last), err);
    }
    if (status == NC_OK && nc_file_status(&partial->ops, partial->fd, &info) != 0) {
        status = nc_file_fail_in(err, partial->folder, partial->part, "examined", errno);
    }
    if (status != NC_OK) {
        return status;
    }
    // It has no record. A left-over copy is useless, and the next copy overwrites it.
    size_t length = strlen(copy->part);
    (void)snprintf(copy->part + length, sizeof copy->part - length, ".new");
    copy->record[0] = '\0';
    copy->fresh[0] = '\0';
    return nc_partial_begin(copy, (nc_slice){0}, (uint64_t)info.st_size, err);
}

static nc_status copy_bytes(const nc_partial *copy, const nc_partial *partial, nc_error *err) {
    uint8_t *block = nc_alloc(COPY_BYTES);
    uint64_t at = 0;
    nc_status status = NC_OK;
    if (block == NULL) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory to copy a download");
    }
    for (ssize_t got = 1; status == NC_OK && got > 0;) {
        got = nc_files_read_at(&partial->ops, partial->fd, block, COPY_BYTES, at);
        if (got < 0) {
            status = nc_file_fail_in(err, partial->folder, partial->part, "read", errno);
        } else if (!nc_files_write_at(&copy->ops, copy->fd, nc_slice_make(block, (size_t)got), at)) {
            status = nc_file_fail_in(err, copy->folder, copy->part, "written", errno);
        } else if (partial->is_cancelled != NULL && atomic_load_explicit(partial->is_cancelled, memory_order_relaxed)) {
            status = nc_error_set(err, NC_ERR_CANCELLED, 0, -1, "%s", nc_status_text(NC_ERR_CANCELLED));
        }
        at += got > 0 ? (uint64_t)got : 0;
    }
    if (status == NC_OK && !copy->skips_sync && nc_files_sync(&copy->ops, copy->fd) != 0) {
        status = nc_file_fail_in(err, copy->folder, copy->part, "written", errno);
    }
    nc_free(block);
    return status;
}

/// On another file system: copies to a file beside the destination, renames it like a partial file, and syncs its name.
static nc_status copy_over(const nc_partial *partial, const char *path, bool replaces, mode_t bits, nc_error *err) {
    nc_partial copy;
    nc_status status = begin_copy(&copy, partial, path, err);
    if (status == NC_OK) {
        status = copy_bytes(&copy, partial, err);
    }
    if (status == NC_OK && replaces) {
        status = keep_rights(&copy, path, err);
    }
    if (status == NC_OK && move(&copy.ops, copy.folder_fd, copy.part, path, replaces) != 0) {
        status = nc_file_fail(err, path, "written", errno);
    }
    add_bits(&copy, status == NC_OK ? bits : 0);
    if (status != NC_OK) {
        nc_partial_discard(&copy);
    } else if (!partial->skips_sync && nc_files_sync(&copy.ops, copy.folder_fd) != 0 && errno != EINVAL) {
        status = nc_file_fail(err, copy.folder, "synced", errno);
    }
    nc_partial_deinit(&copy);
    return status;
}

nc_status nc_partial_place(nc_partial *partial, const char *path, bool replaces, nc_error *err) {
    const nc_file_ops *ops = &partial->ops;
    struct stat open;
    struct stat named;
    bool is_new = nc_files_status_at(ops, AT_FDCWD, path, &named) != 0 || !S_ISREG(named.st_mode);
    mode_t bits = is_new ? others_bits(partial) : 0;
    if (!partial->skips_sync && nc_files_sync(ops, partial->fd) != 0) {
        return nc_file_fail_in(err, partial->folder, partial->part, "written", errno);
    }
    if (nc_file_status(ops, partial->fd, &open) != 0 ||
        nc_files_status_at(ops, partial->folder_fd, partial->part, &named) != 0) {
        return nc_file_fail_in(err, partial->folder, partial->part, "found again", errno);
    }
    if (open.st_ino != named.st_ino || open.st_dev != named.st_dev) {
        return nc_file_fail_in(err, partial->folder, partial->part, "found again", ENOENT);
    }
    nc_status status = replaces ? keep_rights(partial, path, err) : NC_OK;
    if (status != NC_OK) {
        return status;
    }
    bool is_elsewhere = false;
    if (move(ops, partial->folder_fd, partial->part, path, replaces) != 0) {
        is_elsewhere = errno == EXDEV;
        status =
            is_elsewhere ? copy_over(partial, path, replaces, bits, err) : nc_file_fail(err, path, "written", errno);
        if (status != NC_OK) {
            return status;
        }
    }
    add_bits(partial, is_elsewhere ? 0 : bits);
    // The file is complete, so a remaining record is not a failure. The inventory skips a record without a partial
    // file, and a purge or the next download of this name removes it.
    if (!is_elsewhere || nc_files_unlink_at(ops, partial->folder_fd, partial->part) == 0) {
        (void)nc_files_unlink_at(ops, partial->folder_fd, partial->record);
        (void)nc_files_unlink_at(ops, partial->folder_fd, partial->fresh);
    }
    partial->part[0] = '\0';
    return partial->skips_sync ? NC_OK : sync_directory(ops, path, err);
}
