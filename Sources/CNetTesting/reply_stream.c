#define _GNU_SOURCE 1
#include "reply_stream.h"

#include "head.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATTERN_PERIOD 26

static size_t least(uint64_t a, size_t b) {
    return a < b ? (size_t)a : b;
}

/// Returns the length of one chunk with its framing.
static uint64_t framed_chunk(uint64_t length) {
    uint64_t digits = 1;
    for (uint64_t rest = length >> 4; rest != 0; rest >>= 4)
        digits++;
    return digits + 2 + length + 2;
}

/// Returns the length of a chunked body with its framing, without the last chunk.
static uint64_t framed_body(uint64_t body_length, uint64_t chunk_bytes) {
    uint64_t rest = body_length % chunk_bytes;
    return body_length / chunk_bytes * framed_chunk(chunk_bytes) + (rest == 0 ? 0 : framed_chunk(rest));
}

/// Returns the length with framing of the first `count` bytes of the body.
static uint64_t framed_part(uint64_t count, uint64_t body_length, uint64_t chunk_bytes) {
    if (chunk_bytes == 0 || count >= body_length)
        return chunk_bytes == 0 ? count : framed_body(body_length, chunk_bytes) + (count - body_length);
    uint64_t before = count / chunk_bytes * chunk_bytes;
    uint64_t length = body_length - before < chunk_bytes ? body_length - before : chunk_bytes;
    uint64_t line = framed_chunk(length) - length - 2;
    return framed_body(before, chunk_bytes) + (count == before ? 0 : line + count - before);
}

/* --- lifecycle --- */

/// Returns the requested range, if the script supports ranges.
static nct_range choose_part(const nct_script *script, const nct_request *request, uint64_t body_length) {
    const nct_range whole = {.kind = NCT_RANGE_WHOLE, .length = body_length};
    if (!script->answers_ranges || request == NULL || !request->is_get)
        return whole;
    const nct_bytes *condition = &request->fields[NCT_FIELD_IF_RANGE];
    if (condition->length != 0 && memmem(nct_bytes_first(&script->lines), script->lines.length,
                                         nct_bytes_first(condition), condition->length) == NULL)
        return whole;
    const nct_bytes *range = &request->fields[NCT_FIELD_RANGE];
    return nct_range_parse(nct_bytes_first(range), range->length, body_length);
}

/// Returns the length of the script's body.
static uint64_t body_length_of(const nct_script *script) {
    if (script->has_file)
        return script->file_length;
    return script->pattern_length != 0 ? script->pattern_length : script->body.length;
}

static bool make_head(nct_reply_stream *reply_stream, nct_request *request) {
    const nct_script *script = reply_stream->script;
    nct_head_facts facts = {.body_length = body_length_of(script)};
    if (script->is_echo && request != NULL) {
        reply_stream->body = request->body;
        request->body = (nct_bytes){0};
        facts.body_length = reply_stream->body.length;
        const nct_bytes *type = &request->fields[NCT_FIELD_CONTENT_TYPE];
        facts.content_type = nct_bytes_first(type);
        facts.content_type_length = script->is_typed ? 0 : type->length;
    }
    // The server closes the connection after a reply to HTTP/1.0. Without "Connection: close", a client could send
    // another request on it at the same time.
    facts.announces_close = request != NULL && request->is_1_0 && script->ending == NCT_KEEP;
    if (script->no_upgrade != NULL && request != NULL)
        facts.socket_key = &request->fields[NCT_FIELD_SOCKET_KEY];
    facts.range = choose_part(script, request, facts.body_length);
    reply_stream->body_offset = facts.range.first;
    reply_stream->body_length = facts.range.length;
    return script->is_raw || nct_head_append(&reply_stream->head, script, &facts);
}

bool nct_reply_stream_begin(nct_reply_stream *reply_stream, nct_script *script, nct_request *request) {
    *reply_stream = (nct_reply_stream){.script = script};
    if (!make_head(reply_stream, request)) {
        nct_reply_stream_deinit(reply_stream);
        return false;
    }
    bool is_head = request != NULL && request->is_head && !script->is_raw;
    bool has_body = script->is_raw || !(is_head || script->is_bodiless);
    reply_stream->total_length = reply_stream->head.length;
    if (has_body) {
        reply_stream->framed_length = script->chunk_bytes == 0
                                          ? reply_stream->body_length
                                          : framed_body(reply_stream->body_length, script->chunk_bytes);
        reply_stream->total_length += reply_stream->framed_length + script->tail.length;
    }
    // For a HEAD request, an endless head is still endless, but an endless body is not sent.
    if (script->unit != NULL && (has_body || !script->is_endless_body))
        reply_stream->total_length = UINT64_MAX;
    uint64_t cut_after = script->cut_after;
    if (script->is_cut_in_body)
        cut_after = reply_stream->head.length + framed_part(cut_after, reply_stream->body_length, script->chunk_bytes);
    bool is_cut = script->is_cut && cut_after < reply_stream->total_length;
    reply_stream->limit = is_cut ? cut_after : reply_stream->total_length;
    return true;
}

