/// The rules of a policy, ready for use: immutable, shared by reference.
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
    X509_STORE *anchors; // the pinned certificates; NULL but for NC_PIN_CERTIFICATE
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

/// Makes them from a policy's options, which may have none. NC_ERR_BAD_PIN, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_rules_new(nc_rules **out, const nc_trust_options *options, nc_error *err);
/// Adds a reference and returns its argument.
nc_rules *nc_rules_retain(nc_rules *rules);
/// Drops a reference; NULL is harmless.
void nc_rules_release(nc_rules *rules);

/// Whether both decide alike.
bool nc_rules_is_equal(const nc_rules *a, const nc_rules *b);
/// The rule that counts for a host; NULL when none covers it. Port 0 is any.
const nc_rule *nc_rules_find(const nc_rules *rules, const nc_host_name *host, uint16_t port);

/// Whether a rule is past its date.
bool nc_rule_has_expired(const nc_rule *rule, int64_t at_s);
/// Whether a chain that matches no pin is refused.
bool nc_rule_enforces(const nc_rule *rule, int64_t at_s);

#endif
