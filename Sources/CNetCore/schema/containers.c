#include "schema/evaluator.h"

/* --- sets of evaluated and refused members or elements --- */

static uint64_t *set_of(const nc_evaluator *e, const nc_evaluator_level *level, uint32_t index, bool is_refused) {
    size_t sets = (size_t)(index - level->first) * 2 + (is_refused ? 1 : 0);
    return nc_evaluator_words(e, level->words_at + sets * level->set_words);
}

static void append_zeros(nc_evaluator *e, size_t words) {
    static const uint64_t zeros[32];
    while (words > 0 && e->words.status == NC_OK) {
        size_t part = words < 32 ? words : 32;
        nc_buf_append(&e->words, nc_slice_make(zeros, part * sizeof zeros[0]));
        words -= part;
    }
    (void)nc_evaluator_check(e, &e->words, "max_state_bytes");
}

/// Doubles the sets of the innermost container, whose words are the last ones.
static void grow_sets(nc_evaluator *e, nc_evaluator_level *level) {
    size_t sets = (size_t)(level->end - level->first) * 2;
    uint32_t old = level->set_words;
    append_zeros(e, sets * old);
    if (!nc_evaluator_goes_on(e)) {
        return;
    }
    uint64_t *words = nc_evaluator_words(e, level->words_at);
    for (size_t i = sets; i-- > 0;) {
        memmove(words + i * 2 * old, words + i * old, old * sizeof *words);
        memset(words + i * 2 * old + old, 0, old * sizeof *words);
    }
    level->set_words = old * 2;
}

/// Makes room for one more member or element.
static void reserve_slot(nc_evaluator *e, nc_evaluator_level *level) {
    if (level->has_tracked && level->slot >= level->set_words * 64) {
        grow_sets(e, level);
    }
}

/// Records that a frame evaluated the current member or element.
static void mark(nc_evaluator *e, const nc_evaluator_level *level, uint32_t index) {
    if (level->has_tracked) {
        set_of(e, level, index, false)[level->slot / 64] |= UINT64_C(1) << (level->slot % 64);
    }
}

static bool evaluates_the_rest(const nc_evaluator_level *level, const nc_schema_node *node) {
    return (level->is_object ? node->unevaluated_properties : node->unevaluated_items) != NC_SCHEMA_NONE;
}

/// Returns true if a frame that `index` applies may have evaluated the current member or element.
static bool may_be_evaluated(const nc_evaluator *e, const nc_evaluator_level *level, uint32_t index) {
    uint32_t end = nc_frame_at(e, index)->end;
    for (uint32_t i = index; i < end; i++) {
        const nc_frame *frame = nc_frame_at(e, i);
        bool is_marked = (set_of(e, level, i, false)[level->slot / 64] >> (level->slot % 64) & 1) != 0;
        if (frame->state == NC_FRAME_LIVE && (is_marked || (i != index && evaluates_the_rest(level, frame->node)))) {
            return true;
        }
    }
    return false;
}

/// Checks the schemas for unevaluated values at the end of a member or element. What was refused stays in the sets
/// until the container ends, unless no frame evaluated it.
static void end_tracked(nc_evaluator *e, nc_evaluator_level *level) {
    uint64_t bit = UINT64_C(1) << (level->slot % 64);
    bool is_kept = false;
    e->steps += level->end - level->first;
    for (uint32_t i = level->first; i < level->end; i++) {
        nc_frame *frame = nc_frame_at(e, i);
        if (frame->has_rejected && frame->state == NC_FRAME_LIVE) {
            if (may_be_evaluated(e, level, i)) {
                set_of(e, level, i, true)[level->slot / 64] |= bit;
                is_kept = true;
            } else {
                nc_schema_keyword keyword =
                    level->is_object ? NC_KEYWORD_UNEVALUATED_PROPERTIES : NC_KEYWORD_UNEVALUATED_ITEMS;
                nc_reason reason = nc_frame_reason(e, i, keyword, 0);
                reason.depth = nc_level_count(e);
                nc_frame_fail(e, i, reason);
            }
        }
        frame->has_rejected = false;
    }
    for (uint32_t i = level->first; i < level->end && !is_kept; i++) {
        set_of(e, level, i, false)[level->slot / 64] &= ~bit;
    }
    level->slot += is_kept ? 1 : 0;
}

