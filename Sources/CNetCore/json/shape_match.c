#include "json/shape_match.h"

#include "base/alloc.h"

#include <string.h>

/* --- creation --- */

/// Initializes a buffer in place. nc_buf_init() would copy a struct that was just written, which stalls on store
/// forwarding.
static inline void init_buf(nc_buf *buf, size_t max_bytes) {
    *buf = (nc_buf){.max_bytes = max_bytes, .status = NC_OK};
}

/// Begins a JSON text. The first frame stands for an array, and the value of the text is treated as its element.
static inline void begin(nc_match *match) {
    match->top = match->frames;
    match->accepted_in_members = match->options.is_lenient ? 1u << NC_JSON_NULL : 0;
    *match->top = (nc_match_frame){
        .target = nc_shape_node_at(match->shape, 0), .max_items = UINT64_MAX, .node = &nc_shape_any, .is_array = true};
    match->top->accepted = match->top->target->accepted;
    match->value = NULL;
    match->status = NC_OK;
}

void nc_match_init(nc_match *match, nc_shape *shape, const nc_shape_options *options) {
    // The other members are initialized when a text or token begins.
    match->shape = shape;
    match->options = options != NULL ? *options : (nc_shape_options){0};
    match->max_text_bytes = shape->max_text_bytes;
    match->frames = (nc_match_frame *)(void *)(match + 1);
    match->seen = (uint64_t *)(void *)(match->frames + shape->depth + 2);
    match->text = (uint8_t *)(match->seen + shape->seen_words);
    if (match->options.max_mismatches == 0) {
        match->options.max_mismatches = 1;
    }
    init_buf(&match->mismatches, match->options.max_mismatches * sizeof(nc_match_mismatch));
    init_buf(&match->descriptions, (size_t)match->options.max_mismatches * NC_MATCH_MAX_DESCRIPTION);
    begin(match);
}

