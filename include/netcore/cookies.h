/// Reads and fills an engine's cookie jar (RFC 6265bis).
///
/// An engine has a jar unless nc_engine_options.cookies is NC_COOKIES_OFF. All requests of the engine share it, even if
/// their trust policies differ. Values are bytes and stay unchanged. The rules are those of RFC 6265bis, with these
/// choices:
///
/// - A cookie without a name is ignored, as in RFC 6265. A cookie that contains a tab is ignored too.
/// - Public suffixes are those of libpsl's list. SameSite is ignored: a program sends no cross-site requests.
/// - http URLs of localhost, 127.0.0.1 and [::1] count as secure, as in libcurl.
/// - Set-Cookie is ignored in interim heads (1xx), in responses to CONNECT, in trailers, and in a response that is
///   refused.
/// - If the caller sets a Host field, cookies are sent and stored for that host. A cross-origin redirect drops the
///   field.
/// - If the caller sets a Cookie field, its cookies and the jar's are sent in one field.
///
/// Cookies are text in the Netscape format, one per line, as curl -c writes them. Two engines with the same file
/// overwrite each other's cookies.
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
/// The largest number of bytes in a jar. Each cookie counts as the length of its domain, path, name and value, plus 64.
#define NC_MAX_COOKIE_BYTES (14u * 1024u * 1024u)
/// The largest number of bytes of one registrable domain, counted in the same way.
#define NC_MAX_COOKIE_BYTES_PER_DOMAIN (256u * 1024u)
/// The largest number of Set-Cookie fields that one response head can set; later fields are ignored.
#define NC_MAX_SET_COOKIES 50u
/// The largest number of the jar's cookies in a request.
#define NC_MAX_SENT_COOKIES 150u
/// The largest number of bytes of the jar's cookies in a request. Cookies that exceed it are omitted.
#define NC_MAX_SENT_COOKIE_BYTES 8190u

/// Appends the jar's cookies in the Netscape format, one per line, the oldest first.
///
/// Never waits for the loop. It also works after the loop has ended, until the engine is released.
/// - out: appended to.
/// Returns NC_OK, NC_ERR_USAGE without a jar, NC_ERR_NO_MEMORY, NC_ERR_TOO_LARGE.
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_engine_copy_cookies(nc_engine *engine, nc_buf *out, nc_error *NC_NULLABLE err);

/// Adds cookies to the jar. Each line is in the Netscape format or a "Set-Cookie: …" field. An empty text removes all
/// cookies.
///
/// The change takes effect immediately. A "Set-Cookie: …" line must have a domain. A line whose expiry time has passed
/// removes the cookie. A line is ignored if a server could not set it: no name, a control byte, or too long. Never
/// blocks.
/// Returns NC_OK, NC_ERR_USAGE without a jar or for a line that is not a cookie (err->offset is its first byte; nothing
/// is added), NC_ERR_CLOSED if the loop has ended or is about to, NC_ERR_TOO_LARGE for more than 16 MiB,
/// NC_ERR_NO_MEMORY (lines before the failure are added).
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_engine_set_cookies(nc_engine *engine, nc_slice text, nc_error *NC_NULLABLE err);

/// Appends the value of the Cookie field that the jar adds to a request for `url`; nothing if no cookie matches.
///
/// The result has exactly the bytes that are sent, so a cache can use it to distinguish users. The host may be spelled
/// in any way; its canonical form is compared. If HSTS may change the URL to https, Secure cookies are included. A
/// Cookie field of the caller is not included.
/// - host: the value of the request's Host field, if the caller sets one. Empty means the URL's host.
/// - out: appended to.
/// Returns NC_OK, NC_ERR_USAGE without a jar, NC_ERR_BAD_URL, NC_ERR_BAD_SCHEME, NC_ERR_NO_MEMORY, NC_ERR_TOO_LARGE.
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_engine_copy_cookie_field(nc_engine *engine, nc_slice url, nc_slice host, nc_buf *out,
                                                          nc_error *NC_NULLABLE err);

/// An immutable snapshot of a jar. A cache compares it with a later snapshot.
typedef struct nc_cookie_snapshot nc_cookie_snapshot;

/// Takes a snapshot of the jar. No cookie is copied, so the call is cheap even if the jar is full.
///
/// - out: receives the snapshot; release it with nc_cookie_snapshot_release(). It may outlive the engine.
/// Returns NC_OK, NC_ERR_USAGE without a jar, NC_ERR_NO_MEMORY.
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_engine_snapshot_cookies(nc_engine *engine,
                                                         nc_cookie_snapshot *NC_NULLABLE *NC_NONNULL out,
                                                         nc_error *NC_NULLABLE err);

/// Appends all cookies that may be sent to a host, for any path and scheme; nothing if there are none.
///
/// Expiry times are not included. A cache can use the result to distinguish users.
/// - host: in any spelling, as in a URL, without a port.
/// - out: appended to.
/// Returns NC_OK, NC_ERR_BAD_URL, NC_ERR_NO_MEMORY, NC_ERR_TOO_LARGE.
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_cookie_snapshot_append(const nc_cookie_snapshot *snapshot, nc_slice host, nc_buf *out,
                                                        nc_error *NC_NULLABLE err);

/// Releases a snapshot. Thread-safe.
NC_API void nc_cookie_snapshot_release(nc_cookie_snapshot *NC_NULLABLE snapshot);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
