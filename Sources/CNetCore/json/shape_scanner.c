#include "json/shape_match.h"
#include "json/token_text.h"

/// Hooks of a scan that checks the grammar and a shape.
typedef struct scan_hooks {
    nc_match *match;
} scan_hooks;

#define HOOK_INLINE inline __attribute__((always_inline))

static HOOK_INLINE bool scan_on_begin(scan_hooks *hooks, bool is_object, uint64_t offset) {
    return nc_match_on_begin(hooks->match, is_object, offset);
}

static HOOK_INLINE bool scan_on_end(scan_hooks *hooks, bool is_object, uint64_t offset) {
    return nc_match_on_end(hooks->match, is_object, offset);
}

static HOOK_INLINE nc_scan_action scan_on_scalar(scan_hooks *hooks, nc_json_kind kind, bool is_plain, uint64_t offset) {
    return nc_match_on_scalar(hooks->match, kind, is_plain, offset);
}

static HOOK_INLINE bool scan_wants_name(const scan_hooks *hooks) {
    return hooks->match->top->skipped_depth == 0;
}

/// Not inlined, so that the token scanner can keep its state in registers. It is rarely called, because the look-ahead
/// below handles most members.
static __attribute__((noinline)) bool scan_on_text(scan_hooks *hooks, nc_json_kind kind, nc_slice part, unsigned flags,
                                                   uint64_t offset) {
    return nc_match_on_text(hooks->match, kind, part, flags, offset);
}

static HOOK_INLINE uint64_t scan_skipped_depth(const scan_hooks *hooks) {
    return hooks->match->top->skipped_depth;
}

static HOOK_INLINE void scan_set_skipped_depth(scan_hooks *hooks, uint64_t depth) {
    hooks->match->top->skipped_depth = depth;
}

/* --- look-ahead --- */

// The look-ahead scans a whole member or element in one step, where the token scanner needs up to four. It handles the
// common case. The name is the one that the shape expects next, or is not listed. The value is valid without reading
// its text, or is a container to enter. Without the look-ahead, checking a shape takes 1.1 to 1.75 times as long.

/// Indexes of the offsets of a member's tokens, relative to its name. MEMBER_TOKENS offsets must be known to scan a
/// member.
enum { MEMBER_NAME, MEMBER_NAME_END, MEMBER_COLON, MEMBER_VALUE, MEMBER_TOKENS = 6 };

/// The state of the look-ahead, small enough to be kept in registers.
typedef struct lookahead {
    const uint8_t *text;
    size_t length;
    const uint32_t *token; // offset of the next token
    const uint32_t *last;  // the last token that has MEMBER_TOKENS known offsets
    nc_match_frame *frame;
    const nc_shape_member *next_member; // the expected member; nc_shape_no_member if members are not in order
    const nc_shape_member *member;      // the current member
    const uint8_t *name_keys;
    unsigned accepted; // kinds that are valid as the next value
    unsigned accepted_in_members;
} lookahead;

/// Where the look-ahead stopped.
typedef enum skip_end {
    BEFORE_FIRST,     // before a name, an element or the end of a container
    BEFORE_VALUE,     // before a value
    AFTER_VALUE,      // after a value
    WITHIN_CONTAINER, // not stopped: a container was entered, or a comma was read
} skip_end;

/// Loads the state of the innermost container.
static HOOK_INLINE void resume_container(lookahead *l, const nc_match *match, bool is_object) {
    const nc_match_frame *frame = match->top;
    if (is_object) {
        l->next_member = frame->is_ordered ? frame->next_member : &nc_shape_no_member;
        l->name_keys = frame->node->name_keys;
    } else {
        l->accepted = frame->accepted;
    }
}

/// Stores the state of an object in its frame.
static HOOK_INLINE void store_state(const lookahead *l, bool is_value_next) {
    nc_match_frame *frame = l->frame;
    if (frame->is_ordered) {
        frame->next_member = l->next_member;
    }
    if (is_value_next) {
        frame->member = l->member;
        frame->target = l->member->target;
        frame->accepted = (uint16_t)l->accepted;
    }
}

/// Returns true if a name does not contain a backslash; eight bytes must be readable.
static HOOK_INLINE bool has_no_backslash(nc_slice name) {
#if defined(__SSE2__)
    const __m128i backslashes = _mm_set1_epi8('\\');
    __m128i first = _mm_loadl_epi64((const __m128i *)(const void *)name.data);
    if (name.length <= 8) {
        return ((unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(first, backslashes)) & ((1u << name.length) - 1)) == 0;
    }
    if (name.length <= 32) {
        const uint8_t *last = name.data + name.length - 8;
        __m128i ends = _mm_unpacklo_epi64(first, _mm_loadl_epi64((const __m128i *)(const void *)last));
        __m128i found = _mm_cmpeq_epi8(ends, backslashes);
        if (name.length > 16) {
            // The two loads cover the name and may overlap.
            __m128i low = _mm_loadu_si128((const __m128i *)(const void *)name.data);
            __m128i high = _mm_loadu_si128((const __m128i *)(const void *)(last - 8));
            found = _mm_or_si128(_mm_cmpeq_epi8(low, backslashes), _mm_cmpeq_epi8(high, backslashes));
        }
        return _mm_movemask_epi8(found) == 0;
    }
#endif
    return memchr(name.data, '\\', name.length) == NULL;
}

