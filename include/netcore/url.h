/// URLs: how a relative reference becomes absolute (RFC 3986, section 5), and how a request's path joins a base URL.
///
/// Text in, text out: nothing is decoded or looked up. Resolving takes the references that servers send as they are;
/// joining takes what programmers write, and percent-encodes what may not stand in a URL. What libcurl will finally
/// accept is libcurl's word.
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

/// A URL, in bytes, at most; longer ones are refused everywhere in the library.
#define NC_URL_MAX_BYTES (64u * 1024u)

/// Appends to `out` the URL that `reference` means when it is read at `base` (RFC 3986, 5.2, strict).
///
/// Dot segments are removed (5.2.4). The reference's fragment is kept; the base's is not inherited.
/// - base: an absolute URL with a scheme.
/// Returns NC_OK, NC_ERR_BAD_URL when the base has no scheme or a byte is a control character or space,
/// NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY. Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_url_resolve(nc_buf *out, nc_slice base, nc_slice reference, nc_error *NC_NULLABLE err);

/// Appends what nc_url_resolve() does, but for the dot segments: those stay where they are (nc_request's
/// keeps_dot_segments). Only a "./" and "../" that `reference` begins with lead on from the base's folder.
///
/// "http://a/b/c" and "../x/../d" are "http://a/x/../d". A step up from a folder that is called "." or ".." stays too.
/// Returns as nc_url_resolve() does. Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_url_resolve_as_is(nc_buf *out, nc_slice base, nc_slice reference,
                                                   nc_error *NC_NULLABLE err);

/// What a path that begins with '/' does to the base's path.
typedef NC_ENUM(nc_join_mode){
    /// Takes its place (RFC 3986, 5.2): "http://h/v1" and "/x" are "http://h/x".
    NC_JOIN_BY_RFC = 0,
    /// Goes on from it: "http://h/v1" and "/x" are "http://h/v1/x". "//x/y" names no host then, but the path "//x/y".
    NC_JOIN_KEEPS_BASE_PATH = 1,
} nc_join_mode;

/// Appends the URL of a request: `path` read at `base`, whose path counts as a folder, with or without its last '/'.
///
/// The base's query and fragment are dropped. A path that is a URL itself, with scheme and host, is the result, and the
/// base is not looked at. Dot segments are removed as RFC 3986, 5.2.4 has it. In path, query and fragment each space,
/// each of "<>\^`{|} and each byte of other than ASCII characters is percent-encoded, and so is a '%' that two hex
/// digits do not follow; what is encoded already stays as it is. A host stays as it is: libcurl makes IDNA of it.
/// - base: an absolute URL. May be empty when `path` is one.
/// Returns NC_OK, NC_ERR_BAD_URL for a control character or bytes that are no UTF-8 (err->offset is their place), for
/// a base without scheme, and for http and https without a host or with one that cannot be; NC_ERR_USAGE,
/// NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY. On failure `out` holds what it held. Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_url_join(nc_buf *out, nc_slice base, nc_slice path, nc_join_mode mode,
                                          nc_error *NC_NULLABLE err);

/// Appends the canonical form of a host, in which hosts can be compared byte for byte.
///
/// A name is lower-case ASCII with international labels as "xn--…" (UTS 46, as libcurl converts them), percent-decoded,
/// without a trailing dot. An IPv4 address has four decimal parts, however it was written ("127.1", "0x7f000001"). An
/// IPv6 address has no brackets and the form of RFC 5952; its zone id stays, after "%25". An IPv4-mapped IPv6 address
/// is the IPv4 address: both reach the same socket.
/// - host: as it stands in a URL, UTF-8 or percent-encoded; brackets around IPv6 may be absent.
/// Returns NC_OK, NC_ERR_BAD_URL for what is no host, NC_ERR_USAGE, NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY. On failure
/// `out` holds what it held. Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_url_canonical_host(nc_buf *out, nc_slice host, nc_error *NC_NULLABLE err);

/// Appends the canonical host (nc_url_canonical_host()) of an absolute http or https URL.
///
/// Returns as nc_url_canonical_host() does, and NC_ERR_BAD_SCHEME. Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_url_host(nc_buf *out, nc_slice url, nc_error *NC_NULLABLE err);

/// Appends the origin of an absolute http or https URL (RFC 6454, 6.2): "http://xn--bcher-kva.example:8080".
///
/// The host is canonical, IPv6 in brackets. The scheme's own port is left out. Credentials are ignored.
/// Returns as nc_url_host() does. Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_url_origin(nc_buf *out, nc_slice url, nc_error *NC_NULLABLE err);

/// Tells whether two http or https URLs have the same origin: scheme, canonical host and port. False when either has
/// none.
///
/// Pure; call from any thread.
NC_API bool nc_url_is_same_origin(nc_slice a, nc_slice b);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
