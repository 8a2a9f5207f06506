#include "base/alloc.h"
#include "base/error.h"
#include "net/description.h"
#include "net/download_state.h"
#include "net/engine_state.h"
#include "net/url_text.h"

#include <limits.h>
#include <netcore/transfers.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MAX_ERROR_BODY_BYTES = 1024 * 1024 };

/* --- creation --- */

static nc_status refuse(nc_error *err, const char *what) {
    return nc_error_set(err, NC_ERR_USAGE, 0, -1, "%s", what);
}

static nc_status check(const nc_download_options *options, const nc_download_sink *sink, nc_error *err) {
    const nc_request *request = options->request;
    if (request == NULL || sink->on_done == NULL) {
        return refuse(err, request == NULL ? "a download without a request" : "a sink without on_done");
    }
    nc_status status = nc_request_check(request, err);
    if (status != NC_OK) {
        return status;
    }
    bool is_get = request->method.length == 0 || nc_slice_is_equal(request->method, nc_slice_of("GET"));
    bool has_body = request->body.length > 0 || request->has_body || request->body_file.length > 0 ||
                    request->body_source.pull != NULL || request->multipart != NULL;
    if (!is_get || has_body) {
        return refuse(err, "a download is a GET without a body");
    }
    if (request->save_path.length > 0 || request->expectation != NULL) {
        return refuse(err, "a download has a place of its own, and no expectation");
    }
    if (options->path.length == 0 || memchr(options->path.data, 0, options->path.length) != NULL ||
        (options->partial_folder.length > 0 &&
         memchr(options->partial_folder.data, 0, options->partial_folder.length) != NULL)) {
        return refuse(err, "the path of a download is empty or holds a NUL");
    }
    if (options->segments > NC_DOWNLOAD_MAX_SEGMENTS) {
        return refuse(err, "more segments than NC_DOWNLOAD_MAX_SEGMENTS");
    }
    for (size_t i = 0; i < request->header_count; i++) {
        nc_slice name = request->headers[i].name;
        if (nc_slice_is_equal_ignoring_case(name, nc_slice_of("Range")) ||
            nc_slice_is_equal_ignoring_case(name, nc_slice_of("If-Range"))) {
            return refuse(err, "a download sends Range and If-Range itself");
        }
    }
    return NC_OK;
}

static char *copy_text(nc_slice text) {
    char *copy = nc_alloc(text.length + 1);
    if (copy != NULL) {
        if (text.length > 0) {
            memcpy(copy, text.data, text.length);
        }
        copy[text.length] = '\0';
    }
    return copy;
}

/// Returns the path as an absolute one, because the working directory may change during the download. `given_at` is
/// where the caller's path begins in it.
static char *copy_path(const char *base, nc_slice path, size_t *given_at) {
    nc_buf text = nc_buf_init(SIZE_MAX / 2);
    if (base != NULL && path.length > 0 && path.data[0] != '/') {
        nc_buf_append(&text, nc_slice_of(base));
        nc_buf_append(&text, nc_slice_of(base[strlen(base) - 1] == '/' ? "" : "/"));
    }
    *given_at = text.length;
    nc_buf_append(&text, path);
    char *copy = nc_buf_status(&text) == NC_OK ? copy_text(nc_buf_slice(&text)) : NULL;
    nc_buf_deinit(&text);
    return copy;
}

/// A coded response would arrive as ranges that do not fit together.
static void ask_for_identity(nc_kept_request *kept) {
    size_t count = 0;
    for (size_t i = 0; i < kept->request.header_count; i++) {
        if (!nc_slice_is_equal_ignoring_case(kept->headers[i].name, nc_slice_of("Accept-Encoding"))) {
            kept->headers[count++] = kept->headers[i];
        }
    }
    kept->request.header_count = count;
    kept->request.accepts_codings = false;
    kept->request.may_pause = true;
    if (kept->request.limits.total_ms == 0) {
        kept->request.limits.total_ms = NC_DOWNLOAD_DEFAULT_TOTAL_MS;
    }
    if (kept->request.limits.max_body_bytes == 0) {
        kept->request.limits.max_body_bytes = NC_UNLIMITED_BYTES;
    }
}

static void take_url(nc_download *download, nc_slice url) {
    size_t at = 0;
    size_t length = 0;
    nc_url_find_credentials(url, &at, &length);
    nc_buf_append(&download->url_text, nc_slice_make(url.data, at));
    nc_buf_append(&download->url_text, nc_slice_make(url.data + at + length, url.length - at - length));
    download->url = nc_buf_slice(&download->url_text);
}

