/// Flattens a tree of parameters to a sequence of names and values, for a query, a form and a multipart body.
///
/// Names are complete (`phone[home]`, `families[]`) but not escaped; values are unchanged. Each value of an array has
/// the name `name[]`, each value of a set the bare name. Empty containers are omitted. Names and strings must be UTF-8,
/// and numbers valid; otherwise nc_params_flatten() fails.
///
///     nc_status show(void *ctx, nc_slice name, const nc_params_item *value, nc_error *err);
///     nc_params_flatten(&params, NULL, show, ctx, &err);
#ifndef NETCORE_FLATTEN_H
#define NETCORE_FLATTEN_H

#include <netcore/base.h>
#include <netcore/bytes.h>
#include <netcore/params.h>
#include <netcore/status.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// The names of an array's values.
typedef NC_ENUM(nc_array_style){
    /// `a[]` for each.
    NC_ARRAYS_BRACKETS = 0,
    /// `a[0]`, `a[1]`, in order.
    NC_ARRAYS_INDEXED = 1,
    /// `a` for each.
    NC_ARRAYS_REPEAT = 2,
    /// `a` once: the whole array is one value, and the encoder joins its values by commas. An array that contains
    /// containers cannot be joined.
    NC_ARRAYS_COMMA = 3,
} nc_array_style;

/// The names of a nested object's values.
typedef NC_ENUM(nc_nested_style){
    /// `a[b]`.
    NC_NESTED_BRACKETS = 0,
    /// `a.b`.
    NC_NESTED_DOTS = 1,
} nc_nested_style;

/// The order of an object's values. Arrays always keep their order. Sets are always sorted by the text of their values.
typedef NC_ENUM(nc_order){
    /// Sorted by name, in the order of UTF-16 code units. Equal names keep their order.
    NC_ORDER_SORTED = 0,
    /// Insertion order.
    NC_ORDER_AS_GIVEN = 1,
} nc_order;

/// Options of the names. All zero is the default.
typedef struct nc_flatten_options {
    /// Names in arrays.
    nc_array_style arrays;
    /// Names in objects.
    nc_nested_style nested;
    /// Order of the values.
    nc_order order;
} nc_flatten_options;

/// Receives one name and value. The name is borrowed for the call, the value from the tree.
///
/// - value: not a container. Exception: with NC_ARRAYS_COMMA an array of at least one value and without containers.
/// Returns NC_OK, or an error with `err` filled in, which ends the iteration.
typedef nc_status (*nc_flatten_fn)(void *NC_NULLABLE ctx, nc_slice name, const nc_params_item *value,
                                   nc_error *NC_NULLABLE err);

/// Calls `visit` for each value of the tree that is not a container, with its complete name.
///
/// - options: NULL means the default: brackets, sorted.
/// Returns NC_OK; NC_ERR_BAD_PARAMETER with the key (a name or string that is not UTF-8, an invalid number or one that
/// is not finite, an array that cannot be joined, a root that is not an object); NC_ERR_USAGE, NC_ERR_NO_MEMORY; the
/// tree's sticky error; or the error of `visit`.
/// Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_params_flatten(const nc_params *params, const nc_flatten_options *NC_NULLABLE options,
                                                nc_flatten_fn visit, void *NC_NULLABLE ctx, nc_error *NC_NULLABLE err);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
