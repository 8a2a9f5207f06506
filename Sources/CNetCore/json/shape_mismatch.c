#include "json/shape_match.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MAX_PART_BYTES = 240 };

/// What the JSON Pointer of a mismatch refers to.
typedef enum nc_pointer_target {
    NC_POINTS_TO_VALUE,     // the current member or element
    NC_POINTS_TO_CONTAINER, // the innermost container
    NC_POINTS_TO_MEMBER,    // another member of the innermost container
} nc_pointer_target;

/* --- pointers --- */

/// Writes a JSON Pointer. At its capacity it is truncated, between two characters.
typedef struct pointer_writer {
    nc_buf *out;
    size_t capacity;
} pointer_writer;

static void write_bytes(pointer_writer *writer, nc_slice bytes) {
    size_t length = bytes.length < writer->capacity ? bytes.length : writer->capacity;
    while (length < bytes.length && length > 0 && (bytes.data[length] & 0xC0) == 0x80) {
        length--;
    }
    nc_buf_append(writer->out, nc_slice_make(bytes.data, length));
    writer->capacity = length < bytes.length ? 0 : writer->capacity - length;
}

/// Appends a name. `~` and `/` in it become `~0` and `~1` (RFC 6901, 3).
static void write_name(pointer_writer *writer, nc_slice name) {
    size_t from = 0;
    write_bytes(writer, nc_slice_of("/"));
    for (size_t i = 0; i < name.length; i++) {
        if (name.data[i] == '~' || name.data[i] == '/') {
            write_bytes(writer, nc_slice_make(name.data + from, i - from));
            write_bytes(writer, nc_slice_of(name.data[i] == '~' ? "~0" : "~1"));
            from = i + 1;
        }
    }
    write_bytes(writer, nc_slice_make(name.length == 0 ? NULL : name.data + from, name.length - from));
}

static void write_pointer(nc_match *match, nc_pointer_target target, nc_slice name) {
    pointer_writer writer = {&match->descriptions, NC_MATCH_MAX_POINTER};
    const nc_match_frame *last = target == NC_POINTS_TO_VALUE ? match->top : match->top - 1;
    for (const nc_match_frame *frame = match->frames + 1; frame <= last; frame++) {
        if (frame->is_array) {
            char index[24];
            snprintf(index, sizeof index, "/%" PRIu64, frame->index - 1);
            write_bytes(&writer, nc_slice_of(index));
        } else {
            write_name(&writer, nc_shape_slice(match->shape, frame->member->name));
        }
    }
    if (target == NC_POINTS_TO_MEMBER) {
        write_name(&writer, name);
    }
}

/* --- mismatches --- */

/// Records a mismatch. Returns true if the scan continues.
static bool record(nc_match *match, nc_pointer_target target, nc_slice name, nc_slice wanted, nc_slice found,
                   uint64_t offset) {
    nc_buf *text = &match->descriptions;
    nc_match_mismatch mismatch = {.offset = offset, .pointer_at = (uint32_t)text->length};
    write_pointer(match, target, name);
    mismatch.expected_at = (uint32_t)text->length;
    nc_buf_append(text, wanted);
    mismatch.actual_at = (uint32_t)text->length;
    nc_buf_append(text, found);
    mismatch.end = (uint32_t)text->length;
    nc_buf_append(&match->mismatches, nc_slice_make(&mismatch, sizeof mismatch));
    if (text->status != NC_OK || match->mismatches.status != NC_OK) {
        match->status = NC_ERR_NO_MEMORY;
        return false;
    }
    return nc_match_count(match) < match->options.max_mismatches;
}

size_t nc_match_count(const nc_match *match) {
    return match->mismatches.length / sizeof(nc_match_mismatch);
}

nc_match_mismatch *nc_match_mismatch_at(const nc_match *match, size_t index) {
    return (nc_match_mismatch *)(void *)match->mismatches.data + index;
}

static nc_slice written_text(const char *text, int length, size_t capacity) {
    size_t written = length < 0 ? 0 : (size_t)length;
    return nc_slice_make(text, written < capacity ? written : capacity - 1);
}

