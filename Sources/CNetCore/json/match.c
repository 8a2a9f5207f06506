#include "json/match.h"

#include "base/alloc.h"
#include "json/match_words.h"

#include <string.h>

/* --- creation --- */

/// Like nc_buf_init(), but in place. Copying a struct that was just written stalls on store forwarding.
static inline void begin_words(nc_buf *buf, size_t max_bytes) {
    *buf = (nc_buf){.max_bytes = max_bytes, .status = NC_OK};
}

static inline void begin(nc_match *match) {
    match->top = match->frames;
    match->member_free = match->options.is_lenient ? 1u << NC_JSON_NULL : 0;
    *match->top = (nc_match_frame){.target = nc_shape_node_at(match->shape, 0),
                                   .max_items = UINT64_MAX,
                                   .node = &nc_shape_anything,
                                   .is_array = true};
    match->top->free = match->top->target->free;
    match->value = NULL;
    match->status = NC_OK;
}

void nc_match_init(nc_match *match, nc_shape *shape, const nc_shape_options *options) {
    // State that belongs to one text is cleared when the text begins.
    match->shape = shape;
    match->options = options != NULL ? *options : (nc_shape_options){0};
    match->max_text_bytes = shape->max_text_bytes;
    match->frames = (nc_match_frame *)(void *)(match + 1);
    match->seen = (uint64_t *)(void *)(match->frames + shape->depth + 2);
    match->text = (uint8_t *)(match->seen + shape->seen_words);
    if (match->options.max_mismatches == 0) {
        match->options.max_mismatches = 1;
    }
    begin_words(&match->notes, match->options.max_mismatches * sizeof(nc_match_note));
    begin_words(&match->words, (size_t)match->options.max_mismatches * NC_MATCH_MAX_WORDS);
    begin(match);
}

void nc_match_deinit(nc_match *match) {
    // Most texts match, and releasing nothing must cost nothing for small ones.
    if (match->notes.data != NULL || match->words.data != NULL) {
        nc_buf_deinit(&match->notes);
        nc_buf_deinit(&match->words);
    }
}

nc_status nc_match_new(nc_match **out, nc_shape *shape, const nc_shape_options *options) {
    nc_match *match = nc_alloc(nc_match_size(shape));
    if (match == NULL) {
        return NC_ERR_NO_MEMORY;
    }
    nc_match_init(match, nc_shape_retain(shape), options);
    *out = match;
    return NC_OK;
}

void nc_match_free(nc_match *match) {
    if (match != NULL) {
        nc_match_deinit(match);
        nc_shape_release(match->shape);
        nc_free(match);
    }
}

void nc_match_reset(nc_match *match) {
    begin(match);
    nc_buf_reset(&match->notes);
    nc_buf_reset(&match->words);
}

/* --- containers --- */

/// Returns a frame's bits, which follow those of the frames around it.
static uint64_t *seen_of(const nc_match *match, const nc_match_frame *frame) {
    uint64_t *seen = match->seen;
    for (const nc_match_frame *outer = match->frames + 1; outer < frame; outer++) {
        seen += outer->is_array ? 0 : (outer->node->member_count + 63) / 64;
    }
    return seen;
}

/// Switches to recording each member that is present, because they are out of order.
static uint64_t *note_order(const nc_match *match, nc_match_frame *frame) {
    const nc_shape_node *node = frame->node;
    size_t come = (size_t)(frame->expected - node->members);
    uint64_t *seen = seen_of(match, frame);
    if (!frame->is_ordered) {
        return seen;
    }
    frame->is_ordered = false;
    for (size_t i = 0; i < (node->member_count + 63) / 64; i++) {
        seen[i] = 0;
    }
    for (size_t i = 0; i < come; i++) {
        seen[i >> 6] |= UINT64_C(1) << (i & 63);
    }
    return seen;
}

static bool find_missing(nc_match *match, uint64_t offset) {
    nc_match_frame *frame = match->top;
    const nc_shape_node *node = frame->node;
    bool goes_on = true;
    const uint64_t *seen = note_order(match, frame);
    for (uint32_t i = 0; i < node->member_count && goes_on; i++) {
        const nc_shape_member *member = &node->members[i];
        if (!member->is_optional && (seen[i >> 6] >> (i & 63) & 1) == 0) {
            goes_on = nc_match_refuse_absence(match, member, offset);
        }
    }
    return goes_on;
}

