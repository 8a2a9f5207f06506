/// Matches a text against a shape: the node that each open container must match, and the mismatches found.
///
/// All memory is allocated at creation in one piece, except descriptions of mismatches. There is one frame per level of
/// the shape. Values that the shape does not describe are skipped by counting brackets. Confined: one thread at a time.
#ifndef NETCORE_PRIVATE_JSON_MATCH_H
#define NETCORE_PRIVATE_JSON_MATCH_H

#include "json/names.h"
#include "json/shape_node.h"

/// An open container and the node that its next value must match. The first frame surrounds the whole text.
typedef struct nc_match_frame {
    const nc_shape_node *target;     // of the next value
    uint64_t skipped;                // depth of open containers that the shape does not describe, including this one
    uint64_t index;                  // elements so far
    uint64_t max_items;              // no element has to be counted before this one
    const nc_shape_member *expected; // the member that is likely to follow
    const nc_shape_member *member;   // the current member; NULL if the shape does not list it
    const nc_shape_node *node;
    uint16_t free; // kinds of scalars that are valid as the next value without further checks
    bool is_array;
    bool is_ordered; // every member before the expected one is present or optional, and none after it is present
} nc_match_frame;

/// A mismatch, as offsets into the text that describes it.
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
    uint16_t member_free;       // kinds valid without further checks for any member
    const nc_shape_node *value; // of the current scalar, whose text is needed
    nc_shape *shape;
    nc_shape_options options;
    nc_text decoder;
    uint8_t *text; // the start of a name, string or number
    size_t text_length;
    size_t max_text_bytes;
    bool is_text_longer;
    uint64_t characters;
    nc_decimal decimal;
    nc_buf notes;
    nc_buf words;
    nc_status status; // NC_OK or NC_ERR_NO_MEMORY
    nc_match_frame *frames;
    uint64_t *seen; // per frame whose members are out of order: a bit for each member that is present
} nc_match;

/// The location that a mismatch's JSON Pointer names.
typedef enum nc_match_place {
    NC_PLACE_VALUE,     // the current member or element
    NC_PLACE_CONTAINER, // the innermost container
    NC_PLACE_MEMBER,    // another member of the innermost container
} nc_match_place;

/// Returns the size of a match for this shape, in bytes.
static inline size_t nc_match_size(const nc_shape *shape) {
    return sizeof(nc_match) + ((size_t)shape->depth + 2) * sizeof(nc_match_frame) +
           shape->seen_words * sizeof(uint64_t) + shape->max_text_bytes;
}
/// Initializes a match in storage of nc_match_size() bytes. The caller keeps the shape alive. The options must be
/// within their limits.
void nc_match_init(nc_match *match, nc_shape *shape, const nc_shape_options *options);
void nc_match_deinit(nc_match *match);
/// Creates a match. The options must be within their limits. Returns NC_OK or NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_match_new(nc_match **out, nc_shape *shape, const nc_shape_options *options);
/// Frees a match. NULL is allowed.
void nc_match_free(nc_match *match);
/// Starts a new text.
void nc_match_reset(nc_match *match);
/// Returns the number of mismatches so far.
size_t nc_match_count(const nc_match *match);
/// Returns the mismatch at an index below the count.
nc_match_note *nc_match_note_at(const nc_match *match, size_t index);

/// Records a value of the wrong type. Returns true if the scan continues.
bool nc_match_refuse_type(nc_match *match, const nc_shape_node *node, const char *found, uint64_t offset);
/// Records an element beyond the maximum. Returns true if the scan continues.
bool nc_match_refuse_item(nc_match *match, uint64_t offset);
/// Checks the innermost container at its end. Returns true if the scan continues.
bool nc_match_end(nc_match *match, uint64_t offset);
/// Matches a whole name with eight readable bytes. `is_written` is true if it has no escapes.
bool nc_match_find(nc_match *match, nc_slice name, bool is_written, uint64_t offset);
/// Matches a part of a name that is not the expected one.
bool nc_match_name(nc_match *match, nc_slice part, unsigned place, uint64_t offset);
/// Matches a part of a string or number whose text is needed.
bool nc_match_text(nc_match *match, nc_json_kind kind, nc_slice part, unsigned place, uint64_t offset);
/// Matches a scalar that is not valid without further checks.
nc_scan_answer nc_match_scalar(nc_match *match, nc_json_kind kind, uint64_t offset);

/// Enters a container that its node describes.
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
        // Elements are only counted one by one if there may be too many.
        frame->target = node->element;
        frame->max_items = node->max_items;
        frame->free = node->element_free;
    }
    match->top = frame;
}

/// Enters a container that the shape does not describe.
static inline void nc_match_skip(nc_match *match) {
    nc_match_frame *frame = ++match->top;
    frame->skipped = 1;
    frame->free = UINT16_MAX;
}

#endif
