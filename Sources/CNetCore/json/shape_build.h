/// A shape under construction: open containers of its document, and what was collected for them.
#ifndef NETCORE_PRIVATE_JSON_SHAPE_BUILD_H
#define NETCORE_PRIVATE_JSON_SHAPE_BUILD_H

#include "json/shape_node.h"

/// The purpose of the next value.
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
typedef struct nc_build_frame {
    bool is_object;
    bool is_enum;
    uint32_t node;
    uint32_t pending_at; // index of its first member in `pending`
    uint32_t count;      // elements so far
    size_t from;         // an $enum's first byte
    nc_slice name;       // the current member's, as written
    nc_shape_slot slot;
    uint16_t given; // directives: a bit per slot
} nc_build_frame;

typedef struct nc_build {
    nc_shape *shape;
    nc_slice document;
    nc_buf pending; // nc_shape_member of open objects, innermost last
    nc_buf scratch; // the current string
    nc_error *err;
    nc_status status;
    uint32_t depth;
    nc_build_frame frames[NC_SHAPE_MAX_DEPTH];
} nc_build;

/// Records a fault at the current position. Returns false, so that a reader's callback can stop with it.
bool nc_build_fail(nc_build *build, uint64_t offset, const char *format, ...) NC_PRINTF(3, 4);
/// Copies text into the shape.
nc_shape_text nc_build_keep(nc_build *build, nc_slice text);
/// Returns the innermost open container; NULL outside all containers.
nc_build_frame *nc_build_top(nc_build *build);

/// Reads the value of a directive, a `$` name. Returns false after nc_build_fail().
NC_NODISCARD bool nc_build_directive(nc_build *build, const nc_json_token *token);
/// Reads an element of $enum. Returns false after nc_build_fail().
NC_NODISCARD bool nc_build_enum(nc_build *build, const nc_json_token *token);
/// Finds the directive of a name. Returns false if there is none.
NC_NODISCARD bool nc_build_find_directive(nc_shape_slot *out, nc_slice name);
/// Completes a node: derives its types and rejects contradictions. Returns false after nc_build_fail().
NC_NODISCARD bool nc_build_close_node(nc_build *build, uint32_t index, uint64_t offset);

#endif
