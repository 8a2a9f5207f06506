/// The tasks of a download on the worker thread. They determine the destination, open the partial file, and move the
/// complete file to the destination.
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "download/internal.h"
#include "state/engine_record.h"
#include "state/mailbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { COPY_BYTES = 256 * 1024, OWNER_RW = 0600, ALL_RW = 0666, OTHERS_WRITE = 0022 };

/* --- checks --- */

/// Returns true if a path names a directory; false if it cannot be examined.
static bool names_directory(const nc_file_ops *ops, const char *path) {
    int fd = nc_file_open(ops, path, O_RDONLY | O_DIRECTORY | O_NONBLOCK, 0);
    bool is_directory = fd >= 0;
    nc_files_close_fd(ops, &fd);
    return is_directory;
}

/// Checks that a file at a path may be written. A rename only needs permissions of the directory, so it would replace a
/// write-protected file too. A program that is running (ETXTBSY) may be replaced: it continues with the old bytes.
static nc_status check_writable(const nc_file_ops *ops, const char *path, nc_error *err) {
    int fd = nc_file_open(ops, path, O_WRONLY | O_NONBLOCK, 0);
    if (fd < 0 && errno != ETXTBSY && errno != ENOENT) {
        return nc_file_fail(err, path, "written", errno);
    }
    nc_files_close_fd(ops, &fd);
    return NC_OK;
}