void nc_match_deinit(nc_match *match) {
    // Most texts match. The check is faster than two calls that free nothing.
    if (match->mismatches.data != NULL || match->descriptions.data != NULL) {
        nc_buf_deinit(&match->mismatches);
        nc_buf_deinit(&match->descriptions);
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
    nc_buf_reset(&match->mismatches);
    nc_buf_reset(&match->descriptions);
}

/* --- containers --- */

/// Returns the presence bits of a frame. They follow those of the enclosing frames.
static uint64_t *seen_of(const nc_match *match, const nc_match_frame *frame) {
    uint64_t *seen = match->seen;
    for (const nc_match_frame *outer = match->frames + 1; outer < frame; outer++) {
        seen += outer->is_array ? 0 : (outer->node->member_count + 63) / 64;
    }
    return seen;
}

/// Makes a frame record a bit for each present member. This is needed if the members are not in the order of the shape.
/// Returns the bits.
static uint64_t *record_presence(const nc_match *match, nc_match_frame *frame) {
    const nc_shape_node *node = frame->node;
    size_t present = (size_t)(frame->next_member - node->members);
    uint64_t *seen = seen_of(match, frame);
    if (!frame->is_ordered) {
        return seen;
    }
    frame->is_ordered = false;
    for (size_t i = 0; i < (node->member_count + 63) / 64; i++) {
        seen[i] = 0;
    }
    for (size_t i = 0; i < present; i++) {
        seen[i >> 6] |= UINT64_C(1) << (i & 63);
    }
    return seen;
}

/// Reports the required members that are absent.
static bool find_missing(nc_match *match, uint64_t offset) {
    nc_match_frame *frame = match->top;
    const nc_shape_node *node = frame->node;
    bool should_continue = true;
    const uint64_t *seen = record_presence(match, frame);
    for (uint32_t i = 0; i < node->member_count && should_continue; i++) {
        const nc_shape_member *member = &node->members[i];
        if (!member->is_optional && (seen[i >> 6] >> (i & 63) & 1) == 0) {
            should_continue = nc_match_report_missing(match, member, offset);
        }
    }
    return should_continue;
}

/// Reports a container of the wrong type, or one element too many.
bool nc_match_report_container(nc_match *match, bool is_allowed, bool is_object, uint64_t offset) {
    const nc_match_frame *frame = match->top;
    if (frame->index - 1 == frame->max_items && !nc_match_report_item(match, offset)) {
        return false;
    }
    return is_allowed || nc_match_report_type(match, frame->target, is_object ? "object" : "array", offset);
}

bool nc_match_end(nc_match *match, uint64_t offset) {
    nc_match_frame *frame = match->top;
    const nc_shape_node *node = frame->node;
    bool should_continue = true;
    if (!frame->is_array) {
        should_continue = find_missing(match, offset);
    } else if ((node->constraints & NC_HAS_MIN_ITEMS) != 0 && frame->index < node->min_items) {
        should_continue = nc_match_report_count(match, frame->index, node->min_items, offset);
    }
    match->top--;
    return should_continue;
}

/* --- texts --- */

/// Stores the bytes that fit. If a text does not fit, it is longer than all texts of the shape.
static void store_bytes(nc_match *match, nc_slice bytes) {
    size_t available = match->max_text_bytes - match->text_length;
    size_t length = bytes.length < available ? bytes.length : available;
    if (bytes.length > available) {
        match->is_text_longer = true;
    }
    if (length > 0) {
        memcpy(match->text + match->text_length, bytes.data, length);
        match->text_length += length;
    }
}

/// Stores the bytes that fit, and counts all characters.
static void store(void *ctx, nc_slice characters) {
    nc_match *match = ctx;
    store_bytes(match, characters);
    for (size_t i = 0; i < characters.length; i++) {
        match->characters += (characters.data[i] & 0xC0) != 0x80;
    }
}

/// Adds the next part of a text. Returns true if the text is complete.
static bool collect(nc_match *match, nc_slice part, unsigned flags) {
    if ((flags & NC_TEXT_FIRST) != 0) {
        match->text_length = 0;
        match->is_text_longer = false;
        match->characters = 0;
        match->decoder = (nc_text_decoder){.keeps_lone_surrogates = true};
    }
    nc_text_decode(&match->decoder, part, store, match);
    if ((flags & NC_TEXT_LAST) == 0) {
        return false;
    }
    nc_text_decode_end(&match->decoder, store, match);
    return true;
}

/// Returns the part of a name to report: its first max_text_bytes, truncated between characters. A name that arrives in
/// pieces is stored only up to that length. A name that arrives whole is truncated too, so that the reports are equal.
static nc_slice reported_name(const nc_match *match, nc_slice name) {
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

/// Begins a member that the shape of the innermost object does not list.
static bool begin_unlisted_member(nc_match *match, nc_slice name, uint64_t offset) {
    nc_match_frame *frame = match->top;
    frame->member = NULL;
    frame->target = &nc_shape_any;
    frame->accepted = UINT16_MAX;
    return (frame->node->constraints & NC_HAS_CLOSED) == 0 ||
           nc_match_report_member(match, reported_name(match, name), offset);
}

static void accept_member(nc_match *match, const nc_shape_member *member) {
    nc_match_frame *frame = match->top;
    size_t index = (size_t)(member - frame->node->members);
    // Members are in order if no required member between the expected one and this one was skipped.
    bool is_in_order = frame->is_ordered && member >= frame->next_member &&
                       member->required_before == frame->next_member->required_before;
    if (is_in_order) {
        frame->next_member = member + 1;
    } else {
        record_presence(match, frame)[index >> 6] |= UINT64_C(1) << (index & 63);
        frame->next_member = member + 1;
    }
    frame->member = member;
    frame->target = member->target;
    frame->accepted = member->accepted | match->accepted_in_members;
}

bool nc_match_member(nc_match *match, nc_slice name, bool is_unescaped, uint64_t offset) {
    const nc_shape_node *node = match->top->node;
    uint32_t index = node->buckets[nc_shape_hash(name.data, name.length) & node->bucket_mask];
    while (index != NC_NO_INDEX) {
        const nc_shape_member *member = &node->members[index - node->member_at];
        if (is_unescaped ? nc_shape_is_named(member, name.data, name.length)
                         : nc_slice_is_equal(nc_shape_slice(match->shape, member->name), name)) {
            accept_member(match, member);
            return true;
        }
        index = member->next;
    }
    return begin_unlisted_member(match, name, offset);
}

bool nc_match_name(nc_match *match, nc_slice part, unsigned flags, uint64_t offset) {
    const unsigned known = NC_TEXT_WHOLE | NC_TEXT_PADDED;
    if ((flags & known) == known && ((flags & NC_TEXT_PLAIN) != 0 || memchr(part.data, '\\', part.length) == NULL)) {
        return nc_match_member(match, part, true, offset);
    }
    if (!collect(match, part, flags)) {
        return true;
    }
    // If the name was truncated, it is longer than all names of the shape.
    nc_slice name = nc_slice_make(match->text, match->text_length);
    return match->is_text_longer ? begin_unlisted_member(match, name, offset)
                                 : nc_match_member(match, name, false, offset);
}

/// Returns true if $enum lists the current value. Numbers are compared by value: 1.0 equals 1.
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

/// Checks a complete string. Only the first violation is reported.
static bool end_string(nc_match *match, const nc_shape_node *node, uint64_t offset) {
    uint64_t length = match->characters;
    if ((node->constraints & NC_HAS_MIN_LENGTH) != 0 && length < node->min_length) {
        return nc_match_report_length(match, length, node->min_length, offset);
    }
    if ((node->constraints & NC_HAS_MAX_LENGTH) != 0 && length > node->max_length) {
        return nc_match_report_length(match, length, node->max_length, offset);
    }
    if ((node->constraints & NC_HAS_ENUM) != 0 && !is_listed(match, node, NC_JSON_STRING)) {
        return nc_match_report_value(match, node, "string", offset);
    }
    return true;
}

/// Checks a complete number. Only the first violation is reported.
static bool end_number(nc_match *match, const nc_shape_node *node, uint64_t offset) {
    const nc_decimal *decimal = &match->decimal;
    nc_decimal_end(&match->decimal);
    uint16_t type = nc_decimal_is_integral(decimal) ? NC_TYPE_INTEGER : NC_TYPE_FRACTION;
    if ((node->types & type) == 0) {
        return nc_match_report_type(match, node, "number", offset);
    }
    if ((node->constraints & NC_HAS_MIN) != 0 &&
        nc_decimal_compare(decimal, &nc_shape_value_at(match->shape, node->min)->decimal) < 0) {
        return nc_match_report_bound(match, "at least", node->min, offset);
    }
    if ((node->constraints & NC_HAS_MAX) != 0 &&
        nc_decimal_compare(decimal, &nc_shape_value_at(match->shape, node->max)->decimal) > 0) {
        return nc_match_report_bound(match, "at most", node->max, offset);
    }
    if ((node->constraints & NC_HAS_ENUM) != 0 && !is_listed(match, node, NC_JSON_NUMBER)) {
        return nc_match_report_value(match, node, "number", offset);
    }
    return true;
}

bool nc_match_text(nc_match *match, nc_json_kind kind, nc_slice part, unsigned flags, uint64_t offset) {
    const nc_shape_node *node = match->value;
    if (kind == NC_JSON_STRING) {
        return !collect(match, part, flags) || end_string(match, node, offset);
    }
    if ((flags & NC_TEXT_FIRST) != 0) {
        match->decimal = (nc_decimal){0};
        match->text_length = 0;
    }
    nc_decimal_feed(&match->decimal, part);
    store_bytes(match, part);
    return (flags & NC_TEXT_LAST) == 0 || end_number(match, node, offset);
}

nc_scan_action nc_match_scalar(nc_match *match, nc_json_kind kind, uint64_t offset) {
    static const char *const names[] = {"", "", "", "", "", "string", "number", "boolean", "boolean", "null"};
    const nc_match_frame *frame = match->top;
    const nc_shape_node *node = frame->target;
    bool is_boolean = kind == NC_JSON_TRUE || kind == NC_JSON_FALSE;
    bool is_lenient_boolean = match->options.is_lenient && is_boolean && (node->types & NC_TYPE_INTEGER) != 0;
    if (frame->index - 1 == frame->max_items && !nc_match_report_item(match, offset)) {
        return NC_SCAN_STOP;
    }
    if ((node->accepted >> kind & 1) != 0) {
        return NC_SCAN_SKIP;
    }
    if ((node->text_kinds >> kind & 1) != 0) {
        match->value = node;
        return NC_SCAN_DELIVER;
    }
    bool should_continue = is_lenient_boolean;
    if (is_boolean && (node->types & NC_TYPE_BOOLEAN) != 0) {
        should_continue = is_listed(match, node, kind) || nc_match_report_value(match, node, "boolean", offset);
    } else if (!is_lenient_boolean) {
        should_continue = nc_match_report_type(match, node, names[kind], offset);
    }
    return should_continue ? NC_SCAN_SKIP : NC_SCAN_STOP;
}
