#include "net/jar.h"

#include "base/error.h"
#include "base/trace.h"
#include "net/cookie_lines.h"
#include "net/engine_state.h"

#include <netcore/cookies.h>
#include <string.h>

enum { MAX_JAR_BYTES = 16 * 1024 * 1024 };

void nc_jar_init(nc_jar *jar) {
    jar->text = nc_buf_init(MAX_JAR_BYTES);
    jar->orders = nc_buf_init(MAX_JAR_BYTES);
}

void nc_jar_deinit(nc_jar *jar) {
    nc_buf_deinit(&jar->text);
    nc_buf_deinit(&jar->orders);
    nc_saved_file_deinit(&jar->file);
}

/* --- between text and libcurl --- */

/// Hands each line of a text to libcurl; false when memory is short. The text is not written to: other threads read
/// the jar's.
static bool put_lines(CURL *easy, nc_slice text) {
    nc_buf copy = nc_buf_init(MAX_JAR_BYTES);
    CURLcode code = CURLE_OK;
    nc_slice line;
    while (code != CURLE_OUT_OF_MEMORY && nc_cookie_lines_next(&line, &text)) {
        nc_buf_reset(&copy);
        nc_cookie_lines_copy(&copy, line);
        nc_buf_append_byte(&copy, '\0');
        code = nc_buf_status(&copy) != NC_OK ? CURLE_OUT_OF_MEMORY
                                             : curl_easy_setopt(easy, CURLOPT_COOKIELIST, (const char *)copy.data);
    }
    nc_buf_deinit(&copy);
    return code != CURLE_OUT_OF_MEMORY;
}

/// Takes all cookies out as text. False when memory is short.
static bool take_lines(CURL *easy, nc_buf *out) {
    struct curl_slist *cookies = NULL;
    nc_buf_reset(out);
    if (curl_easy_getinfo(easy, CURLINFO_COOKIELIST, &cookies) != CURLE_OK) {
        return false;
    }
    for (struct curl_slist *one = cookies; one != NULL; one = one->next) {
        nc_buf_append(out, nc_slice_of(one->data));
        nc_buf_append_byte(out, '\n');
    }
    curl_slist_free_all(cookies);
    return nc_buf_status(out) == NC_OK;
}

/* --- changing --- */

/// Makes a lane's share what the text says. A lane that cannot be told stays behind, and is told later.
static void tell(nc_lane *lane) {
    nc_jar *jar = &lane->engine->jar;
    CURL *easy = curl_easy_init();
    if (easy != NULL && curl_easy_setopt(easy, CURLOPT_SHARE, lane->share) == CURLE_OK) {
        (void)curl_easy_setopt(easy, CURLOPT_COOKIELIST, "ALL");
        if (put_lines(easy, nc_buf_slice(&jar->text))) {
            lane->cookies_seen = jar->version;
        }
    }
    curl_easy_cleanup(easy);
}

bool nc_jar_refresh(nc_lane *lane) {
    uint64_t version = lane->engine->jar.version;
    if (lane->has_cookies && lane->cookies_seen != version) {
        tell(lane);
    }
    return !lane->has_cookies || lane->cookies_seen == version;
}

/// Tells the lanes in which something runs: a response may come at any moment, and what it changes is meant to change
/// what stands now. The others are told before their next hop.
static void tell_running(nc_engine *engine) {
    for (nc_link *link = engine->loop.lanes.next; link != &engine->loop.lanes; link = link->next) {
        nc_lane *lane = NC_CONTAINER_OF(link, nc_lane, link);
        if (!nc_list_is_empty(&lane->running)) {
            (void)nc_jar_refresh(lane);
        }
    }
}

static bool is_same_text(const nc_buf *a, const nc_buf *b) {
    return a->length == b->length && (a->length == 0 || memcmp(a->data, b->data, a->length) == 0);
}

/// Makes `text` what the jar holds, and gives back what it held. Takes no memory.
static void hold(nc_engine *engine, nc_buf *text, bool saves) {
    nc_jar *jar = &engine->jar;
    if (is_same_text(text, &jar->text)) {
        return;
    }
    pthread_mutex_lock(&engine->shared.mutex);
    nc_buf previous = jar->text;
    jar->text = *text;
    jar->version++;
    pthread_mutex_unlock(&engine->shared.mutex);
    *text = previous;
    nc_trace_pass(&engine->trace, NC_TRACE_COOKIES_CHANGED, 0);
    if (saves) {
        nc_saved_file_note_change(&jar->file);
    }
}

/// The same within the jar's bounds, and tells the lanes. `source`: the lane whose share holds just that; may be NULL.
static void replace_text(nc_engine *engine, nc_buf *text, bool saves, nc_lane *source) {
    bool is_shorter = false;
    if (nc_cookie_lines_bound(text, nc_engine_now_s(engine), &is_shorter) != NC_OK) {
        return;
    }
    hold(engine, text, saves);
    if (source != NULL && is_shorter) {
        tell(source);
    } else if (source != NULL) {
        source->cookies_seen = engine->jar.version;
    }
    tell_running(engine);
}

