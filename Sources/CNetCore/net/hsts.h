/// The HSTS cache (RFC 6797).
///
/// libcurl keeps one per share, and each connection pool has its own share. Pools would not share entries, and each
/// would overwrite the file. So the engine has its own cache. This file knows neither transfers nor files. Confined:
/// one thread at a time.
#ifndef NETCORE_PRIVATE_HSTS_H
#define NETCORE_PRIVATE_HSTS_H

#include "http/site_counts.h"

#include <netcore/bytes.h>

/// Servers fill the list, so it has limits per site (registrable domain) too. A site at its limit loses its entry that
/// expires first. A full list evicts an expired entry, then one of the site with the most entries. A new site gets no
/// entry while no site has two. Otherwise an owner of many names could evict all others.
enum { NC_HSTS_MAX_HOSTS = 1000, NC_HSTS_MAX_PER_SITE = 200 };

typedef struct nc_strict_host nc_strict_host;

/// A zeroed struct is an empty list.
typedef struct nc_hsts {
    nc_strict_host **hosts; // sorted by name
    size_t count;
    size_t capacity;
    nc_site_counts sites;
} nc_hsts;

void nc_hsts_deinit(nc_hsts *list);

/// Processes a Strict-Transport-Security field that arrived over TLS from `authority` ("host" or "host:port"). A
/// malformed field, or one from an address, is ignored (RFC 6797, 8.1), and so is one if memory is exhausted. Returns
/// true if the list has changed.
bool nc_hsts_note(nc_hsts *list, nc_slice authority, nc_slice field, int64_t now_s);
/// Returns true if `authority` requires TLS.
bool nc_hsts_covers(const nc_hsts *list, nc_slice authority, int64_t now_s);
/// Appends an http URL as https. Port 80 becomes the default port; others are kept (RFC 6797, 8.3).
void nc_hsts_upgrade(nc_buf *out, nc_slice url);

/// Adds the entries of a file in libcurl's format, one `host "YYYYMMDD HH:MM:SS"` or `.host "unlimited"` per line. A
/// leading dot means all subdomains too. Returns NC_OK, NC_ERR_NO_MEMORY, or NC_ERR_FILE with the number of the line at
/// fault.
NC_NODISCARD nc_status nc_hsts_read(nc_hsts *list, nc_slice text, int64_t now_s, size_t *line);
/// Appends the list in that format, without expired entries.
void nc_hsts_write(const nc_hsts *list, nc_buf *out, int64_t now_s);

#endif
