/// The block machine, which jumps from one indexed offset to the next. If it cannot decide about a token, it stops
/// before the token, in the state that the byte machine would have. The byte machine then processes the token.
///
/// Part of the template json/scan_core.h.
#ifndef NETCORE_PRIVATE_JSON_SCAN_WALK_H
#define NETCORE_PRIVATE_JSON_SCAN_WALK_H

#include "json/blocks.h"
#include "json/number.h"

#define WALK_INLINE static inline __attribute__((always_inline))

/// Parts of the scan's state, kept in registers.
typedef struct walk {
    nc_scan *scan;
    scan_hooks *hooks;
    const uint8_t *text;
    size_t length;
    const uint32_t *index;
    size_t count;
    size_t i;   // of the next token
    size_t end; // after the last token
    uint8_t *kinds;
    uint32_t depth;
    uint32_t max_depth;
    uint64_t offset;
    uint32_t floor; // the depth around an ignored container
    bool is_object;
    uint8_t state;
    const nc_blocks *blocks;
} walk;

WALK_INLINE uint8_t walk_after_value(const walk *w) {
    return w->depth == 0 ? NC_SCAN_DONE : NC_SCAN_NEXT;
}

/// Why a walk over tokens ended.
typedef enum walk_end {
    WALK_DONE,   // no offsets remain, or the consumer stopped
    WALK_DOUBT,  // cannot decide about the token at offset `i`
    WALK_SWITCH, // a container begins or has ended whose contents the consumer ignores
} walk_end;

/// Begins a container at `at`. The depth was checked. Returns false if the consumer stops.
WALK_INLINE bool walk_open(walk *w, size_t at, bool is_object, bool is_blind) {
    w->kinds[w->depth++] = w->is_object;
    w->is_object = is_object;
    w->state = is_object ? NC_SCAN_FIRST_NAME : NC_SCAN_FIRST_VALUE;
    w->i++;
    return is_blind || scan_on_begin(w->hooks, is_object, w->offset + at);
}

/// Ends a container. While contents are ignored, the consumer is only called for the outermost one.
WALK_INLINE bool walk_close(walk *w, size_t at, bool is_object, bool is_blind) {
    w->is_object = w->kinds[--w->depth];
    w->state = walk_after_value(w);
    w->i++;
    if (is_blind) {
        if (w->depth > w->floor) {
            return true;
        }
        scan_set_skipped(w->hooks, 1);
    }
    return scan_on_end(w->hooks, is_object, w->offset + at);
}

/// Leaves a string or name open: its opening quote is at `at` and its closing quote is beyond the blocks.
WALK_INLINE void walk_leave_open(walk *w, size_t at, bool is_name, bool is_read) {
    nc_scan *s = w->scan;
    s->inside = NC_INSIDE_STRING;
    s->is_name = is_name;
    s->is_read = is_read;
    s->has_begun = false;
    s->token_offset = w->offset + at;
    s->token_at = at + 1;
    w->i++;
}

/// Returns which part of its token a text is.
WALK_INLINE unsigned walk_place(const walk *w, size_t at, size_t length) {
    size_t block = (at - w->blocks->from) / NC_BLOCK_BYTES;
    bool is_plain = length < NC_BLOCK_BYTES - 1 && (w->blocks->backslashes >> block & 3) == 0;
    return NC_TEXT_WHOLE | (is_plain ? (unsigned)NC_TEXT_PLAIN : 0u) |
           (w->length - at > 8 ? (unsigned)NC_TEXT_ROOM : 0u);
}

/// Scans a name from the opening quote at `at` to its closing quote or the end of the blocks.
WALK_INLINE bool walk_name(walk *w, size_t at, bool is_blind) {
    if (w->count - w->i < 2) {
        walk_leave_open(w, at, true, !is_blind && scan_reads_name(w->hooks));
        return true;
    }
    if (is_blind) {
        w->i += 2;
        return true;
    }
    nc_slice name = {w->text + at + 1, w->index[w->i + 1] - at - 1};
    w->i += 2;
    return scan_on_text(w->hooks, NC_JSON_NAME, name, walk_place(w, at, name.length), w->offset + at);
}

WALK_INLINE bool walk_string(walk *w, size_t at, bool is_blind) {
    nc_scan_answer answer = is_blind ? NC_SCAN_PASS : scan_on_scalar(w->hooks, NC_JSON_STRING, false, w->offset + at);
    if (w->count - w->i < 2) {
        walk_leave_open(w, at, false, answer == NC_SCAN_READ);
        return answer != NC_SCAN_STOP;
    }
    nc_slice text = {w->text + at + 1, w->index[w->i + 1] - at - 1};
    w->i += 2;
    return answer == NC_SCAN_READ
               ? scan_on_text(w->hooks, NC_JSON_STRING, text, walk_place(w, at, text.length), w->offset + at)
               : answer == NC_SCAN_PASS;
}

/// Continues a string to the first offset of all, or beyond the blocks.
WALK_INLINE bool walk_rest_of_string(walk *w) {
    nc_scan *s = w->scan;
    if (w->i == w->count) {
        return true;
    }
    bytes_hand_over(s, w->hooks, w->text, w->index[w->i++], NC_TEXT_LAST);
    s->inside = NC_INSIDE_NOTHING;
    return !s->is_over;
}

/// Scans a number or word at `at`. Returns false, with nothing changed, if it cannot decide.
WALK_INLINE bool walk_scalar(walk *w, size_t at, uint8_t byte, bool is_blind, bool *goes_on) {
    bool is_word = byte >= 'a';
    bool is_plain = false;
    size_t end = is_word ? nc_word_end(w->text, at, w->length, byte) : nc_number_end(&is_plain, w->text, at, w->length);
    if (end == 0 || (is_word && byte != 't' && byte != 'f' && byte != 'n') ||
        (!is_word && end - at > w->scan->max_number_bytes)) {
        return false;
    }
    nc_json_kind kind = !is_word      ? NC_JSON_NUMBER
                        : byte == 't' ? NC_JSON_TRUE
                        : byte == 'f' ? NC_JSON_FALSE
                                      : NC_JSON_NULL;
    w->i++;
    w->end = end;
    w->state = walk_after_value(w);
    if (is_blind) {
        return true;
    }
    nc_scan_answer answer = scan_on_scalar(w->hooks, kind, is_plain, w->offset + at);
    *goes_on = answer != NC_SCAN_STOP;
    if (!is_word && answer == NC_SCAN_READ) {
        nc_slice text = {w->text + at, end - at};
        unsigned place = NC_TEXT_WHOLE | (is_plain ? (unsigned)NC_TEXT_PLAIN : 0u);
        *goes_on = scan_on_text(w->hooks, NC_JSON_NUMBER, text, place, w->offset + at);
    }
    return true;
}

#endif
