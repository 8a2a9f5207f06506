#include "net/plaintext.h"

#include "net/engine_state.h"
#include "net/origin.h"
#include "net/url_text.h"

#include <string.h>

static bool may_be_international(nc_slice host) {
    bool is_plain = true;
    for (size_t i = 0; i < host.length && is_plain; i++) {
        is_plain = host.data[i] < 0x80 && host.data[i] != '%';
    }
    return !is_plain;
}

/// libcurl 7.88 says that it has no memory also where a host has no form in ASCII. Nobody knows the host either way, so
/// that nothing is sent in the clear.
static nc_status refuse_unknown_host(nc_transfer *transfer) {
    nc_slice place = nc_url_authority(nc_transfer_url(transfer));
    if (!may_be_international(place)) {
        return nc_transfer_note(transfer, NC_ERR_NO_MEMORY, 0, "no memory for a request");
    }
    return nc_transfer_note(transfer, NC_ERR_BAD_URL, 0, "%s: %.*s (its host has no form in ASCII)",
                            nc_status_text(NC_ERR_BAD_URL), (int)place.length, (const char *)place.data);
}

nc_status nc_plaintext_check(nc_transfer *transfer) {
    const nc_engine *engine = transfer->engine;
    nc_slice url = nc_transfer_url(transfer);
    nc_origin origin = {.port = 0};
    bool is_secure = false;
    (void)nc_url_has_web_scheme(url, &is_secure);
    if (is_secure || (!engine->refuses_plaintext && !nc_trust_has_rules(transfer->trust))) {
        return NC_OK;
    }
    nc_status status = nc_origin_of(&origin, (const char *)url.data);
    if (status == NC_ERR_NO_MEMORY) {
        return refuse_unknown_host(transfer);
    }
    if (status != NC_OK && !engine->refuses_plaintext) {
        return NC_OK; // libcurl has the last word on what is no URL.
    }
    bool is_pinned = nc_trust_forbids_plaintext(transfer->trust, &origin.host, origin.port, nc_engine_now_s(engine));
    if (!is_pinned && !engine->refuses_plaintext) {
        return NC_OK;
    }
    nc_report_plaintext(transfer->trust, &transfer->lane->reports, &origin.host, origin.port, nc_engine_now(engine));
    bool is_ipv6 = strchr(origin.host.text, ':') != NULL;
    return nc_transfer_note(transfer, NC_ERR_PLAINTEXT_REFUSED, 0, "%s: %s%s%s:%u",
                            nc_status_text(NC_ERR_PLAINTEXT_REFUSED), is_ipv6 ? "[" : "", origin.host.text,
                            is_ipv6 ? "]" : "", (unsigned)origin.port);
}
