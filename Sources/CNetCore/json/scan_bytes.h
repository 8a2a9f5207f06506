/// The byte machine. It defines what is valid JSON and finds every fault.
///
/// Part of the template json/scan_core.h, which lists what the including file must declare.
#ifndef NETCORE_PRIVATE_JSON_SCAN_BYTES_H
#define NETCORE_PRIVATE_JSON_SCAN_BYTES_H

#include "json/scan_parts.h"

static void bytes_open(nc_scan *s, scan_hooks *hooks, bool is_object, uint64_t offset) {
    if (s->depth == s->max_depth) {
        nc_scan_fail(s, NC_JSON_FAULT_DEPTH, offset, is_object ? '{' : '[', "less depth");
        return;
    }
    s->kinds[s->depth++] = s->is_object;
    s->is_object = is_object;
    s->state = is_object ? NC_SCAN_FIRST_NAME : NC_SCAN_FIRST_VALUE;
    bytes_hooked(s, scan_on_begin(hooks, is_object, offset));
}

static inline uint8_t bytes_after_value(const nc_scan *s) {
    return s->depth == 0 ? NC_SCAN_DONE : NC_SCAN_NEXT;
}

static void bytes_close(nc_scan *s, scan_hooks *hooks, uint64_t offset) {
    bool is_object = s->is_object;
    s->is_object = s->kinds[--s->depth];
    s->state = bytes_after_value(s);
    bytes_hooked(s, scan_on_end(hooks, is_object, offset));
}

/// Begins a token whose text starts at `text_at`.
static void bytes_begin_token(nc_scan *s, nc_scan_inside inside, uint64_t offset, size_t text_at) {
    s->inside = (uint8_t)inside;
    s->has_begun = false;
    s->token_offset = offset;
    s->token_at = text_at;
}

static void bytes_begin_value(nc_scan *s, scan_hooks *hooks, size_t at, uint8_t byte) {
    uint64_t offset = s->offset + at;
    nc_json_kind kind = byte == '"'   ? NC_JSON_STRING
                        : byte == 't' ? NC_JSON_TRUE
                        : byte == 'f' ? NC_JSON_FALSE
                        : byte == 'n' ? NC_JSON_NULL
                                      : NC_JSON_NUMBER;
    if (kind == NC_JSON_NUMBER && byte != '-' && (byte < '0' || byte > '9')) {
        bytes_refuse(s, NC_JSON_FAULT_SYNTAX, offset, byte);
        return;
    }
    s->state = bytes_after_value(s);
    if (kind == NC_JSON_STRING) {
        s->is_name = false;
        bytes_begin_token(s, NC_INSIDE_STRING, offset, at + 1);
    } else if (kind == NC_JSON_NUMBER) {
        nc_scan_inside part = byte == '-' ? NC_INSIDE_MINUS : byte == '0' ? NC_INSIDE_ZERO : NC_INSIDE_INTEGER;
        bytes_begin_token(s, part, offset, at);
        s->number_bytes = 1;
    } else {
        bytes_begin_token(s, NC_INSIDE_LITERAL, offset, at);
        s->literal = (uint8_t)kind;
        s->matched = 1;
    }
    nc_scan_answer answer = scan_on_scalar(hooks, kind, false, offset);
    s->is_read = answer == NC_SCAN_READ;
    bytes_hooked(s, answer != NC_SCAN_STOP);
}

/// Processes a byte between tokens.
static void bytes_structure(nc_scan *s, scan_hooks *hooks, size_t at, uint8_t byte) {
    uint64_t offset = s->offset + at;
    uint8_t state = s->state;
    if (byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t') {
        return;
    }
    if (state <= NC_SCAN_FIRST_VALUE) {
        if (byte == '{' || byte == '[') {
            bytes_open(s, hooks, byte == '{', offset);
        } else if (byte == ']' && state == NC_SCAN_FIRST_VALUE) {
            bytes_close(s, hooks, offset);
        } else {
            bytes_begin_value(s, hooks, at, byte);
        }
    } else if (byte == '"' && (state == NC_SCAN_NAME || state == NC_SCAN_FIRST_NAME)) {
        s->state = NC_SCAN_COLON;
        s->is_name = true;
        s->is_read = scan_reads_name(hooks);
        bytes_begin_token(s, NC_INSIDE_STRING, offset, at + 1);
    } else if (byte == ':' && state == NC_SCAN_COLON) {
        s->state = NC_SCAN_VALUE;
    } else if (byte == ',' && state == NC_SCAN_NEXT) {
        s->state = s->is_object ? NC_SCAN_NAME : NC_SCAN_VALUE;
    } else if ((byte == '}' && (state == NC_SCAN_FIRST_NAME || (state == NC_SCAN_NEXT && s->is_object))) ||
               (byte == ']' && state == NC_SCAN_NEXT && !s->is_object)) {
        bytes_close(s, hooks, offset);
    } else {
        bytes_refuse(s, NC_JSON_FAULT_SYNTAX, offset, byte);
    }
}

