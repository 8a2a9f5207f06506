/// Parses rtnetlink messages. Pure.
#ifndef NETCORE_PRIVATE_PATH_MESSAGE_H
#define NETCORE_PRIVATE_PATH_MESSAGE_H

#include "net/path_feed.h"

#if defined(__linux__)
#include <linux/rtnetlink.h>

/// Maximum number of next hops of one route.
enum { NC_PATH_MAX_WAYS = 32 };

/// The routes of one message.
typedef struct nc_path_ways {
    nc_path_route routes[NC_PATH_MAX_WAYS];
    size_t count;
} nc_path_ways;

/// Takes the next message from `datagram`. Returns false at the end, and for an impossible length.
bool nc_path_message_next(nc_slice *datagram, struct nlmsghdr *header, nc_slice *payload);

/// Parses RTM_NEWLINK or RTM_DELLINK. Returns false if it is invalid, or not about the link itself.
bool nc_path_message_link(nc_slice payload, nc_path_link *link, nc_path_looks *looks);
/// Parses RTM_NEWADDR or RTM_DELADDR.
bool nc_path_message_address(nc_slice payload, nc_path_address *address);
/// Parses RTM_NEWROUTE or RTM_DELROUTE. Returns false if it is not a default route.
bool nc_path_message_route(nc_slice payload, nc_path_ways *ways);
/// Parses the interface and the type of a looked-up route.
bool nc_path_message_way(nc_slice payload, nc_path_way *way);

#endif

#endif