static void take_digests(nc_download *download, const nc_download_options *options) {
    if (options->sha256 != NULL) {
        download->wanted.has_sha256 = true;
        memcpy(download->wanted.sha256, options->sha256, NC_SHA256_BYTES);
    }
    if (options->md5 != NULL) {
        download->wanted.has_md5 = true;
        memcpy(download->wanted.md5, options->md5, NC_MD5_BYTES);
    }
}

static nc_download *make(nc_engine *engine, const nc_download_options *options, const nc_download_sink *sink) {
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
    download->job_text = nc_buf_init(NC_RECORD_MAX_BYTES);
    download->recorded.texts = nc_buf_init(NC_RECORD_MAX_BYTES);
    download->head_name = nc_buf_init(NC_RECORD_MAX_BYTES);
    download->error_body = nc_buf_init(MAX_ERROR_BODY_BYTES);
    download->texts = nc_buf_init(0);
    atomic_init(&download->is_cancelled, false);
    nc_partial_init(&download->partial, &engine->files, options->skips_sync, &download->is_cancelled);
    download->order_answer.arrive = nc_download_obey;
    (void)nc_error_clear(&download->error);
    take_digests(download, options);
    take_url(download, options->request->url);
    bool has_base = getcwd(folder, sizeof folder) != NULL;
    size_t ignored;
    download->base = has_base ? copy_text(nc_slice_of(folder)) : NULL;
    download->path = copy_path(download->base, options->path, &download->given_at);
    download->folder =
        options->partial_folder.length > 0 ? copy_path(download->base, options->partial_folder, &ignored) : NULL;
    bool is_made = (!has_base || download->base != NULL) && download->path != NULL &&
                   (options->partial_folder.length == 0 || download->folder != NULL) &&
                   nc_buf_status(&download->url_text) == NC_OK &&
                   nc_kept_request_init(&download->kept, options->request) == NC_OK;
    if (!is_made) {
        nc_download_free(download);
        return NULL;
    }
    ask_for_identity(&download->kept);
    return download;
}

void nc_download_free(nc_download *download) {
    nc_download_free_segments(download);
    nc_partial_deinit(&download->partial);
    nc_kept_request_deinit(&download->kept);
    nc_response_release(download->response);
    nc_buf_deinit(&download->url_text);
    nc_buf_deinit(&download->job_text);
    nc_buf_deinit(&download->recorded.texts);
    nc_buf_deinit(&download->head_name);
    nc_buf_deinit(&download->error_body);
    nc_buf_deinit(&download->texts);
    nc_free(download->recorded_sums);
    nc_free(download->path);
    nc_free(download->base);
    nc_free(download->folder);
    nc_free(download->target);
    nc_free(download->placed_path);
    nc_free(download->ordered_path);
    nc_free(download);
}

nc_status nc_download_start(nc_engine *engine, const nc_download_options *options, const nc_download_sink *sink,
                            nc_download_id *out, nc_error *err) {
    nc_status status = check(options, sink, err);
    if (status != NC_OK) {
        return status;
    }
    nc_download *download = make(engine, options, sink);
    if (download == NULL) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a download");
    }
    pthread_mutex_lock(&engine->shared.mutex);
    bool is_open = !engine->shared.mailbox.is_closing && !engine->shared.mailbox.is_finishing;
    if (is_open) {
        download->is_working = true; // From here on the event loop may use it.
        download->id = ++engine->shared.last_download_id;
        *out = download->id;
        nc_list_append(&engine->shared.downloads, &download->link);
        // The event loop, its worker thread and the engine stay alive until this call returns.
        engine->shared.download_count++;
        atomic_fetch_add_explicit(&engine->references, 1, memory_order_relaxed);
    }
    pthread_mutex_unlock(&engine->shared.mutex);
    if (!is_open) {
        nc_download_free(download);
        return nc_error_set(err, NC_ERR_CLOSED, 0, -1, "%s", nc_status_text(NC_ERR_CLOSED));
    }
    nc_download_work(download, nc_download_prepare, nc_download_prepared);
    nc_engine_drop(engine);
    return nc_error_clear(err);
}

