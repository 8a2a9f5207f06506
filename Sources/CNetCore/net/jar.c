#include "net/jar.h"

#include "base/error.h"
#include "base/file.h"
#include "base/trace.h"
#include "net/cookie_lines.h"
#include "net/engine_state.h"

#include <errno.h>
#include <netcore/cookies.h>
#include <string.h>

enum { MAX_JAR_BYTES = 16 * 1024 * 1024, JAR_MODE = 0600 };

void nc_jar_init(nc_jar *jar) {
    jar->text = nc_buf_init(MAX_JAR_BYTES);
    jar->orders = nc_buf_init(MAX_JAR_BYTES);
    jar->saving = nc_buf_init(MAX_JAR_BYTES);
}

void nc_jar_deinit(nc_jar *jar) {
    nc_buf_deinit(&jar->text);
    nc_buf_deinit(&jar->orders);
    nc_buf_deinit(&jar->saving);
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
        nc_buf_append(&copy, line);
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

/* --- saving --- */

static void save(nc_work *work) {
    nc_jar *jar = NC_CONTAINER_OF(work, nc_jar, work);
    nc_engine *engine = NC_CONTAINER_OF(jar, nc_engine, jar);
    nc_error err;
    // A jar that cannot be saved stays in memory, and is tried again when it changes and when the engine ends.
    jar->has_failed =
        nc_file_replace(&engine->files, engine->state.cookie_file, nc_buf_slice(&jar->saving), JAR_MODE, &err) != NC_OK;
    nc_mailbox_put_answer(engine, &jar->answer);
}

static void begin_saving(nc_engine *engine);

static void saved(nc_answer *answer) {
    nc_jar *jar = NC_CONTAINER_OF(answer, nc_jar, answer);
    jar->is_saving = false;
    if (jar->has_failed && !jar->has_changed) {
        jar->has_changed = true; // For the end of the engine.
        return;
    }
    begin_saving(NC_CONTAINER_OF(jar, nc_engine, jar));
}

static bool copy_for_saving(nc_jar *jar) {
    static const char title[] = "# Netscape HTTP Cookie File\n# Written by NetKit; changes made here are lost.\n\n";
    nc_buf_reset(&jar->saving);
    nc_buf_append(&jar->saving, nc_slice_of(title));
    nc_buf_append(&jar->saving, nc_buf_slice(&jar->text));
    return nc_buf_status(&jar->saving) == NC_OK;
}

static void begin_saving(nc_engine *engine) {
    nc_jar *jar = &engine->jar;
    if (engine->state.cookies != NC_COOKIES_FILE || jar->is_saving || !jar->has_changed || engine->worker == NULL ||
        !copy_for_saving(jar)) {
        return;
    }
    jar->work.run = save;
    jar->answer.arrive = saved;
    jar->is_saving = nc_worker_submit(engine->worker, &jar->work) == NC_OK;
    jar->has_changed = !jar->is_saving;
}

void nc_jar_save_at_end(nc_engine *engine) {
    nc_jar *jar = &engine->jar;
    nc_error err;
    if (engine->state.cookies == NC_COOKIES_FILE && jar->has_changed && copy_for_saving(jar)) {
        jar->has_failed = nc_file_replace(&engine->files, engine->state.cookie_file, nc_buf_slice(&jar->saving),
                                          JAR_MODE, &err) != NC_OK;
    }
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

void nc_jar_refresh(nc_lane *lane) {
    if (lane->has_cookies && lane->cookies_seen != lane->engine->jar.version) {
        tell(lane);
    }
}

/// Tells the lanes in which something runs: a response may come at any moment, and what it changes is meant to change
/// what stands now. The others are told before their next hop.
static void tell_running(nc_engine *engine) {
    for (nc_link *link = engine->loop.lanes.next; link != &engine->loop.lanes; link = link->next) {
        nc_lane *lane = NC_CONTAINER_OF(link, nc_lane, link);
        if (!nc_list_is_empty(&lane->running)) {
            nc_jar_refresh(lane);
        }
    }
}

static bool is_same_text(const nc_buf *a, const nc_buf *b) {
    return a->length == b->length && (a->length == 0 || memcmp(a->data, b->data, a->length) == 0);
}

/// Makes `text` what the jar holds, within its bounds. `source`: the lane whose share holds just that; may be NULL.
static void replace_text(nc_engine *engine, nc_buf *text, bool saves, nc_lane *source) {
    nc_jar *jar = &engine->jar;
    bool is_shorter = false;
    int64_t now_s = engine->clock.realtime_ns(engine->clock.ctx) / 1000000000;
    if (nc_cookie_lines_bound(text, now_s, &is_shorter) != NC_OK) {
        return;
    }
    if (!is_same_text(text, &jar->text)) {
        pthread_mutex_lock(&engine->shared.mutex);
        nc_buf previous = jar->text;
        jar->text = *text;
        jar->version++;
        pthread_mutex_unlock(&engine->shared.mutex);
        *text = previous;
        jar->has_changed = jar->has_changed || saves;
        nc_trace_pass(&engine->trace, NC_TRACE_COOKIES_CHANGED, 0);
        begin_saving(engine);
    }
    if (source != NULL && is_shorter) {
        tell(source);
    } else if (source != NULL) {
        source->cookies_seen = jar->version;
    }
    tell_running(engine);
}

/// Adds lines to what the jar holds, through a handle of its own.
static void add(nc_engine *engine, nc_slice lines, bool clears, bool saves) {
    nc_buf text = nc_buf_init(MAX_JAR_BYTES);
    CURL *easy = curl_easy_init();
    if (easy != NULL && curl_easy_setopt(easy, CURLOPT_COOKIEFILE, "") == CURLE_OK && // switches cookies on
        (clears || put_lines(easy, nc_buf_slice(&engine->jar.text))) && put_lines(easy, lines) &&
        take_lines(easy, &text)) {
        replace_text(engine, &text, saves, NULL);
    }
    curl_easy_cleanup(easy);
    nc_buf_deinit(&text);
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
    if (lines.length > 0 || clears) {
        add(engine, nc_buf_slice(&lines), clears, true);
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
            add(engine, nc_buf_slice(&text), false,
                true); // It could not be told of the last change, so both are joined.
        }
    }
    nc_buf_deinit(&text);
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

nc_status nc_jar_read(nc_engine *engine, nc_error *told) {
    nc_error own;
    nc_error *err = told != NULL ? told : &own;
    nc_jar *jar = &engine->jar;
    const char *path = engine->state.cookie_file;
    nc_cookie_fault fault;
    if (engine->state.cookies != NC_COOKIES_FILE) {
        return NC_OK;
    }
    nc_status status = nc_file_check(&engine->files, path, err);
    if (status == NC_ERR_FILE && err->native_code == ENOENT) {
        return nc_error_clear(err); // It will be made.
    }
    if (status == NC_OK) {
        status = nc_file_read_all(&jar->saving, &engine->files, path, err);
    }
    if (status == NC_OK && !nc_cookie_lines_are_good(nc_buf_slice(&jar->saving), false, &fault)) {
        return nc_error_set(err, NC_ERR_FILE, 0, (int64_t)fault.offset,
                            "'%.96s' is no cookie file: line %zu is no cookie", path, fault.line);
    }
    return status;
}

void nc_jar_load(nc_engine *engine) {
    if (engine->jar.saving.length > 0) {
        add(engine, nc_buf_slice(&engine->jar.saving), true, false);
        nc_buf_reset(&engine->jar.saving);
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
    if (engine->shared.mailbox.is_closing) {
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
    return status == NC_OK ? nc_error_clear(err) : nc_error_set(err, status, 0, -1, "%s", nc_status_text(status));
}
