/// Applies a compiled schema to the tokens of a text.
///
/// A frame is a schema that is applied to an open value. The frames of one value are adjacent, as trees in preorder. A
/// root is a schema that a frame of the container applies to its member or element. Its descendants are the schemas
/// that it applies to the same value. A frame that fails reports to its parent immediately, so that a failure reaches
/// the outermost frame at the byte that decides the result. Live frames are completed at the end of their value, each
/// after its descendants.
///
/// Confined: one thread at a time.
#ifndef NETCORE_PRIVATE_SCHEMA_EVALUATOR_H
#define NETCORE_PRIVATE_SCHEMA_EVALUATOR_H

#include "schema/node.h"
#include "schema/tree.h"
#include "schema/value_hash.h"
#include "json/names.h"

enum {
    NC_EVALUATOR_FREE_STEPS = 10 * 1000 * 1000,
    NC_EVALUATOR_MAX_CHAIN = 400, // frames of one value, each of which applies the next one
    NC_EVALUATOR_MAX_NAME = 256,  // bytes of a name in a JSON Pointer; longer names are truncated
    NC_EVALUATOR_MAX_POINTER = 4096,
    NC_EVALUATOR_MAX_DESCRIPTION = 8192,
};

/// The effect of a frame's result on its parent.
typedef enum nc_frame_role {
    NC_ROLE_REQUIRED, // the parent fails if this frame fails
    NC_ROLE_ANY,
    NC_ROLE_ONE,
    NC_ROLE_NEGATED,
    NC_ROLE_CONDITION,
    NC_ROLE_CONSEQUENCE,
    NC_ROLE_ALTERNATIVE,
    NC_ROLE_DEPENDENT,   // required if the member `role_index` is present
    NC_ROLE_CONTAINED,   // an element, for `contains`
    NC_ROLE_UNEVALUATED, // a member or element, for `unevaluatedProperties` or `unevaluatedItems`
} nc_frame_role;

typedef enum nc_frame_state {
    NC_FRAME_LIVE,
    NC_FRAME_VALID,
    NC_FRAME_INVALID,
    NC_FRAME_DEAD, // its result no longer matters
} nc_frame_state;

typedef struct nc_frame {
    const nc_schema_node *node;
    uint32_t parent; // NC_SCHEMA_NONE for the outermost one
    uint32_t end;    // index after its last descendant at the same value; UINT32_MAX until it is known
    uint32_t scope;  // index of the frame, this one or an ancestor, that entered its schema resource
    uint32_t depth;  // number of open containers around its value
    uint32_t role_index;
    uint8_t role;
    uint8_t state;
    bool is_tracked;     // records the evaluated members or elements: this frame or one that applies it needs them
    bool is_satisfied;   // an alternative of anyOf is valid without a frame
    bool has_matched;    // the current element matches `contains`
    bool has_rejected;   // `unevaluatedProperties` or `unevaluatedItems` refuses the current member or element
    bool is_then_needed; // `if` is valid
    bool is_else_needed; // `if` is invalid
    uint32_t any_failed;
    uint32_t one_failed;
    uint32_t one_valid; // alternatives of oneOf that are valid
    uint32_t next_member;
    uint32_t bits_at; // index in nc_evaluator.words of the bits of more than 64 tracked names
    uint64_t seen;    // a bit for each tracked name that is present, for up to 64 names
    uint64_t matches; // elements that match `contains`
} nc_frame;

/// An open container that has frames, or whose hash is needed.
typedef struct nc_evaluator_level {
    uint32_t first; // index of its first frame
    uint32_t end;
    bool is_object;
    bool is_hashed;
    bool is_simple; // at most one frame checks the members or elements, and only by `properties` or `items`
    bool has_contains;
    bool has_unique;     // a frame has `uniqueItems`
    bool has_tracked;    // a frame records the evaluated members or elements
    uint32_t looker;     // in a simple level: the frame that checks them; NC_SCHEMA_NONE if there is none
    uint32_t next_node;  // in a simple level: the schema of the next value; NC_SCHEMA_NONE if there is none
    uint64_t count;      // members or elements so far
    uint32_t name_at;    // start of the current member's name in nc_evaluator.path
    uint32_t words_from; // start of its part of nc_evaluator.words: first the bits of tracked names, then the sets
    uint32_t words_at;   // start of the sets, two for each frame: evaluated ones, refused ones
    uint32_t set_words;  // number of words of each set of members or elements
    uint32_t slot;       // index of the current member or element in the sets
    nc_value_hash hash;
    size_t hashed_name_at; // start of the current member's name in nc_evaluator.names
} nc_evaluator_level;