/// Checks whether the file at a path may be replaced. Links are not followed. If a regular file exists, a new partial
/// file gets its mode, so that a private file stays private.
///
/// Returns NC_ERR_FILE for a directory, a device, a pipe, a link to a device or pipe, or a read-only file. If
/// `may_exist` is false, also returns NC_ERR_FILE for any other file.
static nc_status check_destination(nc_partial *partial, const char *path, bool may_exist, nc_error *err) {
    const nc_file_ops *ops = &partial->ops;
    struct stat info;
    if (nc_files_status_at(ops, AT_FDCWD, path, &info) != 0) {
        return errno == ENOENT ? NC_OK : nc_file_fail(err, path, "written", errno);
    }
    if (S_ISDIR(info.st_mode)) {
        return nc_file_fail(err, path, "written", EISDIR);
    }
    if (nc_file_is_special(ops, path, &info)) {
        return nc_error_set(err, NC_ERR_FILE, ESPIPE, -1, "'%s' is not a regular file, so it is not replaced", path);
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

/* --- move --- */

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

/// Copies the owner and the permissions of the file that will be replaced to the partial file, because writing into the
/// old file would not change them.
static nc_status keep_rights(const nc_partial *partial, const char *path, nc_error *err) {
    const nc_file_ops *ops = &partial->ops;
    struct stat old;
    if (nc_files_status_at(ops, AT_FDCWD, path, &old) != 0 || !S_ISREG(old.st_mode)) {
        return NC_OK;
    }
    // A file system without such permissions, or a file of another owner, is not a failure.
    bool is_kept = nc_files_set_rights(ops, partial->fd, &old) == 0 || errno == EPERM || errno == EOPNOTSUPP;
    return is_kept ? NC_OK
                   : nc_file_fail_in(err, partial->folder, partial->part,
                                     "given the permissions of the file it replaces", errno);
}

/// Returns the write permissions for the group and others that a new file would get in the directory. A partial file
/// must not have them before it is complete. The umask cannot be read without changing it, so the function creates a
/// file and examines its mode.
static mode_t others_bits(const nc_partial *partial) {
    const nc_file_ops *ops = &partial->ops;
    struct stat usual = {0};
    if (nc_files_unlink_at(ops, partial->folder_fd, partial->new_record) != 0) {
        return 0;
    }
    int fd = nc_files_open_at(ops, partial->folder_fd, partial->new_record, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
                              partial->mode);
    bool is_known = fd >= 0 && nc_file_status(ops, fd, &usual) == 0;
    nc_files_close_fd(ops, &fd);
    (void)nc_files_unlink_at(ops, partial->folder_fd, partial->new_record);
    return is_known ? usual.st_mode & OTHERS_WRITE : 0;
}

/// Adds the permissions of others_bits() to a complete file.
static void add_bits(const nc_partial *complete, mode_t bits) {
    struct stat info;
    if (bits != 0 && nc_file_status(&complete->ops, complete->fd, &info) == 0) {
        int ignored; // A failure is ignored, because the file is complete and its owner can read it.
        NC_FILE_RETRYING(ignored,
                         complete->ops.set_mode(complete->ops.ctx, complete->fd, (info.st_mode | bits) & ALL_RW));
    }
}

/// Opens an empty, locked file beside the destination. No other partial file and no other copy has its name.
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
    // A copy has no record. If a killed process leaves a copy, the copy is useless, and the next one overwrites it.
    size_t length = strlen(copy->part);
    (void)snprintf(copy->part + length, sizeof copy->part - length, ".new");
    copy->record[0] = '\0';
    copy->new_record[0] = '\0';
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

/// Moves the file to a destination on another file system. Copies the bytes to a file beside the destination, renames
/// that file to the destination, and syncs the directory.
static nc_status copy_to_destination(const nc_partial *partial, const char *path, bool replaces, mode_t bits,
                                     nc_error *err) {
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

/// Moves the complete file to its destination, and removes the record. If the file replaces another one, it gets that
/// one's permissions.
static nc_status move_to_destination(nc_partial *partial, const char *path, bool replaces, nc_error *err) {
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
        return nc_file_fail_in(err, partial->folder, partial->part, "found before its rename", errno);
    }
    if (open.st_ino != named.st_ino || open.st_dev != named.st_dev) {
        return nc_file_fail_in(err, partial->folder, partial->part, "found before its rename", ENOENT);
    }
    nc_status status = replaces ? keep_rights(partial, path, err) : NC_OK;
    if (status != NC_OK) {
        return status;
    }
    bool is_copied = false;
    if (move(ops, partial->folder_fd, partial->part, path, replaces) != 0) {
        is_copied = errno == EXDEV;
        status = is_copied ? copy_to_destination(partial, path, replaces, bits, err)
                           : nc_file_fail(err, path, "written", errno);
        if (status != NC_OK) {
            return status;
        }
    }
    add_bits(partial, is_copied ? 0 : bits);
    // The file is complete, so a remaining record is not a failure. The inventory skips a record without a partial
    // file, and a purge or the next download of this name removes it.
    if (!is_copied || nc_files_unlink_at(ops, partial->folder_fd, partial->part) == 0) {
        (void)nc_files_unlink_at(ops, partial->folder_fd, partial->record);
        (void)nc_files_unlink_at(ops, partial->folder_fd, partial->new_record);
    }
    partial->part[0] = '\0';
    return partial->skips_sync ? NC_OK : sync_directory(ops, path, err);
}

/* --- name --- */

static nc_slice parent_of(nc_slice path) {
    size_t at = path.length;
    while (at > 0 && path.data[at - 1] != '/') {
        at--;
    }
    return nc_slice_make(path.data, at > 1 ? at - 1 : at);
}

static nc_slice last_of(nc_slice path) {
    size_t at = path.length;
    while (at > 0 && path.data[at - 1] != '/') {
        at--;
    }
    return nc_slice_make(path.data + at, path.length - at);
}

static bool is_directory(const nc_download *download, const char *path) {
    size_t length = strlen(path);
    return (download->options.is_directory && path == download->path) || length == 0 || path[length - 1] == '/' ||
           names_directory(&download->partial.ops, path);
}

static char *join(nc_slice directory, nc_slice name) {
    size_t length = directory.length + name.length + 2;
    char *path = nc_alloc(length);
    bool needs_slash = directory.length > 0 && directory.data[directory.length - 1] != '/';
    if (path != NULL) {
        (void)snprintf(path, length, "%.*s%s%.*s", (int)directory.length, (const char *)directory.data,
                       needs_slash ? "/" : "", (int)name.length, (const char *)name.data);
    }
    return path;
}

static bool may_replace(const nc_download *download, bool is_named) {
    return download->options.existing == NC_EXISTING_REPLACE ||
           (download->options.existing == NC_EXISTING_DEFAULT && is_named);
}

static nc_status no_memory(nc_download *download) {
    return nc_error_set(&download->task_error, NC_ERR_NO_MEMORY, 0, -1, "no memory for a download");
}

/// Sets `target` to the path of the file. If `path` names a directory, the file name comes from the head. While that
/// name is unknown, `target` is NULL.
static nc_status determine_target(nc_download *download, const char *path, bool *is_named) {
    *is_named = !is_directory(download, path);
    nc_free(download->target);
    download->target = NULL;
    nc_slice name = nc_buf_slice(&download->head_name);
    if (*is_named) {
        download->target = join(nc_slice_of(""), nc_slice_of(path));
    } else if (name.length > 0) {
        download->target = join(nc_slice_of(path), name);
    } else {
        return NC_OK;
    }
    return download->target != NULL ? NC_OK : no_memory(download);
}

/* --- tasks --- */

static nc_status prepare(nc_download *download) {
    nc_partial *partial = &download->partial;
    nc_error *err = &download->task_error;
    bool is_named = false;
    nc_status status = determine_target(download, download->path, &is_named);
    nc_slice path = nc_slice_of(download->path);
    nc_slice folder = download->folder != NULL ? nc_slice_of(download->folder) : is_named ? parent_of(path) : path;
    if (status == NC_OK && is_named && !download->options.requests_destination) {
        status = check_destination(partial, download->target, may_replace(download, true), err);
    }
    status = status == NC_OK ? nc_partial_open_folder(partial, folder, err) : status;
    if (status == NC_OK && is_named) {
        status = nc_partial_set_name(partial, last_of(path), err);
    }
    // If a folder for partial files is configured and on_destination chose this path earlier, the partial file may have
    // another name. So it is searched by URL and path.
    if (status == NC_OK && (!is_named || (download->folder != NULL && !nc_partial_has_record(partial)))) {
        status = nc_partial_find_url(partial, download->url, is_named ? path : (nc_slice){0}, err);
    }
    if (status != NC_OK || partial->part[0] == '\0') {
        return status;
    }
    download->recorded_sums = nc_alloc_zeroed(NC_RECORD_MAX_PIECES, sizeof *download->recorded_sums);
    if (download->recorded_sums == NULL) {
        return no_memory(download);
    }
    return nc_partial_open(partial, download->url, &download->recorded, download->recorded_sums, err);
}

void nc_download_prepare(nc_work *work) {
    nc_download *download = NC_CONTAINER_OF(work, nc_download, work);
    (void)prepare(download);
    nc_mailbox_put_result(download->engine, &download->result);
}

/// Changes the name of the partial file to the name from the head, for a download into a directory that starts over.
/// Removes the old partial file.
static nc_status rename_part(nc_download *download) {
    nc_partial *partial = &download->partial;
    nc_slice name = nc_buf_slice(&download->head_name);
    if (partial->fd < 0 || nc_slice_is_equal(name, nc_slice_of(partial->name)) ||
        !is_directory(download, download->path)) {
        return NC_OK;
    }
    nc_partial_discard(partial);
    nc_files_close_locked(&partial->ops, &partial->fd);
    return nc_partial_set_name(partial, name, &download->task_error);
}

static nc_status open_target(nc_download *download) {
    nc_partial *partial = &download->partial;
    nc_error *err = &download->task_error;
    bool is_named = false;
    nc_status status = NC_OK;
    if (partial->part[0] == '\0') {
        status = nc_partial_set_name(partial, nc_buf_slice(&download->head_name), err);
    } else if (download->target == NULL && download->starts_over) {
        status = rename_part(download);
    } else if (download->target == NULL) {
        // A resumed download keeps the name of its partial file, which comes from an earlier head.
        nc_buf_reset(&download->head_name);
        nc_buf_append(&download->head_name, nc_slice_of(partial->name));
        status = nc_buf_status(&download->head_name) == NC_OK ? NC_OK : no_memory(download);
    }
    const char *path = download->chosen_path != NULL ? download->chosen_path : download->path;
    status = status == NC_OK ? determine_target(download, path, &is_named) : status;
    if (status == NC_OK) {
        status = check_destination(partial, download->target, may_replace(download, is_named), err);
        download->options.existing = may_replace(download, is_named) ? NC_EXISTING_REPLACE : NC_EXISTING_REFUSE;
    }
    if (status == NC_OK && download->starts_over) {
        status = nc_partial_begin(partial, nc_buf_slice(&download->task_record), download->allocated_bytes, err);
        download->has_begun = partial->fd >= 0;
    }
    return status;
}

void nc_download_open(nc_work *work) {
    nc_download *download = NC_CONTAINER_OF(work, nc_download, work);
    (void)open_target(download);
    nc_mailbox_put_result(download->engine, &download->result);
}

void nc_download_checkpoint(nc_work *work) {
    nc_download *download = NC_CONTAINER_OF(work, nc_download, work);
    (void)nc_partial_write_checkpoint(&download->partial, nc_buf_slice(&download->task_record), &download->task_error);
    nc_mailbox_put_result(download->engine, &download->result);
}

/// Writes a last checkpoint if the partial file is kept. Otherwise removes the partial file.
static void release_incomplete(nc_download *download) {
    nc_error ignored; // The error that ended the download is more useful. The previous record stays valid.
    nc_partial *partial = &download->partial;
    bool has_text = download->task_record.length > 0;
    if (partial->fd < 0 || partial->part[0] == '\0') {
        return;
    }
    if (download->keeps_partial_file && has_text) {
        (void)nc_partial_write_checkpoint(partial, nc_buf_slice(&download->task_record), &ignored);
    } else if (!download->keeps_partial_file) {
        nc_partial_discard(partial);
    }
}

/// Returns true if the caller expects the same digest as the server, so that it need not be checked again.
static bool is_checked(bool is_wanted, const uint8_t *one, const uint8_t *other, size_t length) {
    return is_wanted && memcmp(one, other, length) == 0;
}

static void end(nc_download *download) {
    nc_partial *partial = &download->partial;
    nc_status status = NC_OK;
    if (!download->is_whole) {
        release_incomplete(download);
        return;
    }
    status = nc_partial_trim(partial, download->whole_bytes, &download->task_error);
    // If the digests of the caller and the server differ, one of them is wrong, and so is the file.
    status = status != NC_OK ? status : nc_partial_check(partial, &download->expected_digests, &download->task_error);
    if (status == NC_OK) {
        nc_download_digests left = download->digests;
        left.has_sha256 = left.has_sha256 && !is_checked(download->expected_digests.has_sha256, left.sha256,
                                                         download->expected_digests.sha256, NC_SHA256_BYTES);
        left.has_md5 = left.has_md5 && !is_checked(download->expected_digests.has_md5, left.md5,
                                                   download->expected_digests.md5, NC_MD5_BYTES);
        status = nc_partial_check(partial, &left, &download->task_error);
    }
    if (status == NC_OK) {
        bool replaces = download->options.existing == NC_EXISTING_REPLACE;
        status = move_to_destination(partial, download->target, replaces, &download->task_error);
    }
    download->keeps_partial_file = status != NC_OK && status != NC_ERR_DIGEST_MISMATCH && !download->is_coded;
    if (status != NC_OK) {
        release_incomplete(download);
    }
    download->keeps_partial_file = download->keeps_partial_file && partial->part[0] != '\0';
}

void nc_download_end(nc_work *work) {
    nc_download *download = NC_CONTAINER_OF(work, nc_download, work);
    end(download);
    // Closing may take a while, and releases the lock.
    nc_files_close_locked(&download->partial.ops, &download->partial.fd);
    nc_files_close_fd(&download->partial.ops, &download->partial.folder_fd);
    nc_mailbox_put_result(download->engine, &download->result);
}
