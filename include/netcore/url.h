/// URL functions: resolution of a reference (RFC 3986, section 5), joining a path to a base URL, and the canonical
/// host.
///
/// They work on text and look nothing up. Resolution accepts references as servers send them. Joining accepts paths as
/// programmers write them, and percent-encodes characters that a URL cannot contain. libcurl may still refuse the
/// result.
///
///     nc_buf url = nc_buf_init(8192);
///     nc_url_resolve(&url, nc_slice_of("http://a/b/c"), nc_slice_of("../d"), NULL);            // http://a/d
///     nc_buf_reset(&url);
///     nc_url_join(&url, nc_slice_of("http://a/v1"), nc_slice_of("x y"), NC_JOIN_BY_RFC, NULL);  // http://a/v1/x%20y
#ifndef NETCORE_URL_H
#define NETCORE_URL_H

#include <netcore/base.h>
#include <netcore/bytes.h>
#include <netcore/status.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// The largest URL, in bytes. The whole library refuses longer ones.
#define NC_URL_MAX_BYTES (64u * 1024u)

/// Appends the URL that `reference` resolves to at `base` (RFC 3986, 5.2, strict).
///
/// Dot segments are removed (5.2.4). The reference's fragment is kept; the base's is not inherited.
/// - base: an absolute URL with a scheme.
/// Returns NC_OK, NC_ERR_BAD_URL (the base has no scheme, or a byte is a control character or space), NC_ERR_TOO_LARGE,
/// NC_ERR_NO_MEMORY.
/// Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_url_resolve(nc_buf *out, nc_slice base, nc_slice reference, nc_error *NC_NULLABLE err);

/// Resolves as nc_url_resolve(), but keeps dot segments (nc_request.keeps_dot_segments). Only leading "./" and "../" of
/// `reference` are resolved, at the base's directory.
///
/// "http://a/b/c" and "../x/../d" are "http://a/x/../d". A step up from a directory named "." or ".." is kept too.
/// Returns as nc_url_resolve() does.
/// Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_url_resolve_as_is(nc_buf *out, nc_slice base, nc_slice reference,
                                                   nc_error *NC_NULLABLE err);

/// The meaning of a path that begins with '/'.
typedef NC_ENUM(nc_join_mode){
    /// Replaces the base's path (RFC 3986, 5.2): "http://h/v1" and "/x" are "http://h/x".
    NC_JOIN_BY_RFC = 0,
    /// Extends the base's path: "http://h/v1" and "/x" are "http://h/v1/x". "//x/y" is then the path "//x/y", not a
    /// host.
    NC_JOIN_KEEPS_BASE_PATH = 1,
} nc_join_mode;

/// Appends the URL of a request: `path` resolved at `base`, whose path is a directory with or without a trailing '/'.
///
/// - The base's query and fragment are dropped.
/// - If `path` is a URL with scheme and host, it is the result, and the base is ignored.
/// - Dot segments are removed (RFC 3986, 5.2.4).
/// - In path, query and fragment spaces, "<>\^`{|}, non-ASCII bytes, and '%' without two hex digits are
///   percent-encoded. Existing encodings are kept.
/// - The host is unchanged; libcurl converts it by IDNA.
///
/// After an error `out` is unchanged.
/// - base: an absolute URL. May be empty if `path` is absolute.
/// Returns NC_OK, NC_ERR_BAD_URL (a control character or invalid UTF-8, err->offset is the byte; a base without a
/// scheme; http and https without a valid host), NC_ERR_USAGE, NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY.
/// Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_url_join(nc_buf *out, nc_slice base, nc_slice path, nc_join_mode mode,
                                          nc_error *NC_NULLABLE err);

/// Appends the canonical form of a host. Canonical hosts can be compared byte for byte.
///
/// - A name is lower-case ASCII, percent-decoded, without a trailing dot. International labels are "xn--…" (UTS 46, as
///   in libcurl).
/// - An IPv4 address has four decimal parts, for input like "127.1" or "0x7f000001" too.
/// - An IPv6 address has the form of RFC 5952, without brackets. Its zone id stays, after "%25".
/// - An IPv4-mapped IPv6 address is the IPv4 address, because both reach the same socket.
///
/// After an error `out` is unchanged.
/// - host: as in a URL, UTF-8 or percent-encoded. Brackets around IPv6 are optional.
/// Returns NC_OK, NC_ERR_BAD_URL for an invalid host, NC_ERR_USAGE, NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY.
/// Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_url_canonical_host(nc_buf *out, nc_slice host, nc_error *NC_NULLABLE err);

/// Appends the canonical host (nc_url_canonical_host()) of an absolute http or https URL.
///
/// Returns as nc_url_canonical_host() does, and NC_ERR_BAD_SCHEME.
/// Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_url_host(nc_buf *out, nc_slice url, nc_error *NC_NULLABLE err);

/// Appends the origin of an absolute http or https URL (RFC 6454, 6.2): "http://xn--bcher-kva.example:8080".
///
/// The host is canonical, IPv6 in brackets. The scheme's default port is omitted. Credentials are ignored.
/// Returns as nc_url_host() does.
/// Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_url_origin(nc_buf *out, nc_slice url, nc_error *NC_NULLABLE err);

/// Returns true if two http or https URLs have the same origin: scheme, canonical host and port.
///
/// Returns false if one of them has no origin.
/// Pure; call from any thread.
NC_API bool nc_url_is_same_origin(nc_slice a, nc_slice b);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
