/// A server with a chain of three, and a policy with rules for it.
#ifndef NETCORE_TEST_PINNED_H
#define NETCORE_TEST_PINNED_H

#include "family.h"
#include "fixture.h"

typedef struct pinned {
    family family;
    fixture f;
    nc_slice pins[2];
    nc_trust_rule rules[2];
    nc_trust_options options; // believes the root; counts `rules` as they are set
} pinned;

/// Starts the server and an engine.
void pinned_start(pinned *p);
/// The same, with tickets, versions and the stapled reply of these options.
void pinned_start_with(pinned *p, const nct_server_options *more);
/// Starts them around a family that was made before.
void pinned_start_around(pinned *p, const nct_server_options *more);
/// Stops both and frees the family.
void pinned_stop(pinned *p);

/// How a further server shows the same chain.
nct_server_options pinned_showing(pinned *p);
/// Rule `index` pins this key for these hosts, and is the last one.
void pinned_rule(pinned *p, size_t index, const char *hosts, const nct_made *key);
/// Asks for /t at localhost under the policy as it is now.
answer pinned_ask(pinned *p);
/// Asks for a path; a host that ends in ".test" is reached at 127.0.0.1.
answer pinned_ask_at(pinned *p, const char *host, const char *path);

#endif
