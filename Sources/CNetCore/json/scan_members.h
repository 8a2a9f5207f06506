/// Scans whole members and elements in the common case: a name that the consumer expects, and a value that it accepts
/// without its text or a container that it enters. One step processes a whole member, where walk_tokens() needs four.
///
/// Part of the template json/scan_core.h, for consumers that define SCAN_KNOWS_NAMES and more hooks:
///
///     typedef struct scan_sight { … } scan_sight;             what the innermost container expects
///         `passes` are the kinds that are accepted as the next value
///     static scan_sight scan_begin_sight(const scan_hooks *hooks);
///     static void scan_resume(const scan_hooks *hooks, scan_sight *sight, bool is_object);
///         the innermost container continues
///     static bool scan_is_expected(const scan_sight *sight, nc_slice name);
///         returns true if a whole name, with eight readable bytes, is the expected one
///     static void scan_take_expected(scan_sight *sight);
///     static bool scan_take_stranger(scan_sight *sight, nc_slice name);
///         accepts a name that is certainly not described; returns false for any other
///     static void scan_pass_element(scan_sight *sight);       an element was accepted
///     static bool scan_enter(scan_hooks *hooks, scan_sight *sight, bool is_member, bool is_object);
///         enters the container that is the next value; returns false if it must be scanned token by token
///     static bool scan_leave(scan_hooks *hooks, scan_sight *sight, bool is_object);
///         leaves the container; returns false if its end must be checked
///     static void scan_end_sight(const scan_sight *sight, bool is_object, bool is_value_next);
#ifndef NETCORE_PRIVATE_JSON_SCAN_MEMBERS_H
#define NETCORE_PRIVATE_JSON_SCAN_MEMBERS_H

#include "json/scan_walk.h"

/// Indexes of a member's offsets, from its name on, and of the next tokens.
enum { MEMBER_NAME, MEMBER_NAME_END, MEMBER_COLON, MEMBER_VALUE, MEMBER_PLACES = 6 };

/// State kept in registers.
typedef struct gaze {
    const uint8_t *text;
    size_t length;
    const uint32_t *place; // of the next token
    const uint32_t *last;  // the last offset from which a whole member is indexed
    scan_sight sight;
} gaze;

/// Where the scan of a container's values ended.
typedef enum look_end {
    LOOK_FIRST, // before a name, an element or an end
    LOOK_VALUE, // before a value
    LOOK_NEXT,  // after a value
    LOOK_IN,    // within a container that has begun
} look_end;

/// Scans a name and its colon.
WALK_INLINE bool look_name(gaze *l) {
    const uint32_t *place = l->place;
    const uint8_t *opening = l->text + place[MEMBER_NAME];
    nc_slice name = {opening + 1, place[MEMBER_NAME_END] - place[MEMBER_NAME] - 1};
    if (*opening != '"' || l->text[place[MEMBER_COLON]] != ':') {
        return false;
    }
    if (scan_is_expected(&l->sight, name)) {
        scan_take_expected(&l->sight);
    } else if (!scan_take_stranger(&l->sight, name)) {
        return false;
    }
    l->place = place + MEMBER_VALUE;
    return true;
}

/// Returns true if a value of this kind is accepted.
WALK_INLINE bool look_passes(const gaze *l, unsigned kind) {
    return (l->sight.passes >> kind & 1) != 0;
}

/// Scans a number. Returns its end, or 0 if it is not accepted.
WALK_INLINE size_t look_number(const walk *w, const gaze *l, size_t at) {
    bool is_digits;
    // Most numbers end where the next token begins. The check of that token is made with it.
    size_t end = l->place[1];
    if (l->length - at <= 40 || !nc_number_is_short(&is_digits, l->text, at, end)) {
        end = nc_number_short_end(&is_digits, l->text, at, l->length);
        end = end != 0 ? end : nc_number_end(&is_digits, l->text, at, l->length);
    }
    bool passes = look_passes(l, is_digits ? (unsigned)NC_KIND_DIGITS : (unsigned)NC_JSON_NUMBER);
    return passes && end - at <= w->scan->max_number_bytes ? end : 0;
}

/// Scans true, false or null. Returns its end, or 0 if it is not accepted.
WALK_INLINE size_t look_word(const gaze *l, size_t at, uint8_t byte) {
    if (byte == 'n') {
        return look_passes(l, NC_JSON_NULL) ? nc_word_end(l->text, at, l->length, 'n') : 0;
    }
    if (byte == 't') {
        return look_passes(l, NC_JSON_TRUE) ? nc_word_end(l->text, at, l->length, 't') : 0;
    }
    return byte == 'f' && look_passes(l, NC_JSON_FALSE) ? nc_word_end(l->text, at, l->length, 'f') : 0;
}

