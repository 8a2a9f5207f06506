#include "schema/evaluator.h"

bool nc_evaluator_stop(nc_evaluator *e, nc_status status, const char *limit) {
    if (e->status == NC_OK) {
        e->status = status;
        e->limit = limit;
    }
    return false;
}

bool nc_evaluator_check(nc_evaluator *e, const nc_buf *table, const char *limit) {
    return table->status == NC_OK || nc_evaluator_stop(e, table->status, limit);
}

uint32_t nc_frame_push(nc_evaluator *e, uint32_t node, uint32_t parent, nc_frame_role role, uint32_t role_index) {
    uint32_t index = nc_frame_count(e);
    nc_frame frame = {.node = nc_schema_node_at(e->schema, node),
                      .parent = parent,
                      .end = UINT32_MAX,
                      .scope = index,
                      .depth = nc_level_count(e),
                      .role = (uint8_t)role,
                      .role_index = role_index};
    e->steps++;
    if (index == e->limits.max_frames) {
        (void)nc_evaluator_stop(e, NC_ERR_TOO_LARGE, "max_frames");
        return NC_SCHEMA_NONE;
    }
    if (parent != NC_SCHEMA_NONE) {
        const nc_frame *outer = nc_frame_at(e, parent);
        frame.scope = outer->node->resource == frame.node->resource ? outer->scope : index;
    }
    frame.next_member = frame.node->first_member;
    nc_buf_append(&e->frames, nc_slice_make(&frame, sizeof frame));
    return nc_evaluator_check(e, &e->frames, "max_frames") ? index : NC_SCHEMA_NONE;
}

void nc_frame_kill(nc_evaluator *e, uint32_t index) {
    uint32_t end = nc_frame_at(e, index)->end;
    end = end == UINT32_MAX ? nc_frame_count(e) : end;
    for (uint32_t i = index; i < end; i++) {
        nc_frame *frame = nc_frame_at(e, i);
        frame->state = frame->state == NC_FRAME_INVALID && i == index ? frame->state : NC_FRAME_DEAD;
    }
}

nc_reason nc_frame_reason(const nc_evaluator *e, uint32_t index, nc_schema_keyword keyword, uint64_t amount) {
    const nc_frame *frame = nc_frame_at(e, index);
    return (nc_reason){
        .node = frame->node, .keyword = keyword, .depth = frame->depth, .amount = amount, .kind = e->kind};
}

/* --- failures --- */

/// Returns the child of a frame with a role; NC_SCHEMA_NONE if there is none.
static uint32_t child_with_role(const nc_evaluator *e, uint32_t index, nc_frame_role role) {
    uint32_t end = nc_frame_at(e, index)->end;
    end = end == UINT32_MAX ? nc_frame_count(e) : end;
    for (uint32_t i = index + 1; i < end; i++) {
        const nc_frame *frame = nc_frame_at(e, i);
        if (frame->parent == index && frame->role == role) {
            return i;
        }
    }
    return NC_SCHEMA_NONE;
}

/// Records that `if` is invalid: `then` does not matter, and `else` is required. Returns false if `else` failed before.
static bool select_alternative(nc_evaluator *e, uint32_t index) {
    uint32_t consequence = child_with_role(e, index, NC_ROLE_CONSEQUENCE);
    uint32_t alternative = child_with_role(e, index, NC_ROLE_ALTERNATIVE);
    nc_frame_at(e, index)->is_else_needed = true;
    if (consequence != NC_SCHEMA_NONE) {
        nc_frame_kill(e, consequence);
    }
    return alternative == NC_SCHEMA_NONE || nc_frame_at(e, alternative)->state != NC_FRAME_INVALID;
}

/// Applies the failure of a child. Returns true if the parent fails, with `reason` as its reason.
static bool fails_parent(nc_evaluator *e, uint32_t parent, nc_frame_role role, uint32_t role_index, nc_reason *reason) {
    nc_frame *outer = nc_frame_at(e, parent);
    switch (role) {
    case NC_ROLE_REQUIRED:
        return true;
    case NC_ROLE_ANY:
        if (++outer->any_failed < outer->node->any_of.count) {
            return false;
        }
        *reason = nc_frame_reason(e, parent, NC_KEYWORD_ANY_OF, 0);
        return true;
    case NC_ROLE_ONE:
        if (++outer->one_failed < outer->node->one_of.count) {
            return false;
        }
        *reason = nc_frame_reason(e, parent, NC_KEYWORD_ONE_OF, 0);
        return true;
    case NC_ROLE_CONDITION:
        if (select_alternative(e, parent)) {
            return false;
        }
        *reason = nc_frame_reason(e, parent, NC_KEYWORD_ELSE, 0);
        return true;
    case NC_ROLE_CONSEQUENCE:
        return outer->is_then_needed;
    case NC_ROLE_ALTERNATIVE:
        return outer->is_else_needed;
    case NC_ROLE_DEPENDENT:
        return nc_frame_has_seen(e, parent, role_index);
    case NC_ROLE_UNEVALUATED:
        outer->has_rejected = true;
        return false;
    default:
        return false;
    }
}

void nc_frame_child_failed(nc_evaluator *e, uint32_t parent, nc_frame_role role, uint32_t role_index,
                           nc_reason reason) {
    while (parent != NC_SCHEMA_NONE) {
        nc_frame *outer = nc_frame_at(e, parent);
        if (outer->state != NC_FRAME_LIVE || !fails_parent(e, parent, role, role_index, &reason)) {
            return;
        }
        outer->state = NC_FRAME_INVALID;
        nc_frame_kill(e, parent);
        role = (nc_frame_role)outer->role;
        role_index = outer->role_index;
        parent = outer->parent;
    }
    if (!e->has_failed) {
        e->has_failed = true;
        e->reason = reason;
        e->failed_at = e->offset;
    }
}

void nc_frame_fail(nc_evaluator *e, uint32_t index, nc_reason reason) {
    nc_frame *frame = nc_frame_at(e, index);
    if (frame->state != NC_FRAME_LIVE) {
        return;
    }
    frame->state = NC_FRAME_INVALID;
    nc_frame_kill(e, index);
    nc_frame_child_failed(e, frame->parent, (nc_frame_role)frame->role, frame->role_index, reason);
}

/* --- names that are present --- */

bool nc_frame_has_seen(const nc_evaluator *e, uint32_t index, uint32_t tracked) {
    const nc_frame *frame = nc_frame_at(e, index);
    if (frame->node->tracked_count <= 64) {
        return (frame->seen >> tracked & 1) != 0;
    }
    return (nc_evaluator_words(e, frame->bits_at)[tracked / 64] >> (tracked % 64) & 1) != 0;
}

void nc_frame_set_seen(nc_evaluator *e, uint32_t index, uint32_t tracked) {
    nc_frame *frame = nc_frame_at(e, index);
    if (frame->node->tracked_count <= 64) {
        frame->seen |= UINT64_C(1) << tracked;
    } else {
        nc_evaluator_words(e, frame->bits_at)[tracked / 64] |= UINT64_C(1) << (tracked % 64);
    }
}
