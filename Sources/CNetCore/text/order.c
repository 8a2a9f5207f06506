#include "text/order.h"
#include "base/alloc.h"

#include <string.h>

/// A byte's place among the bytes that differ first. UTF-8 sorts by code points; UTF-16 puts what lies above U+FFFF,
/// being surrogates (D800 up), before U+E000 up. These begin with EE and EF, those with F0 up.
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

static bool read_at(nc_slice place, nc_params_item *item) {
    nc_params_cursor cursor = {place};
    return nc_params_next(&cursor, item);
}

static bool is_container(const nc_params_item *item) {
    return item->kind >= NC_PARAMS_OBJECT;
}

/// Compares two values of a set: by text, and what has the same text by kind; containers after all others, by what they
/// hold, so that the order does not depend on that of adding.
static int compare_values(const nc_params_item *a, const nc_params_item *b) {
    if (is_container(a) != is_container(b)) {
        return is_container(a) ? 1 : -1;
    }
    if (!is_container(a)) {
        nc_params_digits left;
        nc_params_digits right;
        int order = nc_order_compare(nc_params_text(a, &left), nc_params_text(b, &right));
        return order != 0 ? order : (int)a->kind - (int)b->kind;
    }
    nc_params_cursor left = nc_params_children(a);
    nc_params_cursor right = nc_params_children(b);
    nc_params_item left_item;
    nc_params_item right_item;
    for (;;) {
        bool has_left = nc_params_next(&left, &left_item);
        bool has_right = nc_params_next(&right, &right_item);
        if (!has_left || !has_right) {
            return has_left ? 1 : has_right ? -1 : (int)a->kind - (int)b->kind;
        }
        int order = nc_order_compare(left_item.name, right_item.name);
        order = order != 0 ? order : compare_values(&left_item, &right_item);
        if (order != 0) {
            return order;
        }
    }
}

/// Whether `a` comes before `b`; equal ones come as they lie in memory.
static bool is_before(const nc_ordered_place *a, const nc_ordered_place *b, bool by_name) {
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

static void insert_each(nc_ordered_place *places, size_t count, bool by_name) {
    for (size_t i = 1; i < count; i++) {
        nc_ordered_place moved = places[i];
        size_t at = i;
        for (; at > 0 && is_before(&moved, &places[at - 1], by_name); at--) {
            places[at] = places[at - 1];
        }
        places[at] = moved;
    }
}

static void sink(nc_ordered_place *places, size_t root, size_t count, bool by_name) {
    for (;;) {
        size_t child = 2 * root + 1;
        if (child >= count) {
            return;
        }
        if (child + 1 < count && is_before(&places[child], &places[child + 1], by_name)) {
            child++;
        }
        if (!is_before(&places[root], &places[child], by_name)) {
            return;
        }
        nc_ordered_place moved = places[root];
        places[root] = places[child];
        places[child] = moved;
        root = child;
    }
}

/// No memory of its own, and no input that makes it slow: few are inserted one by one, many go through a heap. No two
/// places are equal, so it is a stable sort.
static void sort(nc_ordered_place *places, size_t count, bool by_name) {
    if (count <= NC_ORDERED_INLINE) {
        insert_each(places, count, by_name);
        return;
    }
    for (size_t root = count / 2; root-- > 0;) {
        sink(places, root, count, by_name);
    }
    for (size_t end = count; end-- > 1;) {
        nc_ordered_place largest = places[0];
        places[0] = places[end];
        places[end] = largest;
        sink(places, 0, end, by_name);
    }
}

/// Reads where the next value is, and its name; false when there is none left.
static bool next_place(nc_params_cursor *cursor, nc_ordered_place *place) {
    nc_params_item item;
    nc_slice nodes = cursor->rest;
    if (!nc_params_next(cursor, &item)) {
        return false;
    }
    *place = (nc_ordered_place){nodes, item.name};
    return true;
}

/// Counts the values; `*is_needed` tells whether they are out of order.
static size_t count_values(const nc_params_item *container, bool by_name, bool *is_needed) {
    nc_params_cursor cursor = nc_params_children(container);
    nc_ordered_place last = {0}; // gcc does not see that the first comparison is left out
    nc_ordered_place place;
    size_t count = 0;
    *is_needed = false;
    for (; next_place(&cursor, &place); count++) {
        *is_needed = *is_needed || (count > 0 && !is_before(&last, &place, by_name));
        last = place;
    }
    return count;
}

nc_status nc_ordered_init(nc_ordered *ordered, const nc_params_item *container, bool is_sorted) {
    ordered->cursor = nc_params_children(container);
    ordered->places = NULL;
    ordered->count = 0;
    ordered->at = 0;
    bool by_name = container->kind == NC_PARAMS_OBJECT;
    bool is_needed = false;
    if (!is_sorted || container->kind == NC_PARAMS_ARRAY) {
        return NC_OK;
    }
    size_t count = count_values(container, by_name, &is_needed);
    if (!is_needed) {
        return NC_OK;
    }
    ordered->places = ordered->few;
    if (count > NC_ORDERED_INLINE) {
        size_t bytes = 0;
        ordered->places = nc_size_mul(&bytes, count, sizeof *ordered->places) ? nc_alloc(bytes) : NULL;
        if (ordered->places == NULL) {
            return NC_ERR_NO_MEMORY;
        }
    }
    while (next_place(&ordered->cursor, &ordered->places[ordered->count])) {
        // The last one's place is filled: what comes next is none.
        if (++ordered->count == count) {
            break;
        }
    }
    sort(ordered->places, count, by_name);
    return NC_OK;
}

bool nc_ordered_next(nc_ordered *ordered, nc_params_item *item) {
    if (ordered->places == NULL) {
        return nc_params_next(&ordered->cursor, item);
    }
    return ordered->at < ordered->count && read_at(ordered->places[ordered->at++].nodes, item);
}

void nc_ordered_deinit(nc_ordered *ordered) {
    if (ordered->places != ordered->few) {
        nc_free(ordered->places);
    }
}
