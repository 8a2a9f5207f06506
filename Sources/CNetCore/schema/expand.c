#include "schema/evaluator.h"

// A schema that refuses or accepts a kind of value as a whole gets no frame.

static nc_schema_verdict verdict_of(const nc_evaluator *e, uint32_t node) {
    return (nc_schema_verdict)nc_schema_node_at(e->schema, node)->verdicts[e->kind];
}

/// Returns the reason why a node refuses a kind of value.
static nc_reason reason_of_kind(const nc_evaluator *e, uint32_t index) {
    const nc_schema_node *node = nc_schema_node_at(e->schema, index);
    nc_schema_keyword keyword = node->is_false                                     ? NC_KEYWORD_NONE
                                : (node->types & nc_schema_types_of(e->kind)) == 0 ? NC_KEYWORD_TYPE
                                : !node->has_enum                                  ? NC_KEYWORD_CONST
                                                                                   : NC_KEYWORD_ENUM;
    return (nc_reason){.node = node, .keyword = keyword, .depth = nc_level_count(e), .kind = e->kind};
}

static void expand(nc_evaluator *e, uint32_t index, unsigned chain);

/// Applies a schema with a role. Returns its verdict.
static nc_schema_verdict apply(nc_evaluator *e, uint32_t parent, uint32_t node, nc_frame_role role, uint32_t role_index,
                               unsigned chain) {
    nc_schema_verdict verdict = verdict_of(e, node);
    e->steps++;
    if (verdict == NC_SCHEMA_INVALID) {
        nc_frame_child_failed(e, parent, role, role_index, reason_of_kind(e, node));
    } else if (verdict == NC_SCHEMA_DEPENDS) {
        uint32_t index = nc_frame_push(e, node, parent, role, role_index);
        if (index != NC_SCHEMA_NONE) {
            expand(e, index, chain + 1);
        }
    }
    return verdict;
}

static bool is_live(const nc_evaluator *e, uint32_t index) {
    return nc_evaluator_goes_on(e) && nc_frame_at(e, index)->state == NC_FRAME_LIVE;
}

/// Returns the node of the outermost dynamic anchor with the name of a dynamic reference (core, 8.2.3.2).
static uint32_t resolve_dynamic(nc_evaluator *e, uint32_t index) {
    const nc_schema_node *node = nc_frame_at(e, index)->node;
    const nc_schema_anchor *anchors = (const nc_schema_anchor *)(const void *)e->schema->anchors.data;
    size_t count = e->schema->anchors.length / sizeof *anchors;
    uint32_t found = node->dynamic_reference;
    if (node->dynamic_name.length == 0) {
        return found;
    }
    for (uint32_t at = nc_frame_at(e, index)->scope; at != NC_SCHEMA_NONE;) {
        const nc_frame *frame = nc_frame_at(e, at);
        e->steps += count;
        for (size_t i = 0; i < count; i++) {
            if (anchors[i].resource == frame->node->resource &&
                nc_slice_is_equal(anchors[i].name, node->dynamic_name)) {
                found = anchors[i].node;
            }
        }
        at = frame->parent == NC_SCHEMA_NONE ? NC_SCHEMA_NONE : nc_frame_at(e, frame->parent)->scope;
    }
    return found;
}

static void expand_alternatives(nc_evaluator *e, uint32_t index, unsigned chain) {
    const nc_schema_node *node = nc_frame_at(e, index)->node;
    bool is_tracked = nc_frame_at(e, index)->is_tracked;
    const uint32_t *any = nc_schema_list_of(e->schema, node->any_of);
    for (uint32_t i = 0; i < node->any_of.count && !is_tracked; i++) {
        nc_frame_at(e, index)->is_satisfied |= verdict_of(e, any[i]) == NC_SCHEMA_VALID;
    }
    // If the evaluated members do not matter, one valid alternative is enough.
    for (uint32_t i = 0; i < node->any_of.count && is_live(e, index) && !nc_frame_at(e, index)->is_satisfied; i++) {
        (void)apply(e, index, any[i], NC_ROLE_ANY, 0, chain);
    }
    for (uint32_t i = 0; i < node->one_of.count && is_live(e, index); i++) {
        uint32_t one = nc_schema_list_of(e->schema, node->one_of)[i];
        if (apply(e, index, one, NC_ROLE_ONE, 0, chain) == NC_SCHEMA_VALID) {
            nc_frame_at(e, index)->one_valid++;
        }
    }
    if (nc_frame_at(e, index)->one_valid > 1) {
        nc_frame_fail(e, index, nc_frame_reason(e, index, NC_KEYWORD_ONE_OF, 2));
    }
}

/// Adds a frame that has failed, for a schema whose result matters later.
static void apply_later(nc_evaluator *e, uint32_t parent, uint32_t node, nc_frame_role role, unsigned chain) {
    if (node == NC_SCHEMA_NONE || apply(e, parent, node, role, 0, chain) != NC_SCHEMA_INVALID) {
        return;
    }
    uint32_t index = nc_frame_push(e, node, parent, role, 0);
    if (index != NC_SCHEMA_NONE) {
        nc_frame_at(e, index)->state = NC_FRAME_INVALID;
        nc_frame_at(e, index)->end = index + 1;
    }
}

