#include "state/cookies.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/trace.h"
#include "http/cookie.h"
#include "http/cookie_jar.h"
#include "http/url_text.h"
#include "request/request_copy.h"
#include "request/response.h"
#include "state/engine_record.h"
#include "state/mailbox.h"
#include "state/state_file_writer.h"
#include "state/transfer_state.h"
#include "text/host.h"

#include <netcore/cookies.h>
#include <netcore/url.h>
#include <string.h>

_Static_assert(NC_MAX_COOKIES == NC_JAR_MAX_COOKIES && NC_MAX_COOKIES_PER_DOMAIN == NC_JAR_MAX_COOKIES_PER_SITE &&
                   NC_MAX_COOKIE_BYTES == NC_JAR_MAX_BYTES &&
                   NC_MAX_COOKIE_BYTES_PER_DOMAIN == NC_JAR_MAX_BYTES_PER_SITE &&
                   NC_MAX_SENT_COOKIES == NC_JAR_MAX_SENT_COOKIES && NC_MAX_SENT_COOKIE_BYTES == NC_JAR_MAX_SENT_BYTES,
               "the jar's limits are the documented ones");

enum { MAX_TEXT_BYTES = 16 * 1024 * 1024 };

bool nc_cookies_init(nc_cookies *cookies) {
    nc_cookie_jar_init(&cookies->jar);
    return pthread_mutex_init(&cookies->mutex, NULL) == 0;
}

void nc_cookies_deinit(nc_cookies *cookies) {
    nc_cookie_jar_deinit(&cookies->jar);
    nc_state_file_writer_deinit(&cookies->file);
    pthread_mutex_destroy(&cookies->mutex);
}

/* --- as text --- */

/// Lists all cookies in the order of their creation. The mutex is held only while pointers are copied.
static nc_status list_cookies(nc_cookie_list *out, nc_engine *engine) {
    pthread_mutex_lock(&engine->cookies.mutex);
    nc_status status = nc_cookie_jar_list(&engine->cookies.jar, nc_engine_now_s(engine), out);
    pthread_mutex_unlock(&engine->cookies.mutex);
    nc_cookie_list_sort(out);
    return status;
}

/// Appends the lines of all cookies. The mutex is not held while they are written.
static nc_status append_lines(nc_buf *out, nc_engine *engine) {
    nc_cookie_list list;
    nc_status status = list_cookies(&list, engine);
    for (size_t i = 0; i < list.count; i++) {
        nc_cookie_lines_append(out, list.cookies[i]);
    }
    nc_cookie_list_deinit(&list);
    return status == NC_OK ? nc_buf_status(out) : status;
}

/// Writes the file's text. Called on the worker thread, and when the engine ends on the event loop thread.
static nc_status write_file(nc_buf *out, nc_engine *engine) {
    nc_buf_append(out,
                  nc_slice_of("# Netscape HTTP Cookie File\n# Written by NetKit; changes made here are lost.\n\n"));
    return append_lines(out, engine);
}

/// Adds the cookies of a valid text.
static nc_status put_lines(nc_engine *engine, nc_slice text, bool *has_changed) {
    nc_cookies *cookies = &engine->cookies;
    int64_t now_s = nc_engine_now_s(engine);
    nc_status status = NC_OK;
    nc_slice line;
    while (status == NC_OK && nc_cookie_lines_next(&line, &text)) {
        pthread_mutex_lock(&cookies->mutex);
        status = cookies->is_sealed ? NC_ERR_CLOSED : nc_cookie_lines_put(&cookies->jar, line, now_s, has_changed);
        cookies->has_unsaved = cookies->has_unsaved || *has_changed;
        pthread_mutex_unlock(&cookies->mutex);
    }
    return status;
}

