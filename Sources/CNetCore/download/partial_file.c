#include "download/partial_file.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/fnv.h"
#include "store/checksum.h"

#include <errno.h>
#include <fcntl.h>
#include <netcore/body_source.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/// The longest suffix is ".part.nk~".
enum { ENDING_BYTES = 9, MAX_NAME_BYTES = 255, BLOCK_BYTES = 256 * 1024, PART_MODE = 0666, RECORD_MODE = 0600 };
/// A partial file that others may write cannot be trusted. The complete file gets the usual mode.
enum { MAX_OPENINGS = 8, OTHERS_WRITE = 0022 };

/* --- names --- */

void nc_partial_init(nc_partial *partial, const nc_file_ops *ops, bool skips_sync, const atomic_bool *is_cancelled) {
    *partial = (nc_partial){.ops = *ops,
                            .is_cancelled = is_cancelled,
                            .skips_sync = skips_sync,
                            .mode = PART_MODE,
                            .folder_fd = -1,
                            .fd = -1};
}

void nc_partial_deinit(nc_partial *partial) {
    nc_files_close_locked(&partial->ops, &partial->fd);
    nc_files_close_fd(&partial->ops, &partial->folder_fd);
    nc_free(partial->folder);
    partial->folder = NULL;
}

nc_status nc_partial_open_folder(nc_partial *partial, nc_slice path, nc_error *err) {
    partial->folder = nc_alloc(path.length + 2);
    if (partial->folder == NULL) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a path");
    }
    memcpy(partial->folder, path.length > 0 ? (const char *)path.data : ".", path.length > 0 ? path.length : 1);
    partial->folder[path.length > 0 ? path.length : 1] = '\0';
    partial->folder_fd = nc_file_open(&partial->ops, partial->folder, O_RDONLY | O_DIRECTORY, 0);
    return partial->folder_fd >= 0 ? NC_OK : nc_file_fail(err, partial->folder, "opened as a directory", errno);
}

/// Writes the name of the partial file. A name without room for the suffixes is shortened; a hash of the whole name
/// replaces the rest.
static void write_part_name(char *out, nc_slice name) {
    if (name.length + ENDING_BYTES <= MAX_NAME_BYTES) {
        (void)snprintf(out, NC_PARTIAL_NAME_BYTES, "%.*s.part", (int)name.length, (const char *)name.data);
        return;
    }
    uint32_t mixed = nc_fnv_fold(nc_fnv_add(NC_FNV_START, name));
    size_t length = MAX_NAME_BYTES - ENDING_BYTES - 9;
    while (length > 0 && (name.data[length] & 0xC0) == 0x80) {
        length--;
    }
    (void)snprintf(out, NC_PARTIAL_NAME_BYTES, "%.*s-%08x.part", (int)length, (const char *)name.data, mixed);
}

nc_status nc_partial_set_name(nc_partial *partial, nc_slice name, nc_error *err) {
    char part[NC_PARTIAL_NAME_BYTES];
    if (name.length > MAX_NAME_BYTES) {
        return nc_error_set(err, NC_ERR_FILE, ENAMETOOLONG, -1, "the file name of %zu bytes is too long", name.length);
    }
    memcpy(partial->name, name.data, name.length);
    partial->name[name.length] = '\0';
    write_part_name(part, name);
    int length = (int)strlen(part);
    (void)snprintf(partial->part, sizeof partial->part, "%s", part);
    (void)snprintf(partial->record, sizeof partial->record, "%.*s.nk", length < 252 ? length : 252, part);
    (void)snprintf(partial->new_record, sizeof partial->new_record, "%.*s.nk~", length < 251 ? length : 251, part);
    return NC_OK;
}

/* --- records --- */

bool nc_partial_has_record(const nc_partial *partial) {
    struct stat info;
    return nc_files_status_at(&partial->ops, partial->folder_fd, partial->record, &info) == 0 || errno != ENOENT;
}

/// Returns the directory for opening its files; not checked.
static nc_state_folder folder_of(const nc_partial *partial) {
    return (nc_state_folder){.fd = partial->folder_fd, .path = partial->folder, .files = partial->ops};
}

static int rename_fresh(const nc_partial *partial) {
    int result;
    NC_FILE_RETRYING(
        result, partial->ops.rename_at(partial->ops.ctx, partial->folder_fd, partial->new_record, partial->record));
    return result;
}