/// Processes a byte after a part of a number. A byte that does not continue the number is processed as structure.
static void bytes_number(nc_scan *s, scan_hooks *hooks, const uint8_t *text, size_t at, uint8_t byte) {
    nc_scan_inside part = bytes_number_part(s->inside, byte);
    if (part != NC_INSIDE_NOTHING) {
        s->inside = (uint8_t)part;
        if (s->number_bytes++ == s->max_number_bytes) {
            nc_scan_fail(s, NC_JSON_FAULT_NUMBER_LENGTH, s->offset + at, byte, "a shorter number");
        }
    } else if (!nc_scan_is_number_whole(s)) {
        bytes_refuse(s, NC_JSON_FAULT_SYNTAX, s->offset + at, byte);
    } else {
        bytes_hand_over(s, hooks, text, at, NC_TEXT_LAST);
        s->inside = NC_INSIDE_NOTHING;
        if (!s->is_over) {
            bytes_structure(s, hooks, at, byte);
        }
    }
}

static inline void bytes_one(nc_scan *s, scan_hooks *hooks, const uint8_t *text, size_t at) {
    uint8_t byte = text[at];
    switch ((nc_scan_inside)s->inside) {
    case NC_INSIDE_NOTHING:
        bytes_structure(s, hooks, at, byte);
        break;
    case NC_INSIDE_STRING:
        if (byte < 0x20 || byte >= 0x80 || byte == '"' || byte == '\\') {
            bytes_special(s, hooks, text, at, byte);
        }
        break;
    case NC_INSIDE_ESCAPE:
        bytes_escape(s, s->offset + at, byte);
        break;
    case NC_INSIDE_HEX:
        bytes_hex(s, s->offset + at, byte);
        break;
    case NC_INSIDE_PAIR:
    case NC_INSIDE_PAIR_U:
        bytes_pair(s, s->offset + at, byte);
        break;
    case NC_INSIDE_SEQUENCE:
        bytes_sequence(s, s->offset + at, byte);
        break;
    case NC_INSIDE_LITERAL:
        bytes_literal(s, s->offset + at, byte);
        break;
    default:
        bytes_number(s, hooks, text, at, byte);
    }
}

/// Returns the end of a string's plain characters.
static inline size_t bytes_pass_plain(const uint8_t *text, size_t at, size_t length) {
    while (at < length && text[at] >= 0x20 && text[at] < 0x80 && text[at] != '"' && text[at] != '\\') {
        at++;
    }
    return at;
}

/// Scans to `length`, or from `enough` to the next position where the block machine may continue. Returns where it
/// stopped. If the scan is over, its fault is recorded, and the position is arbitrary.
static size_t bytes_run(nc_scan *s, scan_hooks *hooks, const uint8_t *text, size_t at, size_t enough, size_t length) {
    while (at < length && !s->is_over && (at < enough || !nc_scan_is_calm(s))) {
        if (s->inside == NC_INSIDE_STRING) {
            at = bytes_pass_plain(text, at, length);
        } else if (s->inside == NC_INSIDE_NOTHING && text[at] == ' ') {
            at++;
            continue;
        }
        if (at < length) {
            bytes_one(s, hooks, text, at++);
        }
    }
    return at;
}

/// Ends the text: an incomplete token or container is a fault.
static void bytes_end(nc_scan *s, scan_hooks *hooks, const uint8_t *text, size_t length) {
    if (s->is_over) {
        return;
    }
    if (nc_scan_is_number_whole(s)) {
        bytes_hand_over(s, hooks, text, length, NC_TEXT_LAST);
        s->inside = NC_INSIDE_NOTHING;
    }
    if (s->inside != NC_INSIDE_NOTHING || s->state != NC_SCAN_DONE) {
        nc_scan_fail(s, NC_JSON_FAULT_ENDED, s->offset + length, -1, nc_scan_wanted(s));
    }
}

#endif
