/// An engine's cookie jar (RFC 6265, kept by libcurl): reading it and filling it.
///
/// A jar exists when nc_engine_options.cookies asks for one. Cookies are text in the Netscape format, one a line, as
/// curl -c writes them; domain matching, expiry and the public suffix list are libcurl's. All requests of an engine use
/// one jar, whomever they trust. A Host field of the caller's own names the host whose cookies go with its request and
/// are kept of its answer, as in libcurl; a redirect to another origin leaves it behind. Of too many cookies the oldest
/// goes, of the domain that has the most. Two engines that save to one file at a time overwrite each other's cookies.
///
///     nc_engine_set_cookies(engine, nc_slice_of("Set-Cookie: a=1; domain=example.com; path=/"), NULL);
#ifndef NETCORE_COOKIES_H
#define NETCORE_COOKIES_H

#include <netcore/engine.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// Cookies in one jar, at most.
#define NC_MAX_COOKIES 3000u
/// Cookies of one domain in a jar, at most; of one response libcurl takes 50.
#define NC_MAX_COOKIES_PER_DOMAIN 180u

/// Writes the jar's cookies, one a line, in the Netscape format.
///
/// Waits for the loop, which is never long; when the loop has ended, tells what it left. - out: appended to.
/// Returns NC_OK, NC_ERR_USAGE without a jar, NC_ERR_NO_MEMORY, NC_ERR_TOO_LARGE. Thread-safe.
NC_API NC_NODISCARD nc_status nc_engine_copy_cookies(nc_engine *engine, nc_buf *out, nc_error *NC_NULLABLE err);

/// Adds cookies to the jar: lines of the Netscape format, or "Set-Cookie: …"; an empty text removes all cookies.
///
/// Takes effect before any request that is submitted afterwards. A "Set-Cookie: …" has to name its domain. Cookies that
/// were added are lost when memory runs out on the loop; those that were removed are gone whatever happens.
/// Returns NC_OK, NC_ERR_USAGE without a jar or for a line that is no cookie (err->offset is its first byte; nothing is
/// added), NC_ERR_CLOSED once the loop has ended or is about to, NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY. Never blocks.
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_engine_set_cookies(nc_engine *engine, nc_slice text, nc_error *NC_NULLABLE err);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
