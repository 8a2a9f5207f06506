/// A private network namespace for a test, with its links, addresses and routes. It uses rtnetlink, without ip(8).
#ifndef NETCORE_TEST_NETNS_H
#define NETCORE_TEST_NETNS_H

#include "harness.h"

/// Moves the calling thread, and the threads that it starts, into a new empty namespace. Without the privilege for
/// that it creates a user namespace too.
///
/// Returns false if the kernel forbids both. It then prints the reason; a CI run must fail.
bool netns_enter(void);

/// Adds a pair of virtual Ethernet links.
void netns_add_pair(const char *name, const char *peer);
/// Adds a tun or tap device that has a carrier while the returned descriptor is open.
int netns_add_tun(const char *name, bool is_tap);
/// Deletes a link.
void netns_delete(const char *name);
/// Sets a link up or down.
void netns_set(const char *name, bool is_up);
/// Waits until an enabled link is running. The kernel reports this asynchronously.
void netns_await_running(const char *name);
/// Renames a link that is down.
void netns_rename(const char *name, const char *to);
/// Adds an address ("10.9.0.1", "2001:db8::1") to a link, without duplicate address detection.
void netns_add_address(const char *name, const char *address, uint8_t prefix_bits);
/// Removes an address.
void netns_remove_address(const char *name, const char *address, uint8_t prefix_bits);

/// A route; all zero is the default route of the main table.
typedef struct netns_route {
    /// "0.0.0.0", "::" or another destination; NULL is 0.0.0.0.
    const char *destination;
    uint8_t prefix_bits;
    /// NULL for none.
    const char *gateway;
    /// The outgoing link. NULL for a route that rejects packets.
    const char *link;
    uint32_t metric;
    /// 0 is the main table.
    uint32_t table;
    /// Replaces a route with the same metric.
    bool replaces;
} netns_route;

/// Adds or replaces a route.
void netns_add_route(const netns_route *route);
/// Removes a route.
void netns_remove_route(const netns_route *route);

#endif