/* --- members --- */

static void pend(nc_evaluator *e, uint32_t node, uint32_t parent, nc_frame_role role) {
    nc_pending pending = {.node = node, .parent = parent, .role = role};
    nc_buf_append(&e->pending, nc_slice_make(&pending, sizeof pending));
    (void)nc_evaluator_check(e, &e->pending, "max_frames");
}

static bool is_named(const nc_schema_member *member, nc_slice name) {
    return member->name.length == name.length &&
           (name.length == 0 || memcmp(member->name.data, name.data, name.length) == 0);
}

/// Returns the member of a node's table with this name; NULL if there is none. Members usually come in the order of the
/// schema.
static const nc_schema_member *find_member(nc_evaluator *e, nc_frame *frame, nc_slice name) {
    const nc_schema_node *node = frame->node;
    const nc_schema_member *members = nc_schema_member_at(e->schema, node->member_at);
    if (node->member_count == 0) {
        return NULL;
    }
    const nc_schema_member *member = &members[frame->next_member];
    if (!is_named(member, name)) {
        unsigned key = nc_schema_name_key(name);
        if ((node->name_keys[key / 64] >> (key % 64) & 1) == 0) {
            return NULL;
        }
        uint32_t found = nc_schema_find_member(e->schema, node, name);
        if (found == NC_SCHEMA_NONE) {
            return NULL;
        }
        member = &members[found];
    }
    frame->next_member = member->next;
    return member;
}

/// Records that a tracked member is present. A schema that depends on it may have failed before.
static void see(nc_evaluator *e, uint32_t index, uint32_t tracked) {
    const nc_frame *frame = nc_frame_at(e, index);
    nc_frame_set_seen(e, index, tracked);
    for (uint32_t i = index + 1; frame->node->dependent_schemas.count > 0 && i < frame->end;
         i = nc_frame_at(e, i)->end) {
        const nc_frame *inner = nc_frame_at(e, i);
        if (inner->role == NC_ROLE_DEPENDENT && inner->role_index == tracked && inner->state == NC_FRAME_INVALID) {
            nc_frame_fail(e, index, nc_frame_reason(e, index, NC_KEYWORD_DEPENDENT_SCHEMAS, 0));
            return;
        }
    }
}

/// Finds the schemas of patternProperties. Returns true if one applies.
static bool member_by_pattern(nc_evaluator *e, uint32_t index, nc_slice name) {
    const nc_schema_node *node = nc_frame_at(e, index)->node;
    const uint32_t *pairs = nc_schema_list_of(e->schema, node->pattern_properties);
    bool is_found = false;
    for (uint32_t i = 0; i < node->pattern_properties.count; i += 2) {
        if (nc_evaluator_matches(e, pairs[i], name)) {
            pend(e, pairs[i + 1], index, NC_ROLE_REQUIRED);
            is_found = true;
        }
    }
    return is_found;
}

/// Checks a name against propertyNames.
static void check_name(nc_evaluator *e, uint32_t index, nc_slice name) {
    uint32_t first = nc_frame_count(e);
    e->scalar = name;
    nc_evaluator_apply(e, nc_frame_at(e, index)->node->property_names, index, NC_JSON_STRING);
    if (nc_frame_count(e) > first && nc_evaluator_goes_on(e)) {
        nc_evaluator_end_scalar(e, first, NULL);
    }
    e->kind = NC_JSON_OBJECT;
}

