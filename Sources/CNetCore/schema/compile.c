#include "schema/compile.h"

#include "base/alloc.h"
#include "base/error.h"

#include <netcore/hooks.h>

/* --- lists --- */

/// Compiles an array of schemas to a list of nodes.
static nc_schema_list list_of(nc_compiler *c, nc_tree_value *schemas) {
    nc_schema_list list = {(uint32_t)(c->schema->lists.length / sizeof(uint32_t)), 0};
    if (schemas->kind != NC_JSON_ARRAY || schemas->count == 0) {
        (void)nc_compiler_fail(c, schemas, "it must be an array of at least one schema");
        return list;
    }
    for (nc_tree_value *one = schemas->first; one != NULL; one = one->next) {
        nc_compiler_list(c, nc_compiler_node(c, one));
        list.count++;
    }
    return list;
}

static nc_schema_list pattern_list_of(nc_compiler *c, nc_tree_value *schemas) {
    nc_schema_list list = {(uint32_t)(c->schema->lists.length / sizeof(uint32_t)), 0};
    if (schemas->kind != NC_JSON_OBJECT) {
        (void)nc_compiler_fail(c, schemas, "it must be an object");
        return list;
    }
    for (nc_tree_value *one = schemas->first; one != NULL && c->library.status == NC_OK; one = one->next) {
        nc_compiler_list(c, nc_compiler_pattern(c, one, one->name));
        nc_compiler_list(c, nc_compiler_node(c, one));
        list.count += 2;
    }
    return list;
}

/* --- references --- */

static uint32_t reference_of(nc_compiler *c, const nc_tree_value *reference, nc_tree_value **target) {
    if (reference->kind != NC_JSON_STRING) {
        (void)nc_compiler_fail(c, reference, "it must be a string");
        return NC_SCHEMA_NONE;
    }
    *target = nc_library_resolve(&c->library, reference, reference->text);
    return *target == NULL ? NC_SCHEMA_NONE : nc_compiler_node(c, *target);
}

/// Returns the name in the fragment of a reference, or an empty slice.
static nc_slice fragment_name(nc_slice reference) {
    for (size_t i = 0; i < reference.length; i++) {
        if (reference.data[i] == '#') {
            return nc_slice_make(reference.data + i + 1, reference.length - i - 1);
        }
    }
    return (nc_slice){0};
}

/// $dynamicRef is resolved while a text is checked only if its initial target is a dynamic anchor (core, 8.2.3.2).
static void set_dynamic_reference(nc_compiler *c, uint32_t index, const nc_tree_value *reference) {
    nc_tree_value *target = NULL;
    uint32_t node = reference_of(c, reference, &target);
    if (node == NC_SCHEMA_NONE) {
        return;
    }
    nc_slice name = fragment_name(reference->text);
    if (name.length > 0 && nc_library_dynamic_anchor(&c->library, target, name) != NULL) {
        nc_schema_node_at(c->schema, index)->dynamic_name = nc_compiler_copy(c, name);
    }
    nc_schema_node_at(c->schema, index)->dynamic_reference = node;
}

/* --- keywords --- */

/// Returns where a keyword with one schema is stored; NULL for another keyword.
static uint32_t *schema_slot(nc_schema_node *node, nc_schema_keyword keyword) {
    switch (keyword) {
    case NC_KEYWORD_NOT:
        return &node->negated;
    case NC_KEYWORD_IF:
        return &node->condition;
    case NC_KEYWORD_THEN:
        return &node->consequence;
    case NC_KEYWORD_ELSE:
        return &node->alternative;
    case NC_KEYWORD_ITEMS:
        return &node->items;
    case NC_KEYWORD_CONTAINS:
        return &node->contains;
    case NC_KEYWORD_ADDITIONAL_PROPERTIES:
        return &node->additional;
    case NC_KEYWORD_PROPERTY_NAMES:
        return &node->property_names;
    case NC_KEYWORD_UNEVALUATED_ITEMS:
        return &node->unevaluated_items;
    case NC_KEYWORD_UNEVALUATED_PROPERTIES:
        return &node->unevaluated_properties;
    default:
        return NULL;
    }
}

static nc_schema_list *list_slot(nc_schema_node *node, nc_schema_keyword keyword) {
    switch (keyword) {
    case NC_KEYWORD_ALL_OF:
        return &node->all_of;
    case NC_KEYWORD_ANY_OF:
        return &node->any_of;
    case NC_KEYWORD_ONE_OF:
        return &node->one_of;
    case NC_KEYWORD_PREFIX_ITEMS:
        return &node->prefix_items;
    default:
        return NULL;
    }
}

static void compile_keyword(nc_compiler *c, uint32_t index, nc_schema_keyword keyword, nc_tree_value *value) {
    nc_schema_node *node = nc_schema_node_at(c->schema, index);
    nc_tree_value *target = NULL;
    if (schema_slot(node, keyword) != NULL) {
        uint32_t schema = nc_compiler_node(c, value);
        *schema_slot(nc_schema_node_at(c->schema, index), keyword) = schema;
    } else if (list_slot(node, keyword) != NULL) {
        nc_schema_list list = list_of(c, value);
        *list_slot(nc_schema_node_at(c->schema, index), keyword) = list;
    } else if (keyword == NC_KEYWORD_PATTERN_PROPERTIES) {
        nc_schema_list list = pattern_list_of(c, value);
        nc_schema_node_at(c->schema, index)->pattern_properties = list;
    } else if (keyword == NC_KEYWORD_REF) {
        uint32_t schema = reference_of(c, value, &target);
        nc_schema_node_at(c->schema, index)->reference = schema;
    } else if (keyword == NC_KEYWORD_DYNAMIC_REF) {
        set_dynamic_reference(c, index, value);
    } else {
        nc_compiler_value(c, node, keyword, value);
    }
}

