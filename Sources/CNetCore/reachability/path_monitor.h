/// The protocol of rtnetlink, without a socket: parses datagrams, keeps the table up to date, and writes the requests
/// for dumps. A dump is the kernel's list of all links, then of all addresses, then of all routes.
///
/// No length in a datagram is trusted, and malformed parts are skipped.
#ifndef NETCORE_PRIVATE_PATH_MONITOR_H
#define NETCORE_PRIVATE_PATH_MONITOR_H

#include "reachability/route_table.h"

#if defined(__linux__)
#include <linux/rtnetlink.h>

/// The length of the longest request.
enum { NC_PATH_REQUEST_BYTES = 64 };

/// Returns the driver's hint about a link. May be called for every new link.
typedef nc_path_hint (*nc_path_hint_fn)(const char *name, uint32_t index);
/// Called when the table has changed.
typedef void (*nc_path_changed_fn)(void *ctx);

typedef struct nc_path_feed {
    nc_path_table table;
    /// The socket's address. Replies to its requests have it; notifications have the address of the process that caused
    /// the change.
    uint32_t port;
    uint32_t sequence;
    /// RTM_GETLINK, RTM_GETADDR or RTM_GETROUTE: the current part of the dump; 0 is none.
    uint16_t dump_part;
    bool is_awaited;        // the request for `dump_part` was sent
    bool is_ready;          // a dump was complete
    bool must_dump;         // a new dump is necessary
    bool is_inconsistent;   // the current dump is not a consistent snapshot
    bool has_lost;          // memory ran out, so messages are missing
    bool is_paused_reading; // no dump is requested: after a refusal or a loss, until a message arrives or
                            // nc_path_feed_wake()
    int32_t refusal;        // errno of a refused dump; 0 is none
    nc_path_hint_fn hint;   // NULL for none
} nc_path_feed;

/// Initializes a feed, whose first request begins a dump.
void nc_path_feed_init(nc_path_feed *feed, uint32_t port, nc_path_hint_fn hint);
void nc_path_feed_deinit(nc_path_feed *feed);

/// Processes one datagram. After the first complete dump, calls `changed` after each message that changed the table.
void nc_path_feed_take(nc_path_feed *feed, nc_slice datagram, nc_path_changed_fn changed, void *ctx);
/// Reports that messages were lost. Abandons the current dump and requires a new one.
void nc_path_feed_overrun(nc_path_feed *feed);
/// Ends the delay before the next dump.
void nc_path_feed_wake(nc_path_feed *feed);
/// Returns true if a request must be sent.
bool nc_path_feed_is_due(const nc_path_feed *feed);
/// Writes the request that is due. Returns its length, or 0 if none is due.
size_t nc_path_feed_request(nc_path_feed *feed, uint8_t request[NC_PATH_REQUEST_BYTES]);

/// The route to an address, from the kernel's reply to RTM_GETROUTE.
typedef struct nc_path_outgoing_route {
    uint32_t index;
    uint8_t family;
    bool is_reached; // false if the kernel has no route, or one that refuses
} nc_path_outgoing_route;

/// Writes the request for the route to an address. Returns its length.
size_t nc_path_route_request(uint8_t request[NC_PATH_REQUEST_BYTES], uint8_t family, const uint8_t *address,
                             uint32_t scope, uint32_t sequence);
/// Parses the reply. Returns false if the datagram does not contain the reply to this request.
bool nc_path_route_reply(nc_slice datagram, uint32_t sequence, nc_path_outgoing_route *out);

/* --- netlink_message.c: rtnetlink messages. Pure --- */

/// Maximum number of next hops of one route.
enum { NC_PATH_MAX_NEXT_HOPS = 32 };

/// The routes of one message.
typedef struct nc_path_route_list {
    nc_path_route routes[NC_PATH_MAX_NEXT_HOPS];
    size_t count;
} nc_path_route_list;

/// Takes the next message from `datagram`. Returns false at the end, and for an invalid length.
bool nc_path_message_next(nc_slice *datagram, struct nlmsghdr *header, nc_slice *payload);

/// Parses RTM_NEWLINK or RTM_DELLINK. Returns false if it is invalid, or not about the link itself.
bool nc_path_message_link(nc_slice payload, nc_path_link *link, nc_path_lookups *lookups);
/// Parses RTM_NEWADDR or RTM_DELADDR.
bool nc_path_message_address(nc_slice payload, nc_path_address *address);
/// Parses RTM_NEWROUTE or RTM_DELROUTE. Returns false if it is not a default route.
bool nc_path_message_route(nc_slice payload, nc_path_route_list *list);
/// Parses the reply's interface, and whether its route refuses.
bool nc_path_message_route_reply(nc_slice payload, nc_path_outgoing_route *route);

#endif

#endif
