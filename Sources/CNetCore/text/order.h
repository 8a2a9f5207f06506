/// The values of one container in the order that everything canonical shares.
///
///     nc_ordered children;
///     if (nc_ordered_init(&children, &object, true) == NC_OK)
///         while (nc_ordered_next(&children, &item)) ...
///     nc_ordered_deinit(&children);
#ifndef NETCORE_PRIVATE_ORDER_H
#define NETCORE_PRIVATE_ORDER_H

#include <netcore/params.h>

/// Containers up to this size are sorted without an allocation.
enum { NC_ORDERED_INLINE = 16 };

/// A value that has its place in the order.
typedef struct nc_ordered_place {
    /// The value and all that lies behind it.
    nc_slice nodes;
    /// Its name in an object; its key in a set that holds containers.
    nc_slice name;
} nc_ordered_place;

/// Where an iteration is; give it up with nc_ordered_deinit().
typedef struct nc_ordered {
    /// What is still to come when nothing had to be sorted.
    nc_params_cursor cursor;
    /// The sorted values' places, or NULL.
    nc_ordered_place *places;
    /// What the values of a set that holds containers are ordered by; empty otherwise.
    nc_buf keys;
    size_t count;
    size_t at;
    nc_ordered_place few[NC_ORDERED_INLINE];
} nc_ordered;

/// Compares UTF-8 texts by their UTF-16 code units, as strcmp would; any bytes have a place in the order.
int nc_order_compare(nc_slice a, nc_slice b);

/// Begins at the first value of a container: of an object by name, of a set by text or by what they hold, equal ones as
/// they were added; as they were added throughout for an array, and when not `is_sorted`. Returns NC_OK or
/// NC_ERR_NO_MEMORY, after which there is nothing to deinit.
NC_NODISCARD nc_status nc_ordered_init(nc_ordered *ordered, const nc_params_item *container, bool is_sorted);

/// Reads the next value; false when there is none left.
bool nc_ordered_next(nc_ordered *ordered, nc_params_item *item);

/// Frees what the iteration holds.
void nc_ordered_deinit(nc_ordered *ordered);

#endif
