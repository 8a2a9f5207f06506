#include "schema/compile.h"

#include <stdlib.h>

// The names that a node mentions are collected in any order, with duplicates. Then they are sorted and merged.

static bool is_active(uint32_t vocabularies, nc_schema_keyword keyword) {
    return (vocabularies & nc_keyword_info_of(keyword)->vocabulary) != 0;
}

static const nc_tree_value *member_of(const nc_tree_value *schema, nc_schema_keyword keyword, uint32_t vocabularies) {
    return is_active(vocabularies, keyword) ? nc_tree_member_named(schema, nc_keyword_info_of(keyword)->name) : NULL;
}

static nc_schema_member *members_of(const nc_compiler *c, const nc_schema_node *node) {
    return (nc_schema_member *)(void *)c->schema->members.data + node->member_at;
}

/// Adds a name. One whose presence matters is tracked.
static void add_name(nc_compiler *c, nc_slice name, uint32_t property, uint32_t order, bool is_tracked) {
    nc_schema_member member = {.name = nc_compiler_copy(c, name),
                               .property = property,
                               .tracked = is_tracked ? 0 : NC_SCHEMA_NONE,
                               .next = order};
    nc_buf_append(&c->schema->members, nc_slice_make(&member, sizeof member));
    (void)nc_compiler_check(c, &c->schema->members);
}

static void add_properties(nc_compiler *c, const nc_tree_value *properties) {
    uint32_t order = 0;
    if (properties->kind != NC_JSON_OBJECT) {
        (void)nc_compiler_fail(c, properties, "it must be an object");
        return;
    }
    for (nc_tree_value *one = properties->first; one != NULL; one = one->next) {
        add_name(c, one->name, nc_compiler_node(c, one), order++, false);
    }
}

/// Adds the names in an array.
static void add_names(nc_compiler *c, const nc_tree_value *names) {
    if (names->kind != NC_JSON_ARRAY) {
        (void)nc_compiler_fail(c, names, "it must be an array of strings");
        return;
    }
    for (const nc_tree_value *one = names->first; one != NULL; one = one->next) {
        if (one->kind != NC_JSON_STRING) {
            (void)nc_compiler_fail(c, one, "it must be a string");
            return;
        }
        add_name(c, one->text, NC_SCHEMA_NONE, UINT32_MAX, true);
    }
}

/// Adds the keys of dependentRequired, dependentSchemas or dependencies, and the names in their arrays.
static void add_dependent_names(nc_compiler *c, const nc_tree_value *dependencies, bool has_arrays, bool has_schemas) {
    if (dependencies->kind != NC_JSON_OBJECT) {
        (void)nc_compiler_fail(c, dependencies, "it must be an object");
        return;
    }
    for (const nc_tree_value *one = dependencies->first; one != NULL; one = one->next) {
        add_name(c, one->name, NC_SCHEMA_NONE, UINT32_MAX, true);
        if (one->kind == NC_JSON_ARRAY || !has_schemas) {
            if (!has_arrays) {
                (void)nc_compiler_fail(c, one, "it must be a schema");
            } else {
                add_names(c, one);
            }
        }
    }
}

/* --- sorting --- */

static int compare_names(nc_slice a, nc_slice b) {
    if (a.length != b.length) {
        return a.length < b.length ? -1 : 1;
    }
    return a.length == 0 ? 0 : memcmp(a.data, b.data, a.length);
}

static int compare_members(const void *a, const void *b) {
    const nc_schema_member *left = a;
    const nc_schema_member *right = b;
    int order = compare_names(left->name, right->name);
    return order != 0 ? order : left->next < right->next ? -1 : left->next > right->next;
}

uint32_t nc_schema_find_member(const nc_schema *schema, const nc_schema_node *node, nc_slice name) {
    uint32_t low = 0;
    uint32_t high = node->member_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        int order = compare_names(name, nc_schema_member_at(schema, node->member_at + middle)->name);
        if (order == 0) {
            return middle;
        }
        low = order > 0 ? middle + 1 : low;
        high = order > 0 ? high : middle;
    }
    return NC_SCHEMA_NONE;
}

/// Sorts the names of a node, merges equal ones, and numbers those that are tracked.
static void merge_names(nc_compiler *c, nc_schema_node *node) {
    nc_schema_member *members = members_of(c, node);
    uint32_t count = (uint32_t)(c->schema->members.length / sizeof *members) - node->member_at;
    uint32_t merged = 0;
    if (count == 0) {
        return;
    }
    qsort(members, count, sizeof *members, compare_members);
    for (uint32_t i = 0; i < count; i++) {
        if (merged > 0 && compare_names(members[i].name, members[merged - 1].name) == 0) {
            bool is_tracked = members[i].tracked != NC_SCHEMA_NONE;
            members[merged - 1].tracked = is_tracked ? 0 : members[merged - 1].tracked;
        } else {
            members[merged++] = members[i];
        }
    }
    for (uint32_t i = 0; i < merged; i++) {
        if (members[i].tracked != NC_SCHEMA_NONE) {
            members[i].tracked = node->tracked_count++;
        }
    }
    for (uint32_t i = 0; i < merged; i++) {
        unsigned key = nc_schema_name_key(members[i].name);
        node->name_keys[key / 64] |= UINT64_C(1) << (key % 64);
    }
    node->member_count = merged;
    c->schema->members.length = (node->member_at + (size_t)merged) * sizeof *members;
}