/// Writes the record under its temporary name. Anything there, even a link, is removed and not followed.
static nc_status write_record(nc_partial *partial, nc_slice text, bool syncs, nc_error *err) {
    const nc_file_ops *ops = &partial->ops;
    if (nc_files_unlink_at(ops, partial->folder_fd, partial->new_record) != 0) {
        return nc_file_fail_in(err, partial->folder, partial->new_record, "removed", errno);
    }
    int fd = nc_files_open_at(ops, partial->folder_fd, partial->new_record, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
                              RECORD_MODE);
    if (fd < 0) {
        return nc_file_fail_in(err, partial->folder, partial->new_record, "written", errno);
    }
    bool is_written = nc_files_write_at(ops, fd, text, 0) && (!syncs || nc_files_sync(ops, fd) == 0);
    int code = errno;
    nc_files_close_fd(ops, &fd);
    if (is_written && rename_fresh(partial) == 0) {
        return NC_OK;
    }
    code = is_written ? errno : code;
    (void)nc_files_unlink_at(ops, partial->folder_fd, partial->new_record);
    return nc_file_fail_in(err, partial->folder, partial->record, "written", code);
}

nc_status nc_partial_write_checkpoint(nc_partial *partial, nc_slice record, nc_error *err) {
    bool syncs = !partial->skips_sync;
    if (syncs && nc_files_sync(&partial->ops, partial->fd) != 0) {
        return nc_file_fail_in(err, partial->folder, partial->part, "written", errno);
    }
    return write_record(partial, record, syncs, err);
}

/* --- partial file --- */

static nc_status lock(nc_partial *partial, nc_error *err) {
    struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int result;
    NC_FILE_RETRYING(result, partial->ops.lock(partial->ops.ctx, partial->fd, &range, false));
    if (result == 0 || errno == ENOLCK || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP) {
        return NC_OK; // If a file system has no locks, the caller must ensure that one process uses it at a time.
    }
    if (errno == EAGAIN || errno == EACCES) {
        return nc_error_set(err, NC_ERR_FILE, EBUSY, -1, "'%s/%s' is in use by another download", partial->folder,
                            partial->part);
    }
    return nc_file_fail_in(err, partial->folder, partial->part, "locked", errno);
}

/// Returns true if the open file still has the partial file's name. A process that completed it has renamed it.
static bool is_named(const nc_partial *partial, const struct stat *open) {
    struct stat named;
    return nc_files_status_at(&partial->ops, partial->folder_fd, partial->part, &named) == 0 &&
           named.st_ino == open->st_ino && named.st_dev == open->st_dev;
}

/// Returns true for a file with bytes but no record: another program, such as a browser, left it. The engine writes the
/// record before it creates the partial file, and removes it later.
static bool lacks_record(const nc_partial *partial, const struct stat *info) {
    return partial->record[0] != '\0' && info->st_size > 0 && !nc_partial_has_record(partial);
}

static nc_status refuse_foreign(const nc_partial *partial, nc_error *err) {
    return nc_error_set(err, NC_ERR_FILE, EEXIST, -1,
                        "'%s/%s' exists without a download record, so it is not overwritten: move it, or use another "
                        "partial folder",
                        partial->folder, partial->part);
}

/// Checks a file that is not a partial file of the engine: a link, a pipe, a second name of another file. Links and
/// pipes are replaced. Other files, and files that another user could have written, are rejected.
static nc_status check_foreign_file(const nc_partial *partial, const struct stat *info, int code, nc_error *err) {
    if (code == EPERM && lacks_record(partial, info)) {
        return refuse_foreign(partial, err);
    }
    bool is_removed = code == ELOOP || code == ENXIO || code == EINVAL || code == EMLINK;
    return is_removed ? NC_OK : nc_state_file_fail(err, info, partial->folder, partial->part, code);
}

