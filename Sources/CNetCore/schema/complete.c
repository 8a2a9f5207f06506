#include "schema/evaluator.h"

/* --- evaluated members and elements --- */

static uint64_t *set_of(const nc_evaluator *e, const nc_evaluator_level *level, uint32_t index, bool is_refused) {
    size_t sets = (size_t)(index - level->first) * 2 + (is_refused ? 1 : 0);
    return nc_evaluator_words(e, level->words_at + sets * level->set_words);
}

static uint32_t unevaluated_of(const nc_evaluator_level *level, const nc_schema_node *node) {
    return level->is_object ? node->unevaluated_properties : node->unevaluated_items;
}

/// Adds what a child evaluated to what its parent did.
static void merge_sets(nc_evaluator *e, const nc_evaluator_level *level, uint32_t index, uint32_t child) {
    uint64_t *set = set_of(e, level, index, false);
    const uint64_t *other = set_of(e, level, child, false);
    for (uint32_t i = 0; i < level->set_words; i++) {
        set[i] |= other[i];
    }
    e->steps += level->set_words;
}

/// Returns true if a frame refused a member or element that nothing else evaluated.
static bool has_unevaluated(const nc_evaluator *e, const nc_evaluator_level *level, uint32_t index) {
    const uint64_t *set = set_of(e, level, index, false);
    const uint64_t *refused = set_of(e, level, index, true);
    for (uint32_t i = 0; i < level->set_words; i++) {
        if ((refused[i] & ~set[i]) != 0) {
            return true;
        }
    }
    return false;
}

/// Returns true if what a valid child evaluated counts for its parent.
static bool counts(const nc_evaluator *e, uint32_t index, const nc_frame *child) {
    switch ((nc_frame_role)child->role) {
    case NC_ROLE_NEGATED:
        return false;
    case NC_ROLE_CONSEQUENCE:
        return nc_frame_at(e, index)->is_then_needed;
    case NC_ROLE_ALTERNATIVE:
        return nc_frame_at(e, index)->is_else_needed;
    case NC_ROLE_DEPENDENT:
        return nc_frame_has_seen(e, index, child->role_index);
    default:
        return true;
    }
}

/* --- ends of containers --- */

/// Fails a frame if a required name is missing.
static void check_required(nc_evaluator *e, uint32_t index, nc_schema_keyword keyword, const uint32_t *tracked,
                           uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (!nc_frame_has_seen(e, index, tracked[i])) {
            nc_frame_fail(e, index, nc_frame_reason(e, index, keyword, tracked[i]));
            return;
        }
    }
    e->steps += count / 16;
}

static void complete_object(nc_evaluator *e, uint32_t index, uint64_t count) {
    const nc_schema_node *node = nc_frame_at(e, index)->node;
    if (count < node->min_properties) {
        nc_frame_fail(e, index, nc_frame_reason(e, index, NC_KEYWORD_MIN_PROPERTIES, count));
    }
    check_required(e, index, NC_KEYWORD_REQUIRED, nc_schema_list_of(e->schema, node->required), node->required.count);
    const uint32_t *list = nc_schema_list_of(e->schema, node->dependent_required);
    for (uint32_t i = 0; i < node->dependent_required.count; i += 2 + list[i + 1]) {
        if (nc_frame_has_seen(e, index, list[i])) {
            check_required(e, index, NC_KEYWORD_DEPENDENT_REQUIRED, list + i + 2, list[i + 1]);
        }
    }
}

static void complete_array(nc_evaluator *e, uint32_t index, uint64_t count) {
    const nc_frame *frame = nc_frame_at(e, index);
    if (count < frame->node->min_items) {
        nc_frame_fail(e, index, nc_frame_reason(e, index, NC_KEYWORD_MIN_ITEMS, count));
    } else if (frame->node->contains != NC_SCHEMA_NONE && frame->matches < frame->node->min_contains) {
        nc_schema_keyword keyword = frame->node->min_contains == 1 ? NC_KEYWORD_CONTAINS : NC_KEYWORD_MIN_CONTAINS;
        nc_frame_fail(e, index, nc_frame_reason(e, index, keyword, frame->matches));
    }
}

