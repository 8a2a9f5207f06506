/// A cookie jar (RFC 6265bis, 5.7 and 5.8), without I/O. The caller passes the time.
///
/// Cookies are indexed by site, which is the registrable domain of their host. So a request or a Set-Cookie field
/// only visits the cookies of one site. The jar and each site have limits for the number of cookies and for their
/// bytes. Eviction follows the RFC's order: first expired cookies, then those of sites with many cookies, then all. In
/// a site, cookies without Secure are evicted before others. Of these, the least recently used is evicted first.
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
typedef struct nc_cookie_context {
    nc_slice host;  // canonical
    nc_slice path;  // path of the URL, without its query; may be empty
    bool is_secure; // over TLS, or to this machine
    int64_t now_s;
} nc_cookie_context;

typedef struct nc_cookie_jar {
    nc_cookie_site **buckets; // NULL while there is no site
    nc_link by_use;           // list of nc_cookie.in_jar; the least recently used cookie is first
    nc_link large_sites;      // sites with many cookies or bytes; a full jar evicts from them first
    size_t count;
    size_t bytes;
    uint64_t last_created;
    uint64_t last_used;
    int64_t first_end_s; // no cookie expires before this time
    uint64_t visits;     // number of visited cookies and sites, with which tests measure the work
} nc_cookie_jar;

/// Creates an empty jar, which must not be moved. Not thread-safe: use from one thread at a time.
void nc_cookie_jar_init(nc_cookie_jar *jar);
/// Removes all cookies. Allocates nothing.
void nc_cookie_jar_clear(nc_cookie_jar *jar);
void nc_cookie_jar_deinit(nc_cookie_jar *jar);

/// Stores the cookie of a Set-Cookie field. `context` describes the source of the response. If the jar changes, sets
/// `has_changed` to true; otherwise leaves `has_changed` as it is.
///
/// A field that violates the RFC's rules is ignored. Returns NC_OK, or NC_ERR_NO_MEMORY if the cookie was not stored.
NC_NODISCARD nc_status nc_cookie_jar_store(nc_cookie_jar *jar, const nc_cookie_context *context, nc_slice field,
                                           bool *has_changed);
/// Stores a trusted cookie, without the checks of nc_cookie_jar_store(). Takes over the reference to the cookie, even
/// on failure. An expired cookie is not stored, but removes the cookie that it would replace. Returns NC_OK, or
/// NC_ERR_NO_MEMORY if the cookie was not stored.
NC_NODISCARD nc_status nc_cookie_jar_put(nc_cookie_jar *jar, nc_cookie *cookie, int64_t now_s, bool *has_changed);

/// Appends the value of the Cookie field for a request to the target in `context`: at most NC_JAR_MAX_SENT_COOKIES
/// cookies and NC_JAR_MAX_SENT_BYTES. If `is_use` is true, the cookies count as used. The status of `out` shows a
/// failure.
void nc_cookie_jar_append_field(nc_cookie_jar *jar, const nc_cookie_context *context, bool is_use, nc_buf *out);

/// Lists the cookies that have not expired, in no particular order. nc_cookie_list_sort() sorts the list and does not
/// need the jar. Returns NC_OK, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_cookie_jar_list(nc_cookie_jar *jar, int64_t now_s, nc_cookie_list *out);

/* --- as text --- */

/// The position of a malformed line.
typedef struct nc_cookie_fault {
    size_t line;   // from 1
    size_t offset; // of the line's first byte
} nc_cookie_fault;

/// Returns true if each line is a cookie, a comment or empty. If `allows_fields` is true, a line can also be a
/// "Set-Cookie: …" field with a domain. Otherwise returns false and sets `fault` to the first malformed line.
bool nc_cookie_lines_are_good(nc_slice text, bool allows_fields, nc_cookie_fault *fault);

/// Removes the text up to the end of the next line with a cookie from `rest`, and sets `line` to that line. Returns
/// false at the end.
bool nc_cookie_lines_next(nc_slice *line, nc_slice *rest);

/// Stores the cookie of a valid line in a jar. Returns NC_OK, or NC_ERR_NO_MEMORY with an unchanged jar.
///
/// Skips a cookie that no server could set or receive. Such a cookie has no name, is too long, has a control byte or a
/// semicolon, or violates the conditions of its prefix.
NC_NODISCARD nc_status nc_cookie_lines_put(nc_cookie_jar *jar, nc_slice line, int64_t now_s, bool *has_changed);

/// Appends a cookie as a line.
void nc_cookie_lines_append(nc_buf *out, const nc_cookie *cookie);

#endif