/// Links the members in the order of `properties`.
static void link_members(nc_compiler *c, nc_schema_node *node, const nc_tree_value *properties) {
    uint32_t previous = NC_SCHEMA_NONE;
    node->first_member = 0;
    for (const nc_tree_value *one = properties == NULL ? NULL : properties->first; one != NULL; one = one->next) {
        uint32_t index = nc_schema_find_member(c->schema, node, one->name);
        if (previous == NC_SCHEMA_NONE) {
            node->first_member = index;
        } else {
            members_of(c, node)[previous].next = index;
        }
        previous = index;
    }
    for (uint32_t i = 0; i < node->member_count; i++) {
        uint32_t *next = &members_of(c, node)[i].next;
        *next = *next >= node->member_count || i == previous ? node->first_member : *next;
    }
}

/* --- lists of tracked names --- */

static uint32_t list_count(const nc_compiler *c) {
    return (uint32_t)(c->schema->lists.length / sizeof(uint32_t));
}

static uint32_t tracked_index(const nc_compiler *c, const nc_schema_node *node, nc_slice name) {
    uint32_t index = nc_schema_find_member(c->schema, node, name);
    return members_of(c, node)[index].tracked;
}

static void list_names(nc_compiler *c, const nc_schema_node *node, const nc_tree_value *names) {
    for (const nc_tree_value *one = names->first; one != NULL; one = one->next) {
        nc_compiler_list(c, tracked_index(c, node, one->text));
    }
}

static void list_dependent_required(nc_compiler *c, const nc_schema_node *node, const nc_tree_value *dependencies) {
    for (const nc_tree_value *one = dependencies == NULL ? NULL : dependencies->first; one != NULL; one = one->next) {
        if (one->kind == NC_JSON_ARRAY) {
            nc_compiler_list(c, tracked_index(c, node, one->name));
            nc_compiler_list(c, one->count);
            list_names(c, node, one);
        }
    }
}

static void list_dependent_schemas(nc_compiler *c, uint32_t node, const nc_tree_value *dependencies) {
    for (nc_tree_value *one = dependencies == NULL ? NULL : dependencies->first; one != NULL; one = one->next) {
        if (one->kind != NC_JSON_ARRAY) {
            uint32_t schema = nc_compiler_node(c, one);
            nc_compiler_list(c, tracked_index(c, nc_schema_node_at(c->schema, node), one->name));
            nc_compiler_list(c, schema);
        }
    }
}

void nc_compiler_names(nc_compiler *c, uint32_t index, const nc_tree_value *schema, uint32_t vocabularies) {
    const nc_tree_value *properties = member_of(schema, NC_KEYWORD_PROPERTIES, vocabularies);
    const nc_tree_value *required = member_of(schema, NC_KEYWORD_REQUIRED, vocabularies);
    const nc_tree_value *arrays = member_of(schema, NC_KEYWORD_DEPENDENT_REQUIRED, vocabularies);
    const nc_tree_value *schemas = member_of(schema, NC_KEYWORD_DEPENDENT_SCHEMAS, vocabularies);
    const nc_tree_value *both = member_of(schema, NC_KEYWORD_DEPENDENCIES, vocabularies);
    nc_schema_node_at(c->schema, index)->member_at = (uint32_t)(c->schema->members.length / sizeof(nc_schema_member));
    if (properties != NULL) {
        add_properties(c, properties);
    }
    if (required != NULL) {
        add_names(c, required);
    }
    if (arrays != NULL) {
        add_dependent_names(c, arrays, true, false);
    }
    if (schemas != NULL) {
        add_dependent_names(c, schemas, false, true);
    }
    if (both != NULL) {
        add_dependent_names(c, both, true, true);
    }
    if (c->library.status != NC_OK) {
        return;
    }
    nc_schema_node *node = nc_schema_node_at(c->schema, index);
    merge_names(c, node);
    link_members(c, node, properties);
    node->required.at = list_count(c);
    if (required != NULL) {
        list_names(c, node, required);
    }
    node->required.count = list_count(c) - node->required.at;
    node->dependent_required.at = list_count(c);
    list_dependent_required(c, node, arrays);
    list_dependent_required(c, node, both);
    node->dependent_required.count = list_count(c) - node->dependent_required.at;
    uint32_t from = list_count(c);
    list_dependent_schemas(c, index, schemas);
    list_dependent_schemas(c, index, both);
    node = nc_schema_node_at(c->schema, index);
    node->dependent_schemas = (nc_schema_list){from, list_count(c) - from};
}