static nc_slice partial_path(const nc_download *download, nc_buf *room) {
    const nc_partial *partial = &download->partial;
    bool has_record = download->recorded.is_good || download->has_begun;
    if (!download->is_kept || !has_record || partial->part[0] == '\0' || partial->folder == NULL) {
        return nc_slice_of("");
    }
    nc_buf_append(room, nc_slice_of(partial->folder));
    nc_buf_append(room, nc_slice_of("/"));
    nc_buf_append(room, nc_slice_of(partial->part));
    return nc_buf_slice(room);
}

void nc_download_finish(nc_download *download) {
    nc_engine *engine = download->engine;
    nc_buf room = nc_buf_init(SIZE_MAX / 2);
    nc_download_tell(download, true);
    pthread_mutex_lock(&engine->shared.mutex);
    nc_list_remove(&download->link);
    nc_list_remove(&download->order_answer.link);
    engine->shared.download_count--;
    pthread_mutex_unlock(&engine->shared.mutex);
    engine->loop.download_count--;
    engine->loop.has_ended_some = true;
    const nc_download_result result = {
        .path = nc_slice_of(nc_download_destination(download) + download->given_at),
        .partial_path = partial_path(download, &room),
        .byte_count = nc_download_held(download),
        .resumed_bytes = download->resumed_bytes,
    };
    download->sink.on_done(download->sink.ctx, download->id, download->response, &result, &download->error);
    nc_buf_deinit(&room);
    nc_download_free(download);
}

/* --- orders --- */

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

/// Returns the commands that a newer command replaces.
static uint8_t outdated(uint8_t order) {
    return order == NC_DOWNLOAD_ORDER_PAUSE      ? NC_DOWNLOAD_ORDER_RESUME
           : order == NC_DOWNLOAD_ORDER_RESUME   ? NC_DOWNLOAD_ORDER_PAUSE
           : order == NC_DOWNLOAD_ORDER_PLACE    ? NC_DOWNLOAD_ORDER_MISPLACE
           : order == NC_DOWNLOAD_ORDER_MISPLACE ? NC_DOWNLOAD_ORDER_PLACE
                                                 : 0;
}

static void leave_order(nc_engine *engine, nc_download_id id, uint8_t order, nc_priority priority, char *path) {
    bool needs_wake = false;
    pthread_mutex_lock(&engine->shared.mutex);
    nc_download *download = find(engine, id);
    if (download != NULL) {
        if (order == NC_DOWNLOAD_ORDER_CANCEL) {
            atomic_store_explicit(&download->is_cancelled, true, memory_order_relaxed);
        } else if (order == NC_DOWNLOAD_ORDER_PRIORITY) {
            download->ordered_priority = priority;
        } else if (order == NC_DOWNLOAD_ORDER_PLACE || order == NC_DOWNLOAD_ORDER_MISPLACE) {
            char *before = download->ordered_path;
            download->ordered_path = path;
            path = before;
        }
        download->orders = (uint8_t)((download->orders & ~outdated(order)) | order);
        if (!download->is_order_listed) {
            download->is_order_listed = true;
            nc_list_append(&engine->shared.mailbox.answers, &download->order_answer.link);
            needs_wake = nc_mailbox_needs_wake(engine);
        }
    }
    pthread_mutex_unlock(&engine->shared.mutex);
    if (needs_wake) {
        nc_mailbox_wake(&engine->shared.mailbox);
    }
    nc_free(path);
}

static void pause_all(nc_download *download, bool is_paused) {
    download->is_paused = is_paused;
    for (size_t i = 0; i < download->segment_count; i++) {
        nc_transfer_id id = download->segments[i]->transfer;
        if (id != 0 && is_paused) {
            nc_engine_pause(download->engine, id);
        } else if (id != 0) {
            nc_engine_resume_from(download->engine, id, NC_REST_PAUSED);
        }
    }
}

static void rank_all(nc_download *download, nc_priority priority) {
    download->kept.request.priority = priority;
    for (size_t i = 0; i < download->segment_count; i++) {
        if (download->segments[i]->transfer != 0) {
            nc_engine_set_priority(download->engine, download->segments[i]->transfer, priority);
        }
    }
}

