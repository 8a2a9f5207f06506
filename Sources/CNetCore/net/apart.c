#include "net/apart.h"

#include "net/engine_state.h"
#include "net/handle.h"
#include "net/quirks.h"
#include "net/url_text.h"

/// While a paused stream has buffered data, libcurl 7.88 reads nothing from its HTTP/2 connection, and all other
/// streams stall. So a stream that is likely to pause gets an exclusive connection.
static bool is_likely_to_rest(const nc_transfer *transfer) {
    return transfer->description.may_pause || transfer->description.limits.max_receive_bytes_per_s != 0 ||
           transfer->engine->loop.receive_pace.bytes_per_s != 0;
}

/// The initial flow-control window: a server accepts this much of a body without WINDOW_UPDATE (RFC 9113, 6.9.2).
enum { INITIAL_WINDOW = 65535 };

/// An alternative or override may support other protocols than the host.
static bool is_known_single(const nc_transfer *transfer) {
    const nc_engine *engine = transfer->engine;
    return !engine->state.uses_alt_svc && nc_queue_knows_single(&engine->loop.queue, nc_transfer_url(transfer));
}

/// A server may respond before it has the whole body, and then reset the stream (8.1). If another stream reads both,
/// libcurl 7.88 loses the response. So a body that is not sent immediately gets an exclusive connection.
static bool may_be_answered_early(const nc_transfer *transfer) {
    const nc_description *asked = &transfer->description;
    return nc_quirk_loses_early_responses(transfer->engine->libcurl_version) && asked->has_body && !transfer->is_get &&
           asked->body_length > INITIAL_WINDOW && !is_known_single(transfer);
}

bool nc_apart_is_better(const nc_transfer *transfer) {
    return (is_likely_to_rest(transfer) || may_be_answered_early(transfer)) && nc_handle_may_be_multiplexed(transfer);
}

/// After a host has used HTTP/2, libcurl assumes that each of its connections in the pool is multiplexed, even a busy
/// HTTP/1.1 one. Two requests would be mixed on it. So would the authorization response after a challenge over
/// cleartext HTTP/2, because 7.88 breaks such a connection with its second request.
bool nc_apart_is_all_there_is(const nc_transfer *transfer) {
    bool is_secure = false;
    (void)nc_url_has_web_scheme(nc_transfer_url(transfer), &is_secure);
    return (is_secure || transfer->description.http == NC_HTTP_2_PRIOR_KNOWLEDGE) &&
           !nc_handle_may_be_multiplexed(transfer);
}

/// An alternative or an override leads to other servers than the host, perhaps for several hosts. Such routes have
/// their own connection pool.
bool nc_apart_has_unlike_members(const nc_transfer *transfer, const nc_lane *lane) {
    const nc_host *host = transfer->host;
    return lane->place_key != 0 ? lane->has_single && lane->has_shared
                                : host != NULL && host->has_single && host->has_shared;
}