/// Opens and locks the partial file, if it is the engine's. `fd` stays -1 if there is none. Anything else in its place
/// is removed, unless it is a file with content.
static nc_status open_part(nc_partial *partial, struct stat *info, nc_error *err) {
    nc_state_folder folder = folder_of(partial);
    nc_error own;
    nc_status trust = nc_state_folder_check(&folder, &own);
    for (int i = 0; i < MAX_OPENINGS; i++) {
        int code = nc_state_file_try(&partial->fd, info, &folder, partial->part, O_RDWR);
        if (code == ENOENT) {
            return NC_OK;
        }
        nc_status status = trust == NC_OK ? NC_OK : nc_error_set(err, trust, own.native_code, -1, "%s", own.message);
        if (status == NC_OK) {
            status = code == 0 ? lock(partial, err) : check_foreign_file(partial, info, code, err);
        }
        bool is_there = status == NC_OK && code == 0 && is_named(partial, info);
        // Only with the lock: a download that ends removes its record while it holds the lock.
        if (is_there && lacks_record(partial, info)) {
            status = refuse_foreign(partial, err);
        } else if (is_there) {
            return NC_OK;
        }
        nc_files_close_locked(&partial->ops, &partial->fd);
        if (status != NC_OK) {
            return status; // Without the lock it must not be touched.
        }
        if (code != 0 && nc_files_unlink_at(&partial->ops, partial->folder_fd, partial->part) != 0) {
            return nc_file_fail_in(err, partial->folder, partial->part, "removed", errno);
        }
    }
    return nc_file_fail_in(err, partial->folder, partial->part, "opened", EBUSY);
}

static bool is_cancelled(const nc_partial *partial) {
    return partial->is_cancelled != NULL && atomic_load_explicit(partial->is_cancelled, memory_order_relaxed);
}

/// Receives a block of the file.
typedef void (*block_fn)(void *ctx, nc_slice block);

static nc_status read_through(nc_partial *partial, uint64_t start, uint64_t length, block_fn take, void *ctx,
                              nc_error *err) {
    uint8_t *block = nc_alloc(BLOCK_BYTES);
    if (block == NULL) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory to read a download");
    }
    nc_status status = NC_OK;
    for (uint64_t at = 0; at < length && status == NC_OK;) {
        size_t wanted = length - at < BLOCK_BYTES ? (size_t)(length - at) : BLOCK_BYTES;
        ssize_t got = nc_files_read_at(&partial->ops, partial->fd, block, wanted, start + at);
        if (is_cancelled(partial)) {
            status = nc_error_set(err, NC_ERR_CANCELLED, 0, -1, "%s", nc_status_text(NC_ERR_CANCELLED));
        } else if (got != (ssize_t)wanted) {
            status = nc_file_fail_in(err, partial->folder, partial->part, "read", got < 0 ? errno : EIO);
        } else {
            take(ctx, nc_slice_make(block, wanted));
            at += wanted;
        }
    }
    nc_free(block);
    return status;
}

static void add_to_sum(void *ctx, nc_slice block) {
    nc_checksum_update(ctx, block);
}

/// Verifies the bytes that the record describes. `*is_good` is false if they differ.
static nc_status verify(nc_partial *partial, const nc_record *record, nc_checksum *sums, bool *is_good, nc_error *err) {
    uint8_t found[NC_CHECKSUM_BYTES];
    nc_status status = NC_OK;
    *is_good = true;
    for (size_t i = 0; i < record->piece_count && status == NC_OK && *is_good; i++) {
        const nc_record_piece *piece = &record->pieces[i];
        sums[i] = nc_checksum_init();
        status = read_through(partial, piece->start, piece->stored_bytes, add_to_sum, &sums[i], err);
        nc_checksum sum = sums[i];
        nc_checksum_finish(found, &sum);
        // A read failure does not prove that the bytes differ.
        *is_good = status != NC_OK || memcmp(found, piece->sum, sizeof found) == 0;
    }
    return status;
}

static bool fits(const nc_record *record, uint64_t size) {
    for (size_t i = 0; i < record->piece_count; i++) {
        const nc_record_piece *piece = &record->pieces[i];
        if (piece->stored_bytes > 0 && piece->start + piece->stored_bytes > size) {
            return false;
        }
    }
    return true;
}

nc_status nc_partial_open(nc_partial *partial, nc_slice url, nc_loaded_record *loaded, nc_checksum *sums,
                          nc_error *err) {
    struct stat info = {0};
    const nc_record *record = &loaded->record;
    loaded->is_good = false;
    nc_status status = open_part(partial, &info, err);
    if (status != NC_OK || partial->fd < 0) {
        return status;
    }
    status = nc_record_load(folder_of(partial), partial->record, loaded, err);
    bool is_ours = loaded->is_good && nc_slice_is_equal(record->url, url) && fits(record, (uint64_t)info.st_size);
    loaded->is_good = false;
    if (status == NC_OK && is_ours) {
        status = verify(partial, record, sums, &loaded->is_good, err);
    }
    return status;
}

