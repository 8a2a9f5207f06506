/// JSON texts as trees: the documents that schemas are read from.
///
/// A tree does not copy its text, which must outlive it. Confined: one thread at a time.
#ifndef NETCORE_PRIVATE_SCHEMA_TREE_H
#define NETCORE_PRIVATE_SCHEMA_TREE_H

#include <netcore/json.h>

enum {
    NC_TREE_MAX_DEPTH = 256,
    NC_TREE_MAX_VALUES = 1000000,
};

/// A value. Its text and name are unescaped.
typedef struct nc_tree_value {
    nc_json_kind kind;
    uint32_t count;    // number of members or elements
    nc_slice name;     // name of a member
    nc_slice text;     // text of a string or number
    uint64_t offset;   // offset of its first byte
    uint64_t end;      // offset after its last byte
    uint32_t index;    // index of an element
    uint32_t resource; // the schema resource that begins here; NC_TREE_NONE if none does
    uint32_t node;     // its compiled node; NC_TREE_NONE if there is none
    bool is_schema;    // its position makes it a schema
    struct nc_tree_value *parent;
    struct nc_tree_value *first;
    struct nc_tree_value *next;
} nc_tree_value;

#define NC_TREE_NONE UINT32_MAX

/// A block of values or of unescaped text.
typedef struct nc_tree_block {
    struct nc_tree_block *next;
} nc_tree_block;

/// A tree. Start with a zeroed struct.
typedef struct nc_tree {
    nc_tree_block *blocks;
    nc_tree_value *root;
    nc_tree_value *spare; // unused values of the newest block
    uint32_t spare_count;
    uint32_t count;
    // While the text is read:
    nc_tree_value *open; // the innermost open container
    nc_tree_value *last[NC_TREE_MAX_DEPTH + 1];
    uint32_t depth;
    nc_slice name;
    nc_status status;
} nc_tree;

/// Reads a text. Duplicate names are refused. Returns NC_OK, NC_ERR_BAD_JSON, NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY. Call
/// nc_tree_deinit() also after an error.
NC_NODISCARD nc_status nc_tree_read(nc_tree *tree, nc_slice text, nc_error *err);
void nc_tree_deinit(nc_tree *tree);

/// Returns the member with a name; NULL if there is none, or if `object` is not an object.
nc_tree_value *nc_tree_member(const nc_tree_value *object, nc_slice name);
/// Returns the member with a NUL-terminated name.
nc_tree_value *nc_tree_member_named(const nc_tree_value *object, const char *name);
/// Returns the value at a JSON Pointer (RFC 6901) from `value` on; NULL if there is none. Decrements `*budget` for each
/// value that it visits, and returns NULL when it is 0.
nc_tree_value *nc_tree_find(nc_tree_value *value, nc_slice pointer, uint64_t *budget);
/// Appends the JSON Pointer of a value.
void nc_tree_write_pointer(nc_buf *out, const nc_tree_value *value);
/// Appends '/' and an escaped reference token.
void nc_tree_write_token(nc_buf *out, nc_slice name);

#endif
