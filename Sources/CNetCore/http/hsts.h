/// The HSTS cache (RFC 6797).
///
/// libcurl keeps one cache per share handle, and each connection pool has its own share handle. Pools would not share
/// entries, and each would overwrite the file. So the engine has its own cache. The functions here do no I/O and do not
/// depend on transfers. Confined: one thread at a time.
#ifndef NETCORE_PRIVATE_HSTS_H
#define NETCORE_PRIVATE_HSTS_H

#include "http/host_list.h"

#include <netcore/bytes.h>

/// Servers add entries to the list, so it also has a limit per site (registrable domain). A site at its limit loses its
/// entry that expires first. A full list loses an expired entry. If it has none, the site with the most entries loses
/// one. If no site has two entries, a new site is refused. Otherwise an owner of many names could evict all others.
enum { NC_HSTS_MAX_HOSTS = 1000, NC_HSTS_MAX_PER_SITE = 200 };

/// Hosts, sorted by name. A zeroed struct is an empty list.
typedef nc_host_list nc_hsts;

void nc_hsts_deinit(nc_hsts *list);

/// Processes a Strict-Transport-Security field that arrived over TLS from the host `from`, which need not be canonical.
/// The field is ignored if it is malformed, if the host is an address (RFC 6797, 8.1), or if memory is exhausted.
/// Returns true if the list has changed.
bool nc_hsts_record(nc_hsts *list, nc_slice from, nc_slice field, int64_t now_s);
/// Returns true if a host requires TLS by its own entry or that of a parent domain. `host` need not be canonical.
bool nc_hsts_covers(const nc_hsts *list, nc_slice host, int64_t now_s);
/// Appends an http URL with the scheme https. Port 80 is removed, and so becomes the default port; other ports are kept
/// (RFC 6797, 8.3).
void nc_hsts_upgrade(nc_buf *out, nc_slice url);

/// Adds the entries of a file in libcurl's format, one `host "YYYYMMDD HH:MM:SS"` or `.host "unlimited"` per line. A
/// leading dot means all subdomains too. Returns NC_OK, NC_ERR_NO_MEMORY, or NC_ERR_FILE with the number of the line at
/// fault.
NC_NODISCARD nc_status nc_hsts_read(nc_hsts *list, nc_slice text, int64_t now_s, size_t *line);
/// Appends the list in the format of nc_hsts_read(), without expired entries.
void nc_hsts_write(const nc_hsts *list, nc_buf *out, int64_t now_s);

#endif
