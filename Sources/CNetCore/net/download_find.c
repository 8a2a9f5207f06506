#include "base/error.h"
#include "base/file.h"
#include "base/state_file.h"
#include "net/download_files.h"
#include "net/download_partial.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static bool ends_with(const char *name, const char *ending) {
    size_t length = strlen(name);
    size_t wanted = strlen(ending);
    return length > wanted && strcmp(name + length - wanted, ending) == 0;
}

bool nc_partial_is_record_name(const char *name) {
    return ends_with(name, ".part.nk");
}

static nc_status read_open_record(nc_kept_record *kept, const nc_file_ops *ops, int fd, size_t length, nc_error *err) {
    nc_buf text = nc_buf_init(NC_RECORD_MAX_BYTES);
    ssize_t got = nc_buf_reserve(&text, length) == NC_OK ? nc_files_read_at(ops, fd, text.data, length, 0) : -2;
    int code = errno;
    if (got >= 0) {
        kept->is_good = nc_record_read(&kept->record, &kept->texts, nc_slice_make(text.data, (size_t)got));
    }
    nc_buf_deinit(&text);
    if (got == -2 || (!kept->is_good && nc_buf_status(&kept->texts) == NC_ERR_NO_MEMORY)) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for the record of a download");
    }
    return got >= 0 ? NC_OK : nc_file_fail(err, "the record of a download", "read", code);
}

nc_status nc_partial_read_record(nc_state_folder folder, const char *name, nc_kept_record *kept, nc_error *err) {
    int fd = -1;
    struct stat info = {0};
    kept->is_good = false;
    kept->is_refused = false;
    nc_status status = nc_state_folder_check(&folder, err);
    int code = nc_state_file_try(&fd, &info, &folder, name, O_RDONLY);
    // A link, a socket or a directory in its place counts as missing.
    if (code == ENOENT || code == ELOOP || code == ENXIO || code == EINVAL || code == EISDIR) {
        return NC_OK;
    }
    if (status == NC_OK && code != 0) {
        kept->is_refused = info.st_nlink > 0;
        status = nc_state_file_fail(err, &info, folder.path, name, code);
    } else if (status == NC_OK && info.st_size > 0 && info.st_size <= NC_RECORD_MAX_BYTES) {
        status = read_open_record(kept, &folder.files, fd, (size_t)info.st_size, err);
    }
    nc_files_close_fd(&folder.files, &fd);
    return status;
}

bool nc_partial_is_anothers(nc_status status, const nc_error *err) {
    return status == NC_ERR_FILE &&
           (err->native_code == EACCES || err->native_code == EPERM || err->native_code == EMLINK);
}

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
    if (!nc_partial_is_record_name(name)) {
        return true;
    }
    nc_kept_record kept;
    kept.texts = nc_buf_init(NC_RECORD_MAX_BYTES);
    on->status = nc_partial_read_record(nc_partial_folder(partial), name, &kept, on->err);
    if (nc_partial_is_anothers(on->status, on->err)) {
        on->status = nc_error_clear(on->err);
    }
    nc_slice path = kept.record.path;
    bool is_wanted = on->path.length == 0 || (kept.is_good && nc_slice_is_equal(path, on->path));
    if (on->status == NC_OK && kept.is_good && is_wanted && nc_slice_is_equal(kept.record.url, on->url)) {
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
    nc_buf_deinit(&kept.texts);
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