/// Scans a name and its colon. Returns false unless the name is the expected one or is certainly not listed.
static HOOK_INLINE bool skip_name(lookahead *l) {
    const uint32_t *token = l->token;
    const uint8_t *opening = l->text + token[MEMBER_NAME];
    nc_slice name = {opening + 1, token[MEMBER_NAME_END] - token[MEMBER_NAME] - 1};
    if (*opening != '"' || l->text[token[MEMBER_COLON]] != ':') {
        return false;
    }
    if (nc_shape_is_named(l->next_member, name.data, name.length)) {
        l->member = l->next_member++;
        l->accepted = l->member->accepted | l->accepted_in_members;
    } else {
        // For an empty name this is the opening quote.
        uint8_t last = name.data[(ptrdiff_t)name.length - 1];
        if (l->name_keys[nc_shape_name_key(name.data[0], last, name.length)] != 0 || !has_no_backslash(name)) {
            return false;
        }
        l->member = &nc_shape_unlisted_member;
        l->accepted = UINT16_MAX;
    }
    l->token = token + MEMBER_VALUE;
    return true;
}

static HOOK_INLINE bool accepts(const lookahead *l, unsigned kind) {
    return (l->accepted >> kind & 1) != 0;
}

/// Scans a number. Returns its end, or 0 if the token scanner must scan it.
static HOOK_INLINE size_t skip_number(const nc_token_cursor *c, const lookahead *l, size_t at) {
    bool is_digits;
    // Most numbers end where the next token begins. That token is checked when it is scanned.
    size_t end = l->token[1];
    if (l->length - at <= 40 || !nc_number_is_short(&is_digits, l->text, at, end)) {
        end = nc_number_short_end(&is_digits, l->text, at, l->length);
        end = end != 0 ? end : nc_number_end(&is_digits, l->text, at, l->length);
    }
    bool is_accepted = accepts(l, is_digits ? (unsigned)NC_KIND_DIGITS : (unsigned)NC_JSON_NUMBER);
    return is_accepted && end - at <= c->scan->max_number_bytes ? end : 0;
}

/// Scans true, false or null. Returns its end, or 0 if the token scanner must scan it.
static HOOK_INLINE size_t skip_literal(const lookahead *l, size_t at, uint8_t byte) {
    if (byte == 'n') {
        return accepts(l, NC_JSON_NULL) ? nc_literal_end(l->text, at, l->length, 'n') : 0;
    }
    if (byte == 't') {
        return accepts(l, NC_JSON_TRUE) ? nc_literal_end(l->text, at, l->length, 't') : 0;
    }
    return byte == 'f' && accepts(l, NC_JSON_FALSE) ? nc_literal_end(l->text, at, l->length, 'f') : 0;
}

/// Enters the container that is the next value. Returns false if the token scanner must scan it.
static HOOK_INLINE bool enter_container(lookahead *l, nc_match *match, bool is_member, bool is_object) {
    nc_match_frame *frame = l->frame;
    const nc_shape_node *target = is_member ? l->member->target : frame->target;
    if ((target->entered_kinds >> (is_object ? NC_JSON_OBJECT : NC_JSON_ARRAY) & 1) == 0 ||
        frame->index == frame->max_items) {
        return false;
    }
    frame->index++;
    if (is_member) {
        store_state(l, true);
    }
    nc_match_enter(match, target, is_object);
    l->frame = frame + 1;
    l->next_member = target->members;
    l->name_keys = target->name_keys;
    l->accepted = target->accepted_elements;
    return true;
}

/// Scans an empty container that is valid, or enters the container.
static HOOK_INLINE skip_end skip_container(nc_token_cursor *c, lookahead *l, nc_match *match, bool is_member,
                                           uint8_t byte) {
    bool is_object = byte == '{';
    if (c->depth == c->max_depth) {
        return BEFORE_VALUE;
    }
    // In ASCII '}' is '{' + 2, and ']' is '[' + 2.
    if (l->text[l->token[1]] == byte + 2 && accepts(l, is_object ? NC_JSON_OBJECT : NC_JSON_ARRAY)) {
        l->token += 2;
        return AFTER_VALUE;
    }
    if (!enter_container(l, match, is_member, is_object)) {
        return BEFORE_VALUE;
    }
    c->parents[c->depth++] = is_member;
    c->is_object = is_object;
    l->token++;
    return WITHIN_CONTAINER;
}

/// Scans a value that is valid without reading its text, or enters it.
static HOOK_INLINE skip_end skip_value(nc_token_cursor *c, lookahead *l, nc_match *match, bool is_member) {
    size_t at = *l->token;
    uint8_t byte = l->text[at];
    if (byte == '"') {
        if (!accepts(l, NC_JSON_STRING)) {
            return BEFORE_VALUE;
        }
        l->token += 2;
        return AFTER_VALUE;
    }
    size_t end;
    if (byte == '-' || (byte >= '0' && byte <= '9')) {
        end = skip_number(c, l, at);
    } else if (byte == '{' || byte == '[') {
        return skip_container(c, l, match, is_member, byte);
    } else {
        end = skip_literal(l, at, byte);
    }
    if (end == 0) {
        return BEFORE_VALUE;
    }
    c->end = end;
    l->token++;
    return AFTER_VALUE;
}