bool nc_match_end(nc_match *match, uint64_t offset) {
    nc_match_frame *frame = match->top;
    const nc_shape_node *node = frame->node;
    bool goes_on = true;
    if (!frame->is_array) {
        goes_on = find_missing(match, offset);
    } else if ((node->asks & NC_ASKS_MIN_ITEMS) != 0 && frame->index < node->min_items) {
        goes_on = nc_match_refuse_count(match, frame->index, node->min_items, offset);
    }
    match->top--;
    return goes_on;
}

/* --- texts --- */

static void keep_bytes(nc_match *match, nc_slice bytes) {
    size_t room = match->max_text_bytes - match->text_length;
    size_t length = bytes.length < room ? bytes.length : room;
    if (bytes.length > room) {
        match->is_text_longer = true;
    }
    if (length > 0) {
        memcpy(match->text + match->text_length, bytes.data, length);
        match->text_length += length;
    }
}

/// Keeps the bytes that fit, and counts all of them.
static void keep(void *ctx, nc_slice characters) {
    nc_match *match = ctx;
    keep_bytes(match, characters);
    for (size_t i = 0; i < characters.length; i++) {
        match->characters += (characters.data[i] & 0xC0) != 0x80;
    }
}

/// Adds the next part. Returns true if the text is complete.
static bool collect(nc_match *match, nc_slice part, unsigned place) {
    if ((place & NC_TEXT_FIRST) != 0) {
        match->text_length = 0;
        match->is_text_longer = false;
        match->characters = 0;
        match->decoder = (nc_text){.keeps_halves = true};
    }
    nc_text_feed(&match->decoder, part, keep, match);
    if ((place & NC_TEXT_LAST) == 0) {
        return false;
    }
    nc_text_end(&match->decoder, keep, match);
    return true;
}

/// Returns the part of a name to report. A name that comes in pieces is cut to the bytes kept, in whole characters.
static nc_slice told(const nc_match *match, nc_slice name) {
    if (name.length < match->max_text_bytes) {
        return name;
    }
    size_t last = match->max_text_bytes - 1;
    while (last > 0 && (name.data[last] & 0xC0) == 0x80) {
        last--;
    }
    uint8_t first = name.data[last];
    size_t bytes = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    bool is_whole = last + bytes == match->max_text_bytes;
    return nc_slice_make(name.data, is_whole ? match->max_text_bytes : last);
}

/// Handles a name that the innermost object's shape does not list.
static bool refuse_stranger(nc_match *match, nc_slice name, uint64_t offset) {
    nc_match_frame *frame = match->top;
    frame->member = NULL;
    frame->target = &nc_shape_anything;
    frame->free = UINT16_MAX;
    return (frame->node->asks & NC_ASKS_CLOSED) == 0 || nc_match_refuse_member(match, told(match, name), offset);
}

static void take_member(nc_match *match, const nc_shape_member *member) {
    nc_match_frame *frame = match->top;
    size_t index = (size_t)(member - frame->node->members);
    bool is_in_order =
        frame->is_ordered && member >= frame->expected && member->required_before == frame->expected->required_before;
    if (is_in_order) {
        frame->expected = member + 1;
    } else {
        note_order(match, frame)[index >> 6] |= UINT64_C(1) << (index & 63);
        frame->expected = member + 1;
    }
    frame->member = member;
    frame->target = member->target;
    frame->free = member->free | match->member_free;
}

bool nc_match_find(nc_match *match, nc_slice name, bool is_written, uint64_t offset) {
    const nc_shape_node *node = match->top->node;
    uint32_t index = node->chains[nc_shape_hash(name.data, name.length) & node->chain_mask];
    while (index != NC_NO_INDEX) {
        const nc_shape_member *member = &node->members[index - node->member_at];
        if (is_written ? nc_shape_is_named(member, name.data, name.length)
                       : nc_slice_is_equal(nc_shape_slice(match->shape, member->name), name)) {
            take_member(match, member);
            return true;
        }
        index = member->next;
    }
    return refuse_stranger(match, name, offset);
}

bool nc_match_name(nc_match *match, nc_slice part, unsigned place, uint64_t offset) {
    const unsigned known = NC_TEXT_WHOLE | NC_TEXT_ROOM;
    if ((place & known) == known && ((place & NC_TEXT_PLAIN) != 0 || memchr(part.data, '\\', part.length) == NULL)) {
        return nc_match_find(match, part, true, offset);
    }
    if (!collect(match, part, place)) {
        return true;
    }
    // A name that was cut is longer than every name of the shape. The buffer has at least 256 bytes.
    nc_slice name = nc_slice_make(match->text, match->text_length);
    return match->is_text_longer ? refuse_stranger(match, name, offset) : nc_match_find(match, name, false, offset);
}

