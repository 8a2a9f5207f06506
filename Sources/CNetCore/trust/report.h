/// Reports to the observer, at a limited rate.
#ifndef NETCORE_PRIVATE_REPORT_H
#define NETCORE_PRIVATE_REPORT_H

#include "trust/pattern.h"
#include "trust/policy.h"

enum { NC_REPORT_PLACES = 64 };

/// The last report about an endpoint (host and port).
typedef struct nc_report_place {
    uint64_t place; // a hash of host and port; 0 if the slot is free
    uint64_t told_ns;
    uint64_t unreported;
} nc_report_place;

/// The time of the last report for each endpoint; zero-initialized, confined to one thread. Evicts the oldest when
/// full.
typedef struct nc_report_gate {
    nc_report_place places[NC_REPORT_PLACES];
} nc_report_gate;

/// Returns true if an endpoint may be reported at `now_ns` (monotonic). `unreported` receives the number of suppressed
/// reports since the last one.
bool nc_report_gate_opens(nc_report_gate *gate, const nc_host_name *host, uint16_t port, uint64_t now_ns,
                          uint64_t *unreported);

/// Returns true if the policy has an observer for this result.
bool nc_report_is_due(const nc_trust *trust, const nc_trust_verdict *verdict);

/// Reports a refused plain http request, if the policy has an observer and the rate limit allows it.
void nc_report_plaintext(const nc_trust *trust, nc_report_gate *gate, const nc_host_name *host, uint16_t port,
                         uint64_t now_ns);

#endif
