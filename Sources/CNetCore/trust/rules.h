/// The parsed rules of a policy: immutable and reference-counted.
#ifndef NETCORE_PRIVATE_RULES_H
#define NETCORE_PRIVATE_RULES_H

#include "trust/pattern.h"
#include "trust/pin.h"
#include "trust/policy.h"

#include <netcore/trust.h>
#include <stdatomic.h>

typedef struct nc_rule {
    nc_pattern pattern;
    nc_pin_mode mode;
    nc_pin_list pins;
    X509_STORE *anchors; // the pinned certificates; NULL except for NC_PIN_CERTIFICATE
    int64_t expires_at_s;
    bool lapses;
    bool reports_only;
} nc_rule;

struct nc_rules {
    atomic_uint references;
    nc_rule *rules; // the narrowest first
    size_t count;
    nc_trust_observer observer;
};

/// Creates the rules of a policy from its options. Fails with NC_ERR_BAD_PIN or NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_rules_new(nc_rules **out, const nc_trust_options *options, nc_error *err);
/// Adds a reference and returns its argument.
nc_rules *nc_rules_retain(nc_rules *rules);
/// Releases a reference. NULL is allowed.
void nc_rules_release(nc_rules *rules);

/// Returns true if both make the same decisions.
bool nc_rules_is_equal(const nc_rules *a, const nc_rules *b);
/// Returns the rule that applies to a host, or NULL if none does. Port 0 matches any port.
const nc_rule *nc_rules_find(const nc_rules *rules, const nc_host_name *host, uint16_t port);

/// Returns true if the rule has expired.
bool nc_rule_has_expired(const nc_rule *rule, int64_t at_s);
/// Returns true if the rule refuses a chain that matches no pin.
bool nc_rule_enforces(const nc_rule *rule, int64_t at_s);

#endif
