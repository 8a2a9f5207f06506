#include "state/time_limits.h"

#include "event_loop/timers.h"
#include "request/response.h"
#include "state/alt_svc_cache.h"
#include "state/engine_record.h"
#include "state/transfer_state.h"

/// The time limit for the last frame or the trailers of a stream whose body has its announced length. libcurl may have
/// read that frame and ignore it until the connection receives something else, see
/// nc_quirk_leaves_stream_bytes_unread().
enum { LAST_FRAME_MS = 500 };

/// The time limit for the whole body of a redirect, which is only read so that the connection can be reused.
enum { REDIRECT_BODY_MS = 1000 };

/// The maximum time to connect to an alternative, whichever connect limit applies.
enum { ALT_SVC_CONNECT_MS = 10000 };

/// The maximum time for QUIC to connect to an alternative. A network may drop UDP.
enum { QUIC_CONNECT_MS = 300 };

/// After this many idle limits without progress a transfer fails, even if bytes without content arrive: head lines,
/// interim heads, trailers, chunk extensions.
enum { IDLE_LIMITS_WITHOUT_PROGRESS = 10 };

/// Returns the limit of a redirect's body. The body is not needed to follow the redirect. While the request body is
/// being sent, only the idle limit applies.
static nc_deadline limit_of_redirect(const nc_transfer *transfer) {
    uint32_t idle_ms = transfer->request.limits.idle_ms;
    if (nc_transfer_is_sending(transfer)) {
        return (nc_deadline){NC_OK, idle_ms, transfer->phase_began_ns};
    }
    return (nc_deadline){NC_OK, idle_ms < REDIRECT_BODY_MS ? idle_ms : REDIRECT_BODY_MS, transfer->hop.redirected_ns};
}

/// Returns the limit to connect. An alternative gets half of it at most, so that there is time left for the origin.
static nc_deadline limit_of_connecting(const nc_transfer *transfer) {
    uint32_t whole_ms = transfer->request.limits.connect_ms;
    if (transfer->alt_route != NULL) {
        uint32_t most_ms = nc_alt_svc_route_is_http3(transfer->alt_route) ? QUIC_CONNECT_MS : ALT_SVC_CONNECT_MS;
        uint32_t half_ms = whole_ms / 2 < most_ms ? whole_ms / 2 : most_ms;
        return (nc_deadline){NC_ERR_CONNECT_TIMED_OUT, half_ms, transfer->phase_began_ns};
    }
    return (nc_deadline){NC_ERR_CONNECT_TIMED_OUT, whole_ms, transfer->phase_began_ns - transfer->target.lost_ns};
}

static nc_deadline limit_of_phase(const nc_transfer *transfer) {
    const nc_limits *limits = &transfer->request.limits;
    uint64_t from_ns = transfer->phase_began_ns;
    if (transfer->hop.is_upgraded) {
        return (nc_deadline){NC_ERR_TOTAL_TIMED_OUT, NC_UNLIMITED, from_ns}; // A WebSocket has its own limits.
    }
    // A pause or a rate limit stops the idle limit, except while the transfer connects or waits for the first byte.
    bool awaits_peer = transfer->phase == NC_PHASE_CONNECT || transfer->phase == NC_PHASE_REPLY;
    if (!awaits_peer && nc_transfer_is_held_back(transfer)) {
        return (nc_deadline){NC_ERR_TOTAL_TIMED_OUT, NC_UNLIMITED, from_ns}; // The peer is not the cause.
    }
    switch (transfer->phase) {
    case NC_PHASE_SLOT:
        return (nc_deadline){NC_ERR_SLOT_TIMED_OUT, limits->slot_ms, from_ns};
    case NC_PHASE_CONNECT:
        return limit_of_connecting(transfer);
    case NC_PHASE_REPLY:
        return (nc_deadline){NC_ERR_FIRST_BYTE_TIMED_OUT, limits->first_byte_ms, from_ns};
    case NC_PHASE_SEND:
    case NC_PHASE_BODY:
        if (nc_transfer_awaits_end(transfer)) {
            bool is_stream = nc_response_http_version(transfer->response) >= NC_HTTP_VERSION_2;
            uint32_t wait_ms = is_stream ? LAST_FRAME_MS : 0;
            if (limits->idle_ms > wait_ms) {
                return (nc_deadline){NC_OK, wait_ms, from_ns};
            }
        }
        return nc_hop_is_redirect(transfer) ? limit_of_redirect(transfer)
                                            : (nc_deadline){NC_ERR_IDLE_TIMED_OUT, limits->idle_ms, from_ns};
    default: // Also while files are opened or authorities are loaded: a slow disk is not a slow network.
        return (nc_deadline){NC_ERR_TOTAL_TIMED_OUT, NC_UNLIMITED, from_ns};
    }
}

static nc_deadline limit_of_all(const nc_transfer *transfer) {
    uint32_t total_ms = transfer->hop.is_upgraded ? NC_UNLIMITED : transfer->request.limits.total_ms;
    return (nc_deadline){NC_ERR_TOTAL_TIMED_OUT, total_ms, transfer->submitted_ns};
}

uint64_t nc_deadline_end_ns(nc_deadline one) {
    return one.limit_ms == NC_UNLIMITED ? UINT64_MAX : one.from_ns + (uint64_t)one.limit_ms * 1000000u;
}

/// Returns the limit for slow progress, which applies where the idle limit does.
static nc_deadline limit_of_progress(const nc_transfer *transfer, nc_deadline phase) {
    const uint32_t most_ms = UINT32_MAX / IDLE_LIMITS_WITHOUT_PROGRESS - 1;
    bool holds = phase.status == NC_ERR_IDLE_TIMED_OUT && phase.limit_ms != NC_UNLIMITED;
    uint32_t limit_ms = phase.limit_ms < most_ms ? phase.limit_ms * IDLE_LIMITS_WITHOUT_PROGRESS : NC_UNLIMITED - 1;
    return (nc_deadline){NC_ERR_IDLE_TIMED_OUT, holds ? limit_ms : NC_UNLIMITED, transfer->progressed_ns};
}

nc_deadline nc_deadline_earliest(const nc_transfer *transfer) {
    nc_deadline phase = limit_of_phase(transfer);
    nc_deadline progress = limit_of_progress(transfer, phase);
    nc_deadline all = limit_of_all(transfer);
    phase = nc_deadline_end_ns(progress) < nc_deadline_end_ns(phase) ? progress : phase;
    return nc_deadline_end_ns(all) < nc_deadline_end_ns(phase) ? all : phase;
}

void nc_deadline_progressed(nc_transfer *transfer) {
    transfer->progressed_ns = transfer->engine->loop.now_ns;
}

void nc_deadline_arm(nc_transfer *transfer) {
    uint64_t deadline_ns = nc_deadline_end_ns(nc_deadline_earliest(transfer));
    if (transfer->timer.heap_index == 0 || deadline_ns < transfer->timer.at_ns) {
        nc_timers_set(&transfer->engine->loop.timers, &transfer->timer, deadline_ns);
    }
}

void nc_deadline_enter_phase(nc_transfer *transfer, nc_phase phase) {
    nc_engine *engine = transfer->engine;
    bool is_same = transfer->phase == phase;
    transfer->phase = phase;
    atomic_store_explicit(&transfer->published_phase, (unsigned)phase, memory_order_relaxed);
    transfer->phase_began_ns = engine->loop.now_ns;
    if (!is_same) {
        nc_deadline_progressed(transfer);
        nc_deadline_arm(transfer); // In the same phase the timer fires too early, and is then set again.
    }
}
