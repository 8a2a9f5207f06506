/// Runs the block machine over tokens and blocks. Part of the template json/scan_core.h.
#ifndef NETCORE_PRIVATE_JSON_SCAN_RUN_H
#define NETCORE_PRIVATE_JSON_SCAN_RUN_H

#include "json/scan_walk.h"

#ifdef SCAN_KNOWS_NAMES
#include "json/scan_members.h"
enum { WALK_LOOKS = 1 };
#else
enum { WALK_LOOKS = 0 };
WALK_INLINE bool walk_look(walk *w) {
    (void)w;
    return false;
}
#endif

/// Jumps to the next token, or out if no offsets remain.
#define WALK_NEXT(next_state)                                                                                          \
    do {                                                                                                               \
        w->state = (next_state);                                                                                       \
        if (w->i == w->count) {                                                                                        \
            return WALK_DONE;                                                                                          \
        }                                                                                                              \
        at = w->index[w->i];                                                                                           \
        byte = w->text[at];                                                                                            \
    } while (0)

/// Switches if the consumer begins or stops to ignore contents.
#define WALK_SEE(has_changed)                                                                                          \
    do {                                                                                                               \
        if ((has_changed) && *goes_on) {                                                                               \
            return WALK_SWITCH;                                                                                        \
        }                                                                                                              \
    } while (0)

/// Scans token by token. `*goes_on` is false if the consumer stopped.
WALK_INLINE walk_end walk_tokens(walk *w, bool is_blind, bool *goes_on) {
    size_t at;
    uint8_t byte;
    for (;;) {
        WALK_NEXT(w->state);
        switch ((nc_scan_state)w->state) {
        case NC_SCAN_FIRST_NAME:
            if (byte == '}') {
                *goes_on = walk_close(w, at, true, is_blind);
                WALK_SEE(is_blind && w->depth <= w->floor);
                break;
            }
            goto name;
        case NC_SCAN_NEXT:
            if (byte != ',') {
                if (byte != (w->is_object ? '}' : ']')) {
                    return WALK_DOUBT;
                }
                *goes_on = w->is_object ? walk_close(w, at, true, is_blind) : walk_close(w, at, false, is_blind);
                WALK_SEE(is_blind && w->depth <= w->floor);
                break;
            }
            w->i++;
            if (!w->is_object) {
                WALK_NEXT(NC_SCAN_VALUE);
                goto element;
            }
            WALK_NEXT(NC_SCAN_NAME);
            goto name;
        case NC_SCAN_NAME:
        name:
            if (!is_blind && walk_look(w)) {
                break;
            }
            if (WALK_LOOKS && !is_blind && !w->is_object) {
                goto value;
            }
            if (byte != '"') {
                return WALK_DOUBT;
            }
            *goes_on = walk_name(w, at, is_blind);
            if (!*goes_on) {
                return WALK_DONE;
            }
            WALK_NEXT(NC_SCAN_COLON);
            goto colon;
        case NC_SCAN_COLON:
        colon:
            if (byte != ':') {
                return WALK_DOUBT;
            }
            w->i++;
            WALK_NEXT(NC_SCAN_VALUE);
            goto value;
        case NC_SCAN_FIRST_VALUE:
            if (byte == ']') {
                *goes_on = walk_close(w, at, false, is_blind);
                WALK_SEE(is_blind && w->depth <= w->floor);
                break;
            }
        element:
            if (WALK_LOOKS && !is_blind) {
                goto name;
            }
            goto value;
        case NC_SCAN_VALUE:
        value:
            if (byte == '"') {
                w->state = walk_after_value(w);
                *goes_on = walk_string(w, at, is_blind);
            } else if ((byte == '{' || byte == '[') && w->depth == w->max_depth) {
                return WALK_DOUBT;
            } else if (byte == '{') {
                *goes_on = walk_open(w, at, true, is_blind);
                WALK_SEE(!is_blind && scan_skipped(w->hooks) > 0);
            } else if (byte == '[') {
                *goes_on = walk_open(w, at, false, is_blind);
                WALK_SEE(!is_blind && scan_skipped(w->hooks) > 0);
            } else if (!walk_scalar(w, at, byte, is_blind, goes_on)) {
                return WALK_DOUBT;
            }
            break;
        default:
            return WALK_DOUBT;
        }
        if (!*goes_on) {
            return WALK_DONE;
        }
    }
}