nc_status nc_cookies_read(nc_engine *engine, nc_error *notified) {
    nc_error own;
    nc_error *err = notified != NULL ? notified : &own;
    nc_state_file_writer *file = &engine->cookies.file;
    nc_cookie_fault fault;
    bool has_changed = false;
    nc_state_file_writer_init(file, engine, engine->state.cookies == NC_COOKIES_FILE ? engine->state.cookie_file : NULL,
                              NULL);
    nc_state_file_writer_write_on_worker(file, write_file);
    nc_status status = nc_state_file_writer_read(file, err);
    if (status == NC_OK && !nc_cookie_lines_are_good(nc_buf_slice(&file->text), false, &fault)) {
        return nc_error_set(err, NC_ERR_FILE, 0, (int64_t)fault.offset,
                            "'%.96s' is not a cookie file: line %zu is not a cookie", file->path, fault.line);
    }
    if (status == NC_OK) {
        status = put_lines(engine, nc_buf_slice(&file->text), &has_changed);
        nc_buf_reset(&file->text);
        engine->cookies.has_unsaved = false;
        status = status == NC_OK ? NC_OK : nc_error_set(err, status, 0, -1, "no memory for the cookies of a file");
    }
    return status;
}

/* --- cookie targets --- */

/// The context of a request for the cookie rules. Its host may point into the struct, so it must not be moved.
typedef struct found_context {
    nc_cookie_context context;
    nc_canonical_host named;
    nc_buf url; // the URL without dot segments
} found_context;

static bool has_dot_segment(nc_slice path) {
    for (size_t i = 1; i < path.length; i++) {
        if (path.data[i] == '.' && path.data[i - 1] == '/') {
            return true;
        }
    }
    return false;
}

/// Returns a Host field such as "name:80" or "[::1]:80" without the port.
static nc_slice without_port(nc_slice host) {
    const uint8_t *end = host.length > 0 ? memchr(host.data, host.data[0] == '[' ? ']' : ':', host.length) : NULL;
    size_t length = end == NULL ? host.length : (size_t)(end - host.data) + (host.data[0] == '[' ? 1 : 0);
    return nc_slice_make(host.data, length);
}

static bool is_localhost(nc_slice host) {
    return nc_slice_is_equal(host, nc_slice_of("localhost")) || nc_slice_is_equal(host, nc_slice_of("127.0.0.1")) ||
           nc_slice_is_equal(host, nc_slice_of("::1"));
}

/// Finds the cookie context of a request for `url`. `host` is the caller's Host field, or empty. Returns NC_OK,
/// NC_ERR_BAD_URL, NC_ERR_BAD_SCHEME, NC_ERR_NO_MEMORY. The caller releases the context in every case.
static nc_status find_context(found_context *out, const nc_engine *engine, const nc_url *url, nc_slice host,
                              nc_error *err) {
    const nc_origin *origin = &url->origin;
    nc_slice path = url->parts.path;
    nc_status status = url->status;
    out->url = nc_buf_init(NC_URL_MAX_BYTES + 2);
    if (status == NC_OK && host.length > 0) {
        status = nc_host_read(&out->named, without_port(host), err);
    }
    if (status == NC_OK && has_dot_segment(path)) {
        status = nc_url_resolve(&out->url, url->text, url->text, err);
        path = nc_url_split(nc_buf_slice(&out->url)).path;
    }
    if (status == NC_OK) {
        out->context = (nc_cookie_context){
            .host = host.length > 0 ? out->named.text : origin->host.text,
            .path = path,
            .is_secure = origin->is_secure || is_localhost(origin->host.text),
            .now_s = nc_engine_now_s(engine),
        };
    }
    return status;
}

static void free_context(found_context *context) {
    nc_buf_deinit(&context->url);
}

static nc_status find_context_of(found_context *out, const nc_transfer *transfer) {
    const nc_request_copy *request = &transfer->request;
    nc_slice host = transfer->is_cross_origin ? nc_slice_of("") : nc_request_copy_host(request);
    nc_error err;
    return find_context(out, transfer->engine, &transfer->target.url, host, &err);
}

/* --- for transfers --- */

bool nc_cookies_are_sent(const nc_transfer *transfer) {
    uint8_t use = transfer->request.cookie_use;
    return transfer->engine->state.cookies != NC_COOKIES_OFF &&
           (use == NC_COOKIES_SEND_AND_STORE || use == NC_COOKIES_SEND_ONLY);
}

static bool are_stored(const nc_transfer *transfer) {
    uint8_t use = transfer->request.cookie_use;
    return transfer->engine->state.cookies != NC_COOKIES_OFF &&
           (use == NC_COOKIES_SEND_AND_STORE || use == NC_COOKIES_STORE_ONLY);
}

