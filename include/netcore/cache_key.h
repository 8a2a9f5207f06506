/// What a request is, as bytes: the same for requests that are the same, and for no others.
///
/// A description is canonical: the order of an object's names, of a set's values and of fields with different names
/// means nothing, and neither does the case of field names and of the scheme, the spelling of the host
/// (nc_url_canonical_host()), a default port, zeros before a port, a missing "/" or a fragment. Everything else counts,
/// and each piece stands behind its length, so that no piece can pass for another. Identity is judged on these bytes;
/// their MD5, in hex, only names an entry: two texts with one MD5 can be made.
///
/// Values keep their kind: 1, "1" and true differ. Numbers are the digits that are sent: the integer 1 and the
/// double 1.0 are both sent as "1" and are alike, while "1.0" from JSON text is sent as it is and differs.
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

/// Stands in every description; another layout would get another number.
#define NC_CACHE_KEY_VERSION 1
/// Hex digits of a name.
#define NC_CACHE_KEY_DIGITS 32
/// Fields that a description takes at most.
#define NC_CACHE_KEY_MAX_HEADERS 256

/// What makes two requests the same.
typedef struct nc_cache_key_parts {
    /// A token; empty means GET. Methods have case (RFC 9110, 9.1).
    nc_slice method;
    /// The URL as it is sent, absolute, query and all: after the base was joined and filters were applied.
    nc_slice url;
    /// The fields that choose the response, such as Accept-Language; not those that change each time.
    const nc_header *NC_NULLABLE headers;
    /// Number of fields.
    size_t header_count;
    /// The parameters, where they are not in the URL; NULL for none, which differs from empty ones.
    const nc_params *NC_NULLABLE parameters;
    /// The body, where it is not made of the parameters; it stands in the description as a whole.
    nc_slice body;
    /// True tells an empty body from none.
    bool has_body;
    /// Whose response it is, such as a user's number: nobody else gets it. Empty means anybody's.
    nc_slice scope;
} nc_cache_key_parts;

/// A description's name.
typedef struct nc_cache_key {
    /// Lower-case hex digits and a NUL.
    char text[NC_CACHE_KEY_DIGITS + 1];
} nc_cache_key;

/// Appends the canonical description of a request.
///
/// Room for the whole is asked for at once: nothing is allocated when `out`, used again after nc_buf_reset(), has it
/// when no container has more than 32 values or 512 bytes that are out of order, and when the host is a name in ASCII
/// letters.
/// - out: its maximum has to leave room for all texts, and for the parameters twice.
/// Returns NC_OK; NC_ERR_BAD_METHOD, NC_ERR_BAD_URL for a URL without scheme or host or with a control character or
/// space, NC_ERR_BAD_HEADER, NC_ERR_BAD_PARAMETER for a number that is not finite, NC_ERR_USAGE for parameters that are
/// not whole, NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY; `out` then holds what it held. Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_cache_key_describe(nc_buf *out, const nc_cache_key_parts *parts,
                                                    nc_error *NC_NULLABLE err);

/// Writes the name of a description: its MD5 in hex. Allocates no more than nc_digest_of().
///
/// - md5: of kind NC_DIGEST_MD5; what was added to it is forgotten. NC_ERR_USAGE for another kind.
/// Otherwise as nc_digest_of(). Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_cache_key_name(nc_cache_key *out, nc_digest *md5, nc_slice description,
                                                nc_error *NC_NULLABLE err);

/// Appends a description in lines that a person can read, each ended by LF; text in it is quoted as in JSON.
///
/// Returns NC_OK, NC_ERR_UNSUPPORTED for another version, NC_ERR_USAGE with an offset for bytes that are no canonical
/// description, NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY; `out` then holds what it held. Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_cache_key_explain(nc_buf *out, nc_slice description, nc_error *NC_NULLABLE err);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
