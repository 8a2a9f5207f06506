/// Counts a list's entries per site, so that no site can fill it. A site is a registrable domain.
#ifndef NETCORE_PRIVATE_SITE_COUNTS_H
#define NETCORE_PRIVATE_SITE_COUNTS_H

#include <netcore/bytes.h>

typedef struct nc_site {
    uint32_t count; // entries; never 0
    uint16_t length;
    char name[];
} nc_site;

/// All zero is an empty table. Not thread-safe: use from one thread at a time.
typedef struct nc_site_counts {
    nc_site **sites; // by name
    size_t count;
    size_t capacity;
} nc_site_counts;

/// Frees the table and its sites.
void nc_site_counts_deinit(nc_site_counts *counts);

/// Counts an entry of a canonical host. Returns its site, which is valid while it has entries; NULL without memory.
NC_NODISCARD nc_site *nc_site_counts_add(nc_site_counts *counts, nc_slice host);
/// Removes an entry of the site from the count.
void nc_site_counts_remove(nc_site_counts *counts, nc_site *site);
typedef struct nc_site_limits {
    size_t total;
    uint32_t per_site;
} nc_site_limits;

typedef enum nc_site_room {
    NC_SITE_ROOM_IS_FREE,
    NC_SITE_ROOM_OF_VICTIM, // an entry of the victim must be removed
    NC_SITE_ROOM_IS_REFUSED,
} nc_site_room;

/// Decides which site loses an entry for one more entry of a canonical host. `victim` is the host's own site if that
/// has reached its limit or has most entries, otherwise the site with most entries. The entry is refused if every site
/// has one entry and the host's site has none. Otherwise an owner of many names could evict other sites.
nc_site_room nc_site_counts_make_room(const nc_site_counts *counts, nc_slice host, size_t total, nc_site_limits limits,
                                      const nc_site **victim);

#endif