static void compile_schema(nc_compiler *c, nc_tree_value *schema) {
    uint32_t index = schema->node;
    uint32_t resource = nc_schema_node_at(c->schema, index)->resource;
    uint32_t vocabularies = nc_library_resource_at(&c->library, resource)->vocabularies;
    for (nc_tree_value *one = schema->first; one != NULL && c->library.status == NC_OK; one = one->next) {
        nc_schema_keyword keyword = nc_keyword_find(one->name);
        if (keyword != NC_KEYWORD_NONE && (nc_keyword_info_of(keyword)->vocabulary & vocabularies) != 0) {
            compile_keyword(c, index, keyword, one);
        }
    }
    if (c->library.status == NC_OK && schema->kind == NC_JSON_OBJECT) {
        nc_compiler_names(c, index, schema, vocabularies);
    }
}

/// Makes the dynamic anchors of all resources nodes, because a dynamic reference may lead to them.
static void compile_anchors(nc_compiler *c) {
    for (size_t i = 0; i < c->library.anchors.length / sizeof(nc_library_anchor); i++) {
        nc_library_anchor anchor = ((const nc_library_anchor *)(const void *)c->library.anchors.data)[i];
        nc_schema_anchor compiled = {.resource = anchor.resource, .name = anchor.name};
        if (anchor.is_dynamic && c->library.status == NC_OK) {
            compiled.node = nc_compiler_node(c, anchor.value);
            compiled.name = nc_compiler_copy(c, anchor.name);
            nc_buf_append(&c->schema->anchors, nc_slice_make(&compiled, sizeof compiled));
            (void)nc_compiler_check(c, &c->schema->anchors);
        }
    }
}

/// Compiles the scheduled schemas, and those that they schedule.
static void compile_queue(nc_compiler *c, size_t *done) {
    for (; *done < c->queue.length / sizeof(nc_tree_value *) && c->library.status == NC_OK; ++*done) {
        compile_schema(c, ((nc_tree_value **)(void *)c->queue.data)[*done]);
    }
}

static void compile_all(nc_compiler *c, nc_slice text) {
    nc_tree_value *root = nc_library_open(&c->library, text);
    size_t done = 0;
    size_t before;
    if (root == NULL) {
        return;
    }
    (void)nc_compiler_node(c, root);
    // An anchor may lead to a document with further anchors.
    do {
        before = c->library.anchors.length;
        compile_queue(c, &done);
        c->schema->anchors.length = 0;
        compile_anchors(c);
        compile_queue(c, &done);
    } while (c->library.anchors.length != before && c->library.status == NC_OK);
    if (c->library.status == NC_OK) {
        nc_compiler_analyze(c);
    }
}

/* --- public functions --- */

static nc_schema *schema_new(void) {
    nc_schema *schema = nc_alloc_zeroed(1, sizeof *schema);
    nc_random source = nc_random_system();
    if (schema == NULL) {
        return NULL;
    }
    if (!source.fill(source.ctx, (uint8_t *)schema->key.words, sizeof schema->key)) {
        nc_free(schema);
        return NULL;
    }
    nc_buf *tables[] = {&schema->nodes,   &schema->lists,    &schema->members, &schema->hashes,
                        &schema->numbers, &schema->patterns, &schema->anchors, &schema->texts};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        *tables[i] = nc_buf_init(NC_SCHEMA_MAX_TABLE_BYTES);
    }
    atomic_init(&schema->references, 1);
    return schema;
}

nc_status nc_schema_compile(nc_schema **out, nc_slice text, const nc_schema_options *options, nc_error *err) {
    const nc_schema_options defaults = {0};
    nc_error ignored;
    nc_compiler compiler = {.schema = schema_new(), .queue = nc_buf_init(NC_SCHEMA_MAX_TABLE_BYTES)};
    if (compiler.schema == NULL) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "%s", nc_status_text(NC_ERR_NO_MEMORY));
    }
    nc_library_init(&compiler.library, options != NULL ? options : &defaults, err != NULL ? err : &ignored);
    compile_all(&compiler, text);
    nc_status status = compiler.library.status;
    nc_library_deinit(&compiler.library);
    nc_buf_deinit(&compiler.queue);
    if (status != NC_OK) {
        nc_schema_release(compiler.schema);
        return status;
    }
    *out = compiler.schema;
    return nc_error_clear(err);
}

nc_schema *nc_schema_retain(nc_schema *schema) {
    atomic_fetch_add_explicit(&schema->references, 1, memory_order_relaxed);
    return schema;
}

void nc_schema_release(nc_schema *schema) {
    if (schema == NULL || atomic_fetch_sub_explicit(&schema->references, 1, memory_order_acq_rel) != 1) {
        return;
    }
    for (size_t i = 0; i < schema->patterns.length / sizeof(nc_regex *); i++) {
        nc_regex_free(((nc_regex **)(void *)schema->patterns.data)[i]);
    }
    for (size_t i = 0; i < schema->texts.length / sizeof(uint8_t *); i++) {
        nc_free(((uint8_t **)(void *)schema->texts.data)[i]);
    }
    nc_buf *tables[] = {&schema->nodes,   &schema->lists,    &schema->members, &schema->hashes,
                        &schema->numbers, &schema->patterns, &schema->anchors, &schema->texts};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        nc_buf_deinit(tables[i]);
    }
    nc_free(schema);
}
