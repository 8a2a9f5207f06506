/// rtnetlink without a socket: datagrams in, requests for dumps out, and the table between them.
///
/// No length is trusted: malformed parts are skipped.
#ifndef NETCORE_PRIVATE_PATH_FEED_H
#define NETCORE_PRIVATE_PATH_FEED_H

#include "net/path_kind.h"
#include "net/path_table.h"

#if defined(__linux__)

/// Room for the longest request.
enum { NC_PATH_REQUEST_BYTES = 64 };

/// Returns a driver's hint about a link. May be called for every new link.
typedef nc_path_hint (*nc_path_hint_fn)(const char *name, uint32_t index);
/// Called when the table has changed.
typedef void (*nc_path_changed_fn)(void *ctx);

typedef struct nc_path_feed {
    nc_path_table table;
    /// The socket's address. Replies to its requests carry it; notifications carry the address of their cause.
    uint32_t port;
    uint32_t sequence;
    /// The RTM_GET message whose reply is expected; 0 is none.
    uint16_t asked;
    bool is_awaited;      // its request was sent
    bool is_ready;        // a dump has ended
    bool must_dump;       // at the next request
    bool is_torn;         // the current dump is not a consistent snapshot
    bool has_lost;        // memory ran out, so messages are missing
    bool is_resting;      // after a refusal or a loss, until a message arrives or some time has passed
    int32_t refusal;      // errno of a refused dump; 0 is none
    nc_path_hint_fn hint; // NULL for none
} nc_path_feed;

/// Initializes a feed, which must dump first.
void nc_path_feed_init(nc_path_feed *feed, uint32_t port, nc_path_hint_fn hint);
void nc_path_feed_deinit(nc_path_feed *feed);

/// Processes one datagram. After the first complete dump, calls `changed` after each message that changed the table.
void nc_path_feed_take(nc_path_feed *feed, nc_slice datagram, nc_path_changed_fn changed, void *ctx);
/// Messages were lost: everything must be requested again.
void nc_path_feed_overrun(nc_path_feed *feed);
/// Some time has passed.
void nc_path_feed_wake(nc_path_feed *feed);
/// Returns true if a request must be sent.
bool nc_path_feed_is_due(const nc_path_feed *feed);
/// Writes the request that is due. Returns its length, 0 if none is due.
size_t nc_path_feed_request(nc_path_feed *feed, uint8_t request[NC_PATH_REQUEST_BYTES]);

/// One route to an address, from the kernel's reply to RTM_GETROUTE.
typedef struct nc_path_way {
    uint32_t index;
    uint8_t family;
    bool is_reached; // false: refused, or no route
} nc_path_way;

/// Writes the request for the route to an address. Returns its length.
size_t nc_path_way_question(uint8_t request[NC_PATH_REQUEST_BYTES], uint8_t family, const uint8_t *address,
                            uint32_t scope, uint32_t sequence);
/// Parses the reply. Returns false if the datagram has none to this request.
bool nc_path_way_answer(nc_slice datagram, uint32_t sequence, nc_path_way *out);

#endif

#endif