nc_status nc_cookies_append_field(nc_buf *out, nc_transfer *transfer) {
    nc_cookies *cookies = &transfer->engine->cookies;
    found_context found;
    nc_status status = find_context_of(&found, transfer);
    if (status == NC_OK) {
        pthread_mutex_lock(&cookies->mutex);
        nc_cookie_jar_append_field(&cookies->jar, &found.context, true, out);
        pthread_mutex_unlock(&cookies->mutex);
    }
    free_context(&found);
    // A host that cannot be parsed has no cookies, which is not an error.
    return status == NC_ERR_NO_MEMORY ? status : nc_buf_status(out);
}

nc_status nc_cookies_store(nc_transfer *transfer) {
    nc_engine *engine = transfer->engine;
    found_context found;
    bool has_changed = false;
    size_t left = NC_MAX_SET_COOKIES;
    if (!transfer->hop.framing.has_cookies || !are_stored(transfer)) {
        return NC_OK;
    }
    nc_status status = find_context_of(&found, transfer);
    if (status != NC_OK) {
        free_context(&found);
        return status == NC_ERR_NO_MEMORY ? status : NC_OK;
    }
    pthread_mutex_lock(&engine->cookies.mutex);
    for (size_t i = 0; i < nc_response_header_count(transfer->response) && status == NC_OK && left > 0; i++) {
        nc_header field = nc_response_header_at(transfer->response, i);
        if (nc_slice_is_equal_ignoring_case(field.name, nc_slice_of("Set-Cookie"))) {
            status = nc_cookie_jar_store(&engine->cookies.jar, &found.context, field.value, &has_changed);
            left--;
        }
    }
    pthread_mutex_unlock(&engine->cookies.mutex);
    free_context(&found);
    if (has_changed) {
        nc_cookies_mark_changed(engine);
    }
    return status;
}

void nc_cookies_mark_changed(nc_engine *engine) {
    pthread_mutex_lock(&engine->cookies.mutex);
    engine->cookies.has_unsaved = false;
    pthread_mutex_unlock(&engine->cookies.mutex);
    nc_trace_pass(&engine->trace, NC_TRACE_COOKIES_CHANGED, 0);
    nc_state_file_writer_mark_changed(&engine->cookies.file);
}

void nc_cookies_end(nc_engine *engine) {
    pthread_mutex_lock(&engine->cookies.mutex);
    engine->cookies.is_sealed = true;
    engine->cookies.file.has_changed = engine->cookies.file.has_changed || engine->cookies.has_unsaved;
    pthread_mutex_unlock(&engine->cookies.mutex);
    nc_state_file_writer_save_at_end(&engine->cookies.file);
}

/* --- for callers --- */

static nc_status check_jar(const nc_engine *engine, nc_error *err) {
    return engine->state.cookies != NC_COOKIES_OFF
               ? NC_OK
               : nc_error_set(err, NC_ERR_USAGE, 0, -1, "the engine has no cookie jar");
}

static nc_status report(nc_status status, nc_error *err) {
    return status == NC_OK ? nc_error_clear(err) : nc_error_set(err, status, 0, -1, "%s", nc_status_text(status));
}

nc_status nc_engine_copy_cookies(nc_engine *engine, nc_buf *out, nc_error *err) {
    nc_status status = check_jar(engine, err);
    return status == NC_OK ? report(append_lines(out, engine), err) : status;
}

nc_status nc_engine_copy_cookie_field(nc_engine *engine, nc_slice url, nc_slice host, nc_buf *out, nc_error *err) {
    nc_url parsed;
    found_context found;
    nc_status status = check_jar(engine, err);
    if (status != NC_OK) {
        return status;
    }
    status = nc_url_parse(&parsed, url, err);
    if (status != NC_OK) {
        return status;
    }
    status = find_context(&found, engine, &parsed, host, err);
    if (status == NC_OK) {
        found.context.is_secure = found.context.is_secure || engine->state.uses_hsts;
        pthread_mutex_lock(&engine->cookies.mutex);
        nc_cookie_jar_append_field(&engine->cookies.jar, &found.context, false, out);
        pthread_mutex_unlock(&engine->cookies.mutex);
        status = report(nc_buf_status(out), err);
    }
    free_context(&found);
    return status;
}

