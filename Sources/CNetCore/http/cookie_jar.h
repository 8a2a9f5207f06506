/// A cookie jar (RFC 6265bis, 5.7 and 5.8), without I/O and without a clock of its own.
///
/// Cookies are indexed by site: by the registrable domain of their host, so that a request and a Set-Cookie field look
/// at the cookies of one site alone, however many the jar has. Each site has limits in number and bytes, and so has the
/// jar. Beyond a limit the RFC's order decides: cookies that have expired, then those of sites with many cookies, then
/// all; without Secure before with it, the least recently used first.
#ifndef NETCORE_PRIVATE_COOKIE_JAR_H
#define NETCORE_PRIVATE_COOKIE_JAR_H

#include "http/cookie.h"
#include "http/set_cookie.h"

/// Limits; <netcore/cookies.h> documents them.
enum {
    NC_JAR_MAX_COOKIES = 3000,
    NC_JAR_MAX_COOKIES_PER_SITE = 180,
    NC_JAR_MAX_BYTES = 14 * 1024 * 1024,
    NC_JAR_MAX_BYTES_PER_SITE = 256 * 1024,
    NC_JAR_MAX_SENT_COOKIES = 150,
    NC_JAR_MAX_SENT_BYTES = 8190,
};

/// Where a request goes, or an answer comes from.
typedef struct nc_cookie_place {
    nc_slice host;  // canonical
    nc_slice path;  // of the URL, without its query; may be empty
    bool is_secure; // over TLS, or to this machine
    int64_t now_s;
} nc_cookie_place;

typedef struct nc_cookie_jar {
    nc_cookie_site **buckets; // NULL while there is no site
    nc_link by_use;           // nc_cookie.in_jar, the least recently used first
    nc_link large_sites;      // those with more than their share
    size_t count;
    size_t bytes;
    uint64_t last_created;
    uint64_t last_used;
    int64_t first_end_s; // no cookie expires before
    uint64_t visits;     // cookies and sites looked at: the work done so far
} nc_cookie_jar;

/// Makes an empty jar, which may not be moved. Not thread-safe: use from one thread at a time.
void nc_cookie_jar_init(nc_cookie_jar *jar);
/// Removes all cookies. Allocates nothing.
void nc_cookie_jar_clear(nc_cookie_jar *jar);
void nc_cookie_jar_deinit(nc_cookie_jar *jar);

/// Takes a Set-Cookie field of an answer from `place`. `has_changed`: set to true if the jar has; else left as it is.
///
/// A field that the rules refuse is ignored. Returns NC_OK, NC_ERR_NO_MEMORY: the jar is as it was.
NC_NODISCARD nc_status nc_cookie_jar_store(nc_cookie_jar *jar, const nc_cookie_place *place, nc_slice field,
                                           bool *has_changed);
/// Puts in a cookie that the caller trusts, and takes its reference over, whatever is returned. One that has expired
/// removes the one that it would replace. Returns NC_OK, NC_ERR_NO_MEMORY: the jar is as it was.
NC_NODISCARD nc_status nc_cookie_jar_put(nc_cookie_jar *jar, nc_cookie *cookie, int64_t now_s, bool *has_changed);

/// Appends the value of the Cookie field that a request to `place` is sent with: at most NC_JAR_MAX_SENT_COOKIES
/// cookies and NC_JAR_MAX_SENT_BYTES. `is_use`: whether the cookies count as used. See `out` for failures.
void nc_cookie_jar_append_field(nc_cookie_jar *jar, const nc_cookie_place *place, bool is_use, nc_buf *out);

/// Lists the cookies that have not expired, in no order; nc_cookie_list_sort() orders them without the jar.
/// Returns NC_OK, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_cookie_jar_list(nc_cookie_jar *jar, int64_t now_s, nc_cookie_list *out);

#endif