/// A schema to apply to the next value.
typedef struct nc_pending {
    uint32_t node;
    uint32_t parent;
    nc_frame_role role;
} nc_pending;

/// The reason why the outermost frame failed.
typedef struct nc_reason {
    const nc_schema_node *node;
    nc_schema_keyword keyword; // NC_KEYWORD_NONE for the schema `false`
    uint32_t depth;
    uint64_t amount; // for a limit: the number that was found; for a missing name: its tracked index
    unsigned kind;   // kind of the value
} nc_reason;

typedef struct nc_evaluator {
    nc_schema *schema;
    nc_schema_limits limits;
    nc_buf frames;  // nc_frame
    nc_buf levels;  // nc_evaluator_level
    nc_buf pending; // nc_pending
    nc_buf words;   // uint64_t: sets of bits of the open levels
    nc_buf path;    // names of the open members, truncated
    nc_buf names;   // names of the open members whose hash is needed
    nc_buf text;    // the current name, string or number, if it has escapes or arrived in parts
    nc_names *unique;
    uint32_t *scratch;
    nc_text_decoder decoder;
    uint64_t skipped_depth; // number of open containers that no frame checks
    uint64_t steps;
    uint64_t offset; // offset of the current token
    uint64_t failed_at;
    uint32_t first;  // index of the first frame of the current scalar
    unsigned kind;   // kind of the current value
    bool is_hashed;  // the hash of the current scalar is needed
    bool has_failed; // the outermost frame failed
    bool is_number_stored;
    nc_slice scalar; // text of the current scalar
    nc_reason reason;
    nc_status status;  // NC_OK, or the status that ended the check
    const char *limit; // the limit that was exceeded
    nc_buf description;
    size_t description_at[4]; // ends of pointer, keyword, wanted, found
} nc_evaluator;

static inline nc_frame *nc_frame_at(const nc_evaluator *e, uint32_t index) {
    return (nc_frame *)(void *)e->frames.data + index;
}
static inline uint32_t nc_frame_count(const nc_evaluator *e) {
    return (uint32_t)(e->frames.length / sizeof(nc_frame));
}
static inline nc_evaluator_level *nc_level_top(const nc_evaluator *e) {
    return (nc_evaluator_level *)(void *)(e->levels.data + e->levels.length) - 1;
}
static inline uint32_t nc_level_count(const nc_evaluator *e) {
    return (uint32_t)(e->levels.length / sizeof(nc_evaluator_level));
}
static inline uint64_t *nc_evaluator_words(const nc_evaluator *e, size_t at) {
    return (uint64_t *)(void *)e->words.data + at;
}
/// Returns true if the check continues.
static inline bool nc_evaluator_goes_on(const nc_evaluator *e) {
    return !e->has_failed && e->status == NC_OK;
}

/// Returns true if the kind of the next value of a simple level is enough to accept it. The general functions check all
/// other values, also those that the kind is enough to refuse.
static inline bool nc_level_accepts(const nc_evaluator *e, const nc_evaluator_level *level, unsigned kind) {
    return level->next_node == NC_SCHEMA_NONE ||
           nc_schema_node_at(e->schema, level->next_node)->verdicts[kind] == NC_SCHEMA_VALID;
}

/* --- frames.c --- */

