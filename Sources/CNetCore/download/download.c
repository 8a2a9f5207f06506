/// The public functions of downloads, their commands, and a download's lifetime.
#include "base/alloc.h"
#include "base/error.h"
#include "base/list.h"
#include "download/internal.h"
#include "http/url_text.h"
#include "request/request_copy.h"
#include "request/response.h"
#include "state/engine_record.h"
#include "state/mailbox.h"

#include <limits.h>
#include <netcore/transfers.h>
#include <string.h>
#include <unistd.h>

/// MORE_FIELDS is the number of fields that a download adds to a request: Range, If-Range, Accept-Encoding.
enum { MORE_FIELDS = 3, MAX_ERROR_BODY_BYTES = 1024 * 1024 };

/// Commands of a download; a bit set.
enum { COMMAND_PAUSE = 1, COMMAND_RESUME = 2, COMMAND_PRIORITY = 4, COMMAND_CANCEL = 8 };
enum { COMMAND_SET_DESTINATION = 16, COMMAND_REFUSE_DESTINATION = 32 };

/* --- options --- */

static nc_status refuse(nc_error *err, const char *what) {
    return nc_error_set(err, NC_ERR_USAGE, 0, -1, "%s", what);
}

static nc_status check(const nc_download_options *options, const nc_download_sink *sink, nc_error *err) {
    const nc_request *request = options->request;
    if (request == NULL || sink->on_done == NULL) {
        return refuse(err,
                      request == NULL ? "the request of the download is NULL" : "the sink has no on_done callback");
    }
    nc_status status = nc_request_check(request, err);
    if (status != NC_OK) {
        return status;
    }
    bool is_get = request->method.length == 0 || nc_slice_is_equal(request->method, nc_slice_of("GET"));
    bool has_body = request->body.length > 0 || request->has_body || request->body_file.length > 0 ||
                    request->body_source.pull != NULL || request->multipart != NULL;
    if (!is_get || has_body) {
        return refuse(err, "a download must be a GET request without a body");
    }
    if (request->save_path.length > 0 || request->expectation != NULL) {
        return refuse(err, "a download has its own path, and no expectation: save_path and expectation must be empty");
    }
    if (options->path.length == 0 || memchr(options->path.data, 0, options->path.length) != NULL ||
        (options->partial_folder.length > 0 &&
         memchr(options->partial_folder.data, 0, options->partial_folder.length) != NULL)) {
        return refuse(err, "the path of a download is empty or contains a NUL byte");
    }
    if (options->segments > NC_DOWNLOAD_MAX_SEGMENTS) {
        return refuse(err, "the number of segments exceeds NC_DOWNLOAD_MAX_SEGMENTS");
    }
    for (size_t i = 0; i < request->header_count; i++) {
        nc_slice name = request->headers[i].name;
        if (nc_slice_is_equal_ignoring_case(name, nc_slice_of("Range")) ||
            nc_slice_is_equal_ignoring_case(name, nc_slice_of("If-Range"))) {
            return refuse(err, "the headers Range and If-Range of a download are set by the library: remove them");
        }
    }
    return NC_OK;
}

/* --- lifetime --- */

/// Returns a copy as a C string; NULL if memory is exhausted. The caller frees it.
static char *new_text(nc_slice text) {
    char *copy = nc_alloc(text.length + 1);
    if (copy != NULL) {
        memcpy(copy, text.length > 0 ? (const char *)text.data : "", text.length);
        copy[text.length] = '\0';
    }
    return copy;
}

/// Returns the absolute path, because the working directory may change during the download. Sets `path_offset` to the
/// offset at which `path` begins in the result. Returns NULL if memory is exhausted. The caller frees it.
static char *absolute_path(const char *base, nc_slice path, size_t *path_offset) {
    nc_buf text = nc_buf_init(SIZE_MAX / 2);
    if (base != NULL && path.length > 0 && path.data[0] != '/') {
        nc_buf_append(&text, nc_slice_of(base));
        nc_buf_append(&text, nc_slice_of(base[strlen(base) - 1] == '/' ? "" : "/"));
    }
    *path_offset = text.length;
    nc_buf_append(&text, path);
    char *copy = nc_buf_status(&text) == NC_OK ? new_text(nc_buf_slice(&text)) : NULL;
    nc_buf_deinit(&text);
    return copy;
}

