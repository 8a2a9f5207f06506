#include "json/shape.h"

#include "base/alloc.h"

#include <string.h>

const nc_shape_node nc_shape_any = {.types = NC_TYPE_ANY, .accepted = UINT16_MAX, .item = NC_NO_INDEX};
const nc_shape_member nc_shape_no_member = {.length = NC_NO_INDEX};
const nc_shape_member nc_shape_unlisted_member = {
    .length = NC_NO_INDEX, .target = &nc_shape_any, .accepted = UINT16_MAX};

static uint16_t bit(nc_json_kind kind) {
    return (uint16_t)(1u << kind);
}

/// Derives `accepted` (kinds that are valid without further checks), `text_kinds` (kinds whose text must be read) and
/// `entered_kinds`.
static void derive_kinds(nc_shape_node *node) {
    const uint16_t types = node->types;
    bool has_enum = (node->constraints & NC_HAS_ENUM) != 0;
    if ((types & NC_TYPE_STRING) != 0) {
        bool is_read = has_enum || (node->constraints & (NC_HAS_MIN_LENGTH | NC_HAS_MAX_LENGTH)) != 0;
        *(is_read ? &node->text_kinds : &node->accepted) |= bit(NC_JSON_STRING);
    }
    if ((types & NC_TYPE_NUMBER) != 0) {
        bool is_bounded = has_enum || (node->constraints & (NC_HAS_MIN | NC_HAS_MAX)) != 0;
        bool is_read = is_bounded || (types & NC_TYPE_NUMBER) != NC_TYPE_NUMBER;
        *(is_read ? &node->text_kinds : &node->accepted) |= bit(NC_JSON_NUMBER);
        node->accepted |= !is_bounded && (types & NC_TYPE_INTEGER) != 0 ? 1u << NC_KIND_DIGITS : 0;
    }
    if ((types & NC_TYPE_BOOLEAN) != 0 && !has_enum) {
        node->accepted |= bit(NC_JSON_TRUE) | bit(NC_JSON_FALSE);
    }
    if ((types & NC_TYPE_NULL) != 0) {
        node->accepted |= bit(NC_JSON_NULL);
    }
    if ((types & NC_TYPE_OBJECT) != 0 && node->required_count == 0) {
        node->accepted |= bit(NC_JSON_OBJECT);
    }
    if ((types & NC_TYPE_ARRAY) != 0 && ((node->constraints & NC_HAS_MIN_ITEMS) == 0 || node->min_items == 0)) {
        node->accepted |= bit(NC_JSON_ARRAY);
    }
    if ((types & NC_TYPE_OBJECT) != 0 && (node->constraints & NC_HAS_MEMBERS) != 0) {
        node->entered_kinds |= bit(NC_JSON_OBJECT);
    }
    if ((types & NC_TYPE_ARRAY) != 0 &&
        (node->constraints & (NC_HAS_ITEM | NC_HAS_MIN_ITEMS | NC_HAS_MAX_ITEMS)) != 0) {
        node->entered_kinds |= bit(NC_JSON_ARRAY);
    }
}

/// Marks nc_shape_name_key() of each listed name. A name with an unmarked key is certainly not listed and needs no
/// search.
static void derive_name_keys(const nc_shape *shape, nc_shape_node *node) {
    bool is_closed = (node->constraints & NC_HAS_CLOSED) != 0;
    memset(node->name_keys, is_closed ? 1 : 0, sizeof node->name_keys);
    for (uint32_t i = 0; i < node->member_count; i++) {
        nc_slice name = nc_shape_slice(shape, node->members[i].name);
        // The scanner computes the key from the bytes in the text. For an empty name they are the quotes around it.
        bool is_empty = name.length == 0;
        unsigned key =
            nc_shape_name_key(is_empty ? '"' : name.data[0], is_empty ? '"' : name.data[name.length - 1], name.length);
        node->name_keys[key] = 1;
    }
}

/// Derives for each member whether it and all members after it are optional, and how many required members precede it.
/// The list ends with a member that matches no name.
static void derive_order(nc_shape *shape, const nc_shape_node *node) {
    bool is_optional = true;
    uint32_t required = node->required_count;
    for (uint32_t i = node->member_count + 1; i-- > 0;) {
        nc_shape_member *member = nc_shape_member_at(shape, node->member_at + i);
        bool is_last = i == node->member_count;
        is_optional = is_optional && (is_last || member->is_optional);
        required -= is_last || member->is_optional ? 0 : 1;
        member->is_rest_optional = is_optional;
        member->required_before = required;
    }
}

// Pointers between nodes are set last, because the buffers move while they grow.
void nc_shape_finalize(nc_shape *shape) {
    shape->seen_words = 0;
    size_t nodes = shape->nodes.length / sizeof(nc_shape_node);
    size_t members = shape->members.length / sizeof(nc_shape_member);
    for (uint32_t i = 0; i < nodes; i++) {
        nc_shape_node *node = nc_shape_node_at(shape, i);
        node->element = node->item == NC_NO_INDEX ? &nc_shape_any : nc_shape_node_at(shape, node->item);
        node->members = node->bucket_at == NC_NO_INDEX ? NULL : nc_shape_member_at(shape, node->member_at);
        node->buckets = node->bucket_at == NC_NO_INDEX ? NULL : nc_shape_bucket_at(shape, node->bucket_at);
        shape->seen_words += (node->member_count + 63) / 64;
        derive_kinds(node);
        derive_name_keys(shape, node);
        if (node->members != NULL) {
            derive_order(shape, node);
        }
        if ((node->constraints & NC_HAS_MAX_ITEMS) == 0) {
            node->max_items = UINT64_MAX;
        }
    }
    for (uint32_t i = 0; i < nodes; i++) {
        nc_shape_node *node = nc_shape_node_at(shape, i);
        node->accepted_elements = node->max_items == UINT64_MAX ? node->element->accepted : 0;
    }
    for (uint32_t i = 0; i < members; i++) {
        nc_shape_member *member = nc_shape_member_at(shape, i);
        if (member->node == NC_NO_INDEX) {
            continue;
        }
        member->target = nc_shape_node_at(shape, member->node);
        member->accepted = member->target->accepted;
        member->bytes = shape->text.data + member->name.at;
    }
}

nc_shape *nc_shape_retain(nc_shape *shape) {
    atomic_fetch_add_explicit(&shape->references, 1, memory_order_relaxed);
    return shape;
}

void nc_shape_release(nc_shape *shape) {
    if (shape == NULL || atomic_fetch_sub_explicit(&shape->references, 1, memory_order_acq_rel) != 1) {
        return;
    }
    nc_buf_deinit(&shape->nodes);
    nc_buf_deinit(&shape->members);
    nc_buf_deinit(&shape->values);
    nc_buf_deinit(&shape->buckets);
    nc_buf_deinit(&shape->text);
    nc_free(shape);
}
