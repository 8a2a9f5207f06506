#include "base/alloc.h"
#include "base/error.h"
#include "net/download_files.h"
#include "net/download_state.h"
#include "net/engine_state.h"

#include <stdio.h>
#include <string.h>

/* --- destination --- */

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
           nc_partial_is_directory(&download->partial.ops, path);
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
    return nc_error_set(&download->job_error, NC_ERR_NO_MEMORY, 0, -1, "no memory for a download");
}

/// Determines the destination: a path that names a file, or the name in a directory.
static nc_status settle_target(nc_download *download, const char *path, bool *is_named) {
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

/* --- jobs --- */

static nc_status prepare(nc_download *download) {
    nc_partial *partial = &download->partial;
    nc_error *err = &download->job_error;
    bool is_named = false;
    nc_status status = settle_target(download, download->path, &is_named);
    nc_slice path = nc_slice_of(download->path);
    nc_slice folder = download->folder != NULL ? nc_slice_of(download->folder) : is_named ? parent_of(path) : path;
    if (status == NC_OK && is_named && !download->options.asks_destination) {
        status = nc_partial_check_place(partial, download->target, may_replace(download, true), err);
    }
    status = status == NC_OK ? nc_partial_open_folder(partial, folder, err) : status;
    if (status == NC_OK && is_named) {
        status = nc_partial_set_name(partial, last_of(path), err);
    }
    // With a configured folder, the partial file of a file that on_destination placed here has another name.
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
    nc_mailbox_put_answer(download->engine, &download->answer);
}

/// A resumed download keeps the name of its partial file. A download that begins again under another name removes the
/// old file.
static nc_status rename_part(nc_download *download) {
    nc_partial *partial = &download->partial;
    nc_slice name = nc_buf_slice(&download->head_name);
    if (partial->fd < 0 || nc_slice_is_equal(name, nc_slice_of(partial->name)) ||
        !is_directory(download, download->path)) {
        return NC_OK;
    }
    nc_partial_discard(partial);
    nc_files_close_locked(&partial->ops, &partial->fd);
    return nc_partial_set_name(partial, name, &download->job_error);
}

static nc_status open_target(nc_download *download) {
    nc_partial *partial = &download->partial;
    nc_error *err = &download->job_error;
    bool is_named = false;
    nc_status status = NC_OK;
    if (partial->part[0] == '\0') {
        status = nc_partial_set_name(partial, nc_buf_slice(&download->head_name), err);
    } else if (download->target == NULL && download->begins_anew) {
        status = rename_part(download);
    } else if (download->target == NULL) {
        // The name from an earlier head still applies, because the partial file has it.
        nc_buf_reset(&download->head_name);
        nc_buf_append(&download->head_name, nc_slice_of(partial->name));
        status = nc_buf_status(&download->head_name) == NC_OK ? NC_OK : no_memory(download);
    }
    const char *path = download->placed_path != NULL ? download->placed_path : download->path;
    status = status == NC_OK ? settle_target(download, path, &is_named) : status;
    if (status == NC_OK) {
        status = nc_partial_check_place(partial, download->target, may_replace(download, is_named), err);
        download->options.existing = may_replace(download, is_named) ? NC_EXISTING_REPLACE : NC_EXISTING_REFUSE;
    }
    if (status == NC_OK && download->begins_anew) {
        status = nc_partial_begin(partial, nc_buf_slice(&download->job_text), download->allocated_bytes, err);
        download->has_begun = partial->fd >= 0;
    }
    return status;
}

void nc_download_open(nc_work *work) {
    nc_download *download = NC_CONTAINER_OF(work, nc_download, work);
    (void)open_target(download);
    nc_mailbox_put_answer(download->engine, &download->answer);
}

void nc_download_claim(nc_work *work) {
    nc_download *download = NC_CONTAINER_OF(work, nc_download, work);
    (void)nc_partial_claim(&download->partial, nc_buf_slice(&download->job_text), &download->job_error);
    nc_mailbox_put_answer(download->engine, &download->answer);
}

/// Writes a checkpoint if the bytes are worth it, or removes an empty partial file.
static void leave(nc_download *download) {
    nc_error ignored; // The download's own error is more useful. The previous record stays valid.
    nc_partial *partial = &download->partial;
    bool has_text = download->job_text.length > 0;
    if (partial->fd < 0 || partial->part[0] == '\0') {
        return;
    }
    if (download->is_kept && has_text) {
        (void)nc_partial_claim(partial, nc_buf_slice(&download->job_text), &ignored);
    } else if (!download->is_kept) {
        nc_partial_discard(partial);
    }
}

static bool is_checked(bool is_wanted, const uint8_t *one, const uint8_t *other, size_t length) {
    return is_wanted && memcmp(one, other, length) == 0;
}

static void end(nc_download *download) {
    nc_partial *partial = &download->partial;
    nc_status status = NC_OK;
    if (!download->is_whole) {
        leave(download);
        return;
    }
    status = nc_partial_trim(partial, download->whole_bytes, &download->job_error);
    // If the digests of the caller and the server differ, one of them is wrong, and so is the file.
    status = status != NC_OK ? status : nc_partial_check(partial, &download->wanted, &download->job_error);
    if (status == NC_OK) {
        nc_download_digests left = download->digests;
        left.has_sha256 = left.has_sha256 && !is_checked(download->wanted.has_sha256, left.sha256,
                                                         download->wanted.sha256, NC_SHA256_BYTES);
        left.has_md5 =
            left.has_md5 && !is_checked(download->wanted.has_md5, left.md5, download->wanted.md5, NC_MD5_BYTES);
        status = nc_partial_check(partial, &left, &download->job_error);
    }
    if (status == NC_OK) {
        bool replaces = download->options.existing == NC_EXISTING_REPLACE;
        status = nc_partial_place(partial, download->target, replaces, &download->job_error);
    }
    download->is_kept = status != NC_OK && status != NC_ERR_DIGEST_MISMATCH && !download->is_coded;
    if (status != NC_OK) {
        leave(download);
    }
    download->is_kept = download->is_kept && partial->part[0] != '\0';
}

void nc_download_end(nc_work *work) {
    nc_download *download = NC_CONTAINER_OF(work, nc_download, work);
    end(download);
    // Closing may take a while, and releases the lock.
    nc_files_close_locked(&download->partial.ops, &download->partial.fd);
    nc_files_close_fd(&download->partial.ops, &download->partial.folder_fd);
    nc_mailbox_put_answer(download->engine, &download->answer);
}
