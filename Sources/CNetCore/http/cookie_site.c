#include "http/cookie_site.h"

#include "base/alloc.h"
#include "base/fnv.h"
#include "http/public_suffix.h"

#include <string.h>

enum { BUCKETS = 512 };

static size_t bucket_of(nc_slice name) {
    return nc_fnv_fold(nc_fnv_add(NC_FNV_START, name)) % BUCKETS;
}

static bool is_named(const nc_cookie_site *site, nc_slice name) {
    return site->name_length == name.length && memcmp(site->name, name.data, name.length) == 0;
}

nc_cookie_site *nc_cookie_site_find(nc_cookie_site *const *buckets, nc_slice host, uint64_t *visits) {
    if (buckets == NULL || host.length == 0) {
        return NULL;
    }
    nc_slice name = nc_registrable_domain(host);
    nc_cookie_site *site = buckets[bucket_of(name)];
    while (site != NULL && !is_named(site, name)) {
        ++*visits;
        site = site->next;
    }
    return site;
}

nc_cookie_site *nc_cookie_site_make(nc_cookie_site ***buckets, nc_slice host, uint64_t *visits) {
    nc_cookie_site *site = nc_cookie_site_find(*buckets, host, visits);
    if (site != NULL) {
        return site;
    }
    if (*buckets == NULL && (*buckets = nc_alloc_zeroed(BUCKETS, sizeof **buckets)) == NULL) {
        return NULL;
    }
    nc_slice name = nc_registrable_domain(host);
    site = nc_alloc_zeroed(1, sizeof *site + name.length);
    if (site == NULL) {
        return NULL;
    }
    nc_cookie_site **bucket = &(*buckets)[bucket_of(name)];
    nc_list_init(&site->cookies[false]);
    nc_list_init(&site->cookies[true]);
    memcpy(site->name, name.data, name.length);
    site->name_length = name.length;
    site->next = *bucket;
    *bucket = site;
    return site;
}

void nc_cookie_site_free(nc_cookie_site **buckets, nc_cookie_site *site) {
    nc_cookie_site **at = &buckets[bucket_of(nc_slice_make(site->name, site->name_length))];
    while (*at != site) {
        at = &(*at)->next;
    }
    *at = site->next;
    nc_list_remove(&site->large);
    nc_free(site);
}
