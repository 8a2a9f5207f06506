#include "transfer/transfer.h"

#include "base/error.h"
#include "base/list.h"
#include "curl/connection_pool.h"
#include "curl/easy_handle.h"
#include "curl/quirks.h"
#include "curl/tls_hook.h"
#include "event_loop/sockets.h"
#include "event_loop/timers.h"
#include "request/response.h"
#include "state/engine_record.h"
#include "state/transfer_state.h"
#include "transfer/body_pipeline.h"

/* --- calls of libcurl --- */

/// Ends the transfers whose file could not be written. libcurl does not report them, because it had delivered their
/// bytes before the write failed.
static void fail_unwritten(nc_conn_pool *conn_pool) {
    nc_link *next;
    for (nc_link *link = conn_pool->running.next; link != &conn_pool->running; link = next) {
        nc_transfer *transfer = NC_CONTAINER_OF(link, nc_transfer, link);
        next = link->next;
        if (transfer->error.status != NC_OK) {
            nc_transfer_fail(transfer, &transfer->error);
        }
    }
}

void nc_conn_events_act(nc_conn_pool *conn_pool, curl_socket_t fd, int events) {
    nc_conn_pool_perform(conn_pool, fd, events);
    nc_write_buffer_emit(&conn_pool->engine->loop.write_buffer);
    if (nc_write_buffer_take_failure(&conn_pool->engine->loop.write_buffer)) {
        fail_unwritten(conn_pool);
    }
}

void nc_conn_events_timer_due(nc_timer *timer) {
    nc_conn_pool *conn_pool = NC_CONTAINER_OF(timer, nc_conn_pool, timer);
    conn_pool->is_firing = true;
    nc_conn_events_act(conn_pool, CURL_SOCKET_TIMEOUT, 0);
    conn_pool->is_firing = false;
    nc_conn_pool_update_timer(conn_pool);
}

void nc_conn_events_roots_ready(nc_conn_pool *conn_pool) {
    nc_link *link;
    while ((link = nc_list_take_first(&conn_pool->awaiting_roots)) != NULL) {
        nc_transfer *transfer = NC_CONTAINER_OF(link, nc_transfer, link);
        if (conn_pool->roots_state == NC_ROOTS_READY) {
            nc_transfer_launch(transfer);
        } else {
            nc_transfer_fail(transfer, &conn_pool->roots_error);
        }
    }
}

/* --- transfers that libcurl leaves waiting although nothing more will arrive for them --- */

/// Returns true if libcurl does not wait for bytes from the transfer's socket, or has not used a socket yet.
static bool awaits_no_bytes(const nc_transfer *transfer) {
    int fd = transfer->handle->fd;
    return fd < 0 || !nc_sockets_is_read(&transfer->engine->loop.sockets, fd);
}

/// Returns true if libcurl only waits for the source of the request body. If libcurl has not asked for events of a
/// socket since the transfer began, it waits for no bytes of an HTTP/1.1 connection. Over HTTP/2 that is unknown,
/// because the socket may be read for other streams.
static bool waits_for_source(const nc_transfer *transfer) {
    bool is_known =
        transfer->handle->fd >= 0 || nc_quirk_reads_before_it_polls(nc_response_http_version(transfer->response));
    return is_known && nc_transfer_awaits_source(transfer) && awaits_no_bytes(transfer);
}

/// Ends a transfer whose connection ended before a response head, while libcurl waits for the source of the request
/// body. The socket is then open, and libcurl wants no events of it. If libcurl had changed to a new connection, the
/// new socket would have wanted events, and the old one would be closed.
static void end_without_response(nc_transfer *transfer) {
    const nc_sockets *sockets = &transfer->engine->loop.sockets;
    if (!transfer->hop.was_connected || !nc_transfer_awaits_source(transfer) ||
        !nc_sockets_is_unwanted(sockets, transfer->handle->fd)) {
        return;
    }
    // libcurl uses the same codes: CURLE_OK if the connection ends within the head, CURLE_GOT_NOTHING before it.
    nc_transfer_hop_done(transfer, transfer->hop.is_in_head ? CURLE_OK : CURLE_GOT_NOTHING);
}

/// Ends the transfers whose response is complete, or truncated, while libcurl would wait without limit for a source
/// that has no bytes. If the source has more bytes, the upload continues to its end.
static void end_waiting_for_source(nc_conn_pool *conn_pool) {
    nc_link *next;
    for (nc_link *link = conn_pool->running.next; link != &conn_pool->running; link = next) {
        nc_transfer *transfer = NC_CONTAINER_OF(link, nc_transfer, link);
        next = link->next;
        if (!transfer->hop.has_head) {
            end_without_response(transfer);
            continue;
        }
        if (transfer->hop.is_head_held || !nc_transfer_is_drained(transfer)) {
            continue;
        }
        if (waits_for_source(transfer)) {
            nc_transfer_hop_done(transfer, CURLE_OK); // It also checks if the body is complete.
        }
    }
}

enum { MAX_NUDGED = 16 };