/* --- search by URL --- */

typedef struct search {
    nc_partial *partial;
    nc_slice url;
    nc_slice path; // empty for any
    nc_error *err;
    nc_status status;
    bool is_found;
} search;

static bool look_at(void *ctx, const char *name) {
    search *on = ctx;
    nc_partial *partial = on->partial;
    if (!nc_record_is_file_name(name)) {
        return true;
    }
    nc_loaded_record loaded;
    loaded.texts = nc_buf_init(NC_RECORD_MAX_BYTES);
    on->status = nc_record_load(folder_of(partial), name, &loaded, on->err);
    if (nc_record_is_foreign(on->status, on->err)) {
        on->status = nc_error_clear(on->err);
    }
    nc_slice path = loaded.record.path;
    bool is_wanted = on->path.length == 0 || (loaded.is_good && nc_slice_is_equal(path, on->path));
    if (on->status == NC_OK && loaded.is_good && is_wanted && nc_slice_is_equal(loaded.record.url, on->url)) {
        size_t at = path.length;
        while (at > 0 && path.data[at - 1] != '/') {
            at--;
        }
        nc_slice last = nc_slice_make(path.data + at, path.length - at);
        // The partial file determines the name. The destination may have another one.
        bool is_same = last.length > 0 && nc_partial_set_name(partial, last, on->err) == NC_OK &&
                       strcmp(partial->record, name) == 0;
        if (!is_same) {
            size_t stem = strlen(name) - strlen(".part.nk");
            on->status = nc_partial_set_name(partial, nc_slice_make(name, stem), on->err);
        }
        on->is_found = on->status == NC_OK;
    }
    nc_buf_deinit(&loaded.texts);
    return on->status == NC_OK && !on->is_found;
}

nc_status nc_partial_find_url(nc_partial *partial, nc_slice url, nc_slice path, nc_error *err) {
    search on = {.partial = partial, .url = url, .path = path, .err = err};
    int result = partial->ops.list(partial->ops.ctx, partial->folder_fd, look_at, &on);
    if (on.status != NC_OK || on.is_found) {
        return on.status;
    }
    return result == 0 ? NC_OK : nc_file_fail(err, partial->folder, "listed", errno);
}

/* --- creation --- */

// A new file is not truncated. ext4 would treat that as the replacement of a file, and close() would wait until all of
// it is on disk.
static nc_status resize(nc_partial *partial, bool is_new, uint64_t allocated_bytes, nc_error *err) {
    const nc_file_ops *ops = &partial->ops;
    int result = is_new ? 0 : nc_files_truncate(ops, partial->fd, 0);
    if (result == 0 && allocated_bytes > 0) {
        NC_FILE_RETRYING(result, ops->allocate(ops->ctx, partial->fd, (off_t)allocated_bytes));
    }
    if (result < 0 && (errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL)) {
        result = 0; // The file system allocates while it is written.
    }
    return result == 0 ? NC_OK : nc_file_fail_in(err, partial->folder, partial->part, "written", errno);
}

nc_status nc_partial_begin(nc_partial *partial, nc_slice record, uint64_t allocated_bytes, nc_error *err) {
    struct stat info = {0};
    nc_status status = partial->fd < 0 ? open_part(partial, &info, err) : NC_OK;
    // The record is written first. If the process is killed after that, the partial file has a record, which describes
    // no bytes as verified.
    status = status == NC_OK && record.length > 0 ? write_record(partial, record, false, err) : status;
    bool is_new = partial->fd < 0;
    if (status == NC_OK && is_new) {
        partial->fd = nc_files_open_at(&partial->ops, partial->folder_fd, partial->part,
                                       O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, partial->mode & ~(mode_t)OTHERS_WRITE);
        status = partial->fd < 0 ? nc_file_fail_in(err, partial->folder, partial->part, "written", errno)
                                 : lock(partial, err);
        if (status != NC_OK) {
            nc_files_close_locked(&partial->ops, &partial->fd);
        }
    }
    return status == NC_OK ? resize(partial, is_new, allocated_bytes, err) : status;
}

