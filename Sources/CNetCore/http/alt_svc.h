/// The Alt-Svc cache (RFC 7838).
///
/// libcurl keeps one cache per handle. Its handles would not share entries, each would overwrite the file, and file
/// access would block the event loop. So the engine has its own cache. The functions here do no I/O and do not depend
/// on transfers. Confined: one thread at a time.
#ifndef NETCORE_PRIVATE_ALT_SVC_H
#define NETCORE_PRIVATE_ALT_SVC_H

#include "http/host_list.h"

#include <netcore/bytes.h>

enum {
    NC_ALT_SVC_HOST_BYTES = 256,
    NC_ALT_SVC_MAX_EACH = 8,     // alternatives per origin; the first ones of its field are kept
    NC_ALT_SVC_MAX_TOTAL = 1000, // eviction works as in the HSTS cache
    NC_ALT_SVC_MAX_PER_SITE = 200,
    NC_ALT_SVC_AVOIDED_S = 300, // for this time a failed alternative is not tried again
};

/// Protocols as bits.
typedef enum nc_alt_protocol { NC_ALT_HTTP_1_1 = 1, NC_ALT_HTTP_2 = 2, NC_ALT_HTTP_3 = 4 } nc_alt_protocol;

/// Host and port of an https URL: a name in lower case without final dot, or an address, in brackets if it is IPv6.
typedef struct nc_alt_svc_endpoint {
    char host[NC_ALT_SVC_HOST_BYTES];
    uint16_t port;
} nc_alt_svc_endpoint;

typedef struct nc_alternative {
    nc_host_entry entry;
    nc_alt_svc_endpoint origin;
    nc_alt_svc_endpoint endpoint;
    uint8_t protocol; // nc_alt_protocol
    bool is_persistent;
    int64_t avoided_until_s;
} nc_alternative;

/// Alternatives, grouped by origin. Those of one origin are in the order of its field, which is its order of
/// preference. A zeroed struct is an empty list.
typedef nc_host_list nc_alt_svc;

/// Returns an alternative of the list.
static inline nc_alternative *nc_alt_svc_at(const nc_alt_svc *list, size_t index) {
    return (nc_alternative *)list->entries[index];
}

void nc_alt_svc_deinit(nc_alt_svc *list);

/// Normalizes a host and port for comparison. Returns false if `host` is neither a name nor an address, if it has an
/// IPv6 zone, or if `port` is 0.
bool nc_alt_svc_endpoint_make(nc_alt_svc_endpoint *out, nc_slice host, uint16_t port);

/// Processes an Alt-Svc field (several are joined by commas) that arrived over TLS from `origin`. Its alternatives
/// replace the stored ones. A malformed field is ignored. If memory is exhausted, some alternatives are not stored.
/// Alternatives with unsupported protocols are skipped.
///
/// Returns true if the list has changed. If the expiry moves by less than a minute and by less than a quarter of the
/// remaining time, the list is not changed.
bool nc_alt_svc_record(nc_alt_svc *list, const nc_alt_svc_endpoint *origin, nc_slice field, int64_t now_s);
/// Returns the origin's first alternative with one of `protocols` that has neither expired nor failed recently. Returns
/// NULL if there is none.
const nc_alternative *nc_alt_svc_find(const nc_alt_svc *list, const nc_alt_svc_endpoint *origin, uint8_t protocols,
                                      int64_t now_s);
/// Returns true if the alternative has the origin's own host and port.
bool nc_alt_svc_is_at_origin(const nc_alternative *one);
/// Returns true if the origin has an alternative with one of `protocols` that failed recently.
bool nc_alt_svc_is_avoided(const nc_alt_svc *list, const nc_alt_svc_endpoint *origin, uint8_t protocols, int64_t now_s);
/// Marks an alternative as failed. nc_alt_svc_find() skips it for NC_ALT_SVC_AVOIDED_S seconds.
void nc_alt_svc_avoid(nc_alt_svc *list, const nc_alternative *one, int64_t now_s);

/// Adds the entries of a file in libcurl's format, one per line: `h2 origin.example 443 h2 other.example 8443 "YYYYMMDD
/// HH:MM:SS" 0 0`. The columns are protocol, host and port of the origin and of the alternative, expiry, persist,
/// priority.
///
/// Returns NC_OK, NC_ERR_NO_MEMORY, or NC_ERR_FILE with the number of the line at fault.
NC_NODISCARD nc_status nc_alt_svc_read(nc_alt_svc *list, nc_slice text, int64_t now_s, size_t *line);
/// Appends the list in the format of nc_alt_svc_read(), without expired entries.
void nc_alt_svc_write(const nc_alt_svc *list, nc_buf *out, int64_t now_s);

#endif