/// Removes the caller's Accept-Encoding, because byte ranges of a compressed response cannot be joined. Sets the
/// default limits.
static void set_request_defaults(nc_request_template *copy) {
    size_t count = 0;
    for (size_t i = 0; i < copy->request.header_count; i++) {
        if (!nc_slice_is_equal_ignoring_case(copy->headers[i].name, nc_slice_of("Accept-Encoding"))) {
            copy->headers[count++] = copy->headers[i];
        }
    }
    copy->request.header_count = count;
    copy->request.accepts_codings = false;
    copy->request.accepts_transfer_codings = false;
    copy->request.may_pause = true;
    if (copy->request.limits.total_ms == 0) {
        copy->request.limits.total_ms = NC_DOWNLOAD_DEFAULT_TOTAL_MS;
    }
    if (copy->request.limits.max_body_bytes == 0) {
        copy->request.limits.max_body_bytes = NC_UNLIMITED_BYTES;
    }
}

static void copy_url(nc_download *download, nc_slice url) {
    size_t at = 0;
    size_t length = 0;
    nc_url_find_credentials(url, &at, &length);
    nc_buf_append(&download->url_text, nc_slice_make(url.data, at));
    nc_buf_append(&download->url_text, nc_slice_make(url.data + at + length, url.length - at - length));
    download->url = nc_buf_slice(&download->url_text);
}

static void copy_digests(nc_download *download, const nc_download_options *options) {
    if (options->sha256 != NULL) {
        download->expected_digests.has_sha256 = true;
        memcpy(download->expected_digests.sha256, options->sha256, NC_SHA256_BYTES);
    }
    if (options->md5 != NULL) {
        download->expected_digests.has_md5 = true;
        memcpy(download->expected_digests.md5, options->md5, NC_MD5_BYTES);
    }
}

static void free_download(nc_download *download) {
    nc_download_free_segments(download);
    nc_partial_deinit(&download->partial);
    nc_request_template_deinit(&download->request_template);
    nc_response_release(download->response);
    nc_buf_deinit(&download->url_text);
    nc_buf_deinit(&download->task_record);
    nc_buf_deinit(&download->recorded.texts);
    nc_buf_deinit(&download->head_name);
    nc_buf_deinit(&download->error_body);
    nc_buf_deinit(&download->texts);
    nc_free(download->recorded_sums);
    nc_free(download->path);
    nc_free(download->base);
    nc_free(download->folder);
    nc_free(download->target);
    nc_free(download->chosen_path);
    nc_free(download->commanded_path);
    nc_free(download);
}

static nc_download *new_download(nc_engine *engine, const nc_download_options *options, const nc_download_sink *sink) {
    char folder[PATH_MAX];
    nc_download *download = nc_alloc_zeroed(1, sizeof *download);
    if (download == NULL) {
        return NULL;
    }
    download->engine = engine;
    download->sink = *sink;
    download->options = *options;
    download->total = NC_LENGTH_UNKNOWN;
    download->url_text = nc_buf_init(SIZE_MAX / 2);
    download->task_record = nc_buf_init(NC_RECORD_MAX_BYTES);
    download->recorded.texts = nc_buf_init(NC_RECORD_MAX_BYTES);
    download->head_name = nc_buf_init(NC_RECORD_MAX_BYTES);
    download->error_body = nc_buf_init(MAX_ERROR_BODY_BYTES);
    download->texts = nc_buf_init(0);
    atomic_init(&download->is_cancelled, false);
    nc_partial_init(&download->partial, &engine->files, options->skips_sync, &download->is_cancelled);
    (void)nc_error_clear(&download->error);
    copy_digests(download, options);
    copy_url(download, options->request->url);
    bool has_base = getcwd(folder, sizeof folder) != NULL;
    size_t ignored;
    download->base = has_base ? new_text(nc_slice_of(folder)) : NULL;
    download->path = absolute_path(download->base, options->path, &download->path_offset);
    download->folder =
        options->partial_folder.length > 0 ? absolute_path(download->base, options->partial_folder, &ignored) : NULL;
    bool is_complete = (!has_base || download->base != NULL) && download->path != NULL &&
                       (options->partial_folder.length == 0 || download->folder != NULL) &&
                       nc_buf_status(&download->url_text) == NC_OK &&
                       nc_request_template_init(&download->request_template, options->request, MORE_FIELDS) == NC_OK;
    if (!is_complete) {
        free_download(download);
        return NULL;
    }
    set_request_defaults(&download->request_template);
    return download;
}

/* --- commands --- */

/// Returns the download of this id. The caller holds the mutex.
static nc_download *find(nc_engine *engine, nc_download_id id) {
    for (nc_link *link = engine->shared.downloads.next; link != &engine->shared.downloads; link = link->next) {
        nc_download *download = NC_CONTAINER_OF(link, nc_download, link);
        if (download->id == id) {
            return download;
        }
    }
    return NULL;
}

