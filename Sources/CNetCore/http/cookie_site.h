/// The cookies of one site in a jar, and the table of sites.
#ifndef NETCORE_PRIVATE_COOKIE_SITE_H
#define NETCORE_PRIVATE_COOKIE_SITE_H

#include "http/cookie.h"

struct nc_cookie_site {
    nc_cookie_site *next; // in its bucket
    nc_link large;        // its link in nc_cookie_jar.large_sites
    nc_link cookies[2];   // nc_cookie.in_site, by nc_cookie.is_secure, the least recently used first
    size_t count;
    size_t bytes;
    size_t name_length;
    char name[];
};

/// Finds or creates the site of a canonical host. `buckets` may point to NULL, an empty table. NULL without memory.
NC_NODISCARD nc_cookie_site *nc_cookie_site_make(nc_cookie_site ***buckets, nc_slice host, uint64_t *visits);
/// Finds the site of a canonical host; NULL if it has no cookie.
nc_cookie_site *nc_cookie_site_find(nc_cookie_site *const *buckets, nc_slice host, uint64_t *visits);
/// Removes a site without cookies from the table and frees it.
void nc_cookie_site_free(nc_cookie_site **buckets, nc_cookie_site *site);

#endif
