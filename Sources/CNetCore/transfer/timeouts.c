#include "transfer/transfer.h"

#include "base/error.h"
#include "base/trace.h"
#include "curl/connection_pool.h"
#include "curl/easy_handle.h"
#include "event_loop/sockets.h"
#include "event_loop/timers.h"
#include "http/url_text.h"
#include "state/engine_record.h"
#include "state/time_limits.h"
#include "state/transfer_state.h"
#include "transfer/body_pipeline.h"

/// If a request is cancelled after it waited longer than this, the caller's own timeout may be the reason. So the
/// connection may be dead.
enum { QUIET_MS = 1000 };

/// Returns true if bytes of a challenge's body have arrived since the last check. libcurl drops them without a
/// callback, so the check is made when the idle limit is reached.
static bool has_moved_unseen(nc_transfer *transfer) {
    curl_off_t bytes = 0;
    if (!transfer->hop.is_head_held || transfer->handle == NULL ||
        curl_easy_getinfo(transfer->handle->easy, CURLINFO_SIZE_DOWNLOAD_T, &bytes) != CURLE_OK) {
        return false;
    }
    bool has_moved = bytes != transfer->hop.challenge_bytes;
    transfer->hop.challenge_bytes = bytes;
    return has_moved;
}

/// Returns true if the transfer is a stream of HTTP/2 or later.
static bool is_stream(const nc_transfer *transfer) {
    return transfer->handle != NULL && transfer->hop.may_be_multiplexed;
}

static uint64_t waited_ns(const nc_transfer *transfer) {
    return transfer->engine->loop.now_ns - transfer->phase_began_ns;
}

/// Returns true if nothing at all has arrived over the connection for half the transfer's waiting time. A server that
/// is slow with one response still sends others.
static bool is_on_dead_connection(const nc_transfer *transfer) {
    return nc_sockets_are_silent(&transfer->engine->loop.sockets, transfer->hop.socket_key, waited_ns(transfer) / 2);
}

/// When a stream is cancelled, libcurl keeps its HTTP/2 connection. The peer may be gone, or accept no more streams
/// (RFC 9113, 5.1.2). Every further request would use the connection and wait. So the connection is closed when no
/// other transfer uses it. If it is dead, new requests use another pool immediately.
static void give_up_connection(const nc_transfer *transfer, bool is_dead) {
    nc_host *host = transfer->schedule.host;
    nc_easy_handle_forbid_reuse(transfer->handle);
    if (is_dead && host != NULL && host->epoch == transfer->conn_pool->epoch &&
        nc_conn_streams_share(transfer->conn_pool, transfer)) {
        host->epoch++;
    }
}

void nc_timeouts_cancelled(const nc_transfer *transfer) {
    bool is_late =
        is_stream(transfer) && transfer->phase == NC_PHASE_REPLY && waited_ns(transfer) >= QUIET_MS * 1000000u;
    if (is_late && is_on_dead_connection(transfer)) {
        give_up_connection(transfer, true);
    }
}

/// Returns the proxy that may not have responded; empty if there is none, or if only libcurl knows whether a proxy is
/// used.
static nc_slice proxy_on_the_way(const nc_transfer *transfer, nc_status status) {
    const nc_copied_proxy *proxy = nc_transfer_proxy(transfer);
    bool is_certain = status == NC_ERR_CONNECT_TIMED_OUT && proxy->choice == NC_PROXY_URL && proxy->except == NULL &&
                      nc_transfer_unix_socket(transfer) == NULL;
    return is_certain ? nc_url_authority(nc_slice_of(proxy->url)) : nc_slice_of("");
}

void nc_timeouts_timer_due(nc_timer *timer) {
    nc_transfer *transfer = NC_CONTAINER_OF(timer, nc_transfer, timer);
    nc_engine *engine = transfer->engine;
    nc_deadline one = nc_deadline_earliest(transfer);
    if (one.status == NC_ERR_IDLE_TIMED_OUT && nc_deadline_end_ns(one) <= engine->loop.now_ns &&
        has_moved_unseen(transfer)) {
        transfer->phase_began_ns = engine->loop.now_ns;
        nc_deadline_progressed(transfer);
        one = nc_deadline_earliest(transfer);
    }
    if (nc_deadline_end_ns(one) > engine->loop.now_ns) {
        nc_timers_set(&engine->loop.timers, timer, nc_deadline_end_ns(one));
        return;
    }
    if (one.status == NC_OK) {
        if (!nc_hop_is_redirect(transfer)) {
            nc_body_pipeline_finish(transfer); // Records an error if the content coding is incomplete.
        }
        nc_hop_stop(transfer);
        nc_transfer_hop_done(transfer, CURLE_OK);
        return;
    }
    if (one.status == NC_ERR_CONNECT_TIMED_OUT && transfer->alt_route != NULL) {
        nc_transfer_hop_done(transfer, CURLE_OPERATION_TIMEDOUT); // The hop begins again at the origin.
        return;
    }
    nc_error err;
    nc_slice host_and_port = transfer->target.url.host_and_port;
    nc_slice proxy = proxy_on_the_way(transfer, one.status);
    (void)nc_error_set(&err, one.status, CURLE_OPERATION_TIMEDOUT, -1, "%s: %.*s after %u ms%s%.*s",
                       nc_status_text(one.status), nc_url_shown(host_and_port), (const char *)host_and_port.data,
                       one.limit_ms, proxy.length != 0 ? ", through the proxy " : "", nc_url_shown(proxy),
                       (const char *)proxy.data);
    nc_trace_pass(&engine->trace, NC_TRACE_LIMIT_HIT, transfer->id);
    if (is_stream(transfer) && (one.status != NC_ERR_TOTAL_TIMED_OUT || !transfer->hop.has_received)) {
        give_up_connection(transfer, is_on_dead_connection(transfer));
    }
    nc_transfer_fail(transfer, &err);
}
