/// The hooks that match a shape, part of the template json/scan_core.h. SHAPE_HAS_NAMES adds the search for duplicate
/// names.
#ifndef NETCORE_PRIVATE_JSON_SHAPE_HOOKS_H
#define NETCORE_PRIVATE_JSON_SHAPE_HOOKS_H

#include "json/check.h"
#include "json/number.h"

/// Checks the grammar, a shape and, with SHAPE_HAS_NAMES, duplicate names.
typedef struct scan_hooks {
    nc_match *match;
    nc_scan *scan;
    nc_names *names;
} scan_hooks;

#define HOOK_INLINE static inline __attribute__((always_inline))

/// Reports a container of the wrong type, or one element too many.
static __attribute__((noinline, cold)) bool refuse_container(nc_match *match, bool is_right, bool is_object,
                                                             uint64_t offset) {
    const nc_match_frame *frame = match->top;
    if (frame->index - 1 == frame->max_items && !nc_match_refuse_item(match, offset)) {
        return false;
    }
    return is_right || nc_match_refuse_type(match, frame->target, is_object ? "object" : "array", offset);
}

HOOK_INLINE bool scan_on_begin(scan_hooks *hooks, bool is_object, uint64_t offset) {
    nc_match *match = hooks->match;
    nc_match_frame *frame = match->top;
    if (is_object && SHAPE_HAS_NAMES && !nc_names_begin(hooks->names)) {
        match->status = NC_ERR_NO_MEMORY;
        return false;
    }
    if (frame->skipped > 0) {
        frame->skipped++;
        return true;
    }
    const nc_shape_node *node = frame->target;
    const uint16_t says = is_object ? NC_ASKS_MEMBERS : NC_ASKS_ITEM | NC_ASKS_MIN_ITEMS | NC_ASKS_MAX_ITEMS;
    bool is_right = (node->types & (is_object ? NC_TYPE_OBJECT : NC_TYPE_ARRAY)) != 0;
    bool goes_on = true;
    if (frame->index++ == frame->max_items || !is_right) {
        goes_on = refuse_container(match, is_right, is_object, offset);
    }
    if (is_right && (node->asks & says) != 0) {
        nc_match_begin(match, node, is_object);
    } else {
        nc_match_skip(match);
    }
    return goes_on;
}

HOOK_INLINE bool scan_on_end(scan_hooks *hooks, bool is_object, uint64_t offset) {
    nc_match *match = hooks->match;
    nc_match_frame *frame = match->top;
    if (is_object && SHAPE_HAS_NAMES) {
        nc_names_end(hooks->names);
    }
    if (frame->skipped > 0) {
        match->top -= --frame->skipped == 0 ? 1 : 0;
        return true;
    }
    bool is_sure = is_object ? frame->is_ordered && frame->expected->is_rest_optional
                             : (frame->node->asks & NC_ASKS_MIN_ITEMS) == 0;
    if (is_sure) {
        match->top--;
        return true;
    }
    return nc_match_end(match, offset);
}

HOOK_INLINE nc_scan_answer scan_on_scalar(scan_hooks *hooks, nc_json_kind kind, bool is_plain, uint64_t offset) {
    nc_match_frame *frame = hooks->match->top;
    frame->index++;
    unsigned sight = is_plain && kind == NC_JSON_NUMBER ? (unsigned)NC_KIND_DIGITS : (unsigned)kind;
    return (frame->free >> sight & 1) != 0 ? NC_SCAN_PASS : nc_match_scalar(hooks->match, kind, offset);
}

static inline bool scan_reads_name(const scan_hooks *hooks) {
    return hooks->match->top->skipped == 0 || SHAPE_HAS_NAMES;
}

static bool scan_on_text(scan_hooks *hooks, nc_json_kind kind, nc_slice part, unsigned place, uint64_t offset) {
    nc_match *match = hooks->match;
    if (kind != NC_JSON_NAME) {
        return nc_match_text(match, kind, part, place, offset);
    }
    if (SHAPE_HAS_NAMES) {
        nc_status status = nc_names_check(hooks->names, hooks->scan, part, place, offset);
        if (status != NC_OK) {
            match->status = status == NC_ERR_NO_MEMORY ? status : match->status;
            return false;
        }
    }
    return match->top->skipped > 0 || nc_match_name(match, part, place, offset);
}

// The search for duplicate names needs every name, also in ignored containers.
#if !SHAPE_HAS_NAMES
#define SCAN_SKIPS 1

HOOK_INLINE uint64_t scan_skipped(const scan_hooks *hooks) {
    return hooks->match->top->skipped;
}

HOOK_INLINE void scan_set_skipped(scan_hooks *hooks, uint64_t count) {
    hooks->match->top->skipped = count;
}
#endif

