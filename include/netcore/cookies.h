/// An engine's cookie jar (RFC 6265bis): reading it and filling it.
///
/// A jar exists if nc_engine_options.cookies asks for one. All requests of an engine use one jar, whatever their trust
/// policy. Values are bytes and stay as they are. The rules are those of RFC 6265bis, with these choices:
///
/// - A cookie without a name is ignored, as in RFC 6265, and so is one with a tab inside.
/// - Public suffixes are those of libpsl's list. SameSite is ignored: a program sends no cross-site requests.
/// - http://localhost, 127.0.0.1 and [::1] count as secure, as in libcurl.
/// - Heads with 1xx, of CONNECT and trailers store nothing. A response that is refused stores nothing.
/// - A caller's own Host field names the host whose cookies a request is sent with and that its answer sets. A redirect
///   to another origin drops it. A caller's own Cookie field is joined with the jar's cookies into one field.
///
/// Cookies are text in the Netscape format, one a line, as curl -c writes them. Two engines that save to one file at a
/// time overwrite each other's cookies.
///
///     nc_engine_set_cookies(engine, nc_slice_of("Set-Cookie: a=1; domain=example.com; path=/"), NULL);
#ifndef NETCORE_COOKIES_H
#define NETCORE_COOKIES_H

#include <netcore/engine.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// The largest number of cookies in a jar.
#define NC_MAX_COOKIES 3000u
/// The largest number of cookies of one registrable domain, such as example.co.uk with all its hosts.
#define NC_MAX_COOKIES_PER_DOMAIN 180u
/// The largest number of bytes in a jar; a cookie counts its domain, path, name and value, and 64 bytes.
#define NC_MAX_COOKIE_BYTES (14u * 1024u * 1024u)
/// The largest number of bytes of one registrable domain, counted in the same way.
#define NC_MAX_COOKIE_BYTES_PER_DOMAIN (256u * 1024u)
/// The largest number of Set-Cookie fields that one response head can set; later fields are ignored.
#define NC_MAX_SET_COOKIES 50u
/// The largest number of cookies that a request is sent with from the jar.
#define NC_MAX_SENT_COOKIES 150u
/// The largest number of bytes that a request is sent with from the jar; a cookie beyond it is left out.
#define NC_MAX_SENT_COOKIE_BYTES 8190u

/// Writes the jar's cookies, one a line, in the Netscape format, the oldest first.
///
/// Never waits for the loop. Also after the engine has ended, while the caller keeps a reference.
/// - out: appended to.
/// Returns NC_OK, NC_ERR_USAGE without a jar, NC_ERR_NO_MEMORY, NC_ERR_TOO_LARGE. Thread-safe.
NC_API NC_NODISCARD nc_status nc_engine_copy_cookies(nc_engine *engine, nc_buf *out, nc_error *NC_NULLABLE err);

/// Adds cookies to the jar: lines of the Netscape format, or "Set-Cookie: …". An empty text removes all cookies.
///
/// Takes effect immediately. A "Set-Cookie: …" has to name its domain. A line whose time is over removes the cookie
/// that it names. Lines that no server could set (without a name, with a control byte, too long) are ignored. Returns
/// NC_OK, NC_ERR_USAGE without a jar or for a line that is no cookie (err->offset is its first byte; nothing is added),
/// NC_ERR_CLOSED once the loop has ended or is about to, NC_ERR_TOO_LARGE for more than 16 MiB, NC_ERR_NO_MEMORY (lines
/// before the failure are added). Never blocks. Thread-safe.
NC_API NC_NODISCARD nc_status nc_engine_set_cookies(nc_engine *engine, nc_slice text, nc_error *NC_NULLABLE err);

/// Appends the value of the Cookie field that a request for `url` would be sent with from the jar: exact bytes, which
/// tell users apart. Appends nothing if there is no cookie for it.
///
/// The host is compared in its canonical form, however the URL spells it. If HSTS may turn the URL into https, Secure
/// cookies are included. A request's own Cookie field is not.
/// - host: the request's own Host field; empty for the URL's host.
/// - out: appended to.
/// Returns NC_OK, NC_ERR_USAGE without a jar, NC_ERR_BAD_URL, NC_ERR_BAD_SCHEME, NC_ERR_NO_MEMORY, NC_ERR_TOO_LARGE.
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_engine_copy_cookie_field(nc_engine *engine, nc_slice url, nc_slice host, nc_buf *out,
                                                          nc_error *NC_NULLABLE err);

/// The cookies of a jar at one moment, which a cache compares with those of another moment. Never changes.
typedef struct nc_cookie_snapshot nc_cookie_snapshot;

/// Takes a snapshot of the jar. Copies no cookie, so that it costs little also if the jar is full.
///
/// - out: receives it; release it with nc_cookie_snapshot_release(), also after the engine has gone.
/// Returns NC_OK, NC_ERR_USAGE without a jar, NC_ERR_NO_MEMORY. Thread-safe.
NC_API NC_NODISCARD nc_status nc_engine_snapshot_cookies(nc_engine *engine,
                                                         nc_cookie_snapshot *NC_NULLABLE *NC_NONNULL out,
                                                         nc_error *NC_NULLABLE err);

/// Appends the cookies that requests to a host may be sent with, whatever their path and scheme: the bytes tell users
/// apart. When a cookie expires does not count. Appends nothing if there is none.
///
/// - host: in any spelling, as in a URL, without a port.
/// - out: appended to.
/// Returns NC_OK, NC_ERR_BAD_URL, NC_ERR_NO_MEMORY, NC_ERR_TOO_LARGE. Thread-safe.
NC_API NC_NODISCARD nc_status nc_cookie_snapshot_append(const nc_cookie_snapshot *snapshot, nc_slice host, nc_buf *out,
                                                        nc_error *NC_NULLABLE err);

/// Releases a snapshot. Thread-safe.
NC_API void nc_cookie_snapshot_release(nc_cookie_snapshot *NC_NULLABLE snapshot);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
