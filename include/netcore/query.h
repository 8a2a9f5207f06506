/// Parameters as a query string or a form body, and a query's place in a URL.
///
/// The defaults are AFNetworking's rules, byte for byte: `key=value` joined by `&`, `a[b]` for objects, `a[]` for
/// arrays, the bare key for each value of a set, a key without `=` for null, nothing for empty containers, keys sorted,
/// booleans as 1 and 0, and everything but `A-Za-z0-9-._~/?` percent-escaped as UTF-8; a `?` that would begin the whole
/// query too, as some parsers would drop it. A form body (WHATWG URL, 5.1) is the same text under
/// application/x-www-form-urlencoded.
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

/// How booleans are written.
typedef NC_ENUM(nc_boolean_style){
    /// `1` and `0`.
    NC_BOOLEANS_NUMBERS = 0,
    /// `true` and `false`.
    NC_BOOLEANS_WORDS = 1,
} nc_boolean_style;

/// How a space is written.
typedef NC_ENUM(nc_space_style){
    /// `%20`.
    NC_SPACES_PERCENT = 0,
    /// `+`.
    NC_SPACES_PLUS = 1,
} nc_space_style;

/// A caller's own encoder: appends the whole query to `out`, which may hold other bytes already.
///
/// Returns NC_OK, or a failure, with `err` filled, which nc_query_append() passes on. What it appends is not looked at
/// before nc_query_attach() puts it into a URL.
typedef nc_status (*nc_query_encode_fn)(void *NC_NULLABLE ctx, nc_buf *out, const nc_params *params,
                                        nc_error *NC_NULLABLE err);

/// How a query is written; all zero is the default.
typedef struct nc_query_options {
    /// Names and order. With NC_ARRAYS_COMMA the commas between values are not escaped, those within them are, and a
    /// null among them is empty.
    nc_flatten_options names;
    /// Booleans.
    nc_boolean_style booleans;
    /// Spaces, in names too.
    nc_space_style spaces;
    /// Does all of it instead, when it is not NULL.
    nc_query_encode_fn NC_NULLABLE encode;
    /// Handed to `encode`.
    void *NC_NULLABLE ctx;
} nc_query_options;

/// Appends the parameters as a query, without a `?`; nothing when there is none.
///
/// - options: NULL means the default.
/// Returns NC_OK; NC_ERR_BAD_PARAMETER, naming the key, as nc_params_flatten() does; NC_ERR_USAGE, NC_ERR_TOO_LARGE,
/// NC_ERR_NO_MEMORY; what an encoder of one's own returned. On failure the content of `out` stays as it was.
/// Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_query_append(nc_buf *out, const nc_params *params,
                                              const nc_query_options *NC_NULLABLE options, nc_error *NC_NULLABLE err);

/// Appends the URL with the query in its place: before a fragment, behind `?`, or behind `&` after a query that the URL
/// has already (RFC 3986, 3.4).
///
/// No bare `?` is left: an empty query of the URL's own is filled, and goes away with its `?` when `query` is empty
/// too.
/// - url: taken as it is; what it holds is checked where it is sent.
/// Returns NC_OK; NC_ERR_BAD_PARAMETER, with the offset, for a `#`, a space or a control character in `query`, which
/// only an encoder of one's own can have put there; NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY. On failure the content of `out`
/// stays as it was. Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_query_attach(nc_buf *out, nc_slice url, nc_slice query, nc_error *NC_NULLABLE err);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
