/// A cookie (RFC 6265bis, 5.7): its texts, its identity, and the hosts and paths that it matches.
#ifndef NETCORE_PRIVATE_COOKIE_H
#define NETCORE_PRIVATE_COOKIE_H

#include "base/list.h"
#include "text/host.h"

#include <stdatomic.h>

typedef struct nc_cookie_site nc_cookie_site;

/// A cookie. In a jar, `created` and the fields after it never change, because snapshots share cookies across threads.
typedef struct nc_cookie {
    nc_link in_site; // this and the fields up to `references` belong to the jar
    nc_link in_jar;
    nc_cookie_site *site;
    uint64_t used;          // orders cookies by their last use
    atomic_uint references; // held by the jar and by snapshots
    uint64_t created;       // orders cookies by age; a cookie that replaces another keeps its age
    int64_t expires_s;
    bool is_persistent;
    bool is_secure;
    bool is_http_only;
    bool is_host_only;
    bool is_loose; // its path ends with a slash that an older libcurl may have added: "/a/" also matches "/a"
    nc_slice domain, path, name, value; // stored after the struct
} nc_cookie;

/// The bytes that a cookie counts in addition to its texts. The other columns of its line in a cookie file are shorter.
enum { NC_COOKIE_FIXED_BYTES = 64 };

/// A list of cookies that are shared with their jar. nc_cookie_list_sort() sorts it by age.
typedef struct nc_cookie_list {
    nc_cookie **cookies;
    size_t count;
} nc_cookie_list;

/// Creates a copy of `from`, including its texts, that is in no jar. Returns NULL if memory is exhausted. The caller
/// releases it.
NC_NODISCARD nc_cookie *nc_cookie_new(const nc_cookie *from);
/// Drops a reference, and frees the cookie with its last one. NULL is allowed.
void nc_cookie_release(nc_cookie *cookie);

/// Returns true if the cookie has expired. A session cookie never does.
bool nc_cookie_has_expired(const nc_cookie *cookie, int64_t now_s);
/// Returns the size that counts against limits, in bytes.
size_t nc_cookie_bytes(const nc_cookie *cookie);
/// Returns true if storing one cookie replaces the other: they have the same name, domain, path and host-only flag.
bool nc_cookie_is_same(const nc_cookie *a, const nc_cookie *b);
/// Returns true if `old` was read from a file and differs from `received` only in the slash that an older libcurl
/// added to its path.
bool nc_cookie_is_older_form(const nc_cookie *old, const nc_cookie *received);
/// Returns true if all texts and attributes of both cookies are equal.
bool nc_cookie_is_identical(const nc_cookie *a, const nc_cookie *b);
/// Returns true if a canonical host is the domain or a subdomain (5.1.3).
bool nc_cookie_domain_matches(nc_slice host, nc_slice domain);
/// Returns true if a request's path is the cookie's or below it (5.1.4).
bool nc_cookie_path_matches(nc_slice path, const nc_cookie *cookie);
/// Returns the default path of a cookie (5.1.4) for the path of the request. The result is a part of `path`, or a
/// static "/".
nc_slice nc_cookie_default_path(nc_slice path);

/// Sorts a list by age. Pure; call from any thread.
void nc_cookie_list_sort(nc_cookie_list *list);
void nc_cookie_list_deinit(nc_cookie_list *list);

#endif
