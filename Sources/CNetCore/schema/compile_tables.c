#include "schema/compile.h"

#include "base/alloc.h"

enum { TEXT_BLOCK_BYTES = 8192 };

/* --- tables --- */

bool nc_compiler_check(nc_compiler *c, const nc_buf *table) {
    if (table->status != NC_OK) {
        (void)nc_library_fail(&c->library, table->status, NULL, "the schema is too large, or memory ran out");
    }
    return c->library.status == NC_OK;
}

void nc_compiler_list(nc_compiler *c, uint32_t value) {
    nc_buf_append(&c->schema->lists, nc_slice_make(&value, sizeof value));
    (void)nc_compiler_check(c, &c->schema->lists);
}

/// Allocates memory that lives as long as the schema.
static uint8_t *allocate(nc_compiler *c, size_t bytes) {
    uint8_t *block = nc_alloc(bytes);
    if (block != NULL) {
        nc_buf_append(&c->schema->texts, nc_slice_make(&block, sizeof block));
    }
    if (block == NULL || c->schema->texts.status != NC_OK) {
        nc_free(block);
        (void)nc_library_fail(&c->library, NC_ERR_NO_MEMORY, NULL, "%s", nc_status_text(NC_ERR_NO_MEMORY));
        return NULL;
    }
    return block;
}

nc_slice nc_compiler_copy(nc_compiler *c, nc_slice text) {
    uint8_t *copy = c->text;
    if (text.length == 0 || c->library.status != NC_OK) {
        return (nc_slice){0};
    }
    if (text.length > TEXT_BLOCK_BYTES / 4) {
        copy = allocate(c, text.length);
    } else if (text.length > c->text_left) {
        copy = allocate(c, TEXT_BLOCK_BYTES);
        c->text_left = copy == NULL ? 0 : TEXT_BLOCK_BYTES;
    }
    if (copy == NULL) {
        return (nc_slice){0};
    }
    memcpy(copy, text.data, text.length);
    if (text.length <= TEXT_BLOCK_BYTES / 4) {
        c->text = copy + text.length;
        c->text_left -= text.length;
    }
    return nc_slice_make(copy, text.length);
}

/* --- nodes --- */

static nc_schema_node empty_node(void) {
    return (nc_schema_node){
        .types = NC_TYPE_ANY,
        .value_types = NC_TYPE_ANY,
        .reference = NC_SCHEMA_NONE,
        .dynamic_reference = NC_SCHEMA_NONE,
        .negated = NC_SCHEMA_NONE,
        .condition = NC_SCHEMA_NONE,
        .consequence = NC_SCHEMA_NONE,
        .alternative = NC_SCHEMA_NONE,
        .minimum = NC_SCHEMA_NONE,
        .maximum = NC_SCHEMA_NONE,
        .exclusive_minimum = NC_SCHEMA_NONE,
        .exclusive_maximum = NC_SCHEMA_NONE,
        .multiple_of = NC_SCHEMA_NONE,
        .max_length = UINT64_MAX,
        .pattern = NC_SCHEMA_NONE,
        .additional = NC_SCHEMA_NONE,
        .property_names = NC_SCHEMA_NONE,
        .unevaluated_properties = NC_SCHEMA_NONE,
        .max_properties = UINT64_MAX,
        .items = NC_SCHEMA_NONE,
        .contains = NC_SCHEMA_NONE,
        .min_contains = 1,
        .max_contains = UINT64_MAX,
        .max_items = UINT64_MAX,
        .unevaluated_items = NC_SCHEMA_NONE,
    };
}

uint32_t nc_compiler_node(nc_compiler *c, nc_tree_value *schema) {
    nc_schema_node node = empty_node();
    if (schema->node != NC_TREE_NONE || c->library.status != NC_OK) {
        return schema->node;
    }
    if (schema->kind != NC_JSON_OBJECT && schema->kind != NC_JSON_TRUE && schema->kind != NC_JSON_FALSE) {
        (void)nc_compiler_fail(c, schema, "a schema must be an object, true or false");
        return NC_SCHEMA_NONE;
    }
    nc_library_scan(&c->library, schema);
    nc_buf location = nc_buf_init(4096);
    nc_library_write_location(&c->library, &location, schema);
    node.pointer = nc_compiler_copy(c, nc_buf_slice(&location));
    nc_buf_deinit(&location);
    node.resource = nc_library_resource_of(&c->library, schema);
    node.is_false = schema->kind == NC_JSON_FALSE;
    nc_buf_append(&c->schema->nodes, nc_slice_make(&node, sizeof node));
    nc_buf_append(&c->queue, nc_slice_make(&schema, sizeof schema));
    if (!nc_compiler_check(c, &c->schema->nodes) || !nc_compiler_check(c, &c->queue)) {
        return NC_SCHEMA_NONE;
    }
    schema->node = (uint32_t)(c->schema->nodes.length / sizeof node) - 1;
    return schema->node;
}
