#include "net/jar.h"

#include "base/error.h"
#include "base/file.h"
#include "base/trace.h"
#include "net/engine_state.h"

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

/// Hands each line of a text to libcurl; lines that it does not understand are left out.
static void put_lines(CURL *easy, nc_buf *text) {
    size_t at = 0;
    while (at < text->length) {
        uint8_t *line = text->data + at;
        uint8_t *end = memchr(line, '\n', text->length - at);
        size_t length = end != NULL ? (size_t)(end - line) : text->length - at;
        bool is_comment = length > 0 && line[0] == '#' && !(length > 10 && memcmp(line, "#HttpOnly_", 10) == 0);
        if (length > 0 && !is_comment) {
            uint8_t last = line[length];
            line[length] = '\0';
            (void)curl_easy_setopt(easy, CURLOPT_COOKIELIST, (const char *)line);
            line[length] = last;
        }
        at += length + 1;
    }
}

/// Takes all cookies out as text, ended by a NUL that does not count. False when memory is short.
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
    return nc_buf_status(out) == NC_OK && nc_buf_reserve(out, 1) == NC_OK;
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

/// Makes `text` what the jar holds.
static void replace_text(nc_engine *engine, nc_buf *text, bool saves) {
    nc_jar *jar = &engine->jar;
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

/// Adds lines to what the jar holds, through a handle of its own.
static void add(nc_engine *engine, nc_buf *lines, bool clears, bool saves) {
    nc_buf text = nc_buf_init(MAX_JAR_BYTES);
    CURL *easy = curl_easy_init();
    if (easy != NULL && nc_buf_reserve(lines, 1) == NC_OK) {
        (void)curl_easy_setopt(easy, CURLOPT_COOKIEFILE, ""); // switches libcurl's cookies on
        if (!clears) {
            put_lines(easy, &engine->jar.text);
        }
        put_lines(easy, lines);
        if (take_lines(easy, &text)) {
            replace_text(engine, &text, saves);
        }
    }
    curl_easy_cleanup(easy);
    nc_buf_deinit(&text);
}

void nc_jar_load(nc_engine *engine) {
    nc_buf lines = nc_buf_init(MAX_JAR_BYTES);
    nc_error err;
    if (engine->state.cookies == NC_COOKIES_FILE &&
        nc_file_read_all(&lines, &engine->files, engine->state.cookie_file, &err) == NC_OK) {
        add(engine, &lines, true, false);
    }
    nc_buf_deinit(&lines);
}

void nc_jar_take_orders(nc_engine *engine) {
    nc_jar *jar = &engine->jar;
    pthread_mutex_lock(&engine->shared.mutex);
    nc_buf lines = jar->orders;
    bool clears = jar->clears;
    jar->orders = nc_buf_init(MAX_JAR_BYTES);
    jar->clears = false;
    pthread_mutex_unlock(&engine->shared.mutex);
    if (lines.length > 0 || clears) {
        add(engine, &lines, clears, true);
    }
    nc_buf_deinit(&lines);
}

void nc_jar_refresh(nc_lane *lane) {
    nc_jar *jar = &lane->engine->jar;
    if (!lane->has_cookies || lane->cookies_seen == jar->version) {
        return;
    }
    CURL *easy = curl_easy_init();
    if (easy != NULL && curl_easy_setopt(easy, CURLOPT_SHARE, lane->share) == CURLE_OK) {
        (void)curl_easy_setopt(easy, CURLOPT_COOKIELIST, "ALL");
        put_lines(easy, &jar->text);
        lane->cookies_seen = jar->version;
    }
    curl_easy_cleanup(easy);
}

void nc_jar_learn(nc_lane *lane, CURL *easy) {
    nc_buf text = nc_buf_init(MAX_JAR_BYTES);
    if (lane->has_cookies && take_lines(easy, &text)) {
        replace_text(lane->engine, &text, true);
        lane->cookies_seen = lane->engine->jar.version;
    }
    nc_buf_deinit(&text);
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
    while ((engine->jar.orders.length > 0 || engine->jar.clears || !engine->shared.has_jar) &&
           !engine->shared.has_stopped) {
        pthread_cond_wait(&engine->shared.condition, &engine->shared.mutex);
    }
    nc_buf_append(out, nc_buf_slice(&engine->jar.text));
    pthread_mutex_unlock(&engine->shared.mutex);
    nc_status status = nc_buf_status(out);
    return status == NC_OK ? nc_error_clear(err) : nc_error_set(err, status, 0, -1, "%s", nc_status_text(status));
}

nc_status nc_engine_set_cookies(nc_engine *engine, nc_slice text, nc_error *err) {
    nc_status status = NC_OK;
    if (engine->state.cookies == NC_COOKIES_OFF) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the engine keeps no cookies");
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