/// Calls libcurl for streams whose bytes it may have left in a buffer without an event: see
/// nc_quirk_leaves_stream_bytes_unread().
static void nudge(nc_conn_pool *conn_pool) {
    int fds[MAX_NUDGED];
    size_t count = 0;
    conn_pool->has_buffered_candidates = false;
    for (nc_link *link = conn_pool->running.next; link != &conn_pool->running; link = link->next) {
        nc_easy_handle *handle = NC_CONTAINER_OF(link, nc_transfer, link)->handle;
        if (!handle->may_have_buffered_data || handle->fd < 0) {
            continue;
        }
        size_t at = 0; // One call for all streams of a connection.
        while (at < count && fds[at] != handle->fd) {
            at++;
        }
        if (at == MAX_NUDGED) {
            conn_pool->has_buffered_candidates = true; // too many connections: the next call handles this one
            continue;
        }
        handle->may_have_buffered_data = false;
        fds[at] = handle->fd;
        count += at == count ? 1 : 0;
    }
    conn_pool->is_nudging = true;
    for (size_t i = 0; i < count; i++) {
        nc_conn_events_act(conn_pool, fds[i], CURL_CSELECT_IN);
    }
    conn_pool->is_nudging = false;
}

/// Returns true if a stream may have buffered bytes, and libcurl's timer will not fire within a millisecond.
static bool needs_nudge(const nc_conn_pool *conn_pool) {
    const nc_timer *timer = &conn_pool->timer;
    return conn_pool->has_buffered_candidates &&
           (timer->heap_index == 0 || timer->at_ns > conn_pool->engine->loop.now_ns + 1000000u);
}

/// Returns true if libcurl has received more of the response than it has delivered.
static bool has_more(const nc_transfer *transfer) {
    const nc_h2_stream *stream = &transfer->hop.stream;
    return (stream->has_head && !transfer->hop.has_head && !stream->is_refused) ||
           stream->data_bytes > atomic_load_explicit(&transfer->received_bytes, memory_order_relaxed);
}

enum { MAX_DRAIN_CALLS = 16 };

/// Ends the transfers of HTTP/2 connections that have ended. libcurl reports the end of a connection only to the
/// transfer that read it. The others would wait for more bytes on the connection, which never arrive.
static void end_streams_of_ended_connections(nc_conn_pool *conn_pool) {
    nc_link *next;
    conn_pool->has_ended_connection = false;
    for (nc_link *link = conn_pool->running.next; link != &conn_pool->running; link = next) {
        nc_transfer *transfer = NC_CONTAINER_OF(link, nc_transfer, link);
        next = link->next;
        if (!transfer->hop.was_connected || transfer->hop.is_head_held ||
            !nc_tls_is_over(transfer->hop.tls_connection)) {
            continue;
        }
        if (!nc_transfer_is_drained(transfer)) {
            conn_pool->has_ended_connection = true; // Its reader must first consume the pending bytes.
        } else if (has_more(transfer) && transfer->handle->drain_calls++ < MAX_DRAIN_CALLS) {
            transfer->handle->may_have_buffered_data = true;
            conn_pool->has_buffered_candidates = true;
            conn_pool->has_ended_connection = true;
        } else {
            nc_transfer_hop_done(transfer, CURLE_HTTP2);
        }
    }
}

/* --- ends of hops --- */

static void fail_running(nc_conn_pool *conn_pool) {
    nc_error err;
    (void)nc_error_set(&err, NC_ERR_NO_MEMORY, 0, -1, "no memory to continue reading from the connections");
    while (!nc_list_is_empty(&conn_pool->running)) {
        nc_transfer_fail(NC_CONTAINER_OF(conn_pool->running.next, nc_transfer, link), &err);
    }
}

enum { MAX_NUDGES = 8 };

void nc_conn_events_collect(nc_conn_pool *conn_pool) {
    int polls = 0;
    if (conn_pool->has_unread_messages) {
        nc_conn_pool_open_next(conn_pool);
    }
    while (conn_pool->has_unread_messages) {
        nc_easy_handle *done;
        CURLcode code;
        conn_pool->has_unread_messages = false;
        // Ending a hop calls libcurl, which may then finish other hops. So the outer loop is needed.
        while ((done = nc_conn_pool_next_done(conn_pool, &code)) != NULL) {
            nc_transfer_hop_done(done->transfer, code);
        }
        if (conn_pool->source_count > 0) {
            end_waiting_for_source(conn_pool);
        }
        if (!conn_pool->has_unread_messages && needs_nudge(conn_pool) && polls++ < MAX_NUDGES) {
            nudge(conn_pool);
        }
        if (!conn_pool->has_unread_messages && conn_pool->has_ended_connection && !needs_nudge(conn_pool)) {
            end_streams_of_ended_connections(conn_pool);
        }
    }
    if (needs_nudge(conn_pool)) {
        nc_timers_set(&conn_pool->engine->loop.timers, &conn_pool->timer,
                      conn_pool->engine->loop.now_ns + NC_TIMERS_NEXT_PASS_NS);
    }
    if (conn_pool->is_broken) {
        fail_running(conn_pool);
    }
}