/// Ends the check because a limit is exceeded, or memory ran out. Returns false.
bool nc_evaluator_stop(nc_evaluator *e, nc_status status, const char *limit);
/// Records the status of a table. Returns true if it is NC_OK.
bool nc_evaluator_check(nc_evaluator *e, const nc_buf *table, const char *limit);
/// Adds a frame. Returns its index, or NC_SCHEMA_NONE if a limit is exceeded.
uint32_t nc_frame_push(nc_evaluator *e, uint32_t node, uint32_t parent, nc_frame_role role, uint32_t role_index);
/// Makes a frame and its descendants at the same value irrelevant, if it is live.
void nc_frame_kill(nc_evaluator *e, uint32_t index);
/// Fails a frame, and its ancestors as far as the roles require it.
void nc_frame_fail(nc_evaluator *e, uint32_t index, nc_reason reason);
/// Reports to `parent` that a schema with this role failed, with or without a frame of its own.
void nc_frame_child_failed(nc_evaluator *e, uint32_t parent, nc_frame_role role, uint32_t role_index, nc_reason reason);
/// Returns the reason for a failure of a keyword of the frame's node.
nc_reason nc_frame_reason(const nc_evaluator *e, uint32_t index, nc_schema_keyword keyword, uint64_t amount);
/// Returns true if a tracked name is present in a frame's object.
bool nc_frame_has_seen(const nc_evaluator *e, uint32_t index, uint32_t tracked);
void nc_frame_set_seen(nc_evaluator *e, uint32_t index, uint32_t tracked);

/* --- expand.c --- */

/// Adds the schema of the next value of a simple level to the pending schemas.
void nc_evaluator_pend_simple(nc_evaluator *e, const nc_evaluator_level *level);
/// Begins a value: adds frames for the pending schemas. A schema that refuses the kind of the value fails immediately.
void nc_evaluator_expand(nc_evaluator *e, unsigned kind);
/// Applies a schema to a value of this kind. `parent` fails if the schema does.
void nc_evaluator_apply(nc_evaluator *e, uint32_t node, uint32_t parent, unsigned kind);

/* --- complete.c --- */

/// Completes the frames of a value that has ended, from `first` on. Reports to their parents, and removes the frames.
/// `level` is the container that has ended; NULL for a scalar.
void nc_evaluator_complete(nc_evaluator *e, uint32_t first, const nc_evaluator_level *level);

/* --- values.c --- */

/// Returns true if the check may take further steps.
bool nc_evaluator_spend(nc_evaluator *e);
/// Returns true if a pattern matches a text.
bool nc_evaluator_matches(nc_evaluator *e, uint32_t pattern, nc_slice text);
/// Checks maxLength of the frames from `first` on, while only the beginning of a string has arrived.
void nc_evaluator_check_length(nc_evaluator *e, uint32_t first, nc_slice text);
/// Checks `const` and `enum` of the frames from `first` on.
void nc_evaluator_check_hash(nc_evaluator *e, uint32_t first, nc_hash128 hash);
/// Returns true if the hash of the current value is needed. Its frames begin at `first`.
bool nc_evaluator_needs_hash(const nc_evaluator *e, uint32_t first);
/// Checks and completes the frames of a scalar, from `first` on. Its text is `e->scalar`. Sets `*hash` to its hash if
/// that is needed. `hash` is NULL for a name. Returns true if the check continues.
bool nc_evaluator_end_scalar(nc_evaluator *e, uint32_t first, nc_hash128 *hash);

/* --- containers.c --- */

/// Opens a container whose frames begin at `first`.
void nc_evaluator_open(nc_evaluator *e, uint32_t first, bool is_object);
/// Finds the schemas for the next member. The escapes of its name are decoded.
void nc_evaluator_member(nc_evaluator *e, nc_slice name);
/// Finds the schema for the next member of a simple level.
void nc_evaluator_simple_member(nc_evaluator *e, nc_slice name);
/// Finds the schemas for the next element.
void nc_evaluator_element(nc_evaluator *e);
/// Ends a member or an element. `hash` is its hash; NULL only if it is not needed.
void nc_evaluator_child_ended(nc_evaluator *e, const nc_hash128 *hash);
/// Closes the innermost container.
void nc_evaluator_close(nc_evaluator *e);

/* --- mismatch.c --- */

/// Describes the reason of the failure.
void nc_evaluator_describe(nc_evaluator *e);

#endif
