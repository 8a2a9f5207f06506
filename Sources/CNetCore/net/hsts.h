/// Hosts that asked to be spoken to over TLS alone (RFC 6797).
///
/// libcurl keeps such a list in a share, and each lane has a share of its own: what one lane heard, the others would
/// not know, and each would write the file as it sees it. So the list is the engine's. Nothing here knows of transfers
/// or files. Confined: one thread at a time.
#ifndef NETCORE_PRIVATE_HSTS_H
#define NETCORE_PRIVATE_HSTS_H

#include "http/site_counts.h"

#include <netcore/bytes.h>

/// Servers fill the list, so its limits are per site (registrable domain) as well. A site that has reached its limit
/// loses the entry of its own that ends first. In a full list an entry that has ended gives way, then one of the site
/// that has most. A site without an entry does not get one as long as no site has two: otherwise whoever owns many
/// names would push the others out.
enum { NC_HSTS_MAX_HOSTS = 1000, NC_HSTS_MAX_PER_SITE = 200 };

typedef struct nc_strict_host nc_strict_host;

/// All zero is an empty list.
typedef struct nc_hsts {
    nc_strict_host **hosts; // by name
    size_t count;
    size_t capacity;
    nc_site_counts sites;
} nc_hsts;

void nc_hsts_deinit(nc_hsts *list);

/// Takes in a Strict-Transport-Security field that came over TLS from `authority` ("host" or "host:port"). One that is
/// malformed, or from an address, is ignored (RFC 6797, 8.1), as one for which there is no memory is. True when the
/// list has changed.
bool nc_hsts_note(nc_hsts *list, nc_slice authority, nc_slice field, int64_t now_s);
/// Whether `authority` is to be spoken to over TLS alone.
bool nc_hsts_covers(const nc_hsts *list, nc_slice authority, int64_t now_s);
/// Appends an http URL as https; port 80 becomes the default port, others stay (RFC 6797, 8.3).
void nc_hsts_upgrade(nc_buf *out, nc_slice url);

/// Adds what a file says, one `host "YYYYMMDD HH:MM:SS"` or `.host "unlimited"` a line, as libcurl writes them; a dot
/// stands for "and all below". NC_OK, NC_ERR_NO_MEMORY, or NC_ERR_FILE with the number of the line at fault.
NC_NODISCARD nc_status nc_hsts_read(nc_hsts *list, nc_slice text, int64_t now_s, size_t *line);
/// Appends the list in that form, what has ended left out.
void nc_hsts_write(const nc_hsts *list, nc_buf *out, int64_t now_s);

#endif