static bool is_listed(const nc_match *match, const nc_shape_node *node, nc_json_kind kind) {
    for (uint32_t i = 0; i < node->enum_count; i++) {
        const nc_shape_value *value = nc_shape_value_at(match->shape, node->enum_at + i);
        if (value->kind != kind) {
            continue;
        }
        if (kind == NC_JSON_STRING
                ? !match->is_text_longer && nc_slice_is_equal(nc_shape_slice(match->shape, value->text),
                                                              nc_slice_make(match->text, match->text_length))
                : kind != NC_JSON_NUMBER || nc_decimal_compare(&match->decimal, &value->decimal) == 0) {
            return true;
        }
    }
    return false;
}

static bool end_string(nc_match *match, const nc_shape_node *node, uint64_t offset) {
    uint64_t length = match->characters;
    if ((node->asks & NC_ASKS_MIN_LENGTH) != 0 && length < node->min_length) {
        return nc_match_refuse_length(match, length, node->min_length, offset);
    }
    if ((node->asks & NC_ASKS_MAX_LENGTH) != 0 && length > node->max_length) {
        return nc_match_refuse_length(match, length, node->max_length, offset);
    }
    if ((node->asks & NC_ASKS_ENUM) != 0 && !is_listed(match, node, NC_JSON_STRING)) {
        return nc_match_refuse_value(match, node, "string", offset);
    }
    return true;
}

static bool end_number(nc_match *match, const nc_shape_node *node, uint64_t offset) {
    const nc_decimal *decimal = &match->decimal;
    nc_decimal_end(&match->decimal);
    uint16_t type = nc_decimal_is_integral(decimal) ? NC_TYPE_INTEGER : NC_TYPE_FRACTION;
    if ((node->types & type) == 0) {
        return nc_match_refuse_type(match, node, "number", offset);
    }
    if ((node->asks & NC_ASKS_MIN) != 0 &&
        nc_decimal_compare(decimal, &nc_shape_value_at(match->shape, node->min)->decimal) < 0) {
        return nc_match_refuse_bound(match, "at least", node->min, offset);
    }
    if ((node->asks & NC_ASKS_MAX) != 0 &&
        nc_decimal_compare(decimal, &nc_shape_value_at(match->shape, node->max)->decimal) > 0) {
        return nc_match_refuse_bound(match, "at most", node->max, offset);
    }
    if ((node->asks & NC_ASKS_ENUM) != 0 && !is_listed(match, node, NC_JSON_NUMBER)) {
        return nc_match_refuse_value(match, node, "number", offset);
    }
    return true;
}

bool nc_match_text(nc_match *match, nc_json_kind kind, nc_slice part, unsigned place, uint64_t offset) {
    const nc_shape_node *node = match->value;
    if (kind == NC_JSON_STRING) {
        return !collect(match, part, place) || end_string(match, node, offset);
    }
    if ((place & NC_TEXT_FIRST) != 0) {
        match->decimal = (nc_decimal){0};
        match->text_length = 0;
    }
    nc_decimal_feed(&match->decimal, part);
    keep_bytes(match, part);
    return (place & NC_TEXT_LAST) == 0 || end_number(match, node, offset);
}

nc_scan_answer nc_match_scalar(nc_match *match, nc_json_kind kind, uint64_t offset) {
    static const char *const names[] = {"", "", "", "", "", "string", "number", "boolean", "boolean", "null"};
    const nc_match_frame *frame = match->top;
    const nc_shape_node *node = frame->target;
    bool is_boolean = kind == NC_JSON_TRUE || kind == NC_JSON_FALSE;
    bool is_passed = match->options.is_lenient && is_boolean && (node->types & NC_TYPE_INTEGER) != 0;
    if (frame->index - 1 == frame->max_items && !nc_match_refuse_item(match, offset)) {
        return NC_SCAN_STOP;
    }
    if ((node->free >> kind & 1) != 0) {
        return NC_SCAN_PASS;
    }
    if ((node->texts >> kind & 1) != 0) {
        match->value = node;
        return NC_SCAN_READ;
    }
    bool goes_on = is_passed;
    if (is_boolean && (node->types & NC_TYPE_BOOLEAN) != 0) {
        goes_on = is_listed(match, node, kind) || nc_match_refuse_value(match, node, "boolean", offset);
    } else if (!is_passed) {
        goes_on = nc_match_refuse_type(match, node, names[kind], offset);
    }
    return goes_on ? NC_SCAN_PASS : NC_SCAN_STOP;
}
