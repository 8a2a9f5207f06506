/// Matches a text against a shape while a scan reads the text.
///
/// A match has a stack with a frame for each open container that the shape describes. Values that the shape does not
/// describe are skipped by counting brackets. Except for descriptions of mismatches, all memory is one allocation at
/// creation. Confined: one thread at a time.
#ifndef NETCORE_PRIVATE_JSON_SHAPE_MATCH_H
#define NETCORE_PRIVATE_JSON_SHAPE_MATCH_H

#include "json/names.h"
#include "json/scanner.h"
#include "json/shape.h"

/// An open container. The first frame stands for an array around the whole text.
typedef struct nc_match_frame {
    const nc_shape_node *target;        // the node that the next value must match
    uint64_t skipped_depth;             // number of nested open containers that the shape does not describe, from this
                                        // frame's on; 0 if it describes this one
    uint64_t index;                     // elements so far
    uint64_t max_items;                 // the frame's maximum of elements; UINT64_MAX if there is none
    const nc_shape_member *next_member; // the member that follows in the order of the shape
    const nc_shape_member *member;      // the current member; NULL if the shape does not list it
    const nc_shape_node *node;
    uint16_t accepted; // kinds of scalars that are valid as the next value without further checks
    bool is_array;
    bool is_ordered; // true if the members so far were in the order of the shape and no required one was skipped
} nc_match_frame;

/// A mismatch. The _at members are offsets into nc_match.descriptions.
typedef struct nc_match_mismatch {
    uint64_t offset;
    uint64_t line;
    uint64_t column;
    uint32_t pointer_at;
    uint32_t expected_at;
    uint32_t actual_at;
    uint32_t end;
} nc_match_mismatch;

typedef struct nc_match {
    nc_match_frame *top;
    uint16_t accepted_in_members; // kinds that are valid for any member without further checks: null if matching is
                                  // lenient
    const nc_shape_node *value;   // node of the current scalar, if its text must be read
    nc_shape *shape;
    nc_shape_options options;
    nc_text_decoder decoder;
    uint8_t *text; // the beginning of the current name, string or number
    size_t text_length;
    size_t max_text_bytes;
    bool is_text_longer;
    uint64_t characters;
    nc_decimal decimal;
    nc_buf mismatches;
    nc_buf descriptions;
    nc_status status; // NC_OK or NC_ERR_NO_MEMORY
    nc_match_frame *frames;
    uint64_t *seen; // for each frame whose members are not in order: a bit for each member that is present
} nc_match;

enum {
    NC_MATCH_MAX_POINTER = 4096,
    NC_MATCH_MAX_DESCRIPTION = 5120, // pointer, `wanted` and `found` of one mismatch
};

/// Returns the size of a match for this shape, in bytes.
static inline size_t nc_match_size(const nc_shape *shape) {
    return sizeof(nc_match) + ((size_t)shape->depth + 2) * sizeof(nc_match_frame) +
           shape->seen_words * sizeof(uint64_t) + shape->max_text_bytes;
}
/// Initializes a match in memory of nc_match_size() bytes. The shape is not retained. The options must be within their
/// limits.
void nc_match_init(nc_match *match, nc_shape *shape, const nc_shape_options *options);
void nc_match_deinit(nc_match *match);
/// Creates a match. The options must be within their limits. Returns NC_OK or NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_match_new(nc_match **out, nc_shape *shape, const nc_shape_options *options);
/// Frees a match. NULL is allowed.
void nc_match_free(nc_match *match);
/// Starts a new text.
void nc_match_reset(nc_match *match);
/// Checks the next piece of a text; `is_last` is true for the last piece. A fault is recorded in the scan, mismatches
/// in the match. Returns NC_OK or NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_match_scan(nc_match *match, nc_scan *scan, nc_slice piece, bool is_last);

/// Returns the number of mismatches so far.
size_t nc_match_count(const nc_match *match);
/// Returns the mismatch at an index below the count.
nc_match_mismatch *nc_match_mismatch_at(const nc_match *match, size_t index);

/// Records a value of a wrong type. This and the functions below record one mismatch, and return true if the scan
/// continues.
bool nc_match_report_type(nc_match *match, const nc_shape_node *node, const char *found, uint64_t offset);
/// Records that a required member is missing.
bool nc_match_report_missing(nc_match *match, const nc_shape_member *member, uint64_t offset);
/// Records a member that a closed object does not list.
bool nc_match_report_member(nc_match *match, nc_slice name, uint64_t offset);
/// Records a length in characters, or a number of elements, that violates a limit.
bool nc_match_report_length(nc_match *match, uint64_t length, uint64_t limit, uint64_t offset);
bool nc_match_report_count(nc_match *match, uint64_t count, uint64_t limit, uint64_t offset);
/// Records a number that violates $min or $max. `bound` is the index of the limit's nc_shape_value.
bool nc_match_report_bound(nc_match *match, const char *wanted, uint32_t bound, uint64_t offset);
/// Records a value that $enum does not list.
bool nc_match_report_value(nc_match *match, const nc_shape_node *node, const char *found, uint64_t offset);
/// Records the first element beyond $maxItems.
bool nc_match_report_item(nc_match *match, uint64_t offset);