/// Returns the types of a node as the shape spells them, truncated. A shape may repeat a type, so the text can be long;
/// it is ASCII.
static nc_slice types_of(const nc_match *match, const nc_shape_node *node) {
    nc_slice types = nc_shape_slice(match->shape, node->type_text);
    return nc_slice_make(types.data, types.length < MAX_PART_BYTES ? types.length : MAX_PART_BYTES);
}

bool nc_match_report_type(nc_match *match, const nc_shape_node *node, const char *found, uint64_t offset) {
    return record(match, NC_POINTS_TO_VALUE, (nc_slice){0}, types_of(match, node), nc_slice_of(found), offset);
}

bool nc_match_report_missing(nc_match *match, const nc_shape_member *member, uint64_t offset) {
    nc_slice wanted = types_of(match, nc_shape_node_at(match->shape, member->node));
    nc_slice name = nc_shape_slice(match->shape, member->name);
    return record(match, NC_POINTS_TO_MEMBER, name, wanted, nc_slice_of("nothing"), offset);
}

bool nc_match_report_member(nc_match *match, nc_slice name, uint64_t offset) {
    return record(match, NC_POINTS_TO_MEMBER, name, nc_slice_of("a known member"), nc_slice_of(NC_SHAPE_UNKNOWN_MEMBER),
                  offset);
}

static bool report_size(nc_match *match, bool is_container, uint64_t size, uint64_t limit, uint64_t offset) {
    char expected[MAX_PART_BYTES];
    char actual[MAX_PART_BYTES];
    int expected_length = snprintf(expected, sizeof expected, "%s %" PRIu64 " %s",
                                   size < limit ? "at least" : "at most", limit, is_container ? "items" : "characters");
    int actual_length = snprintf(actual, sizeof actual, "%s of %" PRIu64, is_container ? "array" : "string", size);
    return record(match, is_container ? NC_POINTS_TO_CONTAINER : NC_POINTS_TO_VALUE, (nc_slice){0},
                  written_text(expected, expected_length, sizeof expected),
                  written_text(actual, actual_length, sizeof actual), offset);
}

bool nc_match_report_length(nc_match *match, uint64_t length, uint64_t limit, uint64_t offset) {
    return report_size(match, false, length, limit, offset);
}

bool nc_match_report_count(nc_match *match, uint64_t count, uint64_t limit, uint64_t offset) {
    return report_size(match, true, count, limit, offset);
}

bool nc_match_report_item(nc_match *match, uint64_t offset) {
    const nc_match_frame *frame = match->top;
    return nc_match_report_count(match, frame->index, frame->node->max_items, offset);
}

/// Describes a value whose text was stored: its type and, for a number, its digits.
static nc_slice describe_value(char *out, size_t capacity, const nc_match *match, const char *type) {
    nc_slice text = nc_slice_make(match->text, match->text_length);
    bool is_number = type[0] == 'n';
    int length = is_number ? snprintf(out, capacity, "%s %.*s", type, (int)(text.length < 64 ? text.length : 64),
                                      (const char *)text.data)
                           : snprintf(out, capacity, "%s", type);
    return written_text(out, length, capacity);
}

bool nc_match_report_bound(nc_match *match, const char *wanted, uint32_t bound, uint64_t offset) {
    char expected[MAX_PART_BYTES];
    char actual[MAX_PART_BYTES];
    nc_slice limit = nc_shape_slice(match->shape, nc_shape_value_at(match->shape, bound)->text);
    int length = snprintf(expected, sizeof expected, "%s %.*s", wanted, (int)(limit.length < 128 ? limit.length : 128),
                          (const char *)limit.data);
    return record(match, NC_POINTS_TO_VALUE, (nc_slice){0}, written_text(expected, length, sizeof expected),
                  describe_value(actual, sizeof actual, match, "number"), offset);
}

bool nc_match_report_value(nc_match *match, const nc_shape_node *node, const char *found, uint64_t offset) {
    char expected[MAX_PART_BYTES];
    char actual[MAX_PART_BYTES];
    nc_slice list = nc_shape_slice(match->shape, node->enum_text);
    int length = snprintf(expected, sizeof expected, "one of %.*s%s", (int)(list.length < 200 ? list.length : 200),
                          (const char *)list.data, list.length > 200 ? "…" : "");
    return record(match, NC_POINTS_TO_VALUE, (nc_slice){0}, written_text(expected, length, sizeof expected),
                  describe_value(actual, sizeof actual, match, found), offset);
}