/* --- the bytes at a position --- */

/// Fills `bytes` up to `length` with copies of the first `filled` bytes, which must be whole periods of the pattern.
static void repeat(uint8_t *bytes, size_t filled, size_t length) {
    for (size_t step; filled < length; filled += step) {
        step = least(filled, length - filled);
        memcpy(bytes + filled, bytes, step);
    }
}

static void read_unit(const char *unit, uint64_t offset, uint8_t *bytes, size_t length) {
    size_t period = strlen(unit);
    size_t filled = least(length, period);
    for (size_t i = 0; i < filled; i++)
        bytes[i] = (uint8_t)unit[(offset + i) % period];
    repeat(bytes, filled, length);
}

/// Reads a part of the file. Returns 0 if the file has become shorter.
static size_t read_file(const nct_script *script, uint64_t offset, uint8_t *bytes, size_t length) {
    for (;;) {
        ssize_t count = pread(script->file, bytes, length, (off_t)(script->file_offset + offset));
        if (count >= 0 || errno != EINTR)
            return count > 0 ? (size_t)count : 0;
    }
}

/// Copies bytes of the body. Returns the number of copied bytes, which is only smaller than `length` for a file.
static size_t read_body(const nct_reply_stream *reply_stream, uint64_t offset, uint8_t *bytes, size_t length) {
    const nct_script *script = reply_stream->script;
    offset += reply_stream->body_offset;
    if (script->has_file)
        return read_file(script, offset, bytes, length);
    if (script->is_echo || script->pattern_length == 0) {
        memcpy(bytes, nct_bytes_first(script->is_echo ? &reply_stream->body : &script->body) + offset, length);
        return length;
    }
    size_t filled = least(length, PATTERN_PERIOD);
    for (size_t i = 0; i < filled; i++)
        bytes[i] = (uint8_t)('a' + (offset + i) % PATTERN_PERIOD);
    repeat(bytes, filled, length);
    return length;
}

/// Copies bytes of the chunked body, from `position` on. Returns their number: at least 1, or 0 if a file ended too
/// early.
static size_t read_chunks(const nct_reply_stream *reply_stream, uint64_t position, uint8_t *bytes, size_t capacity) {
    uint64_t chunk = reply_stream->script->chunk_bytes;
    uint64_t index = position / framed_chunk(chunk);
    uint64_t whole = reply_stream->body_length / chunk;
    if (index > whole)
        index = whole;
    uint64_t length = index < whole ? chunk : reply_stream->body_length % chunk;
    uint64_t offset = position - index * framed_chunk(chunk);
    char line[32];
    size_t line_length = (size_t)snprintf(line, sizeof line, "%llx\r\n", (unsigned long long)length);
    size_t count = 0;
    if (offset < line_length) {
        count = least(line_length - offset, capacity);
        memcpy(bytes, line + offset, count);
    } else if (offset < line_length + length) {
        count = least(line_length + length - offset, capacity);
        count = read_body(reply_stream, index * chunk + offset - line_length, bytes, count);
    } else {
        uint64_t behind = offset - line_length - length;
        count = least(2 - behind, capacity);
        memcpy(bytes, &"\r\n"[behind], count);
    }
    return count;
}

/// Copies bytes of the reply from `position` on, which is before its end. Returns their number: at least 1, or 0 if a
/// file ended too early.
static size_t read_run(const nct_reply_stream *reply_stream, uint64_t position, uint8_t *bytes, size_t capacity) {
    const nct_script *script = reply_stream->script;
    if (position < reply_stream->head.length) {
        size_t count = least(reply_stream->head.length - position, capacity);
        memcpy(bytes, nct_bytes_first(&reply_stream->head) + position, count);
        return count;
    }
    position -= reply_stream->head.length;
    if (position < reply_stream->framed_length) {
        if (script->chunk_bytes != 0)
            return read_chunks(reply_stream, position, bytes, capacity);
        return read_body(reply_stream, position, bytes, least(reply_stream->framed_length - position, capacity));
    }
    position -= reply_stream->framed_length;
    if (position < script->tail.length) {
        size_t count = least(script->tail.length - position, capacity);
        memcpy(bytes, nct_bytes_first(&script->tail) + position, count);
        return count;
    }
    read_unit(script->unit, position - script->tail.length, bytes, capacity);
    return capacity;
}

size_t nct_reply_stream_read(const nct_reply_stream *reply_stream, uint8_t *bytes, size_t capacity) {
    size_t wanted = least(reply_stream->limit - reply_stream->sent, capacity);
    size_t filled = 0;
    while (filled < wanted) {
        size_t count = read_run(reply_stream, reply_stream->sent + filled, bytes + filled, wanted - filled);
        if (count == 0)
            break;
        filled += count;
    }
    return filled;
}

void nct_reply_stream_deinit(nct_reply_stream *reply_stream) {
    nct_script_release(reply_stream->script);
    nct_bytes_deinit(&reply_stream->head);
    nct_bytes_deinit(&reply_stream->body);
    *reply_stream = (nct_reply_stream){0};
}
