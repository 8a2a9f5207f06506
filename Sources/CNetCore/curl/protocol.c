#include "curl/easy_handle.h"

#include "curl/auth_response.h"
#include "curl/quirks.h"
#include "curl/tls_hook.h"
#include "http/url_text.h"
#include "state/alt_svc_cache.h"
#include "state/engine_record.h"
#include "state/transfer_state.h"

static bool may_not_be_stream(const nc_transfer *transfer) {
    return nc_quirk_leaves_bodiless_stream_open(transfer->engine->libcurl_version) && transfer->request.has_body &&
           !transfer->is_get && (nc_auth_awaited_parties(transfer) & NC_PARTY_HOST) != 0;
}

long nc_protocol_http_version(const nc_transfer *transfer, bool is_secure) {
    if (transfer->alt_route != NULL && nc_alt_svc_route_is_http3(transfer->alt_route)) {
        return CURL_HTTP_VERSION_3ONLY;
    }
    if (transfer->hop.race != NC_QUIC_RACE_NONE) {
        return CURL_HTTP_VERSION_3;
    }
    switch (transfer->request.http) {
    case NC_HTTP_1_0:
        return CURL_HTTP_VERSION_1_0;
    case NC_HTTP_3_ONLY:
        return CURL_HTTP_VERSION_3ONLY;
    case NC_HTTP_2_PRIOR_KNOWLEDGE:
    case NC_HTTP_3_IF_POSSIBLE:
    case NC_HTTP_AUTO:
        if (transfer->request.http == NC_HTTP_2_PRIOR_KNOWLEDGE && !nc_quirk_skips_alpn(is_secure)) {
            return CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE;
        }
        // Without OpenSSL the frames are unknown, and so are the ends of bodies.
        return is_secure && !transfer->target.needs_http1 && transfer->engine->capabilities.has_http2 &&
                       transfer->engine->capabilities.has_trust_policies && !may_not_be_stream(transfer)
                   ? CURL_HTTP_VERSION_2TLS
                   : CURL_HTTP_VERSION_1_1;
    default:
        return CURL_HTTP_VERSION_1_1;
    }
}

bool nc_protocol_is_alone_on_connection(const nc_transfer *transfer, long version, bool is_secure) {
    return version == CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE && !is_secure &&
           nc_quirk_breaks_second_cleartext_request(transfer->engine->libcurl_version);
}

bool nc_protocol_uses_quic(const nc_transfer *transfer) {
    return transfer->handle->http_version == CURL_HTTP_VERSION_3ONLY ||
           (transfer->hop.race != NC_QUIC_RACE_NONE && nc_tls_may_speak(transfer->handle->easy, "h3"));
}

long nc_protocol_tcp_delay_ms(const nc_transfer *transfer) {
    // 0 would start TCP before QUIC's first packet.
    return transfer->hop.race == NC_QUIC_RACE_EVEN ? 1 : CURL_HET_DEFAULT;
}

bool nc_protocol_may_be_multiplexed(const nc_transfer *transfer) {
    bool is_secure = transfer->target.url.origin.is_secure;
    long version = nc_protocol_http_version(transfer, is_secure);
    return version != CURL_HTTP_VERSION_1_1 && version != CURL_HTTP_VERSION_1_0 &&
           !nc_protocol_is_alone_on_connection(transfer, version, is_secure);
}

bool nc_protocol_may_need_tls(const nc_transfer *transfer) {
    const nc_engine_config *state = &transfer->engine->state;
    const nc_copied_proxy *proxy = nc_transfer_proxy(transfer);
    bool is_plain = proxy->choice == NC_PROXY_NONE ||
                    (proxy->choice == NC_PROXY_URL &&
                     (proxy->url[4] == ':' || proxy->url[0] == 's' || proxy->url[0] == 'S')); // "http:", "socks…"
    return state->doh_url != NULL || !is_plain;
}

/// An alternative or an override leads to other servers than the host, perhaps for several hosts. Such routes have
/// their own connection pool.
bool nc_protocol_has_mixed_servers(const nc_transfer *transfer, const nc_conn_pool *conn_pool) {
    const nc_host *host = transfer->schedule.host;
    return conn_pool->endpoint_key != 0 ? conn_pool->has_single && conn_pool->has_shared
                                        : host != NULL && host->has_single && host->has_shared;
}
