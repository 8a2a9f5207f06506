#include "text/order.h"
#include "base/alloc.h"

#include <string.h>

/// Returns the rank of a UTF-8 byte in UTF-16 order. Byte order of UTF-8 is code point order. In UTF-16, characters
/// above U+FFFF are surrogates (from D800) and precede U+E000 to U+FFFF. In UTF-8 the former start with F0 and above,
/// the latter with EE or EF.
static int rank_of(uint8_t byte) {
    return byte < 0xEE ? byte : byte < 0xF0 ? byte + 0x10 : byte - 2;
}

int nc_order_compare(nc_slice a, nc_slice b) {
    size_t shared = a.length < b.length ? a.length : b.length;
    size_t at = 0;
    while (at < shared && a.data[at] == b.data[at]) {
        at++;
    }
    if (at < shared) {
        return rank_of(a.data[at]) - rank_of(b.data[at]);
    }
    return a.length < b.length ? -1 : a.length > b.length ? 1 : 0;
}

static bool read_at(nc_slice position, nc_params_item *item) {
    nc_params_cursor cursor = {position};
    return nc_params_next(&cursor, item);
}

static bool is_container(const nc_params_item *item) {
    return item->kind >= NC_PARAMS_OBJECT;
}

/// Compares two simple values of a set: by text, then by type.
static int compare_values(const nc_params_item *a, const nc_params_item *b) {
    nc_params_digits left;
    nc_params_digits right;
    int order = nc_order_compare(nc_params_text(a, &left), nc_params_text(b, &right));
    return order != 0 ? order : (int)a->kind - (int)b->kind;
}

/// Returns true if `a` sorts before `b`. Equal values keep their order in the tree, which is the order of their
/// addresses.
static bool is_before(const nc_ordered_position *a, const nc_ordered_position *b, bool by_name) {
    int order;
    if (by_name) {
        order = nc_order_compare(a->name, b->name);
    } else {
        nc_params_item left;
        nc_params_item right;
        (void)(read_at(a->nodes, &left) && read_at(b->nodes, &right));
        order = compare_values(&left, &right);
    }
    return order != 0 ? order < 0 : a->nodes.data < b->nodes.data;
}

static void insert_each(nc_ordered_position *positions, size_t count, bool by_name) {
    for (size_t i = 1; i < count; i++) {
        nc_ordered_position moved = positions[i];
        size_t at = i;
        for (; at > 0 && is_before(&moved, &positions[at - 1], by_name); at--) {
            positions[at] = positions[at - 1];
        }
        positions[at] = moved;
    }
}

static void sink(nc_ordered_position *positions, size_t root, size_t count, bool by_name) {
    for (;;) {
        size_t child = 2 * root + 1;
        if (child >= count) {
            return;
        }
        if (child + 1 < count && is_before(&positions[child], &positions[child + 1], by_name)) {
            child++;
        }
        if (!is_before(&positions[root], &positions[child], by_name)) {
            return;
        }
        nc_ordered_position moved = positions[root];
        positions[root] = positions[child];
        positions[child] = moved;
        root = child;
    }
}

/// Sorts without allocation: few values by insertion sort, many by heap sort, which has no slow inputs. is_before()
/// never treats two values as equal, so the sort is stable.
static void sort(nc_ordered_position *positions, size_t count, bool by_name) {
    if (count <= NC_ORDERED_INLINE) {
        insert_each(positions, count, by_name);
        return;
    }
    for (size_t root = count / 2; root-- > 0;) {
        sink(positions, root, count, by_name);
    }
    for (size_t end = count; end-- > 1;) {
        nc_ordered_position largest = positions[0];
        positions[0] = positions[end];
        positions[end] = largest;
        sink(positions, 0, end, by_name);
    }
}

/// Stores the position and name of the next value. Returns false at the end.
static bool next_position(nc_params_cursor *cursor, nc_ordered_position *position) {
    nc_params_item item;
    nc_slice nodes = cursor->rest;
    if (!nc_params_next(cursor, &item)) {
        return false;
    }
    *position = (nc_ordered_position){nodes, item.name};
    return true;
}

/// Counts the values, and sets `*is_needed` if they must be sorted.
static size_t count_values(const nc_params_item *container, bool by_name, bool *is_needed) {
    nc_params_cursor cursor = nc_params_children(container);
    nc_ordered_position last = {0}; // initialized because gcc does not see that the first comparison is skipped
    nc_ordered_position position;
    size_t count = 0;
    *is_needed = false;
    for (; next_position(&cursor, &position); count++) {
        *is_needed = *is_needed || (count > 0 && !is_before(&last, &position, by_name));
        last = position;
    }
    return count;
}

