/// rtnetlink without a socket: datagrams in, requests for dumps out, and the table between them.
///
/// Nothing here trusts a length: what is malformed is passed over.
#ifndef NETCORE_PRIVATE_PATH_FEED_H
#define NETCORE_PRIVATE_PATH_FEED_H

#include "net/path_kind.h"
#include "net/path_table.h"

#if defined(__linux__)

/// Room for the longest request.
enum { NC_PATH_REQUEST_BYTES = 64 };

/// What a driver says of a link; may be asked for every new link.
typedef nc_path_hint (*nc_path_hint_fn)(const char *name, uint32_t index);
/// The table has changed.
typedef void (*nc_path_changed_fn)(void *ctx);

typedef struct nc_path_feed {
    nc_path_table table;
    /// Our address: replies to our own requests carry it, and news of what others did carries theirs.
    uint32_t port;
    uint32_t sequence;
    /// The RTM_GET message whose reply is awaited; 0 is none.
    uint16_t asked;
    bool is_awaited;      // its request was sent
    bool is_ready;        // a dump has ended
    bool must_dump;       // at the next request
    bool is_torn;         // the dump under way is not of one moment
    bool has_lost;        // memory ran out: what was told then is missing
    bool is_resting;      // after a refusal or a loss, until something comes or some time has passed
    int32_t refusal;      // the errno with which a dump was refused; 0 is none
    nc_path_hint_fn hint; // NULL: nobody asks
} nc_path_feed;

/// A feed that has to dump first.
void nc_path_feed_init(nc_path_feed *feed, uint32_t port, nc_path_hint_fn hint);
void nc_path_feed_deinit(nc_path_feed *feed);

/// Takes one datagram; tells after each message of it that changed the table, once the first dump is complete.
void nc_path_feed_take(nc_path_feed *feed, nc_slice datagram, nc_path_changed_fn changed, void *ctx);
/// Messages were lost: everything must be asked for again.
void nc_path_feed_overrun(nc_path_feed *feed);
/// Some time has passed.
void nc_path_feed_wake(nc_path_feed *feed);
/// Whether a request should be sent.
bool nc_path_feed_is_due(const nc_path_feed *feed);
/// Writes the request that is due and returns its length, 0 when none is.
size_t nc_path_feed_request(nc_path_feed *feed, uint8_t request[NC_PATH_REQUEST_BYTES]);

/// One way to an address, as the kernel's answer to RTM_GETROUTE says.
typedef struct nc_path_way {
    uint32_t index;
    uint8_t family;
    bool is_reached; // false: refused, or no way
} nc_path_way;

/// Writes the question how an address is reached; returns its length.
size_t nc_path_way_question(uint8_t request[NC_PATH_REQUEST_BYTES], uint8_t family, const uint8_t *address,
                            uint32_t scope, uint32_t sequence);
/// Reads the answer; false when the datagram holds none to this question.
bool nc_path_way_answer(nc_slice datagram, uint32_t sequence, nc_path_way *out);

#endif

#endif