static void member_of_frame(nc_evaluator *e, uint32_t index, nc_evaluator_level *level, nc_slice name) {
    const nc_schema_node *node = nc_frame_at(e, index)->node;
    const nc_schema_member *member = find_member(e, nc_frame_at(e, index), name);
    bool is_evaluated = false;
    if (level->count > node->max_properties) {
        nc_frame_fail(e, index, nc_frame_reason(e, index, NC_KEYWORD_MAX_PROPERTIES, level->count));
        return;
    }
    if (member != NULL && member->tracked != NC_SCHEMA_NONE) {
        see(e, index, member->tracked);
    }
    if (member != NULL && member->property != NC_SCHEMA_NONE) {
        pend(e, member->property, index, NC_ROLE_REQUIRED);
        is_evaluated = true;
    }
    if (node->pattern_properties.count > 0) {
        is_evaluated |= member_by_pattern(e, index, name);
    }
    if (!is_evaluated && node->additional != NC_SCHEMA_NONE) {
        pend(e, node->additional, index, NC_ROLE_REQUIRED);
        is_evaluated = true;
    }
    if (!is_evaluated && node->unevaluated_properties != NC_SCHEMA_NONE) {
        pend(e, node->unevaluated_properties, index, NC_ROLE_UNEVALUATED);
    }
    if (is_evaluated) {
        mark(e, level, index);
    }
    if (node->property_names != NC_SCHEMA_NONE) {
        check_name(e, index, name);
    }
}

/// Copies a name. Most are short, and for these a call or an instruction that repeats takes longer than the copy.
static void copy_name(uint8_t *out, const uint8_t *name, size_t length) {
    if (length < 8) {
        for (size_t i = 0; i < length; i++) {
            out[i] = name[i];
        }
        return;
    }
    for (size_t at = 0; at + 8 < length; at += 8) {
        memcpy(out + at, name + at, 8);
    }
    memcpy(out + length - 8, name + length - 8, 8);
}

/// Stores the name of the current member, which pointers and hashes contain.
static void store_name(nc_evaluator *e, const nc_evaluator_level *level, nc_slice name) {
    size_t shown = name.length < NC_EVALUATOR_MAX_NAME ? name.length : NC_EVALUATOR_MAX_NAME;
    e->path.length = level->name_at;
    if (e->path.capacity - level->name_at >= shown && shown > 0 && !level->is_hashed) {
        copy_name(e->path.data + level->name_at, name.data, shown);
        e->path.length += shown;
        return;
    }
    nc_buf_append(&e->path, nc_slice_make(name.data, shown));
    (void)nc_evaluator_check(e, &e->path, "max_text_bytes");
    if (level->is_hashed) {
        e->names.length = level->hashed_name_at;
        nc_buf_append(&e->names, name);
        (void)nc_evaluator_check(e, &e->names, "max_text_bytes");
    }
}

void nc_evaluator_simple_member(nc_evaluator *e, nc_slice name) {
    nc_evaluator_level *level = nc_level_top(e);
    level->count++;
    level->next_node = NC_SCHEMA_NONE;
    e->steps++;
    store_name(e, level, name);
    if (level->looker != NC_SCHEMA_NONE) {
        nc_frame *frame = nc_frame_at(e, level->looker);
        const nc_schema_member *member = find_member(e, frame, name);
        if (member != NULL) {
            frame->seen |= member->tracked == NC_SCHEMA_NONE ? 0 : UINT64_C(1) << member->tracked;
            level->next_node = member->property;
        }
    }
}

void nc_evaluator_member(nc_evaluator *e, nc_slice name) {
    nc_evaluator_level *level = nc_level_top(e);
    level->count++;
    e->kind = NC_JSON_OBJECT;
    store_name(e, level, name);
    reserve_slot(e, level);
    e->steps += level->end - level->first;
    for (uint32_t i = level->first; i < level->end && nc_evaluator_goes_on(e); i++) {
        const nc_frame *frame = nc_frame_at(e, i);
        if (frame->state == NC_FRAME_LIVE && (frame->node->flags & NC_NODE_MEMBERS) != 0) {
            member_of_frame(e, i, level, name);
        }
    }
}

/* --- elements --- */

