/// A tree of parameters as a row of names and values: what a query, a form and the fields of a multipart body share.
///
/// Names are spelled out (`phone[home]`, `families[]`) but not escaped; values are handed on as they are. A value
/// inside an array repeats `name[]`, one inside a set repeats the bare name, and empty containers vanish. Every name
/// and string that is handed on is UTF-8, every number a number.
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

/// How the values of an array are named.
typedef NC_ENUM(nc_array_style){
    /// `a[]` for each.
    NC_ARRAYS_BRACKETS = 0,
    /// `a[0]`, `a[1]`, in order.
    NC_ARRAYS_INDEXED = 1,
    /// `a` for each.
    NC_ARRAYS_REPEAT = 2,
    /// `a` once, its values joined by commas by who writes them. An array that holds containers cannot be joined.
    NC_ARRAYS_COMMA = 3,
} nc_array_style;

/// How the values of an object inside another one are named.
typedef NC_ENUM(nc_nested_style){
    /// `a[b]`.
    NC_NESTED_BRACKETS = 0,
    /// `a.b`.
    NC_NESTED_DOTS = 1,
} nc_nested_style;

/// In which order the values of objects come. Those of arrays keep theirs; those of sets, whose order means nothing,
/// are sorted by their text in either case.
typedef NC_ENUM(nc_order){
    /// Objects by name and sets by their values' text, in the order of UTF-16 code units; equal names as they were
    /// given.
    NC_ORDER_SORTED = 0,
    /// As they were added.
    NC_ORDER_AS_GIVEN = 1,
} nc_order;

/// How names are made; all zero is the default.
typedef struct nc_flatten_options {
    /// Names in arrays.
    nc_array_style arrays;
    /// Names in objects.
    nc_nested_style nested;
    /// Which comes first.
    nc_order order;
} nc_flatten_options;

/// Receives one name and value; the name is borrowed for the call, the value from the tree.
///
/// - value: no container, but for NC_ARRAYS_COMMA an array of at least one value and no containers.
/// Returns NC_OK, or a failure that ends the walk, with `err` filled.
typedef nc_status (*nc_flatten_fn)(void *NC_NULLABLE ctx, nc_slice name, const nc_params_item *value,
                                   nc_error *NC_NULLABLE err);

/// Calls `visit` for each value of the tree that is no container, with its name spelled out.
///
/// - options: NULL means the default: brackets, sorted.
/// Returns NC_OK; NC_ERR_BAD_PARAMETER, naming the key, for a name or a string that is not UTF-8, a number that is none
/// or not finite, an array that cannot be joined, or a root that is no object; NC_ERR_USAGE, NC_ERR_NO_MEMORY; the
/// tree's sticky failure; what `visit` returned. Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_params_flatten(const nc_params *params, const nc_flatten_options *NC_NULLABLE options,
                                                nc_flatten_fn visit, void *NC_NULLABLE ctx, nc_error *NC_NULLABLE err);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