/// Returns the older commands that a new command replaces.
static uint8_t replaced_by(uint8_t command) {
    return command == COMMAND_PAUSE                ? COMMAND_RESUME
           : command == COMMAND_RESUME             ? COMMAND_PAUSE
           : command == COMMAND_SET_DESTINATION    ? COMMAND_REFUSE_DESTINATION
           : command == COMMAND_REFUSE_DESTINATION ? COMMAND_SET_DESTINATION
                                                   : 0;
}

static void post_command(nc_engine *engine, nc_download_id id, uint8_t command, nc_priority priority, char *path) {
    bool needs_wake = false;
    pthread_mutex_lock(&engine->shared.mutex);
    nc_download *download = find(engine, id);
    if (download != NULL) {
        if (command == COMMAND_CANCEL) {
            atomic_store_explicit(&download->is_cancelled, true, memory_order_relaxed);
        } else if (command == COMMAND_PRIORITY) {
            download->commanded_priority = priority;
        } else if (command == COMMAND_SET_DESTINATION || command == COMMAND_REFUSE_DESTINATION) {
            char *before = download->commanded_path;
            download->commanded_path = path;
            path = before;
        }
        download->commands = (uint8_t)((download->commands & ~replaced_by(command)) | command);
        if (!download->is_command_listed) {
            download->is_command_listed = true;
            nc_list_append(&engine->shared.mailbox.results, &download->command_result.link);
            needs_wake = nc_mailbox_needs_wake(engine);
        }
    }
    pthread_mutex_unlock(&engine->shared.mutex);
    if (needs_wake) {
        nc_mailbox_wake(&engine->shared.mailbox);
    }
    nc_free(path);
}

/// Processes the destination that the application chose, and frees `path`. An empty path keeps the given destination.
/// `path` is NULL if it contained a NUL byte (`has_nul`), or if memory was exhausted.
static void set_destination(nc_download *download, char *path, bool has_nul) {
    if (download->phase != NC_DOWNLOAD_AWAITING_DESTINATION || download->has_failed) {
        nc_free(path);
        return;
    }
    size_t path_offset = 0;
    bool is_new = path != NULL && path[0] != '\0';
    char *whole = is_new ? absolute_path(download->base, nc_slice_of(path), &path_offset) : NULL;
    bool is_lost = path == NULL || (is_new && whole == NULL);
    nc_free(path);
    if (has_nul || is_lost) {
        nc_download_fail_with(download, has_nul ? NC_ERR_USAGE : NC_ERR_NO_MEMORY,
                              has_nul ? "the path of a download contains a NUL byte" : "no memory for a path");
        return;
    }
    if (is_new) {
        nc_free(download->target); // It belonged to the previous path.
        download->target = NULL;
        download->chosen_path = whole;
        download->path_offset = path_offset;
    }
    nc_download_destination_known(download);
}

static void apply_commands(nc_worker_result *result) {
    nc_download *download = NC_CONTAINER_OF(result, nc_download, command_result);
    pthread_mutex_lock(&download->engine->shared.mutex);
    uint8_t commands = download->commands;
    char *path = download->commanded_path;
    nc_priority priority = download->commanded_priority;
    download->commands = 0;
    download->commanded_path = NULL;
    download->is_command_listed = false;
    pthread_mutex_unlock(&download->engine->shared.mutex);
    if ((commands & COMMAND_PRIORITY) != 0) {
        nc_download_set_transfer_priority(download, priority);
    }
    if ((commands & (COMMAND_PAUSE | COMMAND_RESUME)) != 0) {
        nc_download_pause_transfers(download, (commands & COMMAND_PAUSE) != 0);
    }
    if ((commands & (COMMAND_SET_DESTINATION | COMMAND_REFUSE_DESTINATION)) != 0) {
        set_destination(download, path, (commands & COMMAND_REFUSE_DESTINATION) != 0);
    }
    if ((commands & COMMAND_CANCEL) != 0 && download->phase != NC_DOWNLOAD_ENDING) {
        nc_download_fail_with(download, NC_ERR_CANCELLED, nc_status_text(NC_ERR_CANCELLED));
    }
    nc_download_advance(download);
}

static void cancel_all(nc_engine *engine) {
    nc_link *next;
    for (nc_link *link = engine->shared.downloads.next; link != &engine->shared.downloads; link = next) {
        nc_download *download = NC_CONTAINER_OF(link, nc_download, link);
        next = link->next;
        atomic_store_explicit(&download->is_cancelled, true, memory_order_relaxed);
        if (download->phase != NC_DOWNLOAD_ENDING) {
            nc_download_fail_with(download, NC_ERR_CANCELLED, "the engine was released");
            nc_download_advance(download);
        }
    }
}

