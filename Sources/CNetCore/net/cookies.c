#include "net/cookies.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/trace.h"
#include "http/cookie_lines.h"
#include "http/origin.h"
#include "net/engine_state.h"
#include "net/response.h"
#include "net/url_text.h"

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
    nc_saved_file_deinit(&cookies->file);
    pthread_mutex_destroy(&cookies->mutex);
}

/* --- as text --- */

/// Lists all cookies by age. The mutex is held only while pointers are copied.
static nc_status list_cookies(nc_cookie_list *out, nc_engine *engine) {
    pthread_mutex_lock(&engine->cookies.mutex);
    nc_status status = nc_cookie_jar_list(&engine->cookies.jar, nc_engine_now_s(engine), out);
    pthread_mutex_unlock(&engine->cookies.mutex);
    nc_cookie_list_sort(out);
    return status;
}

/// Appends all cookies, without holding the mutex.
static nc_status append_lines(nc_buf *out, nc_engine *engine) {
    nc_cookie_list list;
    nc_status status = list_cookies(&list, engine);
    for (size_t i = 0; i < list.count; i++) {
        nc_cookie_lines_append(out, list.cookies[i]);
    }
    nc_cookie_list_deinit(&list);
    return status == NC_OK ? nc_buf_status(out) : status;
}

/// Writes the file's text; on a worker thread, or at the end on the event loop thread.
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