/// Makes the event loop save the jar, and wakes it if necessary.
static void report_change(nc_engine *engine) {
    pthread_mutex_lock(&engine->shared.mutex);
    engine->shared.mailbox.has_changed_cookies = true;
    bool needs_wake = !engine->shared.has_sealed && nc_mailbox_needs_wake(engine);
    pthread_mutex_unlock(&engine->shared.mutex);
    if (needs_wake) {
        nc_mailbox_wake(&engine->shared.mailbox);
    }
}

static nc_status clear(nc_engine *engine, bool *has_changed) {
    nc_cookies *cookies = &engine->cookies;
    pthread_mutex_lock(&cookies->mutex);
    nc_status status = cookies->is_sealed ? NC_ERR_CLOSED : NC_OK;
    if (status == NC_OK) {
        *has_changed = cookies->jar.count > 0;
        cookies->has_unsaved = cookies->has_unsaved || *has_changed;
        nc_cookie_jar_clear(&cookies->jar);
    }
    pthread_mutex_unlock(&cookies->mutex);
    return status;
}

nc_status nc_engine_set_cookies(nc_engine *engine, nc_slice text, nc_error *err) {
    nc_cookie_fault fault;
    bool has_changed = false;
    nc_status status = check_jar(engine, err);
    if (status != NC_OK) {
        return status;
    }
    if (text.length > MAX_TEXT_BYTES) {
        return nc_error_set(err, NC_ERR_TOO_LARGE, 0, -1, "the cookies exceed %d MiB", MAX_TEXT_BYTES >> 20);
    }
    if (!nc_cookie_lines_are_good(text, true, &fault)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, (int64_t)fault.offset, "line %zu is not a cookie", fault.line);
    }
    pthread_mutex_lock(&engine->shared.mutex);
    bool is_closing = engine->shared.mailbox.is_closing || engine->shared.has_sealed;
    pthread_mutex_unlock(&engine->shared.mutex);
    if (is_closing) {
        return report(NC_ERR_CLOSED, err);
    }
    status = text.length == 0 ? clear(engine, &has_changed) : put_lines(engine, text, &has_changed);
    if (has_changed) {
        report_change(engine);
    }
    return report(status, err);
}

/* --- snapshots --- */

struct nc_cookie_snapshot {
    nc_cookie_list list;
};

nc_status nc_engine_snapshot_cookies(nc_engine *engine, nc_cookie_snapshot **out, nc_error *err) {
    nc_status status = check_jar(engine, err);
    *out = NULL;
    if (status != NC_OK) {
        return status;
    }
    nc_cookie_snapshot *snapshot = nc_alloc_zeroed(1, sizeof *snapshot);
    status = snapshot != NULL ? list_cookies(&snapshot->list, engine) : NC_ERR_NO_MEMORY;
    if (status != NC_OK) {
        nc_free(snapshot);
        return report(status, err);
    }
    *out = snapshot;
    return report(NC_OK, err);
}

/// Appends the texts of a cookie. None of them contains a tab or a line end, so different cookies give different bytes.
static void append_identity(nc_buf *out, const nc_cookie *cookie) {
    const nc_slice texts[] = {cookie->domain, cookie->path, cookie->name, cookie->value};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        nc_buf_append(out, texts[i]);
        nc_buf_append_byte(out, i < 3 ? '\t' : '\n');
    }
}

nc_status nc_cookie_snapshot_append(const nc_cookie_snapshot *snapshot, nc_slice host, nc_buf *out, nc_error *err) {
    nc_canonical_host found;
    nc_status status = nc_host_read(&found, host, err);
    for (size_t i = 0; status == NC_OK && i < snapshot->list.count; i++) {
        const nc_cookie *cookie = snapshot->list.cookies[i];
        if (cookie->is_host_only ? nc_slice_is_equal(found.text, cookie->domain)
                                 : nc_cookie_domain_matches(found.text, cookie->domain)) {
            append_identity(out, cookie);
        }
    }
    return status == NC_OK ? report(nc_buf_status(out), err) : status;
}

void nc_cookie_snapshot_release(nc_cookie_snapshot *snapshot) {
    if (snapshot != NULL) {
        nc_cookie_list_deinit(&snapshot->list);
        nc_free(snapshot);
    }
}
