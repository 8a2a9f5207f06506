#include "outgoing.h"

#include <stdio.h>
#include <string.h>

#define PATTERN_PERIOD 26

static size_t least(uint64_t a, size_t b) {
    return a < b ? (size_t)a : b;
}

/// Bytes of one chunk with its framing.
static uint64_t framed_length(uint64_t length) {
    uint64_t digits = 1;
    for (uint64_t rest = length >> 4; rest != 0; rest >>= 4)
        digits++;
    return digits + 2 + length + 2;
}

static uint64_t chunked_length(uint64_t body_length, uint64_t chunk_bytes) {
    uint64_t rest = body_length % chunk_bytes;
    uint64_t whole = body_length / chunk_bytes * framed_length(chunk_bytes);
    return whole + (rest == 0 ? 0 : framed_length(rest)) + strlen("0\r\n\r\n");
}

static bool make_echo(nct_outgoing *outgoing, nct_request *request) {
    const nct_script *script = outgoing->script;
    nct_bytes *head = &outgoing->head;
    outgoing->body = request->body;
    request->body = (nct_bytes){0};
    outgoing->body_length = outgoing->body.length;
    bool is_whole = nct_bytes_append(head, nct_bytes_first(&script->head), script->head.length);
    if (!script->is_typed && request->content_type.length != 0) {
        is_whole = is_whole && nct_bytes_append_text(head, "Content-Type: ") &&
                   nct_bytes_append(head, nct_bytes_first(&request->content_type), request->content_type.length) &&
                   nct_bytes_append_text(head, "\r\n");
    }
    is_whole = is_whole && nct_script_append_framing(script, head, outgoing->body_length);
    outgoing->head_length = head->length;
    return is_whole;
}

bool nct_outgoing_begin(nct_outgoing *outgoing, nct_script *script, nct_request *request) {
    *outgoing = (nct_outgoing){.script = script, .head_length = script->head.length};
    outgoing->body_length = script->pattern_length != 0 ? script->pattern_length : script->body.length;
    if (script->is_echo && request != NULL && !make_echo(outgoing, request)) {
        nct_outgoing_deinit(outgoing);
        return false;
    }
    outgoing->total_length = outgoing->head_length;
    bool is_head = request != NULL && request->is_head;
    if (script->is_raw || !(is_head || script->is_bodiless)) {
        outgoing->total_length += script->chunk_bytes == 0 ? outgoing->body_length
                                                           : chunked_length(outgoing->body_length, script->chunk_bytes);
    }
    bool is_cut = script->is_cut && script->cut_after < outgoing->total_length;
    outgoing->limit = is_cut ? script->cut_after : outgoing->total_length;
    return true;
}

static void read_body(const nct_outgoing *outgoing, uint64_t offset, uint8_t *bytes, size_t length) {
    const nct_script *script = outgoing->script;
    if (script->is_echo || script->pattern_length == 0) {
        memcpy(bytes, nct_bytes_first(script->is_echo ? &outgoing->body : &script->body) + offset, length);
        return;
    }
    size_t filled = least(length, PATTERN_PERIOD);
    for (size_t i = 0; i < filled; i++)
        bytes[i] = (uint8_t)('a' + (offset + i) % PATTERN_PERIOD);
    // What is filled is a whole number of periods, so it repeats seamlessly.
    for (size_t step; filled < length; filled += step) {
        step = least(filled, length - filled);
        memcpy(bytes + filled, bytes, step);
    }
}

/// Copies a run of bytes of the chunked body at `position`; returns at least 1.
static size_t read_chunked(const nct_outgoing *outgoing, uint64_t position, uint8_t *bytes, size_t capacity) {
    uint64_t chunk = outgoing->script->chunk_bytes;
    uint64_t framed = framed_length(chunk);
    uint64_t index = position / framed;
    uint64_t whole = outgoing->body_length / chunk;
    if (index > whole)
        index = whole;
    uint64_t length = index < whole ? chunk : outgoing->body_length % chunk;
    uint64_t offset = position - index * framed;
    if (length != 0 && offset >= framed_length(length)) {
        offset -= framed_length(length);
        length = 0;
    }
    char line[32];
    int written = snprintf(line, sizeof line, "%llx\r\n", (unsigned long long)length);
    size_t line_length = (size_t)written;
    size_t count = 0;
    if (offset < line_length) {
        count = least(line_length - offset, capacity);
        memcpy(bytes, line + offset, count);
    } else if (offset < line_length + length) {
        count = least(line_length + length - offset, capacity);
        read_body(outgoing, index * chunk + offset - line_length, bytes, count);
    } else {
        uint64_t behind = offset - line_length - length;
        count = least(2 - behind, capacity);
        memcpy(bytes, &"\r\n"[behind], count);
    }
    return count;
}

size_t nct_outgoing_read(const nct_outgoing *outgoing, uint8_t *bytes, size_t capacity) {
    const nct_bytes *head = outgoing->script->is_echo ? &outgoing->head : &outgoing->script->head;
    uint64_t position = outgoing->sent;
    size_t wanted = least(outgoing->limit - position, capacity);
    size_t filled = 0;
    while (filled < wanted) {
        size_t room = wanted - filled;
        size_t count = room;
        if (position < outgoing->head_length) {
            count = least(outgoing->head_length - position, room);
            memcpy(bytes + filled, nct_bytes_first(head) + position, count);
        } else if (outgoing->script->chunk_bytes != 0) {
            count = read_chunked(outgoing, position - outgoing->head_length, bytes + filled, room);
        } else {
            read_body(outgoing, position - outgoing->head_length, bytes + filled, count);
        }
        position += count;
        filled += count;
    }
    return filled;
}

void nct_outgoing_deinit(nct_outgoing *outgoing) {
    nct_script_release(outgoing->script);
    nct_bytes_deinit(&outgoing->head);
    nct_bytes_deinit(&outgoing->body);
    *outgoing = (nct_outgoing){0};
}
