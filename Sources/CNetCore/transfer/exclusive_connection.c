#include "transfer/internal.h"

#include "curl/easy_handle.h"
#include "curl/quirks.h"
#include "state/engine_record.h"
#include "state/transfer_state.h"
#include "transfer/host_queue.h"

static bool is_likely_to_pause(const nc_transfer *transfer) {
    return nc_quirk_stalls_other_streams(transfer->request.may_pause,
                                         transfer->request.limits.max_receive_bytes_per_s != 0 ||
                                             transfer->engine->loop.receive_pace.bytes_per_s != 0);
}

/// The initial flow-control window: a server accepts this much of a body without WINDOW_UPDATE (RFC 9113, 6.9.2).
enum { INITIAL_WINDOW = 65535 };

/// With Alt-Svc, nothing is known: an alternative service may support other protocols than the host.
static bool is_known_single(const nc_transfer *transfer) {
    const nc_engine *engine = transfer->engine;
    return !engine->state.uses_alt_svc && nc_queue_knows_single(&engine->loop.queue, &transfer->target.url);
}

/// A server may respond before it has the whole body, and then reset the stream (RFC 9113, 8.1).
static bool may_get_early_response(const nc_transfer *transfer) {
    const nc_request_copy *request = &transfer->request;
    return nc_quirk_loses_early_responses(transfer->engine->libcurl_version) && request->has_body &&
           !transfer->is_get && request->body_length > INITIAL_WINDOW && !is_known_single(transfer);
}

bool nc_conn_exclusive_is_better(const nc_transfer *transfer) {
    return (is_likely_to_pause(transfer) || may_get_early_response(transfer)) &&
           nc_protocol_may_be_multiplexed(transfer);
}

/// Cleartext HTTP/2 needs an exclusive connection too. Otherwise the authorization response after a challenge would be
/// mixed with other requests: see nc_quirk_breaks_second_cleartext_request().
bool nc_conn_exclusive_is_only_choice(const nc_transfer *transfer) {
    bool may_use_http2 = transfer->target.url.origin.is_secure || transfer->request.http == NC_HTTP_2_PRIOR_KNOWLEDGE;
    return nc_quirk_mixes_requests(may_use_http2, nc_protocol_may_be_multiplexed(transfer));
}