/// Skips an accepted empty container, or enters another one.
WALK_INLINE look_end look_into(walk *w, gaze *l, bool is_member, uint8_t byte) {
    bool is_object = byte == '{';
    if (w->depth == w->max_depth) {
        return LOOK_VALUE;
    }
    // '}' and ']' are '{' and '[' plus 2.
    if (l->text[l->place[1]] == byte + 2 && look_passes(l, is_object ? NC_JSON_OBJECT : NC_JSON_ARRAY)) {
        l->place += 2;
        return LOOK_NEXT;
    }
    if (!scan_enter(w->hooks, &l->sight, is_member, is_object)) {
        return LOOK_VALUE;
    }
    w->kinds[w->depth++] = is_member;
    w->is_object = is_object;
    l->place++;
    return LOOK_IN;
}

/// Skips a value that is accepted, or enters it.
WALK_INLINE look_end look_value(walk *w, gaze *l, bool is_member) {
    size_t at = *l->place;
    uint8_t byte = l->text[at];
    if (byte == '"') {
        if (!look_passes(l, NC_JSON_STRING)) {
            return LOOK_VALUE;
        }
        l->place += 2;
        return LOOK_NEXT;
    }
    size_t end;
    if (byte == '-' || (byte >= '0' && byte <= '9')) {
        end = look_number(w, l, at);
    } else if (byte == '{' || byte == '[') {
        return look_into(w, l, is_member, byte);
    } else {
        end = look_word(l, at, byte);
    }
    if (end == 0) {
        return LOOK_VALUE;
    }
    w->end = end;
    l->place++;
    return LOOK_NEXT;
}

WALK_INLINE look_end look_members(walk *w, gaze *l) {
    while (l->place <= l->last) {
        if (!look_name(l)) {
            return LOOK_FIRST;
        }
        look_end end = look_value(w, l, true);
        if (end != LOOK_NEXT || l->text[*l->place] != ',') {
            return end;
        }
        l->place++;
    }
    // The value of a last member is left to walk_tokens().
    bool is_within = l->place + MEMBER_VALUE <= l->last + MEMBER_PLACES;
    return is_within && look_name(l) ? LOOK_VALUE : LOOK_FIRST;
}

WALK_INLINE look_end look_elements(walk *w, gaze *l) {
    while (l->place <= l->last) {
        look_end end = look_value(w, l, false);
        if (end == LOOK_VALUE) {
            return LOOK_FIRST;
        }
        if (end == LOOK_IN) {
            return LOOK_IN;
        }
        scan_pass_element(&l->sight);
        if (l->text[*l->place] != ',') {
            return LOOK_NEXT;
        }
        l->place++;
    }
    return LOOK_FIRST;
}

/// After a value that no comma follows: leaves containers that end.
WALK_INLINE look_end look_out(walk *w, gaze *l) {
    while (l->place <= l->last) {
        uint8_t byte = l->text[*l->place];
        if (byte == ',') {
            l->place++;
            return LOOK_IN;
        }
        // The end of the outermost container is left to walk_tokens().
        if (byte != (w->is_object ? '}' : ']') || w->depth == 1 || !scan_leave(w->hooks, &l->sight, w->is_object)) {
            break;
        }
        l->place++;
        w->is_object = w->kinds[--w->depth];
        scan_resume(w->hooks, &l->sight, w->is_object);
    }
    return LOOK_NEXT;
}

/// Returns what the grammar expects next.
static uint8_t look_state(const walk *w, const gaze *l, look_end end) {
    if (end == LOOK_NEXT || end == LOOK_VALUE) {
        return end == LOOK_NEXT ? NC_SCAN_NEXT : NC_SCAN_VALUE;
    }
    bool is_first = l->text[l->place[-1]] != ',';
    return w->is_object ? (is_first ? NC_SCAN_FIRST_NAME : NC_SCAN_NAME)
                        : (is_first ? NC_SCAN_FIRST_VALUE : NC_SCAN_VALUE);
}

/// Scans members or elements from offset `i` on. Returns false if it could not scan any.
///
/// A separate function, so that its state fits into registers.
static __attribute__((noinline)) bool walk_look(walk *w) {
    const uint32_t *first = w->index + w->i;
    gaze l = {w->text, w->length, first, w->index + w->count - MEMBER_PLACES, scan_begin_sight(w->hooks)};
    // The last offsets of a text are left to walk_tokens(), because eight bytes are read after each quote.
    if (l.length - l.last[MEMBER_PLACES - 1] <= 8) {
        return false;
    }
    scan_resume(w->hooks, &l.sight, w->is_object);
    look_end end;
    do {
        end = w->is_object ? look_members(w, &l) : look_elements(w, &l);
        if (end == LOOK_NEXT) {
            end = look_out(w, &l);
        }
    } while (end == LOOK_IN);
    if (l.place == first) {
        return false;
    }
    w->i += (size_t)(l.place - first);
    w->state = look_state(w, &l, end);
    scan_end_sight(&l.sight, w->is_object, end == LOOK_VALUE);
    return true;
}

#endif
