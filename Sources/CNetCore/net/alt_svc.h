/// The Alt-Svc cache (RFC 7838).
///
/// libcurl keeps one per handle: handles would not share entries, each would overwrite the file, and file access would
/// block the event loop. So the engine has its own. This file knows neither transfers nor files. Confined: one thread
/// at a time.
#ifndef NETCORE_PRIVATE_ALT_SVC_H
#define NETCORE_PRIVATE_ALT_SVC_H

#include "http/site_counts.h"
#include "net/list_text.h"

#include <netcore/bytes.h>

enum {
    NC_ALT_SVC_HOST_BYTES = 256,
    NC_ALT_SVC_MAX_EACH = 8,     // per origin, in its order of preference
    NC_ALT_SVC_MAX_TOTAL = 1000, // eviction works as in the HSTS cache
    NC_ALT_SVC_MAX_PER_SITE = 200,
    NC_ALT_SVC_AVOIDED_S = 300, // how long a failed alternative is not tried
};

/// Protocols as bits.
typedef enum nc_alt_protocol { NC_ALT_HTTP_1_1 = 1, NC_ALT_HTTP_2 = 2, NC_ALT_HTTP_3 = 4 } nc_alt_protocol;

/// Host and port of an https URL: a name in lower case without final dot, or an address, in brackets if it is IPv6.
typedef struct nc_alt_place {
    char host[NC_ALT_SVC_HOST_BYTES];
    uint16_t port;
} nc_alt_place;

typedef struct nc_alternative {
    nc_alt_place origin;
    nc_alt_place place;
    uint8_t protocol; // nc_alt_protocol
    bool is_persistent;
    int64_t until_s;
    int64_t avoided_until_s;
    nc_site *site;                  // for list items: the origin's site
    char stamp[NC_LIST_DATE_BYTES]; // for list items: the expiry as text, for the file
} nc_alternative;

/// A zeroed struct is an empty list.
typedef struct nc_alt_svc {
    nc_alternative **items; // grouped by origin, in the origin's order
    size_t count;
    size_t capacity;
    nc_site_counts sites;
} nc_alt_svc;

void nc_alt_svc_deinit(nc_alt_svc *list);

/// Normalizes a host and port for comparison. Returns false for neither a name nor an address.
bool nc_alt_place_make(nc_alt_place *out, nc_slice host, uint16_t port);

/// Processes an Alt-Svc field (several are joined by commas) that arrived over TLS from `origin`. Its alternatives
/// replace the stored ones. A malformed field is ignored, and so is one if memory is exhausted. Unsupported protocols
/// are skipped.
///
/// Returns true if the list has changed. A shift of the expiry by less than a minute and less than a quarter of the
/// remaining time is no change.
bool nc_alt_svc_note(nc_alt_svc *list, const nc_alt_place *origin, nc_slice field, int64_t now_s);
/// Returns the first alternative of an origin for one of `protocols`, or NULL.
const nc_alternative *nc_alt_svc_find(const nc_alt_svc *list, const nc_alt_place *origin, uint8_t protocols,
                                      int64_t now_s);
/// Marks an alternative as failed: it is not found for a while.
void nc_alt_svc_avoid(nc_alt_svc *list, const nc_alternative *one, int64_t now_s);

/// Adds the entries of a file in libcurl's format, one per line: `h2 origin.example 443 h2 other.example 8443 "YYYYMMDD
/// HH:MM:SS" 0 0`. The columns are protocol, host and port of the origin and of the alternative, expiry, persist,
/// priority.
///
/// Returns NC_OK, NC_ERR_NO_MEMORY, or NC_ERR_FILE with the number of the line at fault.
NC_NODISCARD nc_status nc_alt_svc_read(nc_alt_svc *list, nc_slice text, int64_t now_s, size_t *line);
/// Appends the list in that format, without expired entries.
void nc_alt_svc_write(const nc_alt_svc *list, nc_buf *out, int64_t now_s);

#endif
