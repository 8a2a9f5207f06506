#include "net/limits.h"

#include "base/error.h"
#include "base/trace.h"
#include "net/engine_state.h"
#include "net/flow.h"
#include "net/handle.h"
#include "net/url_text.h"

/// Time for the last frame or the trailers of a stream whose body has its announced length. libcurl 7.88 sometimes
/// reads that frame and ignores it until the connection receives something else: if its buffer was full just before
/// (see set_buffer() in handle.c).
enum { LAST_FRAME_MS = 500 };

/// A request that is cancelled after this time may have been stopped by the caller's own timeout.
enum { QUIET_MS = 1000 };

/// Time for the whole body of a redirect, which is only read to keep its connection.
enum { REDIRECT_BODY_MS = 1000 };

/// Maximum time to connect to an alternative, for every connect limit.
enum { DETOUR_MS = 10000 };

/// How many idle limits a transfer may take without progress while bytes arrive: head lines, interim heads, trailers,
/// chunk extensions.
enum { IDLE_LIMITS_WITHOUT_PROGRESS = 10 };

typedef struct limit {
    nc_status status;
    uint32_t limit_ms;
    uint64_t from_ns;
} limit;

/// Its head is enough to follow the redirect. Sending counts as long as it progresses.
static limit limit_of_redirect(const nc_transfer *transfer) {
    uint32_t idle_ms = transfer->description.limits.idle_ms;
    if (nc_delivery_is_sending(transfer)) {
        return (limit){NC_OK, idle_ms, transfer->phase_began_ns};
    }
    return (limit){NC_OK, idle_ms < REDIRECT_BODY_MS ? idle_ms : REDIRECT_BODY_MS, transfer->led_on_ns};
}

/// An unreachable alternative leaves time for the origin.
static limit limit_of_connecting(const nc_transfer *transfer) {
    uint32_t whole_ms = transfer->description.limits.connect_ms;
    if (transfer->detour != NULL) {
        uint32_t half_ms = whole_ms / 2 < DETOUR_MS ? whole_ms / 2 : DETOUR_MS;
        return (limit){NC_ERR_CONNECT_TIMED_OUT, half_ms, transfer->phase_began_ns};
    }
    return (limit){NC_ERR_CONNECT_TIMED_OUT, whole_ms, transfer->phase_began_ns - transfer->lost_ns};
}

static limit limit_of_phase(const nc_transfer *transfer) {
    const nc_limits *limits = &transfer->description.limits;
    uint64_t from_ns = transfer->phase_began_ns;
    // A pause or a rate holds bodies, and transfers without a slot. Connecting and the first byte keep their limits.
    bool awaits_other_end = transfer->phase == NC_PHASE_CONNECT || transfer->phase == NC_PHASE_REPLY;
    if (!awaits_other_end && nc_flow_is_held(transfer)) {
        return (limit){NC_ERR_TOTAL_TIMED_OUT, NC_UNLIMITED, from_ns}; // The peer is not idle.
    }
    switch (transfer->phase) {
    case NC_PHASE_SLOT:
        return (limit){NC_ERR_SLOT_TIMED_OUT, limits->slot_ms, from_ns};
    case NC_PHASE_CONNECT:
        return limit_of_connecting(transfer);
    case NC_PHASE_REPLY:
        return (limit){NC_ERR_FIRST_BYTE_TIMED_OUT, limits->first_byte_ms, from_ns};
    case NC_PHASE_SEND:
    case NC_PHASE_BODY:
        if (nc_delivery_awaits_end(transfer)) {
            bool is_stream = nc_response_http_version(transfer->response) >= NC_HTTP_VERSION_2;
            uint32_t wait_ms = is_stream ? LAST_FRAME_MS : 0;
            if (limits->idle_ms > wait_ms) {
                return (limit){NC_OK, wait_ms, from_ns};
            }
        }
        return transfer->leads_on ? limit_of_redirect(transfer)
                                  : (limit){NC_ERR_IDLE_TIMED_OUT, limits->idle_ms, from_ns};
    default: // Files and authorities too: a slow disk is not a slow network.
        return (limit){NC_ERR_TOTAL_TIMED_OUT, NC_UNLIMITED, from_ns};
    }
}

static limit limit_of_all(const nc_transfer *transfer) {
    return (limit){NC_ERR_TOTAL_TIMED_OUT, transfer->description.limits.total_ms, transfer->submitted_ns};
}

static uint64_t end_of(limit one) {
    return one.limit_ms == NC_UNLIMITED ? UINT64_MAX : one.from_ns + (uint64_t)one.limit_ms * 1000000u;
}

/// Returns the limit for slow progress, where the idle limit applies.
static limit limit_of_progress(const nc_transfer *transfer, limit phase) {
    const uint32_t most_ms = UINT32_MAX / IDLE_LIMITS_WITHOUT_PROGRESS - 1;
    bool holds = phase.status == NC_ERR_IDLE_TIMED_OUT && phase.limit_ms != NC_UNLIMITED;
    uint32_t limit_ms = phase.limit_ms < most_ms ? phase.limit_ms * IDLE_LIMITS_WITHOUT_PROGRESS : NC_UNLIMITED - 1;
    return (limit){NC_ERR_IDLE_TIMED_OUT, holds ? limit_ms : NC_UNLIMITED, transfer->progressed_ns};
}

static limit earliest(const nc_transfer *transfer) {
    limit phase = limit_of_phase(transfer);
    limit progress = limit_of_progress(transfer, phase);
    limit all = limit_of_all(transfer);
    phase = end_of(progress) < end_of(phase) ? progress : phase;
    return end_of(all) < end_of(phase) ? all : phase;
}

