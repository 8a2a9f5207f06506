/// How many entries of a list each site has, so that no site can fill it. A site is a registrable domain.
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

/// Frees the table; its sites are invalid then.
void nc_site_counts_deinit(nc_site_counts *counts);

/// Counts an entry of a canonical host. Returns its site, which stays as long as it has entries; NULL without memory.
NC_NODISCARD nc_site *nc_site_counts_add(nc_site_counts *counts, nc_slice host);
/// Counts an entry of the site less.
void nc_site_counts_remove(nc_site_counts *counts, nc_site *site);
typedef struct nc_site_limits {
    size_t total;
    uint32_t per_site;
} nc_site_limits;

typedef enum nc_site_room {
    NC_SITE_ROOM_IS_FREE,
    NC_SITE_ROOM_OF_VICTIM, // an entry of the victim has to go
    NC_SITE_ROOM_IS_REFUSED,
} nc_site_room;

/// Decides where the room for one more entry of a canonical host comes from: `victim` is the host's own site where that
/// has reached its limit or has most entries, otherwise the site that has most. Refused where every site has one entry
/// and the host's site has none: otherwise the owner of many names would push other sites out.
nc_site_room nc_site_counts_make_room(const nc_site_counts *counts, nc_slice host, size_t total, nc_site_limits limits,
                                      const nc_site **victim);

#endif