static void element_of_frame(nc_evaluator *e, uint32_t index, const nc_evaluator_level *level) {
    nc_frame *frame = nc_frame_at(e, index);
    const nc_schema_node *node = frame->node;
    uint64_t at = level->count - 1;
    if (level->count > node->max_items) {
        nc_frame_fail(e, index, nc_frame_reason(e, index, NC_KEYWORD_MAX_ITEMS, level->count));
        return;
    }
    uint32_t schema =
        at < node->prefix_items.count ? nc_schema_list_of(e->schema, node->prefix_items)[at] : node->items;
    if (schema != NC_SCHEMA_NONE) {
        pend(e, schema, index, NC_ROLE_REQUIRED);
        mark(e, level, index);
    } else if (node->unevaluated_items != NC_SCHEMA_NONE) {
        pend(e, node->unevaluated_items, index, NC_ROLE_UNEVALUATED);
    }
    if (node->contains != NC_SCHEMA_NONE) {
        pend(e, node->contains, index, NC_ROLE_CONTAINED);
    }
}

void nc_evaluator_element(nc_evaluator *e) {
    nc_evaluator_level *level = nc_level_top(e);
    level->count++;
    e->kind = NC_JSON_ARRAY;
    reserve_slot(e, level);
    e->steps += level->end - level->first;
    for (uint32_t i = level->first; i < level->end && nc_evaluator_goes_on(e); i++) {
        const nc_frame *frame = nc_frame_at(e, i);
        if (frame->state == NC_FRAME_LIVE && (frame->node->flags & NC_NODE_ELEMENTS) != 0) {
            element_of_frame(e, i, level);
        }
    }
}

/// Applies the results of `contains` to the frames of an array.
static void end_contained(nc_evaluator *e, const nc_evaluator_level *level) {
    for (uint32_t i = level->first; i < level->end; i++) {
        nc_frame *frame = nc_frame_at(e, i);
        if (frame->has_matched) {
            frame->has_matched = false;
            mark(e, level, i);
            if (frame->matches > frame->node->max_contains) {
                nc_frame_fail(e, i, nc_frame_reason(e, i, NC_KEYWORD_MAX_CONTAINS, frame->matches));
            }
        }
    }
}

/// Adds the hash of an element, and fails the frames that need different elements if it is not the first with its
/// value.
static void end_unique(nc_evaluator *e, const nc_evaluator_level *level, nc_hash128 hash) {
    switch (nc_names_add(e->unique, hash)) {
    case NC_NAMES_DUPLICATE:
        for (uint32_t i = level->first; i < level->end; i++) {
            if (nc_frame_at(e, i)->node->is_unique) {
                nc_frame_fail(e, i, nc_frame_reason(e, i, NC_KEYWORD_UNIQUE_ITEMS, level->count - 1));
            }
        }
        break;
    case NC_NAMES_FULL:
        (void)nc_evaluator_stop(e, NC_ERR_TOO_LARGE, "max_unique_items");
        break;
    case NC_NAMES_NO_MEMORY:
        (void)nc_evaluator_stop(e, NC_ERR_NO_MEMORY, "");
        break;
    default:
        break;
    }
}

void nc_evaluator_child_ended(nc_evaluator *e, const nc_hash128 *hash) {
    if (nc_level_count(e) == 0 || !nc_evaluator_goes_on(e)) {
        return;
    }
    nc_evaluator_level *level = nc_level_top(e);
    e->kind = level->is_object ? NC_JSON_OBJECT : NC_JSON_ARRAY;
    if (level->is_hashed) {
        nc_slice name = nc_slice_make(e->names.data + (e->names.data == NULL ? 0 : level->hashed_name_at),
                                      e->names.length - level->hashed_name_at);
        nc_value_hash_add(&level->hash, e->schema->key, name, *hash);
    }
    if (level->has_unique) {
        end_unique(e, level, *hash);
    }
    if (level->has_contains) {
        end_contained(e, level);
    }
    if (level->has_tracked) {
        end_tracked(e, level);
    }
}

/* --- containers --- */

/// Returns true if a node looks at members or elements only by `properties` or `items`.
static bool is_simple_node(const nc_schema_node *node, bool is_object) {
    if (is_object) {
        return node->pattern_properties.count == 0 && node->additional == NC_SCHEMA_NONE &&
               node->property_names == NC_SCHEMA_NONE && node->unevaluated_properties == NC_SCHEMA_NONE &&
               node->max_properties == UINT64_MAX && node->dependent_schemas.count == 0 && node->tracked_count <= 64;
    }
    return node->prefix_items.count == 0 && node->contains == NC_SCHEMA_NONE && !node->is_unique &&
           node->unevaluated_items == NC_SCHEMA_NONE && node->max_items == UINT64_MAX;
}

