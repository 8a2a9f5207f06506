#define _GNU_SOURCE 1
#include "script.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct nct_script_row {
    struct nct_script_row *next;
    nct_script *script;
    size_t path_length;
    char path[];
};

/* --- one reply --- */

static const char *reason_of(unsigned status) {
    static const struct {
        unsigned status;
        const char *reason;
    } reasons[] = {
        {200, "OK"},
        {201, "Created"},
        {202, "Accepted"},
        {204, "No Content"},
        {206, "Partial Content"},
        {301, "Moved Permanently"},
        {302, "Found"},
        {303, "See Other"},
        {304, "Not Modified"},
        {307, "Temporary Redirect"},
        {308, "Permanent Redirect"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {409, "Conflict"},
        {412, "Precondition Failed"},
        {416, "Range Not Satisfiable"},
        {429, "Too Many Requests"},
        {500, "Internal Server Error"},
        {502, "Bad Gateway"},
        {503, "Service Unavailable"},
        {504, "Gateway Timeout"},
    };
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (reasons[i].status == status)
            return reasons[i].reason;
    return "Scripted";
}

static bool has_line(const char *lines, const char *name) {
    size_t length = strlen(name);
    while (lines != NULL && *lines != '\0') {
        if (strncasecmp(lines, name, length) == 0 && lines[length] == ':')
            return true;
        lines = strchr(lines, '\n');
        if (lines != NULL)
            lines++;
    }
    return false;
}

bool nct_script_append_framing(const nct_script *script, nct_bytes *head, uint64_t body_length) {
    char line[64];
    line[0] = '\0';
    if (script->is_framed || script->is_bodiless)
        return nct_bytes_append_text(head, "\r\n");
    if (script->chunk_bytes != 0)
        snprintf(line, sizeof line, "Transfer-Encoding: chunked\r\n\r\n");
    else
        snprintf(line, sizeof line, "Content-Length: %" PRIu64 "\r\n\r\n", body_length);
    return nct_bytes_append_text(head, line);
}

static bool append_head(nct_script *script, const nct_reply *reply) {
    unsigned status = reply->status;
    if (status == 0)
        status = reply->location != NULL ? 302 : 200;
    script->is_bodiless = status < 200 || status == 204 || status == 304;
    char line[64];
    snprintf(line, sizeof line, "HTTP/1.1 %u %s\r\n", status, reason_of(status));
    bool is_whole = nct_bytes_append_text(&script->head, line);
    if (reply->location != NULL) {
        is_whole = is_whole && nct_bytes_append_text(&script->head, "Location: ") &&
                   nct_bytes_append_text(&script->head, reply->location) &&
                   nct_bytes_append_text(&script->head, "\r\n");
    }
    if (reply->headers != NULL)
        is_whole = is_whole && nct_bytes_append_text(&script->head, reply->headers);
    if (script->is_echo)
        return is_whole;
    uint64_t length = script->pattern_length != 0 ? script->pattern_length : script->body.length;
    return is_whole && nct_script_append_framing(script, &script->head, length);
}

nct_script *nct_script_new(const nct_reply *reply) {
    nct_script *script = calloc(1, sizeof *script);
    if (script == NULL)
        return NULL;
    atomic_init(&script->references, 1);
    script->pattern_length = reply->pattern_length;
    script->chunk_bytes = reply->is_raw ? 0 : reply->chunk_bytes;
    script->cut_after = reply->cut_after;
    script->ending = reply->ending;
    script->is_cut = reply->is_cut;
    script->is_raw = reply->is_raw;
    script->is_echo = reply->is_echo && !reply->is_raw;
    // Chunked framing is announced once; lines that announce it themselves still get chunks.
    script->is_framed = has_line(reply->headers, "Transfer-Encoding") ||
                        (script->chunk_bytes == 0 && has_line(reply->headers, "Content-Length"));
    script->is_typed = has_line(reply->headers, "Content-Type");
    bool is_whole = nct_bytes_append(&script->body, reply->body, reply->body_length);
    if (is_whole && !script->is_raw)
        is_whole = append_head(script, reply);
    if (is_whole)
        return script;
    nct_script_release(script);
    return NULL;
}

nct_script *nct_script_retain(nct_script *script) {
    atomic_fetch_add_explicit(&script->references, 1, memory_order_relaxed);
    return script;
}

void nct_script_release(nct_script *script) {
    if (script == NULL || atomic_fetch_sub_explicit(&script->references, 1, memory_order_acq_rel) != 1)
        return;
    nct_bytes_deinit(&script->head);
    nct_bytes_deinit(&script->body);
    free(script);
}

/* --- the table --- */

static struct nct_script_row **chain_of(nct_scripts *scripts, const void *path, size_t length) {
    const uint8_t *bytes = path;
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
    return &scripts->rows[(hash >> 32) % (sizeof scripts->rows / sizeof scripts->rows[0])];
}

static struct nct_script_row *row_of(nct_scripts *scripts, const void *path, size_t length) {
    struct nct_script_row *row = *chain_of(scripts, path, length);
    while (row != NULL && (row->path_length != length || memcmp(row->path, path, length) != 0))
        row = row->next;
    return row;
}

bool nct_scripts_init(nct_scripts *scripts) {
    memset(scripts->rows, 0, sizeof scripts->rows);
    scripts->fallback = nct_script_new(&(nct_reply){.status = 404});
    if (scripts->fallback == NULL)
        return false;
    pthread_mutex_init(&scripts->mutex, NULL);
    return true;
}

void nct_scripts_deinit(nct_scripts *scripts) {
    if (scripts->fallback == NULL)
        return;
    for (size_t i = 0; i < sizeof scripts->rows / sizeof scripts->rows[0]; i++) {
        while (scripts->rows[i] != NULL) {
            struct nct_script_row *row = scripts->rows[i];
            scripts->rows[i] = row->next;
            nct_script_release(row->script);
            free(row);
        }
    }
    nct_script_release(scripts->fallback);
    scripts->fallback = NULL;
    pthread_mutex_destroy(&scripts->mutex);
}

bool nct_scripts_set(nct_scripts *scripts, const char *path, nct_script *script) {
    size_t length = strlen(path);
    pthread_mutex_lock(&scripts->mutex);
    nct_script *replaced = script;
    struct nct_script_row *row = row_of(scripts, path, length);
    if (row != NULL) {
        replaced = row->script;
        row->script = script;
    } else if ((row = malloc(sizeof *row + length)) != NULL) {
        struct nct_script_row **chain = chain_of(scripts, path, length);
        *row = (struct nct_script_row){.next = *chain, .script = script, .path_length = length};
        memcpy(row->path, path, length);
        *chain = row;
        replaced = NULL;
    }
    pthread_mutex_unlock(&scripts->mutex);
    nct_script_release(replaced);
    return row != NULL;
}

nct_script *nct_scripts_find(nct_scripts *scripts, const void *path, size_t length) {
    pthread_mutex_lock(&scripts->mutex);
    struct nct_script_row *row = row_of(scripts, path, length);
    if (row == NULL)
        row = row_of(scripts, "*", 1);
    nct_script *script = nct_script_retain(row != NULL ? row->script : scripts->fallback);
    pthread_mutex_unlock(&scripts->mutex);
    return script;
}