/// Returns true if a name, with eight readable bytes, has no backslash.
HOOK_INLINE bool is_written(nc_slice name) {
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
            // Both loads lie within the name, and overlap.
            __m128i low = _mm_loadu_si128((const __m128i *)(const void *)name.data);
            __m128i high = _mm_loadu_si128((const __m128i *)(const void *)(last - 8));
            found = _mm_or_si128(_mm_cmpeq_epi8(low, backslashes), _mm_cmpeq_epi8(high, backslashes));
        }
        return _mm_movemask_epi8(found) == 0;
    }
#endif
    return memchr(name.data, '\\', name.length) == NULL;
}

#if !SHAPE_HAS_NAMES
#define SCAN_KNOWS_NAMES 1

/// The next members and values that the innermost container expects. Most texts have members in the shape's order. Most
/// other members are not described by the shape.
typedef struct scan_sight {
    nc_match_frame *frame;
    const nc_shape_member *expected; // nc_shape_nobody if members are out of order
    const nc_shape_member *member;   // the current one
    const uint8_t *signs;
    unsigned passes;
    unsigned member_free;
} scan_sight;

HOOK_INLINE scan_sight scan_begin_sight(const scan_hooks *hooks) {
    return (scan_sight){.frame = hooks->match->top, .member_free = hooks->match->member_free};
}

HOOK_INLINE void scan_resume(const scan_hooks *hooks, scan_sight *sight, bool is_object) {
    const nc_match_frame *frame = hooks->match->top;
    if (is_object) {
        sight->expected = frame->is_ordered ? frame->expected : &nc_shape_nobody;
        sight->signs = frame->node->name_signs;
    } else {
        sight->passes = frame->free;
    }
}

HOOK_INLINE bool scan_is_expected(const scan_sight *sight, nc_slice name) {
    return nc_shape_is_named(sight->expected, name.data, name.length);
}

HOOK_INLINE void scan_take_expected(scan_sight *sight) {
    sight->member = sight->expected++;
    sight->passes = sight->member->free | sight->member_free;
}

HOOK_INLINE bool scan_take_stranger(scan_sight *sight, nc_slice name) {
    // The opening quote precedes an empty name.
    if (sight->signs[nc_shape_sign(name.data[0], name.data[(ptrdiff_t)name.length - 1], name.length)] != 0 ||
        !is_written(name)) {
        return false;
    }
    sight->member = &nc_shape_stranger;
    sight->passes = UINT16_MAX;
    return true;
}

HOOK_INLINE void scan_pass_element(scan_sight *sight) {
    sight->frame->index++;
}

/// Stores the sight's state in an object's frame.
HOOK_INLINE void put_sight(const scan_sight *sight, bool is_value_next) {
    nc_match_frame *frame = sight->frame;
    if (frame->is_ordered) {
        frame->expected = sight->expected;
    }
    if (is_value_next) {
        frame->member = sight->member;
        frame->target = sight->member->target;
        frame->free = (uint16_t)sight->passes;
    }
}

HOOK_INLINE bool scan_enter(scan_hooks *hooks, scan_sight *sight, bool is_member, bool is_object) {
    nc_match_frame *frame = sight->frame;
    const nc_shape_node *target = is_member ? sight->member->target : frame->target;
    if ((target->enters >> (is_object ? NC_JSON_OBJECT : NC_JSON_ARRAY) & 1) == 0 || frame->index == frame->max_items) {
        return false;
    }
    frame->index++;
    if (is_member) {
        put_sight(sight, true);
    }
    nc_match_begin(hooks->match, target, is_object);
    sight->frame = frame + 1;
    sight->expected = target->members;
    sight->signs = target->name_signs;
    sight->passes = target->element_free;
    return true;
}

HOOK_INLINE bool scan_leave(scan_hooks *hooks, scan_sight *sight, bool is_object) {
    nc_match_frame *frame = sight->frame;
    if (is_object ? !sight->expected->is_rest_optional : (frame->node->asks & NC_ASKS_MIN_ITEMS) != 0) {
        return false;
    }
    sight->frame = frame - 1;
    hooks->match->top = sight->frame;
    return true;
}

HOOK_INLINE void scan_end_sight(const scan_sight *sight, bool is_object, bool is_value_next) {
    if (is_object) {
        put_sight(sight, is_value_next);
    }
}
#endif

#include "json/scan_core.h"

static inline nc_status shape_feed(nc_scan *scan, nc_match *match, nc_names *names, nc_slice piece, bool is_last) {
    scan_hooks hooks = {match, scan, names};
    core_feed(scan, &hooks, piece, is_last);
    return match->status;
}

#endif