static HOOK_INLINE skip_end skip_members(nc_token_cursor *c, lookahead *l, nc_match *match) {
    while (l->token <= l->last) {
        if (!skip_name(l)) {
            return BEFORE_FIRST;
        }
        skip_end end = skip_value(c, l, match, true);
        if (end != AFTER_VALUE || l->text[*l->token] != ',') {
            return end;
        }
        l->token++;
    }
    // Near the end of the tokens only the name is scanned here; the token scanner scans the value.
    bool is_within = l->token + MEMBER_VALUE <= l->last + MEMBER_TOKENS;
    return is_within && skip_name(l) ? BEFORE_VALUE : BEFORE_FIRST;
}

static HOOK_INLINE skip_end skip_elements(nc_token_cursor *c, lookahead *l, nc_match *match) {
    while (l->token <= l->last) {
        skip_end end = skip_value(c, l, match, false);
        if (end == BEFORE_VALUE) {
            return BEFORE_FIRST;
        }
        if (end == WITHIN_CONTAINER) {
            return WITHIN_CONTAINER;
        }
        l->frame->index++;
        if (l->text[*l->token] != ',') {
            return AFTER_VALUE;
        }
        l->token++;
    }
    return BEFORE_FIRST;
}

/// Leaves the innermost container. Returns false if nc_match_end() must check it.
static HOOK_INLINE bool leave_container(lookahead *l, nc_match *match, bool is_object) {
    nc_match_frame *frame = l->frame;
    if (is_object ? !l->next_member->is_rest_optional : (frame->node->constraints & NC_HAS_MIN_ITEMS) != 0) {
        return false;
    }
    l->frame = frame - 1;
    match->top = l->frame;
    return true;
}

/// Called after a value without a comma behind it. Leaves the containers that end here.
static HOOK_INLINE skip_end skip_ends(nc_token_cursor *c, lookahead *l, nc_match *match) {
    while (l->token <= l->last) {
        uint8_t byte = l->text[*l->token];
        if (byte == ',') {
            l->token++;
            return WITHIN_CONTAINER;
        }
        // The token scanner handles the end of the outermost container.
        if (byte != (c->is_object ? '}' : ']') || c->depth == 1 || !leave_container(l, match, c->is_object)) {
            break;
        }
        l->token++;
        c->is_object = c->parents[--c->depth];
        resume_container(l, match, c->is_object);
    }
    return AFTER_VALUE;
}

/// Returns the nc_scan_state in which the token scanner continues.
static uint8_t state_after(const nc_token_cursor *c, const lookahead *l, skip_end end) {
    if (end == AFTER_VALUE || end == BEFORE_VALUE) {
        return end == AFTER_VALUE ? NC_SCAN_NEXT : NC_SCAN_VALUE;
    }
    bool is_first = l->text[l->token[-1]] != ',';
    return c->is_object ? (is_first ? NC_SCAN_FIRST_NAME : NC_SCAN_NAME)
                        : (is_first ? NC_SCAN_FIRST_VALUE : NC_SCAN_VALUE);
}

/// Scans members or elements, and advances the cursor past them. Returns false if it scanned none.
///
/// Not inlined, so that its state fits into registers.
static __attribute__((noinline)) bool scan_look_ahead(scan_hooks *hooks, nc_token_cursor *c) {
    nc_match *match = hooks->match;
    const uint32_t *first = c->offsets + c->next;
    lookahead l = {.text = c->text,
                   .length = c->length,
                   .token = first,
                   .last = c->offsets + c->count - MEMBER_TOKENS,
                   .frame = match->top,
                   .accepted_in_members = match->accepted_in_members};
    // The token scanner handles the last tokens of a text, because this code reads eight bytes behind each quote.
    if (l.length - l.last[MEMBER_TOKENS - 1] <= 8) {
        return false;
    }
    resume_container(&l, match, c->is_object);
    skip_end end;
    do {
        end = c->is_object ? skip_members(c, &l, match) : skip_elements(c, &l, match);
        if (end == AFTER_VALUE) {
            end = skip_ends(c, &l, match);
        }
    } while (end == WITHIN_CONTAINER);
    if (l.token == first) {
        return false;
    }
    c->next += (size_t)(l.token - first);
    c->state = state_after(c, &l, end);
    if (c->is_object) {
        store_state(&l, end == BEFORE_VALUE);
    }
    return true;
}

#define SCAN_LOOKS_AHEAD
#include "json/scanner.inc"

nc_status nc_match_scan(nc_match *match, nc_scan *scan, nc_slice piece, bool is_last) {
    scan_hooks hooks = {match};
    scan_piece(scan, &hooks, piece, is_last);
    return match->status;
}