/// Checks the innermost container when it ends, and leaves it. Returns true if the scan continues.
bool nc_match_end(nc_match *match, uint64_t offset);
/// Records a container of a type that is not allowed, or that is one element too many. Returns true if the scan
/// continues.
bool nc_match_report_container(nc_match *match, bool is_allowed, bool is_object, uint64_t offset);
/// Finds the member with this name; eight bytes must be readable. `is_unescaped` is true if the text contains the name
/// without escapes.
bool nc_match_member(nc_match *match, nc_slice name, bool is_unescaped, uint64_t offset);
/// Adds the next part of a name, and finds its member when the name is complete.
bool nc_match_name(nc_match *match, nc_slice part, unsigned flags, uint64_t offset);
/// Adds the next part of a string or number whose text must be read, and checks it when it is complete.
bool nc_match_text(nc_match *match, nc_json_kind kind, nc_slice part, unsigned flags, uint64_t offset);
/// Checks a scalar whose kind is not in the frame's `accepted`.
nc_scan_action nc_match_scalar(nc_match *match, nc_json_kind kind, uint64_t offset);

/// The functions below are inlined into each scanner, for speed.
#define NC_MATCH_INLINE static inline __attribute__((always_inline))

/// Enters a container that the shape describes.
static inline void nc_match_enter(nc_match *match, const nc_shape_node *node, bool is_object) {
    nc_match_frame *frame = match->top + 1;
    frame->node = node;
    frame->skipped_depth = 0;
    frame->is_array = !is_object;
    frame->index = 0;
    if (is_object) {
        frame->next_member = node->members;
        frame->is_ordered = true;
        frame->max_items = UINT64_MAX;
    } else {
        // If there is a maximum, `accepted_elements` is 0, so that each element is counted by nc_match_scalar().
        frame->target = node->element;
        frame->max_items = node->max_items;
        frame->accepted = node->accepted_elements;
    }
    match->top = frame;
}

/// Enters a container that the shape does not describe.
static inline void nc_match_skip(nc_match *match) {
    nc_match_frame *frame = ++match->top;
    frame->skipped_depth = 1;
    frame->accepted = UINT16_MAX;
}

/// Hook of a scan: a container begins. Returns true if the scan continues.
NC_MATCH_INLINE bool nc_match_on_begin(nc_match *match, bool is_object, uint64_t offset) {
    nc_match_frame *frame = match->top;
    if (frame->skipped_depth > 0) {
        frame->skipped_depth++;
        return true;
    }
    const nc_shape_node *node = frame->target;
    const uint16_t constraints = is_object ? NC_HAS_MEMBERS : NC_HAS_ITEM | NC_HAS_MIN_ITEMS | NC_HAS_MAX_ITEMS;
    bool is_allowed = (node->types & (is_object ? NC_TYPE_OBJECT : NC_TYPE_ARRAY)) != 0;
    bool should_continue = true;
    if (frame->index++ == frame->max_items || !is_allowed) {
        should_continue = nc_match_report_container(match, is_allowed, is_object, offset);
    }
    if (is_allowed && (node->constraints & constraints) != 0) {
        nc_match_enter(match, node, is_object);
    } else {
        nc_match_skip(match);
    }
    return should_continue;
}

/// Hook of a scan: the innermost container ends. Returns true if the scan continues.
NC_MATCH_INLINE bool nc_match_on_end(nc_match *match, bool is_object, uint64_t offset) {
    nc_match_frame *frame = match->top;
    if (frame->skipped_depth > 0) {
        match->top -= --frame->skipped_depth == 0 ? 1 : 0;
        return true;
    }
    bool is_valid = is_object ? frame->is_ordered && frame->next_member->is_rest_optional
                              : (frame->node->constraints & NC_HAS_MIN_ITEMS) == 0;
    if (is_valid) {
        match->top--;
        return true;
    }
    return nc_match_end(match, offset);
}

/// Hook of a scan: a scalar. `is_plain` is true for a number without fraction and exponent.
NC_MATCH_INLINE nc_scan_action nc_match_on_scalar(nc_match *match, nc_json_kind kind, bool is_plain, uint64_t offset) {
    nc_match_frame *frame = match->top;
    frame->index++;
    unsigned bit = is_plain && kind == NC_JSON_NUMBER ? (unsigned)NC_KIND_DIGITS : (unsigned)kind;
    return (frame->accepted >> bit & 1) != 0 ? NC_SCAN_SKIP : nc_match_scalar(match, kind, offset);
}

/// Hook of a scan: a part of a name, string or number. Returns true if the scan continues.
static inline bool nc_match_on_text(nc_match *match, nc_json_kind kind, nc_slice part, unsigned flags,
                                    uint64_t offset) {
    if (kind != NC_JSON_NAME) {
        return nc_match_text(match, kind, part, flags, offset);
    }
    return match->top->skipped_depth > 0 || nc_match_name(match, part, flags, offset);
}

/* --- reader.c: the check for duplicate names, and the memory of a scan --- */

/// Checks the next piece of a text: the grammar, the names and, unless `match` is NULL, a shape. `is_last` is true for
/// the last piece. A fault is recorded in the scan. Returns NC_OK or NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_names_scan(nc_names *names, nc_match *match, nc_scan *scan, nc_slice piece, bool is_last);

/// Memory that a scan needs in addition to nc_scan: a byte for each open container and, if duplicates are refused, the
/// names.
typedef struct nc_scan_memory {
    nc_names *names;  // NULL if duplicates are allowed
    uint8_t *parents; // `small`, or an allocation for a larger depth
    uint8_t small[NC_JSON_DEFAULT_MAX_DEPTH];
} nc_scan_memory;

/// Allocates the memory that the options need (NULL for the defaults). The struct must not be moved.
///
/// Returns NC_OK, NC_ERR_USAGE for a depth above NC_JSON_MAX_DEPTH, or NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_scan_memory_init(nc_scan_memory *memory, const nc_json_options *options, nc_error *err);
void nc_scan_memory_deinit(nc_scan_memory *memory);

#endif