/// Sets whether a level is simple. Its other members are set.
static void set_simple(const nc_evaluator *e, nc_evaluator_level *level) {
    uint16_t flag = level->is_object ? NC_NODE_MEMBERS : NC_NODE_ELEMENTS;
    level->looker = NC_SCHEMA_NONE;
    level->next_node = NC_SCHEMA_NONE;
    level->is_simple = !level->is_hashed && !level->has_tracked && !level->has_unique && !level->has_contains;
    for (uint32_t i = level->first; i < level->end && level->is_simple; i++) {
        const nc_schema_node *node = nc_frame_at(e, i)->node;
        if ((node->flags & flag) != 0 && nc_frame_at(e, i)->state == NC_FRAME_LIVE) {
            level->is_simple = level->looker == NC_SCHEMA_NONE && is_simple_node(node, level->is_object);
            level->looker = i;
            level->next_node = level->is_object ? NC_SCHEMA_NONE : node->items;
        }
    }
}

static void begin_unique(nc_evaluator *e) {
    if (e->unique == NULL) {
        e->unique = nc_names_new(e->limits.max_unique_items);
    }
    if (e->unique == NULL || !nc_names_begin(e->unique)) {
        (void)nc_evaluator_stop(e, NC_ERR_NO_MEMORY, "");
    }
}

void nc_evaluator_open(nc_evaluator *e, uint32_t first, bool is_object) {
    nc_evaluator_level level = {.first = first,
                                .end = nc_frame_count(e),
                                .is_object = is_object,
                                .is_hashed = nc_evaluator_needs_hash(e, first),
                                .name_at = (uint32_t)e->path.length,
                                .hashed_name_at = e->names.length,
                                .words_from = (uint32_t)(e->words.length / sizeof(uint64_t))};
    for (uint32_t i = first; i < level.end; i++) {
        nc_frame *frame = nc_frame_at(e, i);
        bool is_live_array = !is_object && frame->state == NC_FRAME_LIVE;
        level.has_unique |= is_live_array && frame->node->is_unique;
        level.has_contains |= is_live_array && frame->node->contains != NC_SCHEMA_NONE;
        level.has_tracked |= frame->is_tracked;
        if (is_object && frame->node->tracked_count > 64) {
            frame->bits_at = (uint32_t)(e->words.length / sizeof(uint64_t));
            append_zeros(e, (frame->node->tracked_count + 63) / 64);
        }
    }
    level.words_at = (uint32_t)(e->words.length / sizeof(uint64_t));
    level.set_words = level.has_tracked ? 1 : 0;
    append_zeros(e, (size_t)(level.end - first) * 2 * level.set_words);
    if (level.is_hashed) {
        nc_value_hash_begin(&level.hash, e->schema->key, is_object);
    }
    if (level.has_unique) {
        begin_unique(e);
    }
    set_simple(e, &level);
    nc_buf_append(&e->levels, nc_slice_make(&level, sizeof level));
    (void)nc_evaluator_check(e, &e->levels, "max_depth");
}

void nc_evaluator_close(nc_evaluator *e) {
    nc_evaluator_level *level = nc_level_top(e); // stays in its place when it is removed
    nc_hash128 hash = {{0, 0}};
    e->kind = level->is_object ? NC_JSON_OBJECT : NC_JSON_ARRAY;
    if (level->is_hashed) {
        hash = nc_value_hash_end(&level->hash, e->schema->key);
        nc_evaluator_check_hash(e, level->first, hash);
    }
    nc_evaluator_complete(e, level->first, level);
    if (level->has_unique) {
        nc_names_end(e->unique);
    }
    e->levels.length -= sizeof *level;
    e->path.length = level->name_at;
    e->names.length = level->hashed_name_at;
    e->words.length = level->words_from * sizeof(uint64_t);
    nc_evaluator_child_ended(e, &hash);
}
