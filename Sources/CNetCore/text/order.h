/// Iterates over the values of a container in canonical order.
///
///     nc_ordered children;
///     if (nc_ordered_init(&children, &object, true) == NC_OK)
///         while (nc_ordered_next(&children, &item)) ...
///     nc_ordered_deinit(&children);
#ifndef NETCORE_PRIVATE_ORDER_H
#define NETCORE_PRIVATE_ORDER_H

#include <netcore/params.h>

/// Containers up to this size are sorted without allocation.
enum { NC_ORDERED_INLINE = 16 };

/// A value and its sort key.
typedef struct nc_ordered_place {
    /// The value and all nodes after it.
    nc_slice nodes;
    /// Its name in an object, or its key in a set that contains containers.
    nc_slice name;
} nc_ordered_place;

/// An iteration. Free it with nc_ordered_deinit().
typedef struct nc_ordered {
    /// The rest, if nothing had to be sorted.
    nc_params_cursor cursor;
    /// The sorted values, or NULL.
    nc_ordered_place *places;
    /// The sort keys of a set that contains containers; otherwise empty.
    nc_buf keys;
    size_t count;
    size_t at;
    nc_ordered_place few[NC_ORDERED_INLINE];
} nc_ordered;

/// Compares UTF-8 texts by UTF-16 code units, like strcmp(). Invalid bytes have an order too.
int nc_order_compare(nc_slice a, nc_slice b);

/// Starts an iteration. An object is sorted by name, a set by text or contents; equal values keep their order. An
/// array, or any container without `is_sorted`, keeps its order. Returns NC_OK or NC_ERR_NO_MEMORY; after the latter
/// nothing has to be freed.
NC_NODISCARD nc_status nc_ordered_init(nc_ordered *ordered, const nc_params_item *container, bool is_sorted);

/// Reads the next value. Returns false at the end.
bool nc_ordered_next(nc_ordered *ordered, nc_params_item *item);

/// Frees the iteration.
void nc_ordered_deinit(nc_ordered *ordered);

#endif
