/// Where else an origin may be had (RFC 7838).
///
/// libcurl keeps such a list in each handle: what one heard the others would not know, each would write the file as it
/// sees it, and it reads and writes that on the loop. So the list is the engine's. Nothing here knows of transfers or
/// files. Confined: one thread at a time.
#ifndef NETCORE_PRIVATE_ALT_SVC_H
#define NETCORE_PRIVATE_ALT_SVC_H

#include "http/site_counts.h"
#include "net/list_text.h"

#include <netcore/bytes.h>

enum {
    NC_ALT_SVC_HOST_BYTES = 256,
    NC_ALT_SVC_MAX_EACH = 8,     // of an origin's, those that it likes best
    NC_ALT_SVC_MAX_TOTAL = 1000, // what gives way is chosen as in the list of HSTS
    NC_ALT_SVC_MAX_PER_SITE = 200,
    NC_ALT_SVC_AVOIDED_S = 300, // how long one that failed is not tried
};

/// Protocols, as bits.
typedef enum nc_alt_protocol { NC_ALT_HTTP_1_1 = 1, NC_ALT_HTTP_2 = 2, NC_ALT_HTTP_3 = 4 } nc_alt_protocol;

/// Host and port of an https URL: a name in lower case without a final dot, or an address, in brackets if it is IPv6.
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
    nc_site *site;                  // of an item of the list: that of the origin
    char stamp[NC_LIST_DATE_BYTES]; // of an item of the list: its end as text, for the file
} nc_alternative;

/// All zero is an empty list.
typedef struct nc_alt_svc {
    nc_alternative **items; // by origin; those of an origin in its order
    size_t count;
    size_t capacity;
    nc_site_counts sites;
} nc_alt_svc;

void nc_alt_svc_deinit(nc_alt_svc *list);

/// Writes a host and port down as they are compared. False for what is neither name nor address.
bool nc_alt_place_make(nc_alt_place *out, nc_slice host, uint16_t port);

/// Takes in an Alt-Svc field (several are joined by commas) that came over TLS from `origin`: what it says replaces
/// what was known. A malformed one is ignored, as one for which there is no memory is; protocols that nobody here
/// speaks are left out. True when the list has changed: an end that moves by less than a minute, and by less than a
/// quarter of what is left, is no change.
bool nc_alt_svc_note(nc_alt_svc *list, const nc_alt_place *origin, nc_slice field, int64_t now_s);
/// The first alternative of an origin that speaks one of `protocols`; NULL for none.
const nc_alternative *nc_alt_svc_find(const nc_alt_svc *list, const nc_alt_place *origin, uint8_t protocols,
                                      int64_t now_s);
/// It did not do: it is not found for a while.
void nc_alt_svc_avoid(nc_alt_svc *list, const nc_alternative *one, int64_t now_s);

/// Adds what a file says, one `h2 origin.example 443 h2 other.example 8443 "YYYYMMDD HH:MM:SS" 0 0` a line, as libcurl
/// writes them: protocol, host and port of the origin and of the alternative, the end, persist, priority. NC_OK,
/// NC_ERR_NO_MEMORY, or NC_ERR_FILE with the number of the line at fault.
NC_NODISCARD nc_status nc_alt_svc_read(nc_alt_svc *list, nc_slice text, int64_t now_s, size_t *line);
/// Appends the list in that form, what has ended left out.
void nc_alt_svc_write(const nc_alt_svc *list, nc_buf *out, int64_t now_s);

#endif