/// Scans the offsets of some blocks. Returns false if it cannot decide about the token at `*at`.
static bool walk_blocks(nc_scan *s, scan_hooks *hooks, nc_slice text, const nc_blocks_places *places,
                        const nc_blocks *blocks, size_t *at) {
    walk w = {
        .scan = s,
        .hooks = hooks,
        .text = text.data,
        .length = text.length,
        .index = places->index,
        .count = places->count,
        .blocks = blocks,
        .end = *at,
        .kinds = s->kinds,
        .depth = s->depth,
        .max_depth = s->max_depth,
        .offset = s->offset,
        .is_object = s->is_object,
        .state = s->state,
    };
    bool goes_on = s->inside == NC_INSIDE_NOTHING || walk_rest_of_string(&w);
    walk_end end = goes_on && s->inside == NC_INSIDE_NOTHING ? WALK_SWITCH : WALK_DONE;
    while (end == WALK_SWITCH) {
        uint64_t skipped = scan_skipped(hooks);
        if (skipped == 0) {
            end = walk_tokens(&w, false, &goes_on);
            continue;
        }
        w.floor = w.depth - (uint32_t)skipped;
        end = walk_tokens(&w, true, &goes_on);
        if (w.depth > w.floor) {
            scan_set_skipped(hooks, w.depth - w.floor);
        }
    }
    s->depth = w.depth;
    s->is_object = w.is_object;
    s->state = w.state;
    bytes_hooked(s, goes_on);
    *at = end == WALK_DOUBT ? w.index[w.i] : w.end;
    return end != WALK_DOUBT;
}

/// Returns where the byte machine may continue after clean blocks that end at `end` within a string: not within an
/// escape or a UTF-8 sequence.
static size_t walk_leave_string(nc_scan *s, const nc_blocks *blocks, const uint8_t *text, size_t end) {
    if (blocks->escapes_end > end) {
        return blocks->escapes_end;
    }
    if (blocks->is_escaped != 0) {
        s->inside = NC_INSIDE_ESCAPE;
        return end;
    }
    for (size_t back = 1; back <= 3; back++) {
        uint8_t byte = text[end - back];
        size_t bytes = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
        if (byte < 0x80 || byte >= 0xC0) {
            return bytes > back ? end - back : end;
        }
    }
    return end;
}

/// Scans block by block while it can decide. Returns the offset of the next byte to scan.
static size_t walk_run(nc_scan *s, scan_hooks *hooks, const uint8_t *text, size_t at, size_t length) {
    nc_blocks_places places;
    const nc_blocks_fn look = nc_blocks_best()->look;
    nc_slice whole = {text, length};
    size_t end = at; // of the last token
    nc_blocks blocks = {
        .in_string = s->inside == NC_INSIDE_STRING ? UINT64_MAX : 0,
        .allows_lone_surrogates = s->allows_lone_surrogates,
        .pair_at = SIZE_MAX,
    };
    size_t from = at;
    size_t done;
    do {
        blocks.from = at;
        blocks.backslashes = 0;
        done = look(&blocks, text, at, length, places.index, &places.count);
        size_t token = at;
        if (!walk_blocks(s, hooks, whole, &places, &blocks, &token)) {
            return token;
        }
        end = token > end ? token : end;
        at += done;
    } while (!s->is_over && done == (size_t)NC_BLOCK_BYTES * NC_BLOCKS_AT_ONCE && length - at >= NC_BLOCK_BYTES);
    if (s->inside == NC_INSIDE_STRING) {
        return at == from ? at : walk_leave_string(s, &blocks, text, at);
    }
    return at > end ? at : end;
}

#endif
