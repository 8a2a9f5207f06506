/// Iterates over the values of a container, optionally sorted.
///
///     nc_ordered children;
///     if (nc_ordered_init(&children, &object, true) == NC_OK)
///         while (nc_ordered_next(&children, &item)) ...
///     nc_ordered_deinit(&children);
#ifndef NETCORE_PRIVATE_ORDER_H
#define NETCORE_PRIVATE_ORDER_H

#include <netcore/params.h>

/// Containers with up to this number of values are sorted without allocation.
enum { NC_ORDERED_INLINE = 16 };

/// A value in the tree and its sort key.
typedef struct nc_ordered_position {
    /// The remaining nodes of the container, beginning with this value.
    nc_slice nodes;
    /// The value's name in an object, or its sort key in a set that contains containers.
    nc_slice name;
} nc_ordered_position;

/// An iteration. Free it with nc_ordered_deinit().
typedef struct nc_ordered {
    /// The remaining values, if `positions` is NULL.
    nc_params_cursor cursor;
    /// The sorted values; NULL if no sorting was necessary.
    nc_ordered_position *positions;
    /// The sort keys of a set that contains containers; otherwise empty.
    nc_buf keys;
    size_t count;
    size_t at;
    nc_ordered_position few[NC_ORDERED_INLINE];
} nc_ordered;

/// Compares two UTF-8 texts by their UTF-16 code units. The result has the sign of strcmp(). Invalid UTF-8 has an order
/// too.
int nc_order_compare(nc_slice a, nc_slice b);

/// Starts an iteration. If `is_sorted` is set, an object is sorted by name, and a set by text or contents; equal values
/// keep their order. Arrays are never sorted. Returns NC_OK or NC_ERR_NO_MEMORY; after an error nothing has to be
/// freed.
NC_NODISCARD nc_status nc_ordered_init(nc_ordered *ordered, const nc_params_item *container, bool is_sorted);

/// Reads the next value. Returns false at the end.
bool nc_ordered_next(nc_ordered *ordered, nc_params_item *item);

/// Frees the iteration.
void nc_ordered_deinit(nc_ordered *ordered);

#endif
