/// A shape while its document is read: containers that are open, and what is collected for them.
#ifndef NETCORE_PRIVATE_JSON_SHAPE_BUILD_H
#define NETCORE_PRIVATE_JSON_SHAPE_BUILD_H

#include "json/shape_node.h"

/// What the value to come is for.
typedef enum nc_shape_slot {
    NC_SLOT_SHAPE, // a member, an element or the whole
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
    uint32_t pending_at; // where its members begin among those that are pending
    uint32_t count;      // elements so far
    size_t from;         // an $enum's first byte
    nc_slice name;       // the member under way, as it is written
    nc_shape_slot slot;
    uint16_t given; // directives, a bit for each slot
} nc_build_frame;

typedef struct nc_build {
    nc_shape *shape;
    nc_slice document;
    nc_buf pending; // nc_shape_member: of objects that are open, innermost last
    nc_buf scratch; // the string under way
    nc_error *err;
    nc_status status;
    uint32_t depth;
    nc_build_frame frames[NC_SHAPE_MAX_DEPTH];
} nc_build;

/// Notes what is wrong at the place under way; returns false, as the reader's callback does to stop.
bool nc_build_fail(nc_build *build, uint64_t offset, const char *format, ...) NC_PRINTF(3, 4);
/// Copies text into the shape.
nc_shape_text nc_build_keep(nc_build *build, nc_slice text);
/// The innermost open container, NULL around the whole.
nc_build_frame *nc_build_top(nc_build *build);

/// Takes the value of a directive, a `$` name; false after nc_build_fail().
NC_NODISCARD bool nc_build_directive(nc_build *build, const nc_json_token *token);
/// Takes an element of $enum.
NC_NODISCARD bool nc_build_enum(nc_build *build, const nc_json_token *token);
/// Finds out which directive a name is; false when none.
NC_NODISCARD bool nc_build_find_directive(nc_shape_slot *out, nc_slice name);
/// The node is complete: derives its types and refuses contradictions.
NC_NODISCARD bool nc_build_close_node(nc_build *build, uint32_t index, uint64_t offset);

#endif
