/// The schema compiler: turns trees of JSON values into nodes.
#ifndef NETCORE_PRIVATE_SCHEMA_COMPILE_H
#define NETCORE_PRIVATE_SCHEMA_COMPILE_H

#include "schema/library.h"
#include "schema/node.h"

enum { NC_SCHEMA_MAX_TABLE_BYTES = 128 * 1024 * 1024 };

typedef struct nc_compiler {
    nc_schema *schema;
    nc_library library;
    nc_buf queue;  // nc_tree_value *: schemas that have a node, but are not compiled yet
    uint8_t *text; // free memory for copied texts
    size_t text_left;
} nc_compiler;

/// Records an error at a value. Returns false.
#define nc_compiler_fail(compiler, at, ...) nc_library_fail(&(compiler)->library, NC_ERR_BAD_SHAPE, at, __VA_ARGS__)

/* --- compile_tables.c --- */

/// Records the error of a table, if it has one. Returns true if compiling has no error so far.
bool nc_compiler_check(nc_compiler *compiler, const nc_buf *table);
/// Returns a copy of a text that lives as long as the schema.
nc_slice nc_compiler_copy(nc_compiler *compiler, nc_slice text);
/// Returns the node of a schema, and schedules its compilation. NC_SCHEMA_NONE after an error.
uint32_t nc_compiler_node(nc_compiler *compiler, nc_tree_value *schema);
/// Appends a value to nc_schema.lists.
void nc_compiler_list(nc_compiler *compiler, uint32_t value);

/* --- compile_names.c --- */

/// Compiles the object keywords of a node's schema.
void nc_compiler_names(nc_compiler *compiler, uint32_t node, const nc_tree_value *schema, uint32_t vocabularies);
/* --- compile_values.c --- */

/// Compiles a keyword about the value itself: `type`, `const`, limits and the like.
void nc_compiler_value(nc_compiler *compiler, nc_schema_node *node, nc_schema_keyword keyword,
                       const nc_tree_value *value);
/// Compiles a pattern. Returns its index, or NC_SCHEMA_NONE after an error.
uint32_t nc_compiler_pattern(nc_compiler *compiler, const nc_tree_value *at, nc_slice pattern);

/* --- analyze.c --- */

/// Finds endless recursion, and computes the verdicts and flags of the nodes.
void nc_compiler_analyze(nc_compiler *compiler);

#endif
