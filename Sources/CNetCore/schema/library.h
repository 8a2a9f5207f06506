/// The documents that a schema is compiled from: their resources, anchors and references.
///
/// A resource is a schema with an identifier of its own (JSON Schema 2020-12, core, 4.3.5). A document is read when the
/// first reference to it is resolved. Confined: one thread at a time.
#ifndef NETCORE_PRIVATE_SCHEMA_LIBRARY_H
#define NETCORE_PRIVATE_SCHEMA_LIBRARY_H

#include "schema/tree.h"

#include <netcore/schema.h>

typedef struct nc_library_document {
    nc_tree *tree;
    nc_slice uri;
} nc_library_document;

typedef struct nc_library_resource {
    nc_slice uri; // absolute, without a fragment
    nc_tree_value *root;
    uint32_t document;
    uint32_t vocabularies; // NC_VOCABULARY_ bits
} nc_library_resource;

typedef struct nc_library_anchor {
    uint32_t resource;
    bool is_dynamic;
    nc_slice name;
    nc_tree_value *value;
} nc_library_anchor;

typedef struct nc_library {
    const nc_schema_options *options;
    nc_buf documents; // nc_library_document
    nc_buf resources; // nc_library_resource
    nc_buf anchors;   // nc_library_anchor
    nc_buf texts;     // uint8_t *: the URIs
    uint64_t budget;  // number of comparisons that compiling may still make
    nc_error *err;
    nc_status status; // NC_OK, or the first error
} nc_library;

void nc_library_init(nc_library *library, const nc_schema_options *options, nc_error *err);
void nc_library_deinit(nc_library *library);

/// Reads the main document. Returns its root, or NULL after an error.
nc_tree_value *nc_library_open(nc_library *library, nc_slice text);
/// Finds the resources and anchors of a schema, unless that was done before.
void nc_library_scan(nc_library *library, nc_tree_value *schema);

/// Returns the resource that a value belongs to.
uint32_t nc_library_resource_of(const nc_library *library, const nc_tree_value *value);
nc_library_resource *nc_library_resource_at(const nc_library *library, uint32_t index);
/// Returns the target of a reference; NULL after an error. `at` is the JSON value of the reference.
nc_tree_value *nc_library_resolve(nc_library *library, const nc_tree_value *at, nc_slice reference);
/// Returns the dynamic anchor with this name at a value; NULL if there is none.
const nc_library_anchor *nc_library_dynamic_anchor(nc_library *library, const nc_tree_value *value, nc_slice name);

/// Records an error at a value, unless there was one before. Returns false.
bool nc_library_fail(nc_library *library, nc_status status, const nc_tree_value *at, const char *format, ...)
    NC_PRINTF(4, 5);
/// Appends the location of a value: its document's URI, if it is not the main one, and '#' with its JSON Pointer.
void nc_library_write_location(const nc_library *library, nc_buf *out, const nc_tree_value *value);

#endif
