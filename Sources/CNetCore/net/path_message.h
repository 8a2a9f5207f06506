/// One rtnetlink message as what it means; pure.
#ifndef NETCORE_PRIVATE_PATH_MESSAGE_H
#define NETCORE_PRIVATE_PATH_MESSAGE_H

#include "net/path_feed.h"

#if defined(__linux__)
#include <linux/rtnetlink.h>

/// Ways of one route that are looked at.
enum { NC_PATH_MAX_WAYS = 32 };

/// Several ways that one message names.
typedef struct nc_path_ways {
    nc_path_route routes[NC_PATH_MAX_WAYS];
    size_t count;
} nc_path_ways;

/// Cuts the next message off `datagram`; false at the end, and at one whose length cannot be.
bool nc_path_message_next(nc_slice *datagram, struct nlmsghdr *header, nc_slice *payload);

/// Reads RTM_NEWLINK or RTM_DELLINK; false for what is none, and for news that is not of the link itself.
bool nc_path_message_link(nc_slice payload, nc_path_link *link, nc_path_looks *looks);
/// Reads RTM_NEWADDR or RTM_DELADDR.
bool nc_path_message_address(nc_slice payload, nc_path_address *address);
/// Reads RTM_NEWROUTE or RTM_DELROUTE; false for what is no default route.
bool nc_path_message_route(nc_slice payload, nc_path_ways *ways);
/// Reads the interface and the type of a looked-up route.
bool nc_path_message_way(nc_slice payload, nc_path_way *way);

#endif

#endif
