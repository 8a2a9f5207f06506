/// An engine's cookie jar (RFC 6265bis): reads and fills it.
///
/// A jar exists if nc_engine_options.cookies asks for one. All requests of an engine use one jar, under any trust
/// policy. Values are bytes and stay unchanged. The rules are those of RFC 6265bis, with these choices:
///
/// - A cookie without a name is ignored, as in RFC 6265, and so is one with a tab inside.
/// - Public suffixes are those of libpsl's list. SameSite is ignored: a program sends no cross-site requests.
/// - http://localhost, 127.0.0.1 and [::1] count as secure, as in libcurl.
/// - Interim heads (1xx), heads of CONNECT and trailers store nothing. A response that is refused stores nothing.
/// - A caller's own Host field determines the cookies that are sent and stored. A redirect to another origin drops it.
/// - A caller's own Cookie field is joined with the jar's cookies into one field.
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
/// The largest number of bytes in a jar; a cookie counts its domain, path, name and value, and 64 bytes.
#define NC_MAX_COOKIE_BYTES (14u * 1024u * 1024u)
/// The largest number of bytes of one registrable domain, counted in the same way.
#define NC_MAX_COOKIE_BYTES_PER_DOMAIN (256u * 1024u)
/// The largest number of Set-Cookie fields that one response head can set; later fields are ignored.
#define NC_MAX_SET_COOKIES 50u
/// The largest number of the jar's cookies in a request.
#define NC_MAX_SENT_COOKIES 150u
/// The largest number of bytes of the jar's cookies in a request. A cookie beyond it is omitted.
#define NC_MAX_SENT_COOKIE_BYTES 8190u

/// Appends the jar's cookies in the Netscape format, one per line, the oldest first.
///
/// Never waits for the loop. It also works after the engine has ended, while the caller keeps a reference.
/// - out: appended to.
/// Returns NC_OK, NC_ERR_USAGE without a jar, NC_ERR_NO_MEMORY, NC_ERR_TOO_LARGE.
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_engine_copy_cookies(nc_engine *engine, nc_buf *out, nc_error *NC_NULLABLE err);

/// Adds cookies to the jar: lines of the Netscape format, or "Set-Cookie: …". An empty text removes all cookies.
///
/// Takes effect immediately. A "Set-Cookie: …" must have a domain. A line that has expired removes its cookie. Lines
/// that no server could set (without a name, with a control byte, too long) are ignored. Never blocks.
/// Returns NC_OK, NC_ERR_USAGE without a jar or for a line that is no cookie (err->offset is its first byte; nothing is
/// added), NC_ERR_CLOSED once the loop has ended or is about to, NC_ERR_TOO_LARGE for more than 16 MiB,
/// NC_ERR_NO_MEMORY (lines before the failure are added).
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_engine_set_cookies(nc_engine *engine, nc_slice text, nc_error *NC_NULLABLE err);

/// Appends the value of the Cookie field that the jar adds to a request for `url`; nothing if no cookie matches.
///
/// The bytes are exact and distinguish users. The host is compared in its canonical form, in any spelling of the URL.
/// If HSTS may change the URL to https, Secure cookies are included. A request's own Cookie field is not included.
/// - host: the request's own Host field; empty for the URL's host.
/// - out: appended to.
/// Returns NC_OK, NC_ERR_USAGE without a jar, NC_ERR_BAD_URL, NC_ERR_BAD_SCHEME, NC_ERR_NO_MEMORY, NC_ERR_TOO_LARGE.
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_engine_copy_cookie_field(nc_engine *engine, nc_slice url, nc_slice host, nc_buf *out,
                                                          nc_error *NC_NULLABLE err);

/// An immutable snapshot of a jar, which a cache compares with a later one.
typedef struct nc_cookie_snapshot nc_cookie_snapshot;

/// Takes a snapshot of the jar. It copies no cookie, so that it is cheap even if the jar is full.
///
/// - out: receives it; release it with nc_cookie_snapshot_release(). It may outlive the engine.
/// Returns NC_OK, NC_ERR_USAGE without a jar, NC_ERR_NO_MEMORY.
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_engine_snapshot_cookies(nc_engine *engine,
                                                         nc_cookie_snapshot *NC_NULLABLE *NC_NONNULL out,
                                                         nc_error *NC_NULLABLE err);

/// Appends the cookies that may be sent to a host with any path and scheme; nothing if there is none.
///
/// The bytes distinguish users. Expiry times are not included.
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
