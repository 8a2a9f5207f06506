/// Encodes parameters as a query string or a form body, and attaches a query to a URL.
///
/// The defaults produce the same bytes as AFNetworking:
///
/// - `key=value` joined by `&`, keys sorted
/// - `a[b]` for objects, `a[]` for arrays, the bare key for each value of a set
/// - a key without `=` for null, nothing for empty containers
/// - booleans as 1 and 0
/// - everything except `A-Za-z0-9-._~/?` percent-encoded as UTF-8. A `?` at the start of the query is encoded too,
///   because some parsers would drop it.
///
/// A form body (application/x-www-form-urlencoded; WHATWG URL, 5.1) is the same text.
///
///     nc_buf query = nc_buf_init(8192);
///     if (nc_query_append(&query, &params, NULL, &err) == NC_OK)   // phone%5Bhome%5D=xx
///         nc_query_attach(&url, nc_slice_of("http://a/b#c"), nc_buf_slice(&query), &err);
#ifndef NETCORE_QUERY_H
#define NETCORE_QUERY_H

#include <netcore/base.h>
#include <netcore/bytes.h>
#include <netcore/flatten.h>
#include <netcore/params.h>
#include <netcore/status.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// The text of booleans.
typedef NC_ENUM(nc_boolean_style){
    /// `1` and `0`.
    NC_BOOLEANS_NUMBERS = 0,
    /// `true` and `false`.
    NC_BOOLEANS_WORDS = 1,
} nc_boolean_style;

/// The text of a space.
typedef NC_ENUM(nc_space_style){
    /// `%20`.
    NC_SPACES_PERCENT = 0,
    /// `+`.
    NC_SPACES_PLUS = 1,
} nc_space_style;

/// An encoder that the caller supplies. Appends the whole query to `out`, which may already contain bytes.
///
/// Returns NC_OK, or an error with `err` filled in; nc_query_append() then returns that error. The result is not
/// checked until nc_query_attach() puts it into a URL.
typedef nc_status (*nc_query_encode_fn)(void *NC_NULLABLE ctx, nc_buf *out, const nc_params *params,
                                        nc_error *NC_NULLABLE err);

/// Options of a query. All zero is the default.
typedef struct nc_query_options {
    /// Names and order. With NC_ARRAYS_COMMA only commas within values are escaped, and a null is an empty value.
    nc_flatten_options names;
    /// Text of booleans.
    nc_boolean_style booleans;
    /// Text of spaces, in names too.
    nc_space_style spaces;
    /// Replaces the whole encoder unless it is NULL.
    nc_query_encode_fn NC_NULLABLE encode;
    /// Passed to `encode`.
    void *NC_NULLABLE ctx;
} nc_query_options;

/// Appends the parameters as a query without `?`. Appends nothing if there are none.
///
/// - options: NULL means the default.
/// Returns NC_OK; NC_ERR_BAD_PARAMETER with the key, as nc_params_flatten(); NC_ERR_USAGE, NC_ERR_TOO_LARGE,
/// NC_ERR_NO_MEMORY, or the error of `encode`. After an error `out` is unchanged.
/// Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_query_append(nc_buf *out, const nc_params *params,
                                              const nc_query_options *NC_NULLABLE options, nc_error *NC_NULLABLE err);

/// Appends `url` with `query` before its fragment. A `?` precedes the query, or `&` if the URL already has a query (RFC
/// 3986, 3.4).
///
/// A URL that ends in a bare `?` counts as a URL without a query. If `query` is empty too, the `?` is removed.
/// - url: not validated here. It is validated when a request is submitted.
/// Returns NC_OK; NC_ERR_BAD_PARAMETER with the offset for a `#`, a space or a control character in `query`, which only
/// a caller's own encoder can produce; NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY. After an error `out` is unchanged.
/// Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_query_attach(nc_buf *out, nc_slice url, nc_slice query, nc_error *NC_NULLABLE err);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
