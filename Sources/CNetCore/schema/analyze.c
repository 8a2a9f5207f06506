#include "schema/compile.h"

// A node applies other nodes to the same value: by references, allOf and the like. If these applications form a cycle,
// a check would never end. A long chain of them is refused, too, because a check needs a frame for each.

enum {
    MAX_CHAIN = 200, // nodes that apply each other to one value
    UNKNOWN = 0,
    IN_PROGRESS = 1,
    DONE = 2,
};

/// Calls `visit` for each node that a node applies to the same value. Returns false if a call did.
static bool for_each_applied(nc_compiler *c, uint32_t index, uint8_t *states, unsigned depth,
                             bool (*visit)(nc_compiler *, uint32_t, uint8_t *, unsigned)) {
    const nc_schema_node *node = nc_schema_node_at(c->schema, index);
    bool has_condition = node->condition != NC_SCHEMA_NONE; // without `if`, `then` and `else` have no effect
    const uint32_t single[] = {node->reference,
                               node->dynamic_reference,
                               node->negated,
                               node->condition,
                               has_condition ? node->consequence : NC_SCHEMA_NONE,
                               has_condition ? node->alternative : NC_SCHEMA_NONE};
    const nc_schema_list lists[] = {node->all_of, node->any_of, node->one_of};
    const uint32_t *dependent = nc_schema_list_of(c->schema, node->dependent_schemas);
    for (size_t i = 0; i < sizeof single / sizeof single[0]; i++) {
        if (single[i] != NC_SCHEMA_NONE && !visit(c, single[i], states, depth)) {
            return false;
        }
    }
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        for (uint32_t k = 0; k < lists[i].count; k++) {
            if (!visit(c, nc_schema_list_of(c->schema, lists[i])[k], states, depth)) {
                return false;
            }
        }
    }
    for (uint32_t i = 1; i < node->dependent_schemas.count; i += 2) {
        if (!visit(c, dependent[i], states, depth)) {
            return false;
        }
    }
    return true;
}

static nc_schema_verdict verdict_of(const nc_schema *schema, const nc_schema_node *node, unsigned kind) {
    uint16_t types = nc_schema_types_of(kind);
    bool is_number = kind == NC_JSON_NUMBER || kind == NC_KIND_DIGITS;
    if (node->is_false || (node->types & types) == 0 || (node->value_types & types) == 0) {
        return NC_SCHEMA_INVALID;
    }
    if ((node->flags & NC_NODE_VALUES) != 0 || (node->types & types) != types) {
        return NC_SCHEMA_DEPENDS;
    }
    if ((kind == NC_JSON_STRING && (node->flags & NC_NODE_STRING) != 0) ||
        (is_number && (node->flags & NC_NODE_NUMBER) != 0) ||
        (kind == NC_JSON_OBJECT && (node->flags & (NC_NODE_MEMBERS | NC_NODE_ENDS_OBJECT)) != 0) ||
        (kind == NC_JSON_ARRAY && (node->flags & NC_NODE_ELEMENTS) != 0)) {
        return NC_SCHEMA_DEPENDS;
    }
    bool is_container = kind == NC_JSON_OBJECT || kind == NC_JSON_ARRAY;
    bool has_others = node->dynamic_reference != NC_SCHEMA_NONE || node->one_of.count > 0 ||
                      node->negated != NC_SCHEMA_NONE || node->condition != NC_SCHEMA_NONE ||
                      (kind == NC_JSON_OBJECT && node->dependent_schemas.count > 0);
    bool is_valid = !has_others && (node->reference == NC_SCHEMA_NONE ||
                                    nc_schema_node_at(schema, node->reference)->verdicts[kind] == NC_SCHEMA_VALID);
    bool has_alternative = node->any_of.count == 0;
    // Of a container, the other alternatives may evaluate members or elements.
    for (uint32_t i = 0; i < node->any_of.count && !is_container; i++) {
        uint32_t part = nc_schema_list_of(schema, node->any_of)[i];
        has_alternative |= nc_schema_node_at(schema, part)->verdicts[kind] == NC_SCHEMA_VALID;
    }
    is_valid = is_valid && has_alternative;
    for (uint32_t i = 0; i < node->all_of.count; i++) {
        uint32_t part = nc_schema_list_of(schema, node->all_of)[i];
        is_valid = is_valid && nc_schema_node_at(schema, part)->verdicts[kind] == NC_SCHEMA_VALID;
    }
    return is_valid ? NC_SCHEMA_VALID : NC_SCHEMA_DEPENDS;
}

/// Sets the flags of a node that follow from its other members.
static void set_flags(nc_schema_node *node) {
    bool is_in_place = node->reference != NC_SCHEMA_NONE || node->dynamic_reference != NC_SCHEMA_NONE ||
                       node->all_of.count + node->any_of.count + node->one_of.count > 0 ||
                       node->negated != NC_SCHEMA_NONE || node->condition != NC_SCHEMA_NONE ||
                       node->dependent_schemas.count > 0;
    bool has_members = node->member_count > 0 || node->pattern_properties.count > 0 ||
                       node->additional != NC_SCHEMA_NONE || node->property_names != NC_SCHEMA_NONE ||
                       node->unevaluated_properties != NC_SCHEMA_NONE || node->max_properties != UINT64_MAX;
    bool has_elements = node->prefix_items.count > 0 || node->items != NC_SCHEMA_NONE ||
                        node->contains != NC_SCHEMA_NONE || node->unevaluated_items != NC_SCHEMA_NONE ||
                        node->min_items > 0 || node->max_items != UINT64_MAX || node->is_unique;
    bool ends_object = node->required.count > 0 || node->min_properties > 0 || node->dependent_required.count > 0;
    node->flags |= (uint16_t)((is_in_place ? NC_NODE_IN_PLACE : 0) | (has_members ? NC_NODE_MEMBERS : 0) |
                              (has_elements ? NC_NODE_ELEMENTS : 0) | (ends_object ? NC_NODE_ENDS_OBJECT : 0));
}

static bool visit(nc_compiler *c, uint32_t index, uint8_t *states, unsigned depth) {
    nc_schema_node *node = nc_schema_node_at(c->schema, index);
    if (states[index] == DONE) {
        return true;
    }
    if (states[index] == IN_PROGRESS || depth == MAX_CHAIN) {
        return nc_library_fail(&c->library, NC_ERR_BAD_SHAPE, NULL, "at %.*s: %s", (int)node->pointer.length,
                               (const char *)node->pointer.data,
                               states[index] == IN_PROGRESS ? "the schema applies itself to the same value, without end"
                                                            : "too many schemas apply each other to the same value");
    }
    states[index] = IN_PROGRESS;
    if (!for_each_applied(c, index, states, depth + 1, visit)) {
        return false;
    }
    states[index] = DONE;
    set_flags(node);
    for (unsigned kind = 0; kind < NC_SCHEMA_KINDS; kind++) {
        node->verdicts[kind] = (uint8_t)verdict_of(c->schema, node, kind);
    }
    return true;
}

void nc_compiler_analyze(nc_compiler *c) {
    size_t count = c->schema->nodes.length / sizeof(nc_schema_node);
    nc_buf states = nc_buf_init(NC_SCHEMA_MAX_TABLE_BYTES);
    for (size_t i = 0; i < count; i++) {
        nc_buf_append_byte(&states, UNKNOWN);
    }
    if (nc_compiler_check(c, &states)) {
        for (uint32_t i = 0; i < count && visit(c, i, states.data, 0); i++) {
        }
    }
    nc_buf_deinit(&states);
}
