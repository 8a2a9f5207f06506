#include "base/alloc.h"
#include "json/shape_node.h"

#include <string.h>

const nc_shape_node nc_shape_anything = {.types = NC_TYPE_ANY, .free = UINT16_MAX, .item = NC_NO_INDEX};
const nc_shape_member nc_shape_nobody = {.length = NC_NO_INDEX};
const nc_shape_member nc_shape_stranger = {.length = NC_NO_INDEX, .target = &nc_shape_anything, .free = UINT16_MAX};

static uint16_t bit(nc_json_kind kind) {
    return (uint16_t)(1u << kind);
}

/// Derives which scalars are valid without further checks, and which must be read.
static void settle_kinds(nc_shape_node *node) {
    const uint16_t types = node->types;
    bool has_enum = (node->asks & NC_ASKS_ENUM) != 0;
    if ((types & NC_TYPE_STRING) != 0) {
        bool is_read = has_enum || (node->asks & (NC_ASKS_MIN_LENGTH | NC_ASKS_MAX_LENGTH)) != 0;
        *(is_read ? &node->texts : &node->free) |= bit(NC_JSON_STRING);
    }
    if ((types & NC_TYPE_NUMBER) != 0) {
        bool is_bounded = has_enum || (node->asks & (NC_ASKS_MIN | NC_ASKS_MAX)) != 0;
        bool is_read = is_bounded || (types & NC_TYPE_NUMBER) != NC_TYPE_NUMBER;
        *(is_read ? &node->texts : &node->free) |= bit(NC_JSON_NUMBER);
        node->free |= !is_bounded && (types & NC_TYPE_INTEGER) != 0 ? 1u << NC_KIND_DIGITS : 0;
    }
    if ((types & NC_TYPE_BOOLEAN) != 0 && !has_enum) {
        node->free |= bit(NC_JSON_TRUE) | bit(NC_JSON_FALSE);
    }
    if ((types & NC_TYPE_NULL) != 0) {
        node->free |= bit(NC_JSON_NULL);
    }
    if ((types & NC_TYPE_OBJECT) != 0 && node->required_count == 0) {
        node->free |= bit(NC_JSON_OBJECT);
    }
    if ((types & NC_TYPE_ARRAY) != 0 && ((node->asks & NC_ASKS_MIN_ITEMS) == 0 || node->min_items == 0)) {
        node->free |= bit(NC_JSON_ARRAY);
    }
    if ((types & NC_TYPE_OBJECT) != 0 && (node->asks & NC_ASKS_MEMBERS) != 0) {
        node->enters |= bit(NC_JSON_OBJECT);
    }
    if ((types & NC_TYPE_ARRAY) != 0 && (node->asks & (NC_ASKS_ITEM | NC_ASKS_MIN_ITEMS | NC_ASKS_MAX_ITEMS)) != 0) {
        node->enters |= bit(NC_JSON_ARRAY);
    }
}

static void settle_names(const nc_shape *shape, nc_shape_node *node) {
    bool is_closed = (node->asks & NC_ASKS_CLOSED) != 0;
    memset(node->name_signs, is_closed ? 1 : 0, sizeof node->name_signs);
    for (uint32_t i = 0; i < node->member_count; i++) {
        nc_slice name = nc_shape_slice(shape, node->members[i].name);
        // The closing quote follows an empty name.
        bool is_empty = name.length == 0;
        unsigned sign =
            nc_shape_sign(is_empty ? '"' : name.data[0], is_empty ? '"' : name.data[name.length - 1], name.length);
        node->name_signs[sign] = 1;
    }
}

/// Derives the members that are still required after each one. A member that matches no name follows the last.
static void settle_order(nc_shape *shape, const nc_shape_node *node) {
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

void nc_shape_settle(nc_shape *shape) {
    shape->seen_words = 0;
    size_t nodes = shape->nodes.length / sizeof(nc_shape_node);
    size_t members = shape->members.length / sizeof(nc_shape_member);
    for (uint32_t i = 0; i < nodes; i++) {
        nc_shape_node *node = nc_shape_node_at(shape, i);
        node->element = node->item == NC_NO_INDEX ? &nc_shape_anything : nc_shape_node_at(shape, node->item);
        node->members = node->chain_at == NC_NO_INDEX ? NULL : nc_shape_member_at(shape, node->member_at);
        node->chains = node->chain_at == NC_NO_INDEX ? NULL : nc_shape_chain_at(shape, node->chain_at);
        shape->seen_words += (node->member_count + 63) / 64;
        settle_kinds(node);
        settle_names(shape, node);
        if (node->members != NULL) {
            settle_order(shape, node);
        }
        if ((node->asks & NC_ASKS_MAX_ITEMS) == 0) {
            node->max_items = UINT64_MAX;
        }
    }
    for (uint32_t i = 0; i < nodes; i++) {
        nc_shape_node *node = nc_shape_node_at(shape, i);
        node->element_free = node->max_items == UINT64_MAX ? node->element->free : 0;
    }
    for (uint32_t i = 0; i < members; i++) {
        nc_shape_member *member = nc_shape_member_at(shape, i);
        if (member->node == NC_NO_INDEX) {
            continue;
        }
        member->target = nc_shape_node_at(shape, member->node);
        member->free = member->target->free;
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
    nc_buf_deinit(&shape->chains);
    nc_buf_deinit(&shape->text);
    nc_free(shape);
}
