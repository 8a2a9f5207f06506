/// A cookie (RFC 6265bis, 5.7): its texts, what tells it from others, and which hosts and paths it matches.
#ifndef NETCORE_PRIVATE_COOKIE_H
#define NETCORE_PRIVATE_COOKIE_H

#include "base/list.h"
#include "http/host.h"

#include <stdatomic.h>

typedef struct nc_cookie_site nc_cookie_site;

/// A cookie. Once it is in a jar, `created` and what follows never change: snapshots share cookies across threads.
typedef struct nc_cookie {
    nc_link in_site; // the jar's, like all up to `references`
    nc_link in_jar;
    nc_cookie_site *site;
    uint64_t used;          // orders cookies by their last use
    atomic_uint references; // of the jar and of snapshots
    uint64_t created;       // orders cookies by age; a cookie that replaces another takes over its age
    int64_t expires_s;
    bool is_persistent;
    bool is_secure;
    bool is_http_only;
    bool is_host_only;
    bool is_loose; // its path ends in a slash that an older libcurl may have added: "/a/" also matches "/a"
    nc_slice domain, path, name, value; // behind the struct
} nc_cookie;

/// What a cookie counts for beside its texts: more than its line in a file takes.
enum { NC_COOKIE_FIXED_BYTES = 64 };

/// Cookies in order of age, shared with the jar that they came from.
typedef struct nc_cookie_list {
    nc_cookie **cookies;
    size_t count;
} nc_cookie_list;

/// Makes a cookie that is in no jar, with copies of the texts; `from` has everything else. NULL without memory.
NC_NODISCARD nc_cookie *nc_cookie_new(const nc_cookie *from);
/// Drops a reference.
void nc_cookie_release(nc_cookie *cookie);

/// Whether its time is over. A session cookie has none.
bool nc_cookie_has_expired(const nc_cookie *cookie, int64_t now_s);
/// What it counts for against limits in bytes.
size_t nc_cookie_bytes(const nc_cookie *cookie);
/// Whether one replaces the other: name, domain, path, and whether the host alone gets it.
bool nc_cookie_is_same(const nc_cookie *a, const nc_cookie *b);
/// Whether a cookie of a file is the one that a server now sets, with the slash that an older libcurl added to its
/// path.
bool nc_cookie_is_older_form(const nc_cookie *old, const nc_cookie *answered);
/// Whether one would be saved and sent as the other.
bool nc_cookie_is_identical(const nc_cookie *a, const nc_cookie *b);
/// Whether a canonical host is the domain or below it (5.1.3).
bool nc_cookie_domain_matches(nc_slice host, nc_slice domain);
/// Whether a request's path is the cookie's or below it (5.1.4).
bool nc_cookie_path_matches(nc_slice path, const nc_cookie *cookie);
/// The path of a cookie that names none (5.1.4); within `path` or static.
nc_slice nc_cookie_default_path(nc_slice path);

/// Orders a list by age. Pure; call from any thread.
void nc_cookie_list_sort(nc_cookie_list *list);
void nc_cookie_list_deinit(nc_cookie_list *list);

#endif
