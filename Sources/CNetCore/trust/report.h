/// Telling the observer, and not too often.
#ifndef NETCORE_PRIVATE_REPORT_H
#define NETCORE_PRIVATE_REPORT_H

#include "trust/pattern.h"
#include "trust/policy.h"

enum { NC_REPORT_PLACES = 64 };

/// What one place was reported last.
typedef struct nc_report_place {
    uint64_t place; // a hash of host and port; 0 is free
    uint64_t told_ns;
    uint64_t unreported;
} nc_report_place;

/// When which places were reported; confined, all zero is ready. Of more places than it has room for, the one that was
/// reported longest ago gives way.
typedef struct nc_report_gate {
    nc_report_place places[NC_REPORT_PLACES];
} nc_report_gate;

/// Tells whether something about a place may be reported now (the monotonic clock); `unreported` is what was not since
/// the last time.
bool nc_report_gate_opens(nc_report_gate *gate, const nc_host_name *host, uint16_t port, uint64_t now_ns,
                          uint64_t *unreported);

/// Whether the policy has somebody to tell of this verdict.
bool nc_report_is_due(const nc_trust *trust, const nc_trust_verdict *verdict);

/// Reports a request in the clear that is refused, if it is due and the gate opens.
void nc_report_plaintext(const nc_trust *trust, nc_report_gate *gate, const nc_host_name *host, uint16_t port,
                         uint64_t now_ns);

#endif
