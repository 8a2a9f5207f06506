#include "script.h"

#include "basic.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define DEFAULT_CHUNK_BYTES 16

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

static bool append_optional(nct_bytes *out, const char *text) {
    return text == NULL || nct_bytes_append_text(out, text);
}

/// Sets the numbers and flags of the script. The order matters, because some depend on others.
static void decide(nct_script *script, const nct_reply *reply) {
    script->status = reply->status;
    if (reply->status == 0)
        script->status = reply->location != NULL ? 302 : 200;
    if (reply->socket_steps != NULL)
        script->status = 101;
    script->pattern_length = reply->pattern_length;
    script->cut_after = reply->cut_after;
    script->drip_bytes = reply->drip_bytes;
    script->drip_ms = reply->drip_ms;
    script->ending = reply->ending;
    script->early = reply->early;
    script->endless = reply->is_raw ? NCT_FINITE : reply->endless;
    script->is_cut = reply->is_cut;
    script->is_cut_in_body = reply->is_cut_in_body;
    script->is_raw = reply->is_raw;
    script->is_echo = reply->is_echo && !reply->is_raw;
    script->is_endless_body = script->endless >= NCT_ENDLESS_CHUNKS && script->endless <= NCT_ENDLESS_TRAILER;
    bool is_endless_head = script->endless != NCT_FINITE && !script->is_endless_body;
    script->is_bodiless = script->status < 200 || script->status == 204 || script->status == 304 || is_endless_head;
    script->chunk_bytes = reply->is_raw || is_endless_head ? 0 : reply->chunk_bytes;
    if (script->is_endless_body && script->chunk_bytes == 0)
        script->chunk_bytes = DEFAULT_CHUNK_BYTES;
    script->answers_ranges = reply->answers_ranges && script->status == 200 && !script->is_echo && !script->is_raw;
    // If the script's lines already have Transfer-Encoding, the field is not added again, but the body is still sent in
    // chunks.
    script->is_framed = has_line(reply->headers, "Transfer-Encoding") ||
                        (script->chunk_bytes == 0 && has_line(reply->headers, "Content-Length"));
    script->is_typed = has_line(reply->headers, "Content-Type");
    script->file = reply->file;
    script->file_offset = reply->file_offset;
    script->file_length = reply->file_length;
    script->delay_ms = reply->delay_ms;
    script->awaits_body = reply->awaits_body && reply->early == NCT_PATIENT;
}

/// Sets `tail`, which follows the chunks of the body, and `unit`, which is repeated after the tail.
static bool append_tail(nct_script *script, const nct_reply *reply) {
    static const char *const units[] = {
        [NCT_ENDLESS_CONTINUE] = "HTTP/1.1 100 Continue\r\n\r\n",
        [NCT_ENDLESS_LINE] = "a",
        [NCT_ENDLESS_FIELDS] = "X-Endless: a\r\n",
        [NCT_ENDLESS_CHUNKS] = "10\r\nabcdefghijklmnop\r\n",
        [NCT_ENDLESS_EXTENSION] = "a",
        [NCT_ENDLESS_TRAILER] = "X-Endless: a\r\n",
        [NCT_ENDLESS_REASON] = "a",
    };
    if (script->endless < sizeof units / sizeof units[0])
        script->unit = units[script->endless];
    if (script->chunk_bytes == 0 || script->endless == NCT_ENDLESS_CHUNKS)
        return true;
    if (script->endless == NCT_ENDLESS_EXTENSION)
        return nct_bytes_append_text(&script->tail, "1;x=");
    return nct_bytes_append_text(&script->tail, "0\r\n") && append_optional(&script->tail, reply->trailers) &&
           (script->endless == NCT_ENDLESS_TRAILER || nct_bytes_append_text(&script->tail, "\r\n"));
}

static bool append_lines(nct_bytes *out, const nct_reply *reply) {
    return (reply->location == NULL ||
            (nct_bytes_append_text(out, "Location: ") && nct_bytes_append_text(out, reply->location) &&
             nct_bytes_append_text(out, "\r\n"))) &&
           append_optional(out, reply->headers) && nct_bytes_append(out, "", 1);
}

static bool add_challenge(nct_script *script, const nct_reply *reply) {
    if (reply->user == NULL)
        return true;
    script->challenge = nct_script_new(&(nct_reply){
        .status = 401, .headers = "WWW-Authenticate: Basic realm=\"nettesting\"\r\n", .early = reply->early});
    return script->challenge != NULL && nct_basic_append(&script->credentials, reply->user, reply->password);
}

static bool add_socket(nct_script *script, const nct_reply *reply) {
    if (reply->socket_steps == NULL)
        return true;
    script->no_upgrade =
        nct_script_new(&(nct_reply){.status = 426, .headers = "Upgrade: websocket\r\nConnection: Upgrade\r\n"});
    script->socket_parts = calloc(reply->socket_step_count + 1, sizeof *script->socket_parts);
    if (script->no_upgrade == NULL || script->socket_parts == NULL)
        return false;
    for (size_t i = 0; i < reply->socket_step_count; i++) {
        script->socket_part_count = i + 1;
        if (!nct_socket_part_init(&script->socket_parts[i], &reply->socket_steps[i]))
            return false;
    }
    return true;
}

nct_script *nct_script_new(const nct_reply *reply) {
    nct_script *script = calloc(1, sizeof *script);
    if (script == NULL)
        return NULL;
    atomic_init(&script->references, 1);
    decide(script, reply);
    if (nct_bytes_append(&script->body, reply->body, reply->body_length) && append_lines(&script->lines, reply) &&
        append_optional(&script->interim, reply->interim) && append_tail(script, reply) &&
        add_challenge(script, reply) && add_socket(script, reply)) {
        // Ownership of the file is taken last, so that it stays with the caller after a failure.
        script->has_file = reply->has_file;
        return script;
    }
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
    nct_script_release(script->challenge);
    nct_script_release(script->no_upgrade);
    for (size_t i = 0; i < script->socket_part_count; i++)
        nct_bytes_deinit(&script->socket_parts[i].frame);
    free(script->socket_parts);
    if (script->has_file)
        close(script->file);
    nct_bytes_deinit(&script->interim);
    nct_bytes_deinit(&script->lines);
    nct_bytes_deinit(&script->body);
    nct_bytes_deinit(&script->tail);
    nct_bytes_deinit(&script->credentials);
    free(script);
}