static void complete_container(nc_evaluator *e, uint32_t index, const nc_evaluator_level *level) {
    const nc_schema_node *node = nc_frame_at(e, index)->node;
    if (level->is_object && (node->flags & NC_NODE_ENDS_OBJECT) != 0) {
        complete_object(e, index, level->count);
    } else if (!level->is_object && (node->flags & NC_NODE_ELEMENTS) != 0) {
        complete_array(e, index, level->count);
    }
    if (unevaluated_of(level, node) != NC_SCHEMA_NONE && level->has_tracked && has_unevaluated(e, level, index)) {
        nc_schema_keyword keyword = level->is_object ? NC_KEYWORD_UNEVALUATED_PROPERTIES : NC_KEYWORD_UNEVALUATED_ITEMS;
        nc_frame_fail(e, index, nc_frame_reason(e, index, keyword, 0));
    }
}

/* --- frames --- */

/// Applies the result of a completed child. The parent is live.
static void apply_child(nc_evaluator *e, uint32_t index, uint32_t child) {
    nc_frame *frame = nc_frame_at(e, index);
    const nc_frame *inner = nc_frame_at(e, child);
    bool is_valid = inner->state == NC_FRAME_VALID;
    if (inner->role == NC_ROLE_NEGATED && is_valid) {
        nc_frame_fail(e, index, nc_frame_reason(e, index, NC_KEYWORD_NOT, 0));
    } else if (inner->role == NC_ROLE_ONE && is_valid && ++frame->one_valid > 1) {
        nc_frame_fail(e, index, nc_frame_reason(e, index, NC_KEYWORD_ONE_OF, frame->one_valid));
    } else if (inner->role == NC_ROLE_CONDITION && is_valid) {
        frame->is_then_needed = true;
        for (uint32_t i = inner->end; i < frame->end; i = nc_frame_at(e, i)->end) {
            nc_frame *other = nc_frame_at(e, i);
            if (other->role == NC_ROLE_ALTERNATIVE) {
                nc_frame_kill(e, i);
            } else if (other->role == NC_ROLE_CONSEQUENCE && other->state == NC_FRAME_INVALID) {
                nc_frame_fail(e, index, nc_frame_reason(e, index, NC_KEYWORD_THEN, 0));
                return;
            }
        }
    }
}

/// Completes a frame after those that it depends on. The chain of frames is limited, so recursion is too.
static void complete(nc_evaluator *e, uint32_t index, const nc_evaluator_level *level) {
    uint32_t end = nc_frame_at(e, index)->end;
    e->steps++;
    for (uint32_t child = index + 1; child < end; child = nc_frame_at(e, child)->end) {
        if (nc_frame_at(e, index)->state != NC_FRAME_LIVE) {
            return;
        }
        if (nc_frame_at(e, child)->state == NC_FRAME_LIVE) {
            complete(e, child, level);
        }
        if (nc_frame_at(e, index)->state == NC_FRAME_LIVE) {
            apply_child(e, index, child);
        }
    }
    if (nc_frame_at(e, index)->state != NC_FRAME_LIVE) {
        return;
    }
    for (uint32_t child = index + 1; level != NULL && level->has_tracked && child < end;
         child = nc_frame_at(e, child)->end) {
        const nc_frame *inner = nc_frame_at(e, child);
        if (inner->state == NC_FRAME_VALID && counts(e, index, inner)) {
            merge_sets(e, level, index, child);
        }
    }
    if (level != NULL) {
        complete_container(e, index, level);
    }
    nc_frame *frame = nc_frame_at(e, index);
    if (frame->state == NC_FRAME_LIVE) {
        frame->state = NC_FRAME_VALID;
        // A valid frame with a schema for unevaluated values has evaluated all of them.
        if (level != NULL && level->has_tracked && unevaluated_of(level, frame->node) != NC_SCHEMA_NONE) {
            memset(set_of(e, level, index, false), 0xFF, level->set_words * sizeof(uint64_t));
        }
    }
}

void nc_evaluator_complete(nc_evaluator *e, uint32_t first, const nc_evaluator_level *level) {
    uint32_t count = nc_frame_count(e);
    for (uint32_t root = first; root < count && nc_evaluator_goes_on(e);) {
        nc_frame *frame = nc_frame_at(e, root);
        if (frame->state == NC_FRAME_LIVE) {
            complete(e, root, level);
        }
        if (frame->state == NC_FRAME_VALID && frame->role == NC_ROLE_CONTAINED) {
            nc_frame *parent = nc_frame_at(e, frame->parent);
            parent->matches++;
            parent->has_matched = true;
        }
        root = frame->end;
    }
    e->frames.length = first * sizeof(nc_frame);
}
