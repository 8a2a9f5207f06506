#include "net/apart.h"

#include "net/engine_state.h"
#include "net/handle.h"
#include "net/url_text.h"

/// libcurl 7.88 takes nothing more from an HTTP/2 connection while what it holds belongs to a stream that rests: the
/// others wait with it. So a stream that is likely to rest travels alone.
static bool is_likely_to_rest(const nc_transfer *transfer) {
    return transfer->description.may_pause || transfer->description.limits.max_receive_bytes_per_s != 0 ||
           transfer->engine->loop.receive_pace.bytes_per_s != 0;
}

/// What a server takes of a body before it has to say that it wants more (RFC 9113, 6.9.2).
enum { INITIAL_WINDOW = 65535 };

/// Another place than the host may speak otherwise.
static bool is_known_single(const nc_transfer *transfer) {
    const nc_engine *engine = transfer->engine;
    return !engine->state.uses_alt_svc && nc_queue_knows_single(&engine->loop.queue, nc_transfer_url(transfer));
}

/// A server may answer before it has the whole body, and reset the stream behind its answer (8.1). Where another stream
/// reads both, libcurl 7.88 loses the answer: so a body that does not go at once travels alone.
static bool may_be_answered_early(const nc_transfer *transfer) {
    const nc_description *asked = &transfer->description;
    return nc_engine_has_libcurl_7(transfer->engine) && asked->has_body && !transfer->is_get &&
           asked->body_length > INITIAL_WINDOW && !is_known_single(transfer);
}

bool nc_apart_is_better(const nc_transfer *transfer) {
    return (is_likely_to_rest(transfer) || may_be_answered_early(transfer)) && nc_handle_may_be_multiplexed(transfer);
}

/// Once a host has spoken HTTP/2, libcurl takes any of its connections in the lane for one that carries several
/// requests at a time, also one that speaks HTTP/1.1 and is busy: two requests would be mixed on it. So would the proof
/// that follows a challenge over HTTP/2 in the clear, of which 7.88 breaks a connection with its second request.
bool nc_apart_is_all_there_is(const nc_transfer *transfer) {
    bool is_secure = false;
    (void)nc_url_has_web_scheme(nc_transfer_url(transfer), &is_secure);
    return (is_secure || transfer->description.http == NC_HTTP_2_PRIOR_KNOWLEDGE) &&
           !nc_handle_may_be_multiplexed(transfer);
}

/// A detour, or an override, leads to other members than its host has, and perhaps several hosts to the same: they have
/// a lane of their own.
bool nc_apart_has_unlike_members(const nc_transfer *transfer, const nc_lane *lane) {
    const nc_host *host = transfer->host;
    return lane->place_key != 0 ? lane->has_single && lane->has_shared
                                : host != NULL && host->has_single && host->has_shared;
}