/// Empties the jar, for which memory is never short.
static void clear(nc_engine *engine) {
    nc_buf none = nc_buf_init(MAX_JAR_BYTES);
    hold(engine, &none, true);
    nc_buf_deinit(&none);
    tell_running(engine);
}

/// Makes the jar hold what it is to keep and then `lines`, through a handle of its own.
static void set(nc_engine *engine, nc_slice kept, nc_slice lines, bool saves) {
    nc_buf text = nc_buf_init(MAX_JAR_BYTES);
    CURL *easy = curl_easy_init();
    if (easy != NULL && curl_easy_setopt(easy, CURLOPT_COOKIEFILE, "") == CURLE_OK && // switches cookies on
        put_lines(easy, kept) && put_lines(easy, lines) && take_lines(easy, &text)) {
        replace_text(engine, &text, saves, NULL);
    }
    curl_easy_cleanup(easy);
    nc_buf_deinit(&text);
}

/// Does to the jar what an answer did to the text `before`: it has made that `after`, and the jar is another by now.
static void repeat_change(nc_engine *engine, nc_slice before, nc_slice after) {
    nc_slice text = nc_buf_slice(&engine->jar.text);
    nc_buf added = nc_buf_init(MAX_JAR_BYTES);
    nc_buf gone = nc_buf_init(MAX_JAR_BYTES);
    nc_buf kept = nc_buf_init(MAX_JAR_BYTES);
    if (nc_cookie_lines_subtract(&added, after, before) == NC_OK &&
        nc_cookie_lines_subtract(&gone, before, after) == NC_OK &&
        nc_cookie_lines_leave_out(&kept, text, nc_buf_slice(&gone), nc_engine_now_s(engine)) == NC_OK) {
        set(engine, nc_buf_slice(&kept), nc_buf_slice(&added), true);
    }
    nc_buf_deinit(&added);
    nc_buf_deinit(&gone);
    nc_buf_deinit(&kept);
}

void nc_jar_take_orders(nc_engine *engine) {
    nc_jar *jar = &engine->jar;
    pthread_mutex_lock(&engine->shared.mutex);
    nc_buf lines = jar->orders;
    bool clears = jar->clears;
    jar->orders = nc_buf_init(MAX_JAR_BYTES);
    jar->clears = false;
    jar->is_taking = true;
    pthread_mutex_unlock(&engine->shared.mutex);
    if (clears) {
        clear(engine);
    }
    if (lines.length > 0) {
        set(engine, nc_buf_slice(&jar->text), nc_buf_slice(&lines), true);
    }
    nc_buf_deinit(&lines);
    pthread_mutex_lock(&engine->shared.mutex);
    jar->is_taking = false;
    pthread_cond_broadcast(&engine->shared.condition);
    pthread_mutex_unlock(&engine->shared.mutex);
}

void nc_jar_learn(nc_lane *lane, CURL *easy) {
    nc_engine *engine = lane->engine;
    nc_buf text = nc_buf_init(MAX_JAR_BYTES);
    if (lane->has_cookies && take_lines(easy, &text)) {
        lane->has_unlearnt = false;
        if (lane->cookies_seen == engine->jar.version) {
            replace_text(engine, &text, true, lane);
        } else {
            // It could not be told of the last change, so both are joined.
            set(engine, nc_buf_slice(&engine->jar.text), nc_buf_slice(&text), true);
        }
    }
    nc_buf_deinit(&text);
}

/* --- one way only --- */

bool nc_jar_fill(nc_handle *handle) {
    nc_jar *jar = &handle->engine->jar;
    handle->cookies_seen = jar->version;
    return curl_easy_setopt(handle->easy, CURLOPT_COOKIELIST, "ALL") == CURLE_OK &&
           put_lines(handle->easy, nc_buf_slice(&jar->text));
}

bool nc_jar_begin_head(nc_handle *handle) {
    if (handle->own_cookies != NC_COOKIES_STORE_ONLY) {
        return true;
    }
    // Not before: libcurl would send them. With them there, an answer can also take one of them back.
    // The text as libcurl reads it: a path that a server left empty becomes one.
    return nc_jar_fill(handle) && take_lines(handle->easy, &handle->filled);
}

void nc_jar_end_head(nc_handle *handle, bool has_set_some) {
    nc_engine *engine = handle->engine;
    nc_buf text = nc_buf_init(MAX_JAR_BYTES);
    if (handle->own_cookies == NC_COOKIES_SEND_ONLY && has_set_some) {
        (void)nc_jar_fill(handle); // libcurl may ask once more by itself.
    } else if (handle->own_cookies == NC_COOKIES_STORE_ONLY) {
        if (has_set_some && take_lines(handle->easy, &text)) {
            if (handle->cookies_seen == engine->jar.version) {
                replace_text(engine, &text, true, NULL);
            } else {
                repeat_change(engine, nc_buf_slice(&handle->filled), nc_buf_slice(&text));
            }
        }
        (void)curl_easy_setopt(handle->easy, CURLOPT_COOKIELIST, "ALL");
    }
    nc_buf_deinit(&text);
}