void nc_partial_discard(nc_partial *partial) {
    const nc_file_ops *ops = &partial->ops;
    struct stat info;
    if (partial->folder_fd < 0 || partial->part[0] == '\0') {
        return;
    }
    bool is_ours = partial->fd >= 0 && nc_file_status(ops, partial->fd, &info) == 0 && is_named(partial, &info);
    // A partial file that cannot be removed keeps its record. Otherwise it would count as another program's.
    if (is_ours && nc_files_unlink_at(ops, partial->folder_fd, partial->part) == 0) {
        (void)nc_files_unlink_at(ops, partial->folder_fd, partial->record);
        (void)nc_files_unlink_at(ops, partial->folder_fd, partial->new_record);
    }
}

/* --- completion --- */

// The file may be longer than the whole: a killed process leaves bytes after its last checkpoint, and the total length
// may become known only later.
nc_status nc_partial_trim(nc_partial *partial, uint64_t whole_bytes, nc_error *err) {
    struct stat info;
    if (nc_file_status(&partial->ops, partial->fd, &info) != 0) {
        return nc_file_fail_in(err, partial->folder, partial->part, "examined", errno);
    }
    if ((uint64_t)info.st_size < whole_bytes) {
        return nc_error_set(err, NC_ERR_FILE, EIO, -1, "'%s/%s' became shorter while it was written", partial->folder,
                            partial->part);
    }
    bool is_cut =
        (uint64_t)info.st_size == whole_bytes || nc_files_truncate(&partial->ops, partial->fd, whole_bytes) == 0;
    return is_cut ? NC_OK : nc_file_fail_in(err, partial->folder, partial->part, "written", errno);
}

typedef struct hashing {
    nc_digest *sha256;
    nc_digest *md5;
} hashing;

static void add_to_digests(void *ctx, nc_slice block) {
    const hashing *on = ctx;
    if (on->sha256 != NULL) {
        nc_digest_update(on->sha256, block);
    }
    if (on->md5 != NULL) {
        nc_digest_update(on->md5, block);
    }
}

static nc_status compare(nc_digest *digest, const uint8_t *wanted, const char *name, nc_error *err) {
    uint8_t found[NC_DIGEST_MAX_BYTES];
    char texts[2][2 * NC_DIGEST_MAX_BYTES + 1];
    if (digest == NULL) {
        return NC_OK;
    }
    size_t length = nc_digest_bytes(nc_digest_kind_of(digest));
    nc_status status = nc_digest_finish(found, digest, err);
    if (status != NC_OK || memcmp(found, wanted, length) == 0) {
        return status;
    }
    for (size_t i = 0; i < length; i++) {
        (void)snprintf(texts[0] + 2 * i, 3, "%02x", found[i]);
        (void)snprintf(texts[1] + 2 * i, 3, "%02x", wanted[i]);
    }
    return nc_error_set(err, NC_ERR_DIGEST_MISMATCH, 0, -1, "the file's %s is %s, not %s", name, texts[0], texts[1]);
}

nc_status nc_partial_check(nc_partial *partial, const nc_download_digests *digests, nc_error *err) {
    hashing on = {0};
    struct stat info;
    if (!digests->has_sha256 && !digests->has_md5) {
        return NC_OK;
    }
    nc_status status = digests->has_sha256 ? nc_digest_new(&on.sha256, NC_DIGEST_SHA256, err) : NC_OK;
    if (status == NC_OK && digests->has_md5) {
        status = nc_digest_new(&on.md5, NC_DIGEST_MD5, err);
    }
    if (status == NC_OK && nc_file_status(&partial->ops, partial->fd, &info) != 0) {
        status = nc_file_fail_in(err, partial->folder, partial->part, "examined", errno);
    }
    if (status == NC_OK) {
        status = read_through(partial, 0, (uint64_t)info.st_size, add_to_digests, &on, err);
    }
    status = status == NC_OK ? compare(on.sha256, digests->sha256, "SHA-256", err) : status;
    status = status == NC_OK ? compare(on.md5, digests->md5, "MD5", err) : status;
    nc_digest_free(on.sha256);
    nc_digest_free(on.md5);
    return status;
}
