#include "json/match_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MAX_WORD = 240 };

/* --- pointers --- */

/// Writes a JSON Pointer and truncates it between characters.
typedef struct pointer_writer {
    nc_buf *out;
    size_t room;
} pointer_writer;

static void write_bytes(pointer_writer *writer, nc_slice bytes) {
    size_t length = bytes.length < writer->room ? bytes.length : writer->room;
    while (length < bytes.length && length > 0 && (bytes.data[length] & 0xC0) == 0x80) {
        length--;
    }
    nc_buf_append(writer->out, nc_slice_make(bytes.data, length));
    writer->room = length < bytes.length ? 0 : writer->room - length;
}

/// RFC 6901, 3: `~` and `/` in a name are written as `~0` and `~1`.
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

static void write_pointer(nc_match *match, nc_match_place place, nc_slice name) {
    pointer_writer writer = {&match->words, NC_MATCH_MAX_POINTER};
    const nc_match_frame *last = place == NC_PLACE_VALUE ? match->top : match->top - 1;
    for (const nc_match_frame *frame = match->frames + 1; frame <= last; frame++) {
        if (frame->is_array) {
            char index[24];
            snprintf(index, sizeof index, "/%" PRIu64, frame->index - 1);
            write_bytes(&writer, nc_slice_of(index));
        } else {
            write_name(&writer, nc_shape_slice(match->shape, frame->member->name));
        }
    }
    if (place == NC_PLACE_MEMBER) {
        write_name(&writer, name);
    }
}

/* --- mismatches --- */

/// Records a mismatch: its location, the expectation and the value found.
static bool note(nc_match *match, nc_match_place place, nc_slice name, nc_slice wanted, nc_slice found,
                 uint64_t offset) {
    nc_buf *words = &match->words;
    nc_match_note note = {.offset = offset, .pointer_at = (uint32_t)words->length};
    write_pointer(match, place, name);
    note.wanted_at = (uint32_t)words->length;
    nc_buf_append(words, wanted);
    note.found_at = (uint32_t)words->length;
    nc_buf_append(words, found);
    note.end = (uint32_t)words->length;
    nc_buf_append(&match->notes, nc_slice_make(&note, sizeof note));
    if (words->status != NC_OK || match->notes.status != NC_OK) {
        match->status = NC_ERR_NO_MEMORY;
        return false;
    }
    return nc_match_count(match) < match->options.max_mismatches;
}

size_t nc_match_count(const nc_match *match) {
    return match->notes.length / sizeof(nc_match_note);
}

nc_match_note *nc_match_note_at(const nc_match *match, size_t index) {
    return (nc_match_note *)(void *)match->notes.data + index;
}

static nc_slice cut(const char *text, int length, size_t capacity) {
    size_t written = length < 0 ? 0 : (size_t)length;
    return nc_slice_make(text, written < capacity ? written : capacity - 1);
}

/// Returns the types of a node as its shape spells them, which may repeat a type. They are ASCII.
static nc_slice types_of(const nc_match *match, const nc_shape_node *node) {
    nc_slice types = nc_shape_slice(match->shape, node->wanted);
    return nc_slice_make(types.data, types.length < MAX_WORD ? types.length : MAX_WORD);
}

bool nc_match_refuse_type(nc_match *match, const nc_shape_node *node, const char *found, uint64_t offset) {
    return note(match, NC_PLACE_VALUE, (nc_slice){0}, types_of(match, node), nc_slice_of(found), offset);
}

bool nc_match_refuse_absence(nc_match *match, const nc_shape_member *member, uint64_t offset) {
    nc_slice wanted = types_of(match, nc_shape_node_at(match->shape, member->node));
    nc_slice name = nc_shape_slice(match->shape, member->name);
    return note(match, NC_PLACE_MEMBER, name, wanted, nc_slice_of("nothing"), offset);
}

bool nc_match_refuse_member(nc_match *match, nc_slice name, uint64_t offset) {
    return note(match, NC_PLACE_MEMBER, name, nc_slice_of("no such member"), nc_slice_of("a member"), offset);
}

static bool refuse_size(nc_match *match, bool is_container, uint64_t size, uint64_t limit, uint64_t offset) {
    char wants[MAX_WORD];
    char finds[MAX_WORD];
    int wants_length = snprintf(wants, sizeof wants, "%s %" PRIu64 " %s", size < limit ? "at least" : "at most", limit,
                                is_container ? "items" : "characters");
    int finds_length = snprintf(finds, sizeof finds, "%s of %" PRIu64, is_container ? "array" : "string", size);
    return note(match, is_container ? NC_PLACE_CONTAINER : NC_PLACE_VALUE, (nc_slice){0},
                cut(wants, wants_length, sizeof wants), cut(finds, finds_length, sizeof finds), offset);
}

bool nc_match_refuse_length(nc_match *match, uint64_t length, uint64_t limit, uint64_t offset) {
    return refuse_size(match, false, length, limit, offset);
}

bool nc_match_refuse_count(nc_match *match, uint64_t count, uint64_t limit, uint64_t offset) {
    return refuse_size(match, true, count, limit, offset);
}

bool nc_match_refuse_item(nc_match *match, uint64_t offset) {
    const nc_match_frame *frame = match->top;
    return nc_match_refuse_count(match, frame->index, frame->node->max_items, offset);
}

/// Describes a value whose text was kept: its type and, for a number, its digits.
static nc_slice name_value(char *out, size_t capacity, const nc_match *match, const char *type) {
    nc_slice text = nc_slice_make(match->text, match->text_length);
    bool is_number = type[0] == 'n';
    int length = is_number ? snprintf(out, capacity, "%s %.*s", type, (int)(text.length < 64 ? text.length : 64),
                                      (const char *)text.data)
                           : snprintf(out, capacity, "%s", type);
    return cut(out, length, capacity);
}

bool nc_match_refuse_bound(nc_match *match, const char *wanted, uint32_t bound, uint64_t offset) {
    char wants[MAX_WORD];
    char finds[MAX_WORD];
    nc_slice limit = nc_shape_slice(match->shape, nc_shape_value_at(match->shape, bound)->text);
    int length = snprintf(wants, sizeof wants, "%s %.*s", wanted, (int)(limit.length < 128 ? limit.length : 128),
                          (const char *)limit.data);
    return note(match, NC_PLACE_VALUE, (nc_slice){0}, cut(wants, length, sizeof wants),
                name_value(finds, sizeof finds, match, "number"), offset);
}

bool nc_match_refuse_value(nc_match *match, const nc_shape_node *node, const char *found, uint64_t offset) {
    char wants[MAX_WORD];
    char finds[MAX_WORD];
    nc_slice list = nc_shape_slice(match->shape, node->enum_text);
    int length = snprintf(wants, sizeof wants, "one of %.*s%s", (int)(list.length < 200 ? list.length : 200),
                          (const char *)list.data, list.length > 200 ? "…" : "");
    return note(match, NC_PLACE_VALUE, (nc_slice){0}, cut(wants, length, sizeof wants),
                name_value(finds, sizeof finds, match, found), offset);
}