/* --- end --- */

/// Returns the path of the partial file if a later download can resume it; otherwise empty text. `room` is the storage
/// of the path.
static nc_slice partial_path(const nc_download *download, nc_buf *room) {
    const nc_partial *partial = &download->partial;
    bool has_record = download->recorded.is_good || download->has_begun;
    if (!download->keeps_partial_file || !has_record || partial->part[0] == '\0' || partial->folder == NULL) {
        return nc_slice_of("");
    }
    nc_buf_append(room, nc_slice_of(partial->folder));
    nc_buf_append(room, nc_slice_of("/"));
    nc_buf_append(room, nc_slice_of(partial->part));
    return nc_buf_slice(room);
}

/// Calls on_done and frees the download.
static void finish(nc_download *download) {
    nc_engine *engine = download->engine;
    nc_buf room = nc_buf_init(SIZE_MAX / 2);
    nc_download_report_progress(download, true);
    pthread_mutex_lock(&engine->shared.mutex);
    nc_list_remove(&download->link);
    nc_list_remove(&download->command_result.link);
    engine->shared.download_count--;
    pthread_mutex_unlock(&engine->shared.mutex);
    engine->loop.download_count--;
    engine->loop.has_ended_some = true;
    const nc_download_result result = {
        .path = nc_slice_of(nc_download_destination(download) + download->path_offset),
        .partial_path = partial_path(download, &room),
        .byte_count = nc_download_stored_bytes(download),
        .resumed_bytes = download->resumed_bytes,
    };
    download->sink.on_done(download->sink.ctx, download->id, download->response, &result, &download->error);
    nc_buf_deinit(&room);
    free_download(download);
}

/* --- public functions --- */

nc_status nc_download_start(nc_engine *engine, const nc_download_options *options, const nc_download_sink *sink,
                            nc_download_id *out, nc_error *err) {
    nc_status status = check(options, sink, err);
    if (status != NC_OK) {
        return status;
    }
    nc_download *download = new_download(engine, options, sink);
    if (download == NULL) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a download");
    }
    download->command_result.arrive = apply_commands;
    download->ended = finish;
    pthread_mutex_lock(&engine->shared.mutex);
    bool is_open = !engine->shared.mailbox.is_closing && !engine->shared.mailbox.is_finishing;
    if (is_open) {
        download->is_working = true; // As soon as the mutex is released, the event loop may use the download.
        download->id = ++engine->shared.last_download_id;
        *out = download->id;
        nc_list_append(&engine->shared.downloads, &download->link);
        engine->shared.cancel_downloads = cancel_all;
        // These counts keep the event loop, its worker thread and the engine alive until this function returns.
        engine->shared.download_count++;
        atomic_fetch_add_explicit(&engine->references, 1, memory_order_relaxed);
    }
    pthread_mutex_unlock(&engine->shared.mutex);
    if (!is_open) {
        free_download(download);
        return nc_error_set(err, NC_ERR_CLOSED, 0, -1, "%s", nc_status_text(NC_ERR_CLOSED));
    }
    nc_download_run(download);
    nc_engine_drop(engine);
    return nc_error_clear(err);
}

void nc_download_cancel(nc_engine *engine, nc_download_id id) {
    post_command(engine, id, COMMAND_CANCEL, NC_PRIORITY_NORMAL, NULL);
}

void nc_download_pause(nc_engine *engine, nc_download_id id) {
    post_command(engine, id, COMMAND_PAUSE, NC_PRIORITY_NORMAL, NULL);
}

void nc_download_resume(nc_engine *engine, nc_download_id id) {
    post_command(engine, id, COMMAND_RESUME, NC_PRIORITY_NORMAL, NULL);
}

void nc_download_set_priority(nc_engine *engine, nc_download_id id, nc_priority priority) {
    if (priority == NC_PRIORITY_NORMAL || priority == NC_PRIORITY_HIGH || priority == NC_PRIORITY_LOW) {
        post_command(engine, id, COMMAND_PRIORITY, priority, NULL);
    }
}

void nc_download_set_destination(nc_engine *engine, nc_download_id id, nc_slice path) {
    bool has_nul = path.length > 0 && memchr(path.data, 0, path.length) != NULL;
    // A bad path is also sent as a command, because only the event loop knows whether a destination was requested.
    post_command(engine, id, has_nul ? COMMAND_REFUSE_DESTINATION : COMMAND_SET_DESTINATION, NC_PRIORITY_NORMAL,
                 has_nul ? NULL : new_text(path));
}