/// Applies the path. It is NULL if memory was exhausted or it `is_misplaced`.
static void place(nc_download *download, char *path, bool is_misplaced) {
    if (download->phase != NC_DOWNLOAD_PLACING || download->has_failed) {
        nc_free(path);
        return;
    }
    if (is_misplaced) {
        nc_download_fail_with(download, NC_ERR_USAGE, "the path of a download holds a NUL");
        return;
    }
    if (path == NULL) {
        nc_download_fail_with(download, NC_ERR_NO_MEMORY, "no memory for a path");
        return;
    }
    size_t given_at = 0;
    bool is_new = path[0] != '\0';
    char *whole = is_new ? copy_path(download->base, nc_slice_of(path), &given_at) : NULL;
    nc_free(path);
    if (is_new && whole == NULL) {
        nc_download_fail_with(download, NC_ERR_NO_MEMORY, "no memory for a path");
        return;
    }
    if (is_new) {
        nc_free(download->target); // It belonged to the previous path.
        download->target = NULL;
        download->placed_path = whole;
        download->given_at = given_at;
    }
    nc_download_place_known(download);
}

void nc_download_obey(nc_answer *answer) {
    nc_download *download = NC_CONTAINER_OF(answer, nc_download, order_answer);
    pthread_mutex_lock(&download->engine->shared.mutex);
    uint8_t orders = download->orders;
    char *path = download->ordered_path;
    nc_priority priority = download->ordered_priority;
    download->orders = 0;
    download->ordered_path = NULL;
    download->is_order_listed = false;
    pthread_mutex_unlock(&download->engine->shared.mutex);
    if ((orders & NC_DOWNLOAD_ORDER_PRIORITY) != 0) {
        rank_all(download, priority);
    }
    if ((orders & (NC_DOWNLOAD_ORDER_PAUSE | NC_DOWNLOAD_ORDER_RESUME)) != 0) {
        pause_all(download, (orders & NC_DOWNLOAD_ORDER_PAUSE) != 0);
    }
    if ((orders & (NC_DOWNLOAD_ORDER_PLACE | NC_DOWNLOAD_ORDER_MISPLACE)) != 0) {
        place(download, path, (orders & NC_DOWNLOAD_ORDER_MISPLACE) != 0);
    }
    if ((orders & NC_DOWNLOAD_ORDER_CANCEL) != 0 && download->phase != NC_DOWNLOAD_ENDING) {
        nc_download_fail_with(download, NC_ERR_CANCELLED, nc_status_text(NC_ERR_CANCELLED));
    }
    nc_download_step_on(download);
}

void nc_download_cancel_all(nc_engine *engine) {
    nc_link *next;
    for (nc_link *link = engine->shared.downloads.next; link != &engine->shared.downloads; link = next) {
        nc_download *download = NC_CONTAINER_OF(link, nc_download, link);
        next = link->next;
        atomic_store_explicit(&download->is_cancelled, true, memory_order_relaxed);
        if (download->phase != NC_DOWNLOAD_ENDING) {
            nc_download_fail_with(download, NC_ERR_CANCELLED, "the engine was released");
            nc_download_step_on(download);
        }
    }
}

void nc_download_cancel(nc_engine *engine, nc_download_id id) {
    leave_order(engine, id, NC_DOWNLOAD_ORDER_CANCEL, NC_PRIORITY_NORMAL, NULL);
}

void nc_download_pause(nc_engine *engine, nc_download_id id) {
    leave_order(engine, id, NC_DOWNLOAD_ORDER_PAUSE, NC_PRIORITY_NORMAL, NULL);
}

void nc_download_resume(nc_engine *engine, nc_download_id id) {
    leave_order(engine, id, NC_DOWNLOAD_ORDER_RESUME, NC_PRIORITY_NORMAL, NULL);
}

void nc_download_set_priority(nc_engine *engine, nc_download_id id, nc_priority priority) {
    if (priority == NC_PRIORITY_NORMAL || priority == NC_PRIORITY_HIGH || priority == NC_PRIORITY_LOW) {
        leave_order(engine, id, NC_DOWNLOAD_ORDER_PRIORITY, priority, NULL);
    }
}

void nc_download_place(nc_engine *engine, nc_download_id id, nc_slice path) {
    bool has_nul = path.length > 0 && memchr(path.data, 0, path.length) != NULL;
    // Failures are passed on, because only the event loop knows whether a destination was requested.
    leave_order(engine, id, has_nul ? NC_DOWNLOAD_ORDER_MISPLACE : NC_DOWNLOAD_ORDER_PLACE, NC_PRIORITY_NORMAL,
                has_nul ? NULL : copy_text(path));
}
