#include "state/quic_race.h"

#include "request/response.h"
#include "state/alt_svc_cache.h"
#include "state/engine_record.h"
#include "state/quic.h"
#include "state/transfer_state.h"
#include "trust/policy.h"

#include <stdio.h>

/// How long an origin is known to have HTTP/3, if it does not announce it again: as long as Alt-Svc by default (RFC
/// 7838, 3.1).
enum { KNOWN_S = 86400 };

uint64_t nc_quic_key(const nc_transfer *transfer) {
    static const uint64_t only = 0x9e3779b97f4a7c15, race = 0xc2b2ae3d27d4eb4f;
    bool is_route = transfer->alt_route != NULL && nc_alt_svc_route_is_http3(transfer->alt_route);
    if (is_route || transfer->request.http == NC_HTTP_3_ONLY) {
        return only;
    }
    return transfer->request.http == NC_HTTP_3_IF_POSSIBLE && nc_quic_is_possible(transfer) ? race : 0;
}

/// Returns true if the response announces HTTP/3 on the origin's own port.
static bool is_offered(const nc_transfer *transfer, const nc_alt_svc_endpoint *origin) {
    nc_alt_svc list = {0};
    int64_t now_s = nc_engine_now_s(transfer->engine);
    nc_buf field = nc_buf_init(NC_ALT_SVC_MAX_FIELD_BYTES);
    if (nc_alt_svc_cache_join_fields(&field, transfer->response)) {
        (void)nc_alt_svc_record(&list, origin, nc_buf_slice(&field), now_s);
    }
    const nc_alternative *one = nc_alt_svc_find(&list, origin, NC_ALT_HTTP_3, now_s);
    bool is_own = one != NULL && nc_alt_svc_is_at_origin(one);
    nc_buf_deinit(&field);
    nc_alt_svc_deinit(&list);
    return is_own;
}

static bool is_announced(const nc_transfer *transfer, const nc_alt_svc_endpoint *origin, int64_t now_s) {
    const nc_engine *engine = transfer->engine;
    const nc_alternative *one =
        engine->state.uses_alt_svc ? nc_alt_svc_find(&engine->alternatives.list, origin, NC_ALT_HTTP_3, now_s) : NULL;
    return one != NULL && nc_alt_svc_is_at_origin(one);
}

void nc_quic_race_choose(nc_transfer *transfer) {
    const nc_alt_svc *known = &transfer->engine->alternatives.races;
    nc_alt_svc_endpoint origin;
    int64_t now_s = nc_engine_now_s(transfer->engine);
    transfer->hop.race = NC_QUIC_RACE_NONE;
    if (transfer->request.http != NC_HTTP_3_IF_POSSIBLE || transfer->alt_route != NULL ||
        !nc_quic_is_possible(transfer) || !nc_alt_svc_cache_find_origin(&origin, transfer)) {
        return;
    }
    if (transfer->request.connect_to != NULL) {
        transfer->hop.race = NC_QUIC_RACE_EVEN; // of another server than the origin's
    } else if (!nc_alt_svc_is_avoided(known, &origin, NC_ALT_HTTP_3, now_s)) {
        bool is_known =
            nc_alt_svc_find(known, &origin, NC_ALT_HTTP_3, now_s) != NULL || is_announced(transfer, &origin, now_s);
        transfer->hop.race = is_known ? NC_QUIC_RACE_QUIC_FIRST : NC_QUIC_RACE_EVEN;
    }
}

void nc_quic_race_learn(const nc_transfer *transfer) {
    nc_alt_svc *known = &transfer->engine->alternatives.races;
    nc_alt_svc_endpoint origin;
    bool has_won = transfer->hop.is_quic;
    bool was_first = transfer->hop.race == NC_QUIC_RACE_QUIC_FIRST;
    // A reused connection has raced before.
    if (!transfer->hop.has_head || transfer->hop.race == NC_QUIC_RACE_NONE || transfer->hop.opened == 0 ||
        (has_won && was_first) || transfer->request.connect_to != NULL ||
        !nc_alt_svc_cache_find_origin(&origin, transfer)) {
        return;
    }
    // After an even race, TCP may have won by chance.
    bool is_known =
        has_won || (!was_first && !nc_trust_skips_authentication(transfer->trust) && is_offered(transfer, &origin));
    int64_t now_s = nc_engine_now_s(transfer->engine);
    char field[64];
    (void)snprintf(field, sizeof field, "h3=\":%u\"; ma=%d", (unsigned)origin.port,
                   is_known ? KNOWN_S : NC_ALT_SVC_AVOIDED_S);
    (void)nc_alt_svc_record(known, &origin, nc_slice_of(field), now_s);
    const nc_alternative *one = is_known ? NULL : nc_alt_svc_find(known, &origin, NC_ALT_HTTP_3, now_s);
    if (one != NULL) {
        nc_alt_svc_avoid(known, one, now_s);
    }
}
