/// A network namespace of the test's own, and orders to it: links, addresses and routes by rtnetlink, without ip(8).
#ifndef NETCORE_TEST_NETNS_H
#define NETCORE_TEST_NETNS_H

#include "harness.h"

/// Moves the calling thread, and those that it starts, into a new empty namespace; in a user namespace of its own where
/// the process may not without.
///
/// False when the kernel forbids both; it has then said so, and a run of CI must fail.
bool netns_enter(void);

/// Adds a pair of virtual Ethernet links.
void netns_add_pair(const char *name, const char *peer);
/// Adds a tun (or tap) device that has a carrier as long as the returned descriptor is open.
int netns_add_tun(const char *name, bool is_tap);
/// Deletes a link.
void netns_delete(const char *name);
/// Sets a link up or down.
void netns_set(const char *name, bool is_up);
/// Waits until a link that was set up can carry something: the kernel says so a little later, by a thread of its own.
void netns_await_running(const char *name);
/// Renames a link, which is down.
void netns_rename(const char *name, const char *to);
/// Adds an address ("10.9.0.1", "2001:db8::1"), that is not checked for doubles, to a link.
void netns_add_address(const char *name, const char *address, uint8_t prefix_bits);
/// Takes it away.
void netns_remove_address(const char *name, const char *address, uint8_t prefix_bits);

/// A route; all zero is the default route of the main table.
typedef struct netns_route {
    /// "0.0.0.0", "::" or another destination; NULL is 0.0.0.0.
    const char *destination;
    uint8_t prefix_bits;
    /// NULL for none.
    const char *gateway;
    /// The link it goes over; NULL for a route that refuses.
    const char *link;
    uint32_t metric;
    /// 0 is the main table.
    uint32_t table;
    /// Takes the place of one with the same metric.
    bool replaces;
} netns_route;

/// Adds (or replaces) a route.
void netns_add_route(const netns_route *route);
/// Takes it away.
void netns_remove_route(const netns_route *route);

#endif