void nc_limits_get_on(nc_transfer *transfer) {
    transfer->progressed_ns = transfer->engine->loop.now_ns;
}

void nc_limits_arm(nc_transfer *transfer) {
    uint64_t deadline_ns = end_of(earliest(transfer));
    if (transfer->timer.place == 0 || deadline_ns < transfer->timer.at_ns) {
        nc_timers_set(&transfer->engine->loop.timers, &transfer->timer, deadline_ns);
    }
}

/// libcurl drops a challenge's body without a callback. Its progress is checked when the limit is reached.
static bool has_moved_unseen(nc_transfer *transfer) {
    curl_off_t bytes = 0;
    if (!transfer->is_head_held || transfer->handle == NULL ||
        curl_easy_getinfo(transfer->handle->easy, CURLINFO_SIZE_DOWNLOAD_T, &bytes) != CURLE_OK) {
        return false;
    }
    bool has_moved = bytes != transfer->challenge_bytes;
    transfer->challenge_bytes = bytes;
    return has_moved;
}

/// Returns true if the transfer is a stream of HTTP/2 or later.
static bool is_stream(const nc_transfer *transfer) {
    return transfer->handle != NULL && transfer->may_be_multiplexed;
}

static uint64_t waited_ns(const nc_transfer *transfer) {
    return transfer->engine->loop.now_ns - transfer->phase_began_ns;
}

/// Returns true if nothing at all has arrived over the connection for half the transfer's waiting time. A server that
/// is slow with one response still sends others.
static bool is_on_dead_connection(const nc_transfer *transfer) {
    return nc_sockets_are_silent(&transfer->engine->loop.sockets, transfer->socket_key, waited_ns(transfer) / 2);
}

/// When a stream is cancelled, libcurl keeps its HTTP/2 connection. The peer may be gone, or accept no more streams
/// (RFC 9113, 5.1.2). Every further request would join it and wait. So it is closed when no other transfer uses it;
/// until then, new requests avoid it if it is dead.
static void give_up_connection(const nc_transfer *transfer, bool is_dead) {
    nc_host *host = transfer->host;
    nc_handle_forbid_reuse(transfer->handle);
    if (is_dead && host != NULL && host->epoch == transfer->lane->epoch &&
        nc_lane_is_shared_by_others(transfer->lane, transfer)) {
        host->epoch++;
    }
}

void nc_limits_cancelled(const nc_transfer *transfer) {
    bool is_late =
        is_stream(transfer) && transfer->phase == NC_PHASE_REPLY && waited_ns(transfer) >= QUIET_MS * 1000000u;
    if (is_late && is_on_dead_connection(transfer)) {
        give_up_connection(transfer, true);
    }
}

/// Returns the proxy that may be the silent one; empty if there is none, or if only libcurl knows it.
static nc_slice proxy_on_the_way(const nc_transfer *transfer, nc_status status) {
    const nc_kept_proxy *proxy = nc_handle_proxy(transfer);
    bool is_certain = status == NC_ERR_CONNECT_TIMED_OUT && proxy->choice == NC_PROXY_URL && proxy->except == NULL &&
                      nc_transfer_unix_socket(transfer) == NULL;
    return is_certain ? nc_url_authority(nc_slice_of(proxy->url)) : nc_slice_of("");
}

void nc_limits_timer_due(nc_timer *timer) {
    nc_transfer *transfer = NC_CONTAINER_OF(timer, nc_transfer, timer);
    nc_engine *engine = transfer->engine;
    limit one = earliest(transfer);
    if (one.status == NC_ERR_IDLE_TIMED_OUT && end_of(one) <= engine->loop.now_ns && has_moved_unseen(transfer)) {
        transfer->phase_began_ns = engine->loop.now_ns;
        nc_limits_get_on(transfer);
        one = earliest(transfer);
    }
    if (end_of(one) > engine->loop.now_ns) {
        nc_timers_set(&engine->loop.timers, timer, end_of(one));
        return;
    }
    if (one.status == NC_OK) {
        if (!transfer->leads_on) {
            nc_delivery_finish(transfer); // A coding may end after the announced length.
        }
        transfer->ends_early = true;
        nc_transfer_hop_done(transfer, CURLE_OK);
        return;
    }
    if (one.status == NC_ERR_CONNECT_TIMED_OUT && transfer->detour != NULL) {
        nc_transfer_hop_done(transfer, CURLE_OPERATION_TIMEDOUT); // It continues at the origin.
        return;
    }
    nc_error err;
    nc_slice place = nc_url_authority(nc_transfer_url(transfer));
    nc_slice proxy = proxy_on_the_way(transfer, one.status);
    (void)nc_error_set(&err, one.status, CURLE_OPERATION_TIMEDOUT, -1, "%s: %.*s after %u ms%s%.*s",
                       nc_status_text(one.status), nc_url_shown(place), (const char *)place.data, one.limit_ms,
                       proxy.length != 0 ? ", through the proxy " : "", nc_url_shown(proxy), (const char *)proxy.data);
    nc_trace_pass(&engine->trace, NC_TRACE_LIMIT_HIT, transfer->id);
    if (is_stream(transfer) && (one.status != NC_ERR_TOTAL_TIMED_OUT || !transfer->has_heard)) {
        give_up_connection(transfer, is_on_dead_connection(transfer));
    }
    nc_transfer_fail(transfer, &err);
}
