#include "trust/report.h"

#include "base/error.h"
#include "base/fnv.h"
#include "trust/rules.h"

#include <stdio.h>
#include <string.h>

#define INTERVAL_NS (60u * 1000000000ull)

/// Hashes an endpoint. Two endpoints with the same hash share one reporting interval.
static uint64_t hash(const nc_host_name *host, uint16_t port) {
    uint64_t sum = nc_fnv_add(NC_FNV_START, nc_slice_make(host->text, host->length));
    sum = nc_fnv_add(sum, nc_slice_make(&port, sizeof port));
    return sum != 0 ? sum : 1;
}

bool nc_report_gate_opens(nc_report_gate *gate, const nc_host_name *host, uint16_t port, uint64_t now_ns,
                          uint64_t *unreported) {
    uint64_t wanted = hash(host, port);
    nc_report_place *oldest = &gate->places[0];
    for (size_t i = 0; i < NC_REPORT_PLACES; i++) {
        nc_report_place *place = &gate->places[i];
        if (place->place == wanted) {
            if (now_ns - place->told_ns < INTERVAL_NS) {
                place->unreported++;
                return false;
            }
            *unreported = place->unreported;
            *place = (nc_report_place){.place = wanted, .told_ns = now_ns};
            return true;
        }
        if (oldest->place != 0 && (place->place == 0 || place->told_ns < oldest->told_ns)) {
            oldest = place;
        }
    }
    *unreported = 0;
    *oldest = (nc_report_place){.place = wanted, .told_ns = now_ns};
    return true;
}

bool nc_report_is_due(const nc_trust *trust, const nc_trust_verdict *verdict) {
    return trust->rules->observer.report != NULL && (verdict->status != NC_OK || verdict->notes != 0);
}

void nc_report_plaintext(const nc_trust *trust, nc_report_gate *gate, const nc_host_name *host, uint16_t port,
                         uint64_t now_ns) {
    nc_trust_verdict verdict = {
        .status = NC_ERR_PLAINTEXT_REFUSED, .finding = NC_ERR_PLAINTEXT_REFUSED, .notes = NC_NOTE_PLAINTEXT};
    nc_trust_event event = {
        .host = nc_slice_make(host->text, host->length), .port = port, .verdict = &verdict, .chain = NULL};
    if (!nc_report_is_due(trust, &verdict) || !nc_report_gate_opens(gate, host, port, now_ns, &event.unreported)) {
        return;
    }
    nc_error line;
    (void)nc_error_set(&line, verdict.status, 0, -1, "%s: %s:%u", nc_status_text(verdict.status), host->text,
                       (unsigned)port);
    memcpy(verdict.message, line.message, sizeof verdict.message);
    trust->rules->observer.report(trust->rules->observer.ctx, &event);
}
