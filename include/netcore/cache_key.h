/// The canonical form of a request, as bytes. Two requests are equal exactly if their canonical forms are.
///
/// The canonical form ignores:
///
/// - the order of an object's names, of a set's values, and of fields with different names
/// - the case of field names and of the scheme, and the spelling of the host (nc_url_canonical_host())
/// - a default port, zeros before a port, a missing "/", a fragment
///
/// All other differences change the canonical form. A length precedes each piece of it, so that two different requests
/// can never have the same bytes. Compare requests by these bytes. Their MD5 in hex is only a name for a cache entry,
/// because MD5 collisions can be constructed.
///
/// Values keep their type: 1, "1" and true differ. Numbers are compared by the digits that are sent. The integer 1 and
/// the double 1.0 are both sent as "1" and are therefore equal. A number that was parsed from the JSON text "1.0" is
/// sent as "1.0" and differs from both.
///
///     nc_cache_key_parts parts = {.method = nc_slice_of("GET"), .url = nc_slice_of("https://example.com/cities")};
///     if (nc_cache_key_describe(&bytes, &parts, &err) == NC_OK)
///         status = nc_cache_key_name(&name, md5, nc_buf_slice(&bytes), &err);      // name.text: 32 digits
#ifndef NETCORE_CACHE_KEY_H
#define NETCORE_CACHE_KEY_H

#include <netcore/base.h>
#include <netcore/bytes.h>
#include <netcore/digest.h>
#include <netcore/header.h>
#include <netcore/params.h>
#include <netcore/status.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// The version of the layout, which is part of every canonical form.
#define NC_CACHE_KEY_VERSION 1
/// The number of hex digits of a name.
#define NC_CACHE_KEY_DIGITS 32
/// The largest number of fields in a canonical form.
#define NC_CACHE_KEY_MAX_HEADERS 256

/// The parts of a request's identity.
typedef struct nc_cache_key_parts {
    /// A token; empty means GET. Case-sensitive (RFC 9110, 9.1).
    nc_slice method;
    /// The absolute URL as it is sent, with its query, after base URL and filters were applied.
    nc_slice url;
    /// The fields that select the response, such as Accept-Language. Omit fields that differ in each request, such as
    /// Date.
    const nc_header *NC_NULLABLE headers;
    /// Number of fields.
    size_t header_count;
    /// The parameters, if the URL does not contain them. NULL means no parameters. An empty tree has another canonical
    /// form than NULL.
    const nc_params *NC_NULLABLE parameters;
    /// The body, if it is not made from the parameters. The canonical form contains all of it.
    nc_slice body;
    /// True if there is a body. It distinguishes an empty body from none.
    bool has_body;
    /// The owner of a private response, such as a user's id. Empty if all users share the response.
    nc_slice scope;
} nc_cache_key_parts;

/// The name of a canonical form.
typedef struct nc_cache_key {
    /// Lower-case hex digits and a NUL.
    char text[NC_CACHE_KEY_DIGITS + 1];
} nc_cache_key;

/// Appends the canonical form of a request.
///
/// The function reserves the whole size in `out` first. It allocates nothing under three conditions:
///
/// - `out` already has that capacity
/// - no container has more than 32 values or 512 bytes out of order
/// - the host is an ASCII name
///
/// The maximum of `out` must be at least the size of all texts plus twice the size of the parameters.
/// Returns NC_OK, NC_ERR_BAD_METHOD, NC_ERR_BAD_URL (no scheme or host, or a control character or space),
/// NC_ERR_BAD_HEADER, NC_ERR_BAD_PARAMETER (a number that is not finite), NC_ERR_USAGE (incomplete parameters),
/// NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY. After an error `out` is unchanged.
/// Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_cache_key_describe(nc_buf *out, const nc_cache_key_parts *parts,
                                                    nc_error *NC_NULLABLE err);

/// Writes the name of a canonical form: its MD5 in hex. Allocates only what nc_digest_of() allocates.
///
/// - md5: a digest of the kind NC_DIGEST_MD5; its pending bytes are discarded. NC_ERR_USAGE for another kind.
/// Returns the statuses of nc_digest_of().
/// Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_cache_key_name(nc_cache_key *out, nc_digest *md5, nc_slice description,
                                                nc_error *NC_NULLABLE err);

/// Appends a canonical form as readable lines that end with LF. Texts are quoted as in JSON.
///
/// Returns NC_OK, NC_ERR_UNSUPPORTED for another version, NC_ERR_USAGE with an offset for malformed bytes,
/// NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY. After an error `out` is unchanged.
/// Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_cache_key_explain(nc_buf *out, nc_slice description, nc_error *NC_NULLABLE err);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
