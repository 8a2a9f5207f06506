#include <netcore/download_list.h>

#include "base/error.h"
#include "net/download_files.h"
#include "net/download_partial.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_BYTES = 4096 };

/// A scan of a directory. Names are collected first, because removals would disturb the listing.
typedef struct walk {
    nc_state_folder folder;
    char path[PATH_BYTES];
    nc_buf names; // each with its NUL
} walk;

static bool gather(void *ctx, const char *name) {
    walk *on = ctx;
    if (nc_partial_is_record_name(name)) {
        nc_buf_append(&on->names, nc_slice_make(name, strlen(name) + 1));
    }
    return nc_buf_status(&on->names) == NC_OK;
}

/// A link to the directory is followed, and its target is checked. A record determines what is fetched and where it is
/// stored. So a directory is rejected if any user can create a record in it.
static nc_status begin(walk *on, nc_slice path, const nc_file_ops *files, nc_error *err) {
    *on = (walk){.folder = {.fd = -1, .files = files != NULL ? *files : nc_file_ops_system()},
                 .names = nc_buf_init(SIZE_MAX / 2)};
    nc_state_folder *folder = &on->folder;
    folder->path = on->path;
    if (path.length == 0 || path.length >= sizeof on->path || memchr(path.data, 0, path.length) != NULL) {
        return nc_error_set(err, NC_ERR_FILE, ENAMETOOLONG, -1, "this is no path of a directory");
    }
    memcpy(on->path, path.data, path.length);
    folder->fd = nc_file_open(&folder->files, on->path, O_RDONLY | O_DIRECTORY, 0);
    if (folder->fd < 0) {
        return nc_file_fail(err, on->path, "opened as a directory", errno);
    }
    nc_status status = nc_state_folder_check(folder, err);
    if (status == NC_OK && folder->files.list(folder->files.ctx, folder->fd, gather, on) != 0) {
        status = nc_file_fail(err, on->path, "listed", errno);
    }
    if (status == NC_OK && nc_buf_status(&on->names) != NC_OK) {
        status = nc_error_set(err, nc_buf_status(&on->names), 0, -1, "no memory for a list of downloads");
    }
    return status;
}

static void end(walk *on) {
    nc_files_close_fd(&on->folder.files, &on->folder.fd);
    nc_buf_deinit(&on->names);
}

/// Returns the next name, or NULL at the end.
static const char *next_name(const walk *on, size_t *at) {
    if (*at >= on->names.length) {
        return NULL;
    }
    const char *name = (const char *)on->names.data + *at;
    *at += strlen(name) + 1;
    return name;
}

static void write_part_name(char out[NC_PARTIAL_NAME_BYTES], const char *record) {
    (void)snprintf(out, NC_PARTIAL_NAME_BYTES, "%.*s", (int)(strlen(record) - strlen(".nk")), record);
}

/// A record without a partial file belongs to a complete file: the process was killed between the rename and the
/// removal. If the partial file was not created yet, there is nothing to resume either.
static bool has_part(const walk *on, const char *name) {
    char part[NC_PARTIAL_NAME_BYTES];
    struct stat info;
    write_part_name(part, name);
    return nc_files_status_at(&on->folder.files, on->folder.fd, part, &info) == 0 || errno != ENOENT;
}

static void write_part_path(char out[PATH_BYTES + NC_PARTIAL_NAME_BYTES], const walk *on, const char *part) {
    bool has_slash = on->path[strlen(on->path) - 1] == '/';
    (void)snprintf(out, PATH_BYTES + NC_PARTIAL_NAME_BYTES, "%s%s%s", on->path, has_slash ? "" : "/", part);
}

static bool show(const walk *on, const char *name, const nc_record *record, nc_download_entry_fn visit, void *ctx) {
    char part[NC_PARTIAL_NAME_BYTES];
    char path[PATH_BYTES + NC_PARTIAL_NAME_BYTES];
    write_part_name(part, name);
    write_part_path(path, on, part);
    const nc_download_entry entry = {
        .url = record->url,
        .path = record->path,
        .partial_path = nc_slice_of(path),
        .received_bytes = nc_record_proven(record),
        .total_bytes = record->total,
        .changed_at_ms = record->time_ms,
        .has_validator = record->validators.is_strong,
        .is_active = nc_partial_is_locked(&on->folder.files, on->folder.fd, part),
    };
    return visit(ctx, &entry);
}

