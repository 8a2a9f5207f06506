#include "state/quic.h"

#include "state/engine_record.h"
#include "state/transfer_state.h"
#include "trust/policy.h"

bool nc_quic_is_possible(const nc_transfer *transfer) {
    const nc_capabilities *can = &transfer->engine->capabilities;
    bool is_allowed = transfer->request.http == NC_HTTP_3_ONLY || !transfer->engine->quic_appends_trailers;
    return can->has_http3 && can->has_trust_policies && is_allowed && transfer->target.url.origin.is_secure &&
           !transfer->target.needs_http1 && nc_transfer_unix_socket(transfer) == NULL &&
           nc_transfer_proxy(transfer)->choice != NC_PROXY_URL &&
           transfer->trust->options.max_version != NC_TLS_LIMIT_1_2; // RFC 9001, 4.2
}

nc_status nc_quic_check(nc_transfer *transfer) {
    if (transfer->request.http != NC_HTTP_3_ONLY || nc_quic_is_possible(transfer)) {
        return NC_OK;
    }
    const char *reason = !transfer->target.url.origin.is_secure                     ? "an http URL"
                         : nc_transfer_unix_socket(transfer) != NULL                ? "a Unix socket"
                         : nc_transfer_proxy(transfer)->choice == NC_PROXY_URL      ? "a proxy"
                         : transfer->trust->options.max_version == NC_TLS_LIMIT_1_2 ? "TLS 1.2 (max_version)"
                                                                                    : "this TLS library";
    return nc_transfer_record_error(transfer, NC_ERR_UNSUPPORTED, 0,
                                    "HTTP/3 is required (NC_HTTP_3_ONLY) and cannot be used with %s", reason);
}
