/// A cookie jar (RFC 6265bis, 5.7 and 5.8), without I/O. The caller passes the time.
///
/// Cookies are indexed by site, the registrable domain of their host. A request or a Set-Cookie field therefore reads
/// one site's cookies only. Each site has limits in number and bytes, and so has the jar. Eviction follows the RFC's
/// order: first expired cookies, then those of sites with many cookies, then all. Within these, cookies without Secure
/// come first, the least recently used before others.
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

/// The target of a request, or the source of a response.
typedef struct nc_cookie_place {
    nc_slice host;  // canonical
    nc_slice path;  // path of the URL, without its query; may be empty
    bool is_secure; // over TLS, or to this machine
    int64_t now_s;
} nc_cookie_place;

typedef struct nc_cookie_jar {
    nc_cookie_site **buckets; // NULL while there is no site
    nc_link by_use;           // nc_cookie.in_jar, the least recently used first
    nc_link large_sites;      // sites with more than their share
    size_t count;
    size_t bytes;
    uint64_t last_created;
    uint64_t last_used;
    int64_t first_end_s; // no cookie expires before
    uint64_t visits;     // visited cookies and sites, as a measure of the work
} nc_cookie_jar;

/// Creates an empty jar, which must not be moved. Not thread-safe: use from one thread at a time.
void nc_cookie_jar_init(nc_cookie_jar *jar);
/// Removes all cookies. Allocates nothing.
void nc_cookie_jar_clear(nc_cookie_jar *jar);
void nc_cookie_jar_deinit(nc_cookie_jar *jar);

/// Stores a Set-Cookie field of a response from `place`. Sets `has_changed` to true if the jar changes; otherwise it is
/// unchanged.
///
/// Ignores a field that the rules refuse. Returns NC_OK, or NC_ERR_NO_MEMORY with an unchanged jar.
NC_NODISCARD nc_status nc_cookie_jar_store(nc_cookie_jar *jar, const nc_cookie_place *place, nc_slice field,
                                           bool *has_changed);
/// Stores a trusted cookie, and takes over its reference even on failure. An expired one removes the cookie that it
/// would replace. Returns NC_OK, or NC_ERR_NO_MEMORY with an unchanged jar.
NC_NODISCARD nc_status nc_cookie_jar_put(nc_cookie_jar *jar, nc_cookie *cookie, int64_t now_s, bool *has_changed);

/// Appends the value of the Cookie field of a request to `place`: at most NC_JAR_MAX_SENT_COOKIES cookies and
/// NC_JAR_MAX_SENT_BYTES. With `is_use` the cookies count as used. `out` has the errors.
void nc_cookie_jar_append_field(nc_cookie_jar *jar, const nc_cookie_place *place, bool is_use, nc_buf *out);

/// Lists the cookies that have not expired, in no order. nc_cookie_list_sort() sorts them without the jar.
/// Returns NC_OK, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_cookie_jar_list(nc_cookie_jar *jar, int64_t now_s, nc_cookie_list *out);

#endif