static void expand_condition(nc_evaluator *e, uint32_t index, unsigned chain) {
    const nc_schema_node *node = nc_frame_at(e, index)->node;
    nc_schema_verdict verdict = verdict_of(e, node->condition);
    if (verdict == NC_SCHEMA_DEPENDS) {
        (void)apply(e, index, node->condition, NC_ROLE_CONDITION, 0, chain);
        if (!nc_frame_at(e, index)->is_else_needed) {
            apply_later(e, index, node->consequence, NC_ROLE_CONSEQUENCE, chain);
        }
        apply_later(e, index, node->alternative, NC_ROLE_ALTERNATIVE, chain);
        return;
    }
    uint32_t selected = verdict == NC_SCHEMA_VALID ? node->consequence : node->alternative;
    if (selected != NC_SCHEMA_NONE) {
        (void)apply(e, index, selected, NC_ROLE_REQUIRED, 0, chain);
    }
}

static void expand_dependent(nc_evaluator *e, uint32_t index, unsigned chain) {
    const nc_schema_node *node = nc_frame_at(e, index)->node;
    for (uint32_t i = 0; i < node->dependent_schemas.count && is_live(e, index); i += 2) {
        const uint32_t *pair = nc_schema_list_of(e->schema, node->dependent_schemas) + i;
        if (verdict_of(e, pair[1]) == NC_SCHEMA_INVALID) {
            uint32_t failed = nc_frame_push(e, pair[1], index, NC_ROLE_DEPENDENT, pair[0]);
            if (failed != NC_SCHEMA_NONE) {
                nc_frame_at(e, failed)->state = NC_FRAME_INVALID;
                nc_frame_at(e, failed)->end = failed + 1;
            }
        } else {
            (void)apply(e, index, pair[1], NC_ROLE_DEPENDENT, pair[0], chain);
        }
    }
}

/// Adds a frame for each subschema that a frame applies to its own value.
static void expand(nc_evaluator *e, uint32_t index, unsigned chain) {
    nc_frame *frame = nc_frame_at(e, index);
    const nc_schema_node *node = frame->node;
    bool is_same_value = frame->parent != NC_SCHEMA_NONE && nc_frame_at(e, frame->parent)->depth == frame->depth;
    bool has_unevaluated = (e->kind == NC_JSON_OBJECT && node->unevaluated_properties != NC_SCHEMA_NONE) ||
                           (e->kind == NC_JSON_ARRAY && node->unevaluated_items != NC_SCHEMA_NONE);
    frame->is_tracked = has_unevaluated || (is_same_value && nc_frame_at(e, frame->parent)->is_tracked);
    if (chain > NC_EVALUATOR_MAX_CHAIN) {
        (void)nc_evaluator_stop(e, NC_ERR_TOO_LARGE, "the chain of schemas for one value");
        return;
    }
    if ((node->flags & NC_NODE_IN_PLACE) != 0) {
        if (node->reference != NC_SCHEMA_NONE) {
            (void)apply(e, index, node->reference, NC_ROLE_REQUIRED, 0, chain);
        }
        if (node->dynamic_reference != NC_SCHEMA_NONE && is_live(e, index)) {
            (void)apply(e, index, resolve_dynamic(e, index), NC_ROLE_REQUIRED, 0, chain);
        }
        for (uint32_t i = 0; i < node->all_of.count && is_live(e, index); i++) {
            (void)apply(e, index, nc_schema_list_of(e->schema, node->all_of)[i], NC_ROLE_REQUIRED, 0, chain);
        }
        if (node->any_of.count + node->one_of.count > 0 && is_live(e, index)) {
            expand_alternatives(e, index, chain);
        }
        if (node->negated != NC_SCHEMA_NONE && is_live(e, index) &&
            apply(e, index, node->negated, NC_ROLE_NEGATED, 0, chain) == NC_SCHEMA_VALID) {
            nc_frame_fail(e, index, nc_frame_reason(e, index, NC_KEYWORD_NOT, 0));
        }
        if (node->condition != NC_SCHEMA_NONE && is_live(e, index)) {
            expand_condition(e, index, chain);
        }
        if (e->kind == NC_JSON_OBJECT && is_live(e, index)) {
            expand_dependent(e, index, chain);
        }
    }
    nc_frame_at(e, index)->end = nc_frame_count(e);
}

void nc_evaluator_pend_simple(nc_evaluator *e, const nc_evaluator_level *level) {
    nc_pending pending = {.node = level->next_node, .parent = level->looker, .role = NC_ROLE_REQUIRED};
    nc_buf_append(&e->pending, nc_slice_make(&pending, sizeof pending));
    (void)nc_evaluator_check(e, &e->pending, "max_frames");
}

void nc_evaluator_expand(nc_evaluator *e, unsigned kind) {
    size_t count = e->pending.length / sizeof(nc_pending);
    e->kind = kind;
    for (size_t i = 0; i < count && nc_evaluator_goes_on(e); i++) {
        nc_pending pending = ((const nc_pending *)(const void *)e->pending.data)[i];
        if (apply(e, pending.parent, pending.node, pending.role, 0, 0) == NC_SCHEMA_VALID &&
            pending.role == NC_ROLE_CONTAINED) {
            nc_frame_at(e, pending.parent)->matches++;
            nc_frame_at(e, pending.parent)->has_matched = true;
        }
    }
    e->pending.length = 0;
}

void nc_evaluator_apply(nc_evaluator *e, uint32_t node, uint32_t parent, unsigned kind) {
    e->kind = kind;
    (void)apply(e, parent, node, NC_ROLE_REQUIRED, 0, 0);
}
