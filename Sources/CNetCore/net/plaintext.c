#include "net/plaintext.h"

#include "http/origin.h"
#include "net/engine_state.h"
#include "net/url_text.h"

nc_status nc_plaintext_check(nc_transfer *transfer) {
    const nc_engine *engine = transfer->engine;
    nc_slice url = nc_transfer_url(transfer);
    nc_origin origin;
    nc_error detail;
    bool is_secure = false;
    (void)nc_url_has_web_scheme(url, &is_secure);
    if (is_secure || (!engine->refuses_plaintext && !nc_trust_has_rules(transfer->trust))) {
        return NC_OK;
    }
    // Rules cannot be checked for a host without a canonical form, so nothing is sent to it.
    nc_status status = nc_origin_read(&origin, url, &detail);
    if (status != NC_OK) {
        nc_slice place = nc_url_authority(url);
        return nc_transfer_note(transfer, status, 0, "%s: %.*s", detail.message, nc_url_shown(place),
                                (const char *)place.data);
    }
    nc_host_name host;
    if (!nc_host_name_parse(&host, origin.host.text)) {
        host = (nc_host_name){.length = 0};
    }
    bool is_pinned = nc_trust_forbids_plaintext(transfer->trust, &host, origin.port, nc_engine_now_s(engine));
    if (!is_pinned && !engine->refuses_plaintext) {
        return NC_OK;
    }
    nc_report_plaintext(transfer->trust, &transfer->lane->reports, &host, origin.port, nc_engine_now(engine));
    bool is_ipv6 = origin.host.kind == NC_HOST_IPV6;
    return nc_transfer_note(transfer, NC_ERR_PLAINTEXT_REFUSED, 0, "%s: %s%.*s%s:%u",
                            nc_status_text(NC_ERR_PLAINTEXT_REFUSED), is_ipv6 ? "[" : "", (int)origin.host.text.length,
                            (const char *)origin.host.text.data, is_ipv6 ? "]" : "", (unsigned)origin.port);
}
