/// Strings, words and numbers, byte by byte. Part of the template json/scan_core.h.
#ifndef NETCORE_PRIVATE_JSON_SCAN_PARTS_H
#define NETCORE_PRIVATE_JSON_SCAN_PARTS_H

#include "json/scan.h"

/// Records a fault at this byte.
static void bytes_refuse(nc_scan *s, nc_json_fault fault, uint64_t offset, uint8_t byte) {
    nc_scan_fail(s, fault, offset, byte, nc_scan_wanted(s));
}

static inline void bytes_hooked(nc_scan *s, bool goes_on) {
    if (!goes_on && !s->is_over) {
        s->is_over = true;
        s->is_stopped = true;
    }
}

/// Delivers the text up to `at` that was not delivered yet. With NC_TEXT_LAST the token is complete.
static void bytes_hand_over(nc_scan *s, scan_hooks *hooks, const uint8_t *text, size_t at, unsigned last) {
    unsigned place = last | (s->has_begun ? 0u : (unsigned)NC_TEXT_FIRST);
    nc_json_kind kind = s->inside >= NC_INSIDE_MINUS ? NC_JSON_NUMBER : s->is_name ? NC_JSON_NAME : NC_JSON_STRING;
    s->has_begun = true;
    if (s->is_read) {
        nc_slice part = {text + s->token_at, at - s->token_at};
        bytes_hooked(s, scan_on_text(hooks, kind, part, place, s->token_offset));
    }
    s->token_at = at;
}

/// Ends an escape after its fourth digit.
static void bytes_end_hex(nc_scan *s) {
    s->inside = s->is_high && !s->allows_lone_surrogates ? NC_INSIDE_PAIR : NC_INSIDE_STRING;
    s->wants_low = false;
}

/// Processes a digit of `\uXXXX`. The first two show whether it is a surrogate.
static void bytes_hex(nc_scan *s, uint64_t offset, uint8_t byte) {
    uint8_t lower = byte | 0x20;
    bool is_digit = byte >= '0' && byte <= '9';
    if (!is_digit && (lower < 'a' || lower > 'f')) {
        bytes_refuse(s, NC_JSON_FAULT_ESCAPE, offset, byte);
        return;
    }
    if (s->left == 4) {
        s->is_surrogate_d = lower == 'd';
        s->is_high = false;
        if (s->wants_low && !s->is_surrogate_d) {
            bytes_refuse(s, NC_JSON_FAULT_SURROGATE, offset, byte);
        }
    } else if (s->left == 3 && s->is_surrogate_d) {
        bool is_low = !is_digit && lower >= 'c';
        s->is_high = !is_low && (byte >= '8');
        if (s->wants_low && !is_low) {
            bytes_refuse(s, NC_JSON_FAULT_SURROGATE, offset, byte);
        } else if (!s->wants_low && is_low && !s->allows_lone_surrogates) {
            nc_scan_fail(s, NC_JSON_FAULT_SURROGATE, offset, byte, "no second half of a surrogate pair alone");
        }
    }
    if (--s->left == 0) {
        bytes_end_hex(s);
    }
}

static void bytes_escape(nc_scan *s, uint64_t offset, uint8_t byte) {
    if (byte == 'u') {
        s->inside = NC_INSIDE_HEX;
        s->left = 4;
    } else if (byte == '"' || byte == '\\' || byte == '/' || byte == 'b' || byte == 'f' || byte == 'n' || byte == 'r' ||
               byte == 't') {
        s->inside = NC_INSIDE_STRING;
    } else {
        bytes_refuse(s, NC_JSON_FAULT_ESCAPE, offset, byte);
    }
}

/// Processes the bytes between a high surrogate and the digits of its low surrogate.
static void bytes_pair(nc_scan *s, uint64_t offset, uint8_t byte) {
    if (byte != (s->inside == NC_INSIDE_PAIR ? '\\' : 'u')) {
        bytes_refuse(s, NC_JSON_FAULT_SURROGATE, offset, byte);
    } else if (s->inside == NC_INSIDE_PAIR) {
        s->inside = NC_INSIDE_PAIR_U;
    } else {
        s->inside = NC_INSIDE_HEX;
        s->left = 4;
        s->wants_low = true;
    }
}

static void bytes_sequence(nc_scan *s, uint64_t offset, uint8_t byte) {
    if (byte < s->low || byte > s->high) {
        bytes_refuse(s, NC_JSON_FAULT_UTF8, offset, byte);
        return;
    }
    s->low = 0x80;
    s->high = 0xBF;
    if (--s->left == 0) {
        s->inside = NC_INSIDE_STRING;
    }
}

/// Processes a byte that ends a string's plain characters.
static void bytes_special(nc_scan *s, scan_hooks *hooks, const uint8_t *text, size_t at, uint8_t byte) {
    if (byte == '"') {
        bytes_hand_over(s, hooks, text, at, NC_TEXT_LAST);
        s->inside = NC_INSIDE_NOTHING;
    } else if (byte == '\\') {
        s->inside = NC_INSIDE_ESCAPE;
    } else if (byte < 0x20) {
        bytes_refuse(s, NC_JSON_FAULT_CONTROL, s->offset + at, byte);
    } else if (nc_scan_begin_sequence(s, byte)) {
        s->inside = NC_INSIDE_SEQUENCE;
    } else {
        bytes_refuse(s, NC_JSON_FAULT_UTF8, s->offset + at, byte);
    }
}

static void bytes_literal(nc_scan *s, uint64_t offset, uint8_t byte) {
    const char *spelling = nc_scan_literal(s->literal);
    if (byte != (uint8_t)spelling[s->matched]) {
        bytes_refuse(s, NC_JSON_FAULT_SYNTAX, offset, byte);
    } else if (spelling[++s->matched] == '\0') {
        s->inside = NC_INSIDE_NOTHING;
    }
}

/// Returns the part of a number that a byte leads to, or NC_INSIDE_NOTHING if it does not continue the number.
static inline nc_scan_inside bytes_number_part(uint8_t inside, uint8_t byte) {
    bool is_digit = byte >= '0' && byte <= '9';
    bool is_e = byte == 'e' || byte == 'E';
    switch ((nc_scan_inside)inside) {
    case NC_INSIDE_MINUS:
        return byte == '0' ? NC_INSIDE_ZERO : is_digit ? NC_INSIDE_INTEGER : NC_INSIDE_NOTHING;
    case NC_INSIDE_INTEGER:
        if (is_digit) {
            return NC_INSIDE_INTEGER;
        }
        return byte == '.' ? NC_INSIDE_POINT : is_e ? NC_INSIDE_E : NC_INSIDE_NOTHING;
    case NC_INSIDE_ZERO:
        return byte == '.' ? NC_INSIDE_POINT : is_e ? NC_INSIDE_E : NC_INSIDE_NOTHING;
    case NC_INSIDE_POINT:
        return is_digit ? NC_INSIDE_FRACTION : NC_INSIDE_NOTHING;
    case NC_INSIDE_FRACTION:
        return is_digit ? NC_INSIDE_FRACTION : is_e ? NC_INSIDE_E : NC_INSIDE_NOTHING;
    case NC_INSIDE_E:
        return is_digit ? NC_INSIDE_EXPONENT : byte == '+' || byte == '-' ? NC_INSIDE_E_SIGN : NC_INSIDE_NOTHING;
    default:
        return is_digit ? NC_INSIDE_EXPONENT : NC_INSIDE_NOTHING;
    }
}

#endif
