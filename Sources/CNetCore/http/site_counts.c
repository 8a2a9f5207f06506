#include "http/site_counts.h"

#include "base/alloc.h"
#include "http/public_suffix.h"

#include <string.h>

void nc_site_counts_deinit(nc_site_counts *counts) {
    for (size_t i = 0; i < counts->count; i++) {
        nc_free(counts->sites[i]);
    }
    nc_free(counts->sites);
    *counts = (nc_site_counts){0};
}

static int compare(const nc_site *site, nc_slice name) {
    size_t shared = site->length < name.length ? site->length : name.length;
    int order = shared > 0 ? memcmp(site->name, name.data, shared) : 0;
    return order != 0 ? order : (site->length > name.length) - (site->length < name.length);
}

/// Returns the index of a site, or its insertion index.
static size_t find(const nc_site_counts *counts, nc_slice name, bool *is_found) {
    size_t low = 0;
    size_t high = counts->count;
    *is_found = false;
    while (low < high && !*is_found) {
        size_t middle = low + (high - low) / 2;
        int order = compare(counts->sites[middle], name);
        *is_found = order == 0;
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return high;
}

static bool grow(nc_site_counts *counts) {
    if (counts->count < counts->capacity) {
        return true;
    }
    size_t capacity = counts->capacity > 0 ? counts->capacity * 2 : 8;
    nc_site **sites = nc_realloc(counts->sites, capacity * sizeof(nc_site *));
    if (sites != NULL) {
        counts->sites = sites;
        counts->capacity = capacity;
    }
    return sites != NULL;
}

nc_site *nc_site_counts_add(nc_site_counts *counts, nc_slice host) {
    bool is_found;
    nc_slice name = nc_registrable_domain(host);
    size_t at = find(counts, name, &is_found);
    if (is_found) {
        counts->sites[at]->count++;
        return counts->sites[at];
    }
    nc_site *site = name.length <= UINT16_MAX && grow(counts) ? nc_alloc(sizeof *site + name.length) : NULL;
    if (site == NULL) {
        return NULL;
    }
    site->count = 1;
    site->length = (uint16_t)name.length;
    if (name.length > 0) {
        memcpy(site->name, name.data, name.length);
    }
    memmove(counts->sites + at + 1, counts->sites + at, (counts->count - at) * sizeof(nc_site *));
    counts->sites[at] = site;
    counts->count++;
    return site;
}

void nc_site_counts_remove(nc_site_counts *counts, nc_site *site) {
    bool is_found;
    if (--site->count > 0) {
        return;
    }
    size_t at = find(counts, nc_slice_make(site->name, site->length), &is_found);
    counts->count--;
    memmove(counts->sites + at, counts->sites + at + 1, (counts->count - at) * sizeof(nc_site *));
    nc_free(site);
}

static const nc_site *largest_of(const nc_site_counts *counts) {
    const nc_site *largest = NULL;
    for (size_t i = 0; i < counts->count; i++) {
        largest = largest == NULL || counts->sites[i]->count > largest->count ? counts->sites[i] : largest;
    }
    return largest;
}

nc_site_room nc_site_counts_make_room(const nc_site_counts *counts, nc_slice host, size_t total, nc_site_limits limits,
                                      const nc_site **victim) {
    bool is_found;
    size_t at = find(counts, nc_registrable_domain(host), &is_found);
    const nc_site *own = is_found ? counts->sites[at] : NULL;
    uint32_t own_count = is_found ? own->count : 0;
    *victim = own;
    if (own_count >= limits.per_site) {
        return NC_SITE_ROOM_OF_VICTIM;
    }
    if (total < limits.total) {
        return NC_SITE_ROOM_IS_FREE;
    }
    const nc_site *largest = largest_of(counts);
    if (own_count < largest->count) {
        *victim = largest;
    }
    return own == NULL && largest->count == 1 ? NC_SITE_ROOM_IS_REFUSED : NC_SITE_ROOM_OF_VICTIM;
}