/// Reports a record that is not trusted. None of its contents is passed on.
static bool show_refused(const walk *on, const char *name, const nc_error *refusal, nc_download_entry_fn visit,
                         void *ctx) {
    char part[NC_PARTIAL_NAME_BYTES];
    char path[PATH_BYTES + NC_PARTIAL_NAME_BYTES];
    write_part_name(part, name);
    write_part_path(path, on, part);
    const nc_download_entry entry = {
        .partial_path = nc_slice_of(path), .total_bytes = NC_LENGTH_UNKNOWN, .refusal = refusal};
    return visit(ctx, &entry);
}

typedef struct found {
    nc_kept_record kept;
    bool is_anothers; // must not be touched
    nc_error refusal; // for a record of another user
} found;

static nc_status look_at(found *out, const walk *on, const char *name, nc_error *err) {
    out->kept.texts = nc_buf_init(NC_RECORD_MAX_BYTES);
    nc_status status = nc_partial_read_record(on->folder, name, &out->kept, &out->refusal);
    out->is_anothers = nc_partial_is_anothers(status, &out->refusal);
    if (status != NC_OK && !out->is_anothers && err != NULL) {
        *err = out->refusal;
    }
    return out->is_anothers ? NC_OK : status;
}

nc_status nc_download_list(nc_download_entry_fn visit, void *ctx, nc_slice folder, const nc_file_ops *files,
                           nc_error *err) {
    walk on;
    nc_status status = begin(&on, folder, files, err);
    size_t at = 0;
    const char *name = NULL;
    bool goes_on = true;
    while (status == NC_OK && goes_on && (name = next_name(&on, &at)) != NULL) {
        found one;
        status = look_at(&one, &on, name, err);
        if (status == NC_OK && one.kept.is_good && has_part(&on, name)) {
            goes_on = show(&on, name, &one.kept.record, visit, ctx);
        } else if (status == NC_OK && one.kept.is_refused) {
            goes_on = show_refused(&on, name, &one.refusal, visit, ctx);
        }
        nc_buf_deinit(&one.kept.texts);
    }
    end(&on);
    return status == NC_OK ? nc_error_clear(err) : status;
}

static bool is_old(const walk *on, const char *name, const found *one, int64_t before_ms) {
    struct stat info;
    if (before_ms == INT64_MAX) {
        return true;
    }
    if (one->kept.is_good) {
        return one->kept.record.time_ms < before_ms;
    }
    return nc_files_status_at(&on->folder.files, on->folder.fd, name, &info) == 0 &&
           (int64_t)info.st_mtime * 1000 < before_ms;
}

/// The partial file first: a record without one is still found, and removed the next time.
static nc_status remove_one(const walk *on, const char *name, const char *part, nc_error *err) {
    char fresh[NC_PARTIAL_NAME_BYTES + 1];
    (void)snprintf(fresh, sizeof fresh, "%s~", name);
    const char *const names[] = {part, fresh, name};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (nc_files_unlink_at(&on->folder.files, on->folder.fd, names[i]) != 0) {
            return nc_file_fail(err, names[i], "removed", errno);
        }
    }
    return NC_OK;
}

nc_status nc_download_purge(uint64_t *removed, nc_slice folder, int64_t before_ms, const nc_file_ops *files,
                            nc_error *err) {
    walk on;
    uint64_t count = 0;
    nc_status status = begin(&on, folder, files, err);
    size_t at = 0;
    const char *name = NULL;
    while (status == NC_OK && (name = next_name(&on, &at)) != NULL) {
        char part[NC_PARTIAL_NAME_BYTES];
        found one;
        write_part_name(part, name);
        status = look_at(&one, &on, name, err);
        bool is_due = status == NC_OK && !one.is_anothers && is_old(&on, name, &one, before_ms) &&
                      !nc_partial_is_locked(&on.folder.files, on.folder.fd, part);
        if (is_due) {
            status = remove_one(&on, name, part, err);
            count += status == NC_OK ? 1 : 0;
        }
        nc_buf_deinit(&one.kept.texts);
    }
    end(&on);
    if (removed != NULL) {
        *removed = count;
    }
    return status == NC_OK ? nc_error_clear(err) : status;
}
