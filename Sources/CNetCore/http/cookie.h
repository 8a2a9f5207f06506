/// A cookie (RFC 6265bis, 5.7): its texts, its identity, and the hosts and paths that it matches.
#ifndef NETCORE_PRIVATE_COOKIE_H
#define NETCORE_PRIVATE_COOKIE_H

#include "base/list.h"
#include "http/host.h"

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

/// The size of a cookie in addition to its texts: more than the rest of its line in a file.
enum { NC_COOKIE_FIXED_BYTES = 64 };

/// Cookies by age, shared with their jar.
typedef struct nc_cookie_list {
    nc_cookie **cookies;
    size_t count;
} nc_cookie_list;

/// Creates a cookie that is in no jar, with copies of the texts and the other fields of `from`. NULL without memory.
NC_NODISCARD nc_cookie *nc_cookie_new(const nc_cookie *from);
/// Drops a reference.
void nc_cookie_release(nc_cookie *cookie);

/// Returns true if the cookie has expired. A session cookie never does.
bool nc_cookie_has_expired(const nc_cookie *cookie, int64_t now_s);
/// Returns the size that counts against limits, in bytes.
size_t nc_cookie_bytes(const nc_cookie *cookie);
/// Returns true if one replaces the other: same name, domain, path and host-only flag.
bool nc_cookie_is_same(const nc_cookie *a, const nc_cookie *b);
/// Returns true if `old`, from a file, is `answered` with the slash that an older libcurl added to its path.
bool nc_cookie_is_older_form(const nc_cookie *old, const nc_cookie *answered);
/// Returns true if both would be saved and sent in the same way.
bool nc_cookie_is_identical(const nc_cookie *a, const nc_cookie *b);
/// Returns true if a canonical host is the domain or a subdomain (5.1.3).
bool nc_cookie_domain_matches(nc_slice host, nc_slice domain);
/// Returns true if a request's path is the cookie's or below it (5.1.4).
bool nc_cookie_path_matches(nc_slice path, const nc_cookie *cookie);
/// Returns the default path of a cookie (5.1.4), within `path` or static.
nc_slice nc_cookie_default_path(nc_slice path);

/// Sorts a list by age. Pure; call from any thread.
void nc_cookie_list_sort(nc_cookie_list *list);
void nc_cookie_list_deinit(nc_cookie_list *list);

#endif