nc_status nc_cookies_read(nc_engine *engine, nc_error *told) {
    nc_error own;
    nc_error *err = told != NULL ? told : &own;
    nc_saved_file *file = &engine->cookies.file;
    nc_cookie_fault fault;
    bool has_changed = false;
    nc_saved_file_init(file, engine, engine->state.cookies == NC_COOKIES_FILE ? engine->state.cookie_file : NULL, NULL);
    nc_saved_file_write_on_worker(file, write_file);
    nc_status status = nc_saved_file_read(file, err);
    if (status == NC_OK && !nc_cookie_lines_are_good(nc_buf_slice(&file->text), false, &fault)) {
        return nc_error_set(err, NC_ERR_FILE, 0, (int64_t)fault.offset,
                            "'%.96s' is no cookie file: line %zu is no cookie", file->path, fault.line);
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

/// A cookie target. Its host may point into the struct, so it must not be moved.
typedef struct found_place {
    nc_cookie_place place;
    nc_origin origin;
    nc_canonical_host named;
    nc_buf url; // dot segments are removed
} found_place;

/// Returns the path of an absolute URL, without query and fragment.
static nc_slice path_of(nc_slice url) {
    nc_slice authority = nc_url_authority(url);
    const uint8_t *end = url.data + url.length;
    const uint8_t *begin = authority.data != NULL ? authority.data + authority.length : end;
    const uint8_t *at = begin;
    while (at < end && *at != '?' && *at != '#') {
        at++;
    }
    return nc_slice_make(begin, (size_t)(at - begin));
}

static bool has_dot_segment(nc_slice path) {
    for (size_t i = 1; i < path.length; i++) {
        if (path.data[i] == '.' && path.data[i - 1] == '/') {
            return true;
        }
    }
    return false;
}

/// Returns "name:80" or "[::1]:80" without the port.
static nc_slice without_port(nc_slice host) {
    const uint8_t *end = host.length > 0 ? memchr(host.data, host.data[0] == '[' ? ']' : ':', host.length) : NULL;
    size_t length = end == NULL ? host.length : (size_t)(end - host.data) + (host.data[0] == '[' ? 1 : 0);
    return nc_slice_make(host.data, length);
}

static bool is_this_machine(nc_slice host) {
    return nc_slice_is_equal(host, nc_slice_of("localhost")) || nc_slice_is_equal(host, nc_slice_of("127.0.0.1")) ||
           nc_slice_is_equal(host, nc_slice_of("::1"));
}

/// Finds the cookie target of a request for `url`. `host`: the caller's Host field, or empty. Returns NC_OK,
/// NC_ERR_BAD_URL, NC_ERR_BAD_SCHEME, NC_ERR_NO_MEMORY. The caller releases the target in every case.
static nc_status find_place(found_place *out, const nc_engine *engine, nc_slice url, nc_slice host, nc_error *err) {
    out->url = nc_buf_init(NC_URL_MAX_BYTES + 2);
    nc_status status = nc_origin_read(&out->origin, url, err);
    if (status == NC_OK && host.length > 0) {
        status = nc_host_read(&out->named, without_port(host), err);
    }
    nc_slice path = path_of(url);
    if (status == NC_OK && has_dot_segment(path)) {
        status = nc_url_resolve(&out->url, url, url, err);
        path = path_of(nc_buf_slice(&out->url));
    }
    if (status == NC_OK) {
        out->place = (nc_cookie_place){
            .host = host.length > 0 ? out->named.text : out->origin.host.text,
            .path = path,
            .is_secure = out->origin.is_secure || is_this_machine(out->origin.host.text),
            .now_s = nc_engine_now_s(engine),
        };
    }
    return status;
}

static void leave_place(found_place *place) {
    nc_buf_deinit(&place->url);
}

static nc_status find_place_of(found_place *out, const nc_transfer *transfer) {
    const nc_description *asked = &transfer->description;
    nc_slice host = transfer->is_elsewhere ? nc_slice_of("") : nc_description_host(asked);
    nc_error err;
    return find_place(out, transfer->engine, nc_transfer_url(transfer), host, &err);
}

/* --- for transfers --- */

bool nc_cookies_are_sent(const nc_transfer *transfer) {
    uint8_t use = transfer->description.cookie_use;
    return transfer->engine->state.cookies != NC_COOKIES_OFF &&
           (use == NC_COOKIES_SEND_AND_STORE || use == NC_COOKIES_SEND_ONLY);
}

static bool are_stored(const nc_transfer *transfer) {
    uint8_t use = transfer->description.cookie_use;
    return transfer->engine->state.cookies != NC_COOKIES_OFF &&
           (use == NC_COOKIES_SEND_AND_STORE || use == NC_COOKIES_STORE_ONLY);
}

nc_status nc_cookies_append_field(nc_buf *out, nc_transfer *transfer) {
    nc_cookies *cookies = &transfer->engine->cookies;
    found_place found;
    nc_status status = find_place_of(&found, transfer);
    if (status == NC_OK) {
        pthread_mutex_lock(&cookies->mutex);
        nc_cookie_jar_append_field(&cookies->jar, &found.place, true, out);
        pthread_mutex_unlock(&cookies->mutex);
    }
    leave_place(&found);
    // A host that cannot be parsed has no cookies.
    return status == NC_ERR_NO_MEMORY ? status : nc_buf_status(out);
}

nc_status nc_cookies_store(nc_transfer *transfer) {
    nc_engine *engine = transfer->engine;
    found_place found;
    bool has_changed = false;
    size_t left = NC_MAX_SET_COOKIES;
    if (!transfer->framing.has_cookies || !are_stored(transfer)) {
        return NC_OK;
    }
    nc_status status = find_place_of(&found, transfer);
    if (status != NC_OK) {
        leave_place(&found);
        return status == NC_ERR_NO_MEMORY ? status : NC_OK;
    }
    pthread_mutex_lock(&engine->cookies.mutex);
    for (size_t i = 0; i < nc_response_header_count(transfer->response) && status == NC_OK && left > 0; i++) {
        nc_header field = nc_response_header_at(transfer->response, i);
        if (nc_slice_is_equal_ignoring_case(field.name, nc_slice_of("Set-Cookie"))) {
            status = nc_cookie_jar_store(&engine->cookies.jar, &found.place, field.value, &has_changed);
            left--;
        }
    }
    pthread_mutex_unlock(&engine->cookies.mutex);
    leave_place(&found);
    if (has_changed) {
        nc_cookies_note_change(engine);
    }
    return status;
}

void nc_cookies_note_change(nc_engine *engine) {
    pthread_mutex_lock(&engine->cookies.mutex);
    engine->cookies.has_unsaved = false;
    pthread_mutex_unlock(&engine->cookies.mutex);
    nc_trace_pass(&engine->trace, NC_TRACE_COOKIES_CHANGED, 0);
    nc_saved_file_note_change(&engine->cookies.file);
}

void nc_cookies_end(nc_engine *engine) {
    pthread_mutex_lock(&engine->cookies.mutex);
    engine->cookies.is_sealed = true;
    engine->cookies.file.has_changed = engine->cookies.file.has_changed || engine->cookies.has_unsaved;
    pthread_mutex_unlock(&engine->cookies.mutex);
    nc_saved_file_save_at_end(&engine->cookies.file);
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
    found_place found;
    nc_status status = check_jar(engine, err);
    if (status != NC_OK) {
        return status;
    }
    status = find_place(&found, engine, url, host, err);
    if (status == NC_OK) {
        found.place.is_secure = found.place.is_secure || engine->state.uses_hsts;
        pthread_mutex_lock(&engine->cookies.mutex);
        nc_cookie_jar_append_field(&engine->cookies.jar, &found.place, false, out);
        pthread_mutex_unlock(&engine->cookies.mutex);
        status = report(nc_buf_status(out), err);
    }
    leave_place(&found);
    return status;
}

/// Makes the event loop save the jar.
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
        return nc_error_set(err, NC_ERR_TOO_LARGE, 0, -1, "more than %d MiB of cookies", MAX_TEXT_BYTES >> 20);
    }
    if (!nc_cookie_lines_are_good(text, true, &fault)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, (int64_t)fault.offset, "line %zu is no cookie", fault.line);
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

/// No cookie contains a tab or line end, so different cookies give different bytes.
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
