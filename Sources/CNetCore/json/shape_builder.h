/// The state of nc_shape_parse(): the shape so far and the open containers of its document.
#ifndef NETCORE_PRIVATE_JSON_SHAPE_BUILDER_H
#define NETCORE_PRIVATE_JSON_SHAPE_BUILDER_H

#include "json/shape.h"

/// What the next value of the document describes.
typedef enum nc_shape_slot {
    NC_SLOT_SHAPE, // a member, an element or the whole document
    NC_SLOT_ITEMS, // $items
    NC_SLOT_TYPE,
    NC_SLOT_CLOSED,
    NC_SLOT_MIN,
    NC_SLOT_MAX,
    NC_SLOT_MIN_LENGTH,
    NC_SLOT_MAX_LENGTH,
    NC_SLOT_MIN_ITEMS,
    NC_SLOT_MAX_ITEMS,
    NC_SLOT_ENUM,
} nc_shape_slot;

/// An open container of the document.
typedef struct nc_builder_frame {
    bool is_object;
    bool is_enum;
    uint32_t node;
    uint32_t pending_at; // index in `pending` of the object's first member
    uint32_t count;      // elements so far
    size_t from;         // offset of an $enum's first byte in the document
    nc_slice name;       // name of the current member, as written
    nc_shape_slot slot;
    uint16_t seen_directives; // a bit for each nc_shape_slot
} nc_builder_frame;

typedef struct nc_shape_builder {
    nc_shape *shape;
    nc_slice document;
    nc_buf pending; // nc_shape_member of all open objects; those of the innermost are last
    nc_buf scratch; // the current string
    nc_error *err;
    nc_status status;
    uint32_t depth;
    nc_builder_frame frames[NC_SHAPE_MAX_DEPTH];
} nc_shape_builder;

/// Fills `err` for a fault at the current position of the document. Always returns false, so that a callback can return
/// the result.
bool nc_builder_fail(nc_shape_builder *builder, uint64_t offset, const char *format, ...) NC_PRINTF(3, 4);
/// Copies text into the shape.
nc_shape_text nc_builder_store(nc_shape_builder *builder, nc_slice text);

/// Reads the value of a directive, that is, of a name that begins with `$`. Returns false after nc_builder_fail().
NC_NODISCARD bool nc_builder_read_directive(nc_shape_builder *builder, const nc_json_token *token);
/// Reads an element of $enum. Returns false after nc_builder_fail().
NC_NODISCARD bool nc_builder_read_enum(nc_shape_builder *builder, const nc_json_token *token);
/// Finds the directive with this name. Returns false if there is none.
NC_NODISCARD bool nc_builder_find_directive(nc_shape_slot *out, nc_slice name);
/// Completes a node: derives its types and rejects contradictions. Returns false after nc_builder_fail().
NC_NODISCARD bool nc_builder_close_node(nc_shape_builder *builder, uint32_t index, uint64_t offset);

/// Parses a list of types, such as "string|number?". Returns false if it is invalid.
NC_NODISCARD bool nc_builder_parse_types(uint16_t *out, nc_slice text);
/// Parses a member's name as written in a shape ("note?", "$$id"). Appends the plain name to `out`.
void nc_builder_parse_name(nc_buf *out, bool *is_optional, nc_slice key);

/// Returns the innermost open container; NULL outside all containers.
static inline nc_builder_frame *nc_builder_top(nc_shape_builder *builder) {
    return builder->depth == 0 ? NULL : &builder->frames[builder->depth - 1];
}

#endif
