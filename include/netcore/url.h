/// URL functions: the parts of a URL, resolution of a reference (RFC 3986, section 5), joining a path to a base URL,
/// and the canonical host.
///
/// They work on text only and do not use DNS. nc_url_resolve() is for references that servers send. nc_url_join() is
/// for paths that programmers write: it percent-encodes characters that a URL cannot contain. libcurl may still refuse
/// the result.
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

/// The largest URL, in bytes. Every function of the library refuses a longer one.
#define NC_URL_MAX_BYTES (64u * 1024u)

/// The parts of a URL or a reference as it is written (RFC 3986, 3): views into its text, without decoding.
typedef struct nc_url_parts {
    /// Without its colon; empty if absent.
    nc_slice scheme;
    /// The text after "//": credentials, host and port.
    nc_slice authority;
    /// "user:password" without the '@' that follows; empty if absent.
    nc_slice userinfo;
    /// The host, with the brackets of an IPv6 address.
    nc_slice host;
    /// The text after the colon behind the host. May be anything; a valid port is decimal, up to 65535.
    nc_slice port;
    /// The path, with its leading '/'.
    nc_slice path;
    /// The text after '?'.
    nc_slice query;
    /// The text after '#'.
    nc_slice fragment;
    /// True if there is an authority, even an empty one.
    bool has_authority;
    /// True if there is an '@' before the host.
    bool has_userinfo;
    /// True if there is a colon behind the host.
    bool has_port;
    /// True if there is a '?'.
    bool has_query;
    /// True if there is a '#'.
    bool has_fragment;
} nc_url_parts;

/// Splits a URL or a reference. Every text can be split; whether its parts are valid is not checked.
///
/// Userinfo ends at the last '@' of the authority. The parts are valid as long as the text.
/// Pure; call from any thread.
NC_API nc_url_parts nc_url_split(nc_slice text);

/// Finds the credentials in a URL for their removal: "user:password@", behind the first "://". Unlike nc_url_split(),
/// it accepts a scheme with any bytes, because a secret must not remain in a malformed URL.
///
/// - at: receives their position in bytes; 0 without credentials.
/// - length: receives their length with the '@'; 0 without credentials.
/// Pure; call from any thread.
NC_API void nc_url_find_credentials(nc_slice url, size_t *at, size_t *length);

/// Resolves `reference` against `base` (RFC 3986, 5.2, strict) and appends the resulting URL.
///
/// Dot segments are removed (5.2.4). The fragment of `reference` is kept; the fragment of `base` is dropped.
/// - base: an absolute URL with a scheme.
/// Returns NC_OK, NC_ERR_BAD_URL (the base has no scheme, or a byte is a control character or space), NC_ERR_TOO_LARGE,
/// NC_ERR_NO_MEMORY.
/// Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_url_resolve(nc_buf *out, nc_slice base, nc_slice reference, nc_error *NC_NULLABLE err);

/// Resolves like nc_url_resolve(), but keeps dot segments, as nc_request.keeps_dot_segments requires. Only "./" and
/// "../" at the start of `reference` are resolved, against the base's directory.
///
/// For example "../x/../d" at "http://a/b/c" results in "http://a/x/../d". A "../" is also kept if the base's last
/// directory is itself named "." or "..".
/// Returns the same statuses as nc_url_resolve().
/// Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_url_resolve_as_is(nc_buf *out, nc_slice base, nc_slice reference,
                                                   nc_error *NC_NULLABLE err);

/// The meaning of a path that begins with '/'.
typedef NC_ENUM(nc_join_mode){
    /// Replaces the base's path (RFC 3986, 5.2): "http://h/v1" joined with "/x" is "http://h/x".
    NC_JOIN_BY_RFC = 0,
    /// Extends the base's path: "http://h/v1" joined with "/x" is "http://h/v1/x". In this mode "//x/y" is a path and
    /// does not name the host x.
    NC_JOIN_KEEPS_BASE_PATH = 1,
} nc_join_mode;

/// Joins `path` to `base` and appends the resulting URL. The path of `base` is a directory, with or without a trailing
/// '/'.
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
/// Returns the same statuses as nc_url_canonical_host(), and NC_ERR_BAD_SCHEME for another scheme.
/// Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_url_host(nc_buf *out, nc_slice url, nc_error *NC_NULLABLE err);

/// Appends the origin of an absolute http or https URL (RFC 6454, 6.2): "http://xn--bcher-kva.example:8080".
///
/// The host is canonical, IPv6 in brackets. The scheme's default port is omitted. Credentials are ignored.
/// Returns the same statuses as nc_url_host().
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
