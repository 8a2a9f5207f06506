/// A shape on its way through a text: which node each open container has to match, and what was found wrong.
///
/// Memory but for what is said of mismatches is taken at birth, in one piece: frames are as many as the shape is deep,
/// and what the shape says nothing about is skipped by counting brackets. Confined: one thread at a time.
#ifndef NETCORE_PRIVATE_JSON_MATCH_H
#define NETCORE_PRIVATE_JSON_MATCH_H

#include "json/names.h"
#include "json/shape_node.h"

/// An open container, and what the value to come in it has to match. The first frame stands around the whole text.
typedef struct nc_match_frame {
    const nc_shape_node *target;     // of the value to come
    uint64_t skipped;                // containers open within, and itself: nothing is said about them
    uint64_t index;                  // elements that have begun
    uint64_t max_items;              // before which nothing has to be counted
    const nc_shape_member *expected; // the member that is likely to follow
    const nc_shape_member *member;   // the one under way, NULL for none of the shape's
    const nc_shape_node *node;
    uint16_t free; // kinds of scalars that are right at sight as the value to come
    bool is_array;
    bool is_ordered; // every member before the expected one has come or is optional, and none behind it has come
} nc_match_frame;

/// A mismatch as offsets into the text that was written about it.
typedef struct nc_match_note {
    uint64_t offset;
    uint64_t line;
    uint64_t column;
    uint32_t pointer_at;
    uint32_t wanted_at;
    uint32_t found_at;
    uint32_t end;
} nc_match_note;

typedef struct nc_match {
    nc_match_frame *top;
    uint16_t member_free;       // what is right at sight for any member
    const nc_shape_node *value; // of the scalar under way, whose text is wanted
    nc_shape *shape;
    nc_shape_options options;
    nc_text decoder;
    uint8_t *text; // a name, string or number, as far as it is worth keeping
    size_t text_length;
    size_t max_text_bytes;
    bool is_text_longer;
    uint64_t characters;
    nc_decimal decimal;
    nc_buf notes;
    nc_buf words;
    nc_status status; // NC_OK, or NC_ERR_NO_MEMORY
    nc_match_frame *frames;
    uint64_t *seen; // for each frame whose members do not come in order, a bit for each that has come
} nc_match;

/// Which part of the way to a value its pointer shows.
typedef enum nc_match_place {
    NC_PLACE_VALUE,     // the member or element under way
    NC_PLACE_CONTAINER, // the innermost container
    NC_PLACE_MEMBER,    // another member of it
} nc_match_place;

/// What a match of this shape takes, in bytes.
static inline size_t nc_match_size(const nc_shape *shape) {
    return sizeof(nc_match) + ((size_t)shape->depth + 2) * sizeof(nc_match_frame) +
           shape->seen_words * sizeof(uint64_t) + shape->max_text_bytes;
}
/// Makes a match in storage of that size, for as long as the caller keeps the shape; the options are within their
/// limits.
void nc_match_init(nc_match *match, nc_shape *shape, const nc_shape_options *options);
void nc_match_deinit(nc_match *match);
/// Makes a match; the options are within their limits. NC_OK or NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_match_new(nc_match **out, nc_shape *shape, const nc_shape_options *options);
/// Frees it; harmless on NULL.
void nc_match_free(nc_match *match);
/// Goes back to the beginning.
void nc_match_reset(nc_match *match);
/// Mismatches so far.
size_t nc_match_count(const nc_match *match);
/// One of them.
nc_match_note *nc_match_note_at(const nc_match *match, size_t index);

/// Notes a value of another type; returns whether the scan goes on.
bool nc_match_refuse_type(nc_match *match, const nc_shape_node *node, const char *found, uint64_t offset);
/// Notes an element too many.
bool nc_match_refuse_item(nc_match *match, uint64_t offset);
/// The innermost container ends, and something may be wrong with it.
bool nc_match_end(nc_match *match, uint64_t offset);
/// Takes a whole name, of which eight bytes may be read from its beginning on. One that `is_written` has no escapes.
bool nc_match_find(nc_match *match, nc_slice name, bool is_written, uint64_t offset);
/// Takes a part of a name that is not the likely one.
bool nc_match_name(nc_match *match, nc_slice part, unsigned place, uint64_t offset);
/// Takes a part of a string or number whose text is wanted.
bool nc_match_text(nc_match *match, nc_json_kind kind, nc_slice part, unsigned place, uint64_t offset);
/// Takes a scalar that is not right at sight.
nc_scan_answer nc_match_scalar(nc_match *match, nc_json_kind kind, uint64_t offset);

/// A container begins that its node says something about.
static inline void nc_match_begin(nc_match *match, const nc_shape_node *node, bool is_object) {
    nc_match_frame *frame = match->top + 1;
    frame->node = node;
    frame->skipped = 0;
    frame->is_array = !is_object;
    frame->index = 0;
    if (is_object) {
        frame->expected = node->members;
        frame->is_ordered = true;
        frame->max_items = UINT64_MAX;
    } else {
        // Elements are counted one by one where there may be too many.
        frame->target = node->element;
        frame->max_items = node->max_items;
        frame->free = node->element_free;
    }
    match->top = frame;
}

/// A container begins that nothing is said about.
static inline void nc_match_skip(nc_match *match) {
    nc_match_frame *frame = ++match->top;
    frame->skipped = 1;
    frame->free = UINT16_MAX;
}

#endif