void nc_jar_forget(nc_lane *lane) {
    if (lane->has_cookies) {
        lane->has_unlearnt = false;
        tell(lane);
    }
}

void nc_jar_settle(nc_lane *lane) {
    if (!lane->has_unlearnt || !lane->has_cookies) {
        return;
    }
    CURL *easy = curl_easy_init();
    if (easy != NULL && curl_easy_setopt(easy, CURLOPT_SHARE, lane->share) == CURLE_OK) {
        nc_jar_learn(lane, easy);
    }
    curl_easy_cleanup(easy);
}

/* --- the file --- */

static void write_file(nc_buf *out, const nc_engine *engine) {
    nc_buf_append(out,
                  nc_slice_of("# Netscape HTTP Cookie File\n# Written by NetKit; changes made here are lost.\n\n"));
    nc_buf_append(out, nc_buf_slice(&engine->jar.text));
}

nc_status nc_jar_read(nc_engine *engine, nc_error *told) {
    nc_error own;
    nc_error *err = told != NULL ? told : &own;
    nc_saved_file *file = &engine->jar.file;
    nc_cookie_fault fault;
    nc_saved_file_init(file, engine, engine->state.cookies == NC_COOKIES_FILE ? engine->state.cookie_file : NULL,
                       write_file);
    nc_status status = nc_saved_file_read(file, err);
    if (status == NC_OK && !nc_cookie_lines_are_good(nc_buf_slice(&file->text), false, &fault)) {
        return nc_error_set(err, NC_ERR_FILE, 0, (int64_t)fault.offset,
                            "'%.96s' is no cookie file: line %zu is no cookie", file->path, fault.line);
    }
    return status;
}

void nc_jar_load(nc_engine *engine) {
    nc_buf *text = &engine->jar.file.text;
    if (text->length > 0) {
        set(engine, nc_slice_of(""), nc_buf_slice(text), false);
        nc_buf_reset(text);
    }
}

/* --- for callers --- */

nc_status nc_engine_copy_cookies(nc_engine *engine, nc_buf *out, nc_error *err) {
    if (engine->state.cookies == NC_COOKIES_OFF) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the engine keeps no cookies");
    }
    if (nc_engine_is_on_loop(engine)) {
        nc_jar_take_orders(engine);
    }
    pthread_mutex_lock(&engine->shared.mutex);
    bool is_on_loop = nc_engine_is_on_loop(engine);
    while (!is_on_loop && !engine->shared.has_stopped &&
           (engine->jar.orders.length > 0 || engine->jar.clears || engine->jar.is_taking || !engine->shared.has_jar)) {
        pthread_cond_wait(&engine->shared.condition, &engine->shared.mutex);
    }
    nc_buf_append(out, nc_buf_slice(&engine->jar.text));
    pthread_mutex_unlock(&engine->shared.mutex);
    nc_status status = nc_buf_status(out);
    return status == NC_OK ? nc_error_clear(err) : nc_error_set(err, status, 0, -1, "%s", nc_status_text(status));
}

nc_status nc_engine_set_cookies(nc_engine *engine, nc_slice text, nc_error *err) {
    nc_status status = NC_OK;
    nc_cookie_fault fault;
    if (engine->state.cookies == NC_COOKIES_OFF) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the engine keeps no cookies");
    }
    if (!nc_cookie_lines_are_good(text, true, &fault)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, (int64_t)fault.offset, "line %zu is no cookie", fault.line);
    }
    pthread_mutex_lock(&engine->shared.mutex);
    nc_jar *jar = &engine->jar;
    bool needs_wake = false;
    if (engine->shared.mailbox.is_closing || engine->shared.has_sealed) {
        status = NC_ERR_CLOSED;
    } else if (text.length == 0) {
        nc_buf_reset(&jar->orders);
        jar->clears = true;
    } else {
        size_t before = jar->orders.length;
        nc_buf_append(&jar->orders, text);
        nc_buf_append_byte(&jar->orders, '\n');
        status = nc_buf_status(&jar->orders);
        if (status != NC_OK) {
            jar->orders.length = before;
            jar->orders.status = NC_OK;
        }
    }
    needs_wake = status == NC_OK && nc_mailbox_needs_wake(engine);
    engine->shared.mailbox.has_cookie_orders = engine->shared.mailbox.has_cookie_orders || status == NC_OK;
    pthread_mutex_unlock(&engine->shared.mutex);
    if (needs_wake) {
        nc_mailbox_wake(&engine->shared.mailbox);
    }
    if (status == NC_ERR_TOO_LARGE) {
        return nc_error_set(err, status, 0, -1, "more than %d MiB of cookies", MAX_JAR_BYTES >> 20);
    }
    return status == NC_OK ? nc_error_clear(err) : nc_error_set(err, status, 0, -1, "%s", nc_status_text(status));
}
