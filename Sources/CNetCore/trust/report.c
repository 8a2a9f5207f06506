#include "trust/handshake.h"

#include "base/error.h"
#include "base/fnv.h"
#include "trust/rules.h"

#include <stdio.h>
#include <string.h>

#define INTERVAL_NS (60u * 1000000000ull)

/// Returns a hash of an endpoint, never 0. Two endpoints with the same hash share one reporting interval.
static uint64_t hash(const nc_host_name *host, uint16_t port) {
    uint64_t sum = nc_fnv_add(NC_FNV_START, nc_slice_make(host->text, host->length));
    sum = nc_fnv_add(sum, nc_slice_make(&port, sizeof port));
    return sum != 0 ? sum : 1;
}

bool nc_report_limiter_allows(nc_report_limiter *gate, const nc_host_name *host, uint16_t port, uint64_t now_ns,
                              uint64_t *unreported) {
    uint64_t wanted = hash(host, port);
    nc_report_entry *oldest = &gate->entries[0];
    for (size_t i = 0; i < NC_REPORT_MAX_ENDPOINTS; i++) {
        nc_report_entry *entry = &gate->entries[i];
        if (entry->endpoint_hash == wanted) {
            if (now_ns - entry->reported_ns < INTERVAL_NS) {
                entry->unreported++;
                return false;
            }
            *unreported = entry->unreported;
            *entry = (nc_report_entry){.endpoint_hash = wanted, .reported_ns = now_ns};
            return true;
        }
        if (oldest->endpoint_hash != 0 && (entry->endpoint_hash == 0 || entry->reported_ns < oldest->reported_ns)) {
            oldest = entry;
        }
    }
    *unreported = 0;
    *oldest = (nc_report_entry){.endpoint_hash = wanted, .reported_ns = now_ns};
    return true;
}

bool nc_report_is_due(const nc_trust *trust, const nc_trust_result *result) {
    return trust->rules->observer.report != NULL && (result->status != NC_OK || result->notes != 0);
}

void nc_report_plaintext(const nc_trust *trust, nc_report_limiter *gate, const nc_host_name *host, uint16_t port,
                         uint64_t now_ns) {
    nc_trust_result result = {
        .status = NC_ERR_PLAINTEXT_REFUSED, .finding = NC_ERR_PLAINTEXT_REFUSED, .notes = NC_TRUST_FLAG_PLAINTEXT};
    nc_trust_event event = {
        .host = nc_slice_make(host->text, host->length), .port = port, .verdict = &result, .chain = NULL};
    if (!nc_report_is_due(trust, &result) || !nc_report_limiter_allows(gate, host, port, now_ns, &event.unreported)) {
        return;
    }
    nc_error line;
    (void)nc_error_set(&line, result.status, 0, -1, "%s: %s:%u", nc_status_text(result.status), host->text,
                       (unsigned)port);
    memcpy(result.message, line.message, sizeof result.message);
    trust->rules->observer.report(trust->rules->observer.ctx, &event);
}
