#include "net/stalled.h"

#include "net/engine_state.h"
#include "net/flow.h"
#include "net/response.h"
#include "net/tls_hook.h"

/// Returns true if libcurl does not want to read, as far as its sockets show.
static bool is_read_out(const nc_transfer *transfer) {
    int fd = transfer->handle->fd;
    return fd < 0 || !nc_sockets_is_read(&transfer->engine->loop.sockets, fd);
}

/// Returns true if libcurl only waits for the body's source. A connection's socket that it has not requested since the
/// transfer began is not read either (8.x reads first). A stream's socket may be read for other streams.
static bool waits_for_source(const nc_transfer *transfer) {
    bool is_known = transfer->handle->fd >= 0 || nc_response_http_version(transfer->response) < NC_HTTP_VERSION_2;
    return is_known && nc_flow_awaits_source(transfer) && is_read_out(transfer);
}

/// Ends a transfer whose connection has ended before a head while libcurl waits for the source: an open socket without
/// wanted events. A new connection has wanted events, and an old one is closed.
static void end_unanswered(nc_transfer *transfer) {
    const nc_sockets *sockets = &transfer->engine->loop.sockets;
    if (!transfer->was_connected || !nc_flow_awaits_source(transfer) ||
        !nc_sockets_is_left_alone(sockets, transfer->handle->fd)) {
        return;
    }
    // As libcurl distinguishes them.
    nc_transfer_hop_done(transfer, transfer->is_in_head ? CURLE_OK : CURLE_GOT_NOTHING);
}

void nc_stalled_end_answered(nc_lane *lane) {
    nc_link *next;
    for (nc_link *link = lane->running.next; link != &lane->running; link = next) {
        nc_transfer *transfer = NC_CONTAINER_OF(link, nc_transfer, link);
        next = link->next;
        if (!transfer->has_head) {
            end_unanswered(transfer);
            continue;
        }
        if (transfer->is_head_held || !nc_flow_is_drained(transfer)) {
            continue;
        }
        if (waits_for_source(transfer)) {
            nc_transfer_hop_done(transfer, CURLE_OK); // That checks if the body is complete.
        }
    }
}

enum { MAX_NUDGED = 16 };

void nc_stalled_nudge(nc_lane *lane) {
    int fds[MAX_NUDGED];
    size_t count = 0;
    lane->has_unsure = false;
    for (nc_link *link = lane->running.next; link != &lane->running; link = link->next) {
        nc_handle *handle = NC_CONTAINER_OF(link, nc_transfer, link)->handle;
        if (!handle->is_unsure || handle->fd < 0) {
            continue;
        }
        size_t at = 0; // One call for all streams of a connection.
        while (at < count && fds[at] != handle->fd) {
            at++;
        }
        if (at == MAX_NUDGED) {
            lane->has_unsure = true; // the next time
            continue;
        }
        handle->is_unsure = false;
        fds[at] = handle->fd;
        count += at == count ? 1 : 0;
    }
    lane->is_nudging = true;
    for (size_t i = 0; i < count; i++) {
        nc_lane_act(lane, fds[i], CURL_CSELECT_IN);
    }
    lane->is_nudging = false;
}

bool nc_stalled_may_be_forgotten(const nc_lane *lane) {
    const nc_timer *timer = &lane->timer;
    return lane->has_unsure && (timer->place == 0 || timer->at_ns > lane->engine->loop.now_ns + 1000000u);
}

/// Returns true if libcurl has received more of the response than it has delivered.
static bool has_more(const nc_transfer *transfer) {
    const nc_h2_stream *stream = &transfer->stream;
    return (stream->has_head && !transfer->has_head && !stream->is_refused) ||
           stream->data_bytes > atomic_load_explicit(&transfer->received_bytes, memory_order_relaxed);
}

enum { MAX_CALLS = 16 };

void nc_stalled_end_over(nc_lane *lane) {
    nc_link *next;
    lane->has_over = false;
    for (nc_link *link = lane->running.next; link != &lane->running; link = next) {
        nc_transfer *transfer = NC_CONTAINER_OF(link, nc_transfer, link);
        next = link->next;
        if (!transfer->was_connected || transfer->is_head_held || !nc_tls_is_over(transfer->tls_end)) {
            continue;
        }
        if (!nc_flow_is_drained(transfer)) {
            lane->has_over = true; // Its reader must first consume the pending bytes.
        } else if (has_more(transfer) && transfer->handle->calls_over++ < MAX_CALLS) {
            transfer->handle->is_unsure = true;
            lane->has_unsure = true;
            lane->has_over = true;
        } else {
            nc_transfer_hop_done(transfer, CURLE_HTTP2);
        }
    }
}