static bool holds_containers(const nc_params_item *container) {
    nc_params_cursor cursor = nc_params_children(container);
    nc_params_item item;
    bool has_one = false;
    while (!has_one && nc_params_next(&cursor, &item)) {
        has_one = is_container(&item);
    }
    return has_one;
}

static nc_status append_container_key(nc_buf *out, const nc_params_item *container);

/// Appends the sort key of a value in a set. The key does not depend on insertion order. Containers sort after simple
/// values, by their contents. A container whose contents are the beginning of another's sorts before it.
static nc_status append_key(nc_buf *out, const nc_params_item *item) {
    nc_params_digits digits;
    nc_status status = NC_OK;
    nc_buf_append_byte(out, is_container(item) ? 1 : 0);
    if (is_container(item)) {
        status = append_container_key(out, item);
    } else {
        nc_buf_append(out, nc_params_text(item, &digits));
    }
    nc_buf_append_byte(out, 0);
    nc_buf_append_byte(out, (uint8_t)item->kind);
    return status == NC_OK ? nc_buf_status(out) : status;
}

/// The recursion is at most as deep as the tree.
static nc_status append_container_key(nc_buf *out, const nc_params_item *container) {
    nc_ordered children;
    nc_params_item child;
    nc_status status = nc_ordered_init(&children, container, true);
    if (status != NC_OK) {
        return status;
    }
    while (status == NC_OK && nc_ordered_next(&children, &child)) {
        nc_buf_append_byte(out, 1);
        nc_buf_append(out, child.name);
        nc_buf_append_byte(out, 0);
        // For a nested set, nc_ordered_init() has already computed the keys of its values. Computing them again would
        // double the work at each level.
        if (children.keys.length > 0) {
            nc_buf_append(out, children.positions[children.at - 1].name);
        } else {
            status = append_key(out, &child);
        }
    }
    nc_ordered_deinit(&children);
    return status;
}

/// Computes the keys of a set's values and stores them as the names of the positions.
static nc_status name_by_keys(nc_ordered *ordered) {
    nc_params_item item;
    for (size_t i = 0; i < ordered->count; i++) {
        size_t start = ordered->keys.length;
        (void)read_at(ordered->positions[i].nodes, &item);
        nc_status status = append_key(&ordered->keys, &item);
        if (status != NC_OK) {
            return status;
        }
        ordered->positions[i].name.length = ordered->keys.length - start;
    }
    const uint8_t *at = ordered->keys.data; // the buffer is complete and no longer moves
    for (size_t i = 0; i < ordered->count; i++) {
        ordered->positions[i].name.data = at;
        at += ordered->positions[i].name.length;
    }
    return NC_OK;
}

/// Allocates the positions and fills them in insertion order.
static nc_status find_positions(nc_ordered *ordered, size_t count) {
    size_t bytes = 0;
    ordered->positions = ordered->few;
    if (count > NC_ORDERED_INLINE) {
        ordered->positions = nc_size_mul(&bytes, count, sizeof *ordered->positions) ? nc_alloc(bytes) : NULL;
        if (ordered->positions == NULL) {
            return NC_ERR_NO_MEMORY;
        }
    }
    while (next_position(&ordered->cursor, &ordered->positions[ordered->count])) {
        // Stop before next_position() is called for a position beyond the end of the array.
        if (++ordered->count == count) {
            break;
        }
    }
    return NC_OK;
}

nc_status nc_ordered_init(nc_ordered *ordered, const nc_params_item *container, bool is_sorted) {
    ordered->cursor = nc_params_children(container);
    ordered->positions = NULL;
    ordered->keys = nc_buf_init(SIZE_MAX);
    ordered->count = 0;
    ordered->at = 0;
    bool by_name = container->kind == NC_PARAMS_OBJECT;
    bool by_key = container->kind == NC_PARAMS_SET && holds_containers(container);
    bool is_needed = false;
    if (!is_sorted || container->kind == NC_PARAMS_ARRAY) {
        return NC_OK;
    }
    size_t count = count_values(container, by_name || by_key, &is_needed);
    if (!is_needed && !by_key) {
        return NC_OK;
    }
    nc_status status = find_positions(ordered, count);
    if (status == NC_OK && by_key) {
        status = name_by_keys(ordered);
    }
    if (status != NC_OK) {
        nc_ordered_deinit(ordered);
        return status;
    }
    sort(ordered->positions, count, by_name || by_key);
    return NC_OK;
}

bool nc_ordered_next(nc_ordered *ordered, nc_params_item *item) {
    if (ordered->positions == NULL) {
        return nc_params_next(&ordered->cursor, item);
    }
    return ordered->at < ordered->count && read_at(ordered->positions[ordered->at++].nodes, item);
}

void nc_ordered_deinit(nc_ordered *ordered) {
    if (ordered->positions != ordered->few) {
        nc_free(ordered->positions);
    }
    nc_buf_deinit(&ordered->keys);
}
