/// A server with a chain of three certificates, and a policy with pinning rules for it.
#ifndef NETCORE_TEST_PINNED_H
#define NETCORE_TEST_PINNED_H

#include "family.h"
#include "fixture.h"

typedef struct pinned {
    family family;
    fixture f;
    nc_slice pins[2];
    nc_trust_rule rules[2];
    nc_trust_options options; // trusts the root; counts `rules` as they are set
} pinned;

/// Starts the server and an engine.
void pinned_start(pinned *p);
/// Starts them with the session tickets, TLS versions and OCSP staple of these options.
void pinned_start_with(pinned *p, const nct_server_options *more);
/// Starts them with an existing family.
void pinned_start_around(pinned *p, const nct_server_options *more);
/// Stops both and frees the family.
void pinned_stop(pinned *p);

/// Returns the options of another server with the same chain.
nct_server_options pinned_server_options(pinned *p);
/// Sets rule `index` to pin this key for these hosts, and makes it the last rule.
void pinned_rule(pinned *p, size_t index, const char *hosts, const nct_test_certificate *key);
/// Requests /t at localhost under the current policy.
answer pinned_get(pinned *p);
/// Requests a path. A host that ends in ".test" resolves to 127.0.0.1.
answer pinned_get_at(pinned *p, const char *host, const char *path);

#endif
