#include "websocket/internal.h"

#include "base/error.h"
#include "event_loop/timers.h"
#include "request/response.h"
#include "state/engine_record.h"

#include <netcore/transfers.h>
#include <string.h>

/// The body of a refused handshake that on_end gets.
enum { MAX_REFUSAL_BYTES = 64 * 1024 };

/// While more bytes wait to be sent, only the last of several pings is answered (RFC 6455, 5.5.3).
enum { MAX_QUEUED_BEFORE_PONG = 64 * 1024 };

/// Control frames that may arrive within a second.
enum { MAX_CONTROL_FRAMES = 10000 };

/// A message buffer that is larger is freed after its message.
enum { KEPT_MESSAGE_BYTES = 64 * 1024 };

/// After a violation, the server has this time to read the close frame.
enum { FAILURE_MS = 1000 };

static const uint64_t second_ns = 1000000000u;

static uint64_t now_ns(const nc_socket *socket) {
    return socket->engine->loop.now_ns;
}

static uint64_t after_ms(uint64_t from_ns, uint32_t ms) {
    return ms == NC_UNLIMITED ? UINT64_MAX : from_ns + (uint64_t)ms * 1000000u;
}

/* --- time limits --- */

static void set_timer(nc_socket *socket) {
    const nc_socket_options *options = &socket->options;
    uint64_t quiet_ns = after_ms(socket->received_ns, options->peer_timeout_ms);
    uint64_t last_ns = socket->received_ns > socket->pinged_ns ? socket->received_ns : socket->pinged_ns;
    uint64_t ping_ns = after_ms(last_ns, options->ping_interval_ms);
    uint64_t at_ns = quiet_ns < ping_ns ? quiet_ns : ping_ns;
    at_ns = socket->close_by_ns != 0 && socket->close_by_ns < at_ns ? socket->close_by_ns : at_ns;
    if (!socket->has_timer) {
        return;
    }
    if (at_ns == UINT64_MAX) {
        nc_timers_clear(&socket->engine->loop.timers, &socket->timer);
    } else {
        nc_timers_set(&socket->engine->loop.timers, &socket->timer, at_ns);
    }
}

static void close_within(nc_socket *socket, uint32_t ms) {
    uint64_t at_ns = after_ms(now_ns(socket), ms);
    if (socket->close_by_ns == 0 || at_ns < socket->close_by_ns) {
        socket->close_by_ns = at_ns;
        set_timer(socket);
    }
}

static void timer_due(nc_timer *timer) {
    nc_socket *socket = NC_CONTAINER_OF(timer, nc_socket, timer);
    const nc_socket_options *options = &socket->options;
    uint64_t now = now_ns(socket);
    if (socket->is_paused) {
        socket->received_ns = now; // The received bytes stay unread during a pause.
    }
    bool is_late = socket->close_by_ns != 0 && now >= socket->close_by_ns;
    if (is_late || now >= after_ms(socket->received_ns, options->peer_timeout_ms)) {
        if (!socket->has_close) {
            nc_socket_record(socket, NC_ERR_PEER_TIMED_OUT, 0,
                             is_late ? "the server did not close the WebSocket within its limit (close_timeout_ms)"
                                     : nc_status_text(NC_ERR_PEER_TIMED_OUT));
        }
        nc_engine_cancel(socket->engine, socket->id);
        return;
    }
    pthread_mutex_lock(&socket->mutex);
    uint64_t last_ns = socket->received_ns > socket->pinged_ns ? socket->received_ns : socket->pinged_ns;
    if (now >= after_ms(last_ns, options->ping_interval_ms) && !socket->is_closing) {
        socket->pinged_ns = now;
        if (nc_socket_append(socket, (nc_ws_frame){.opcode = NC_WS_PING, .is_final = true}, nc_slice_of("")) != NC_OK) {
            nc_socket_record(socket, NC_ERR_NO_MEMORY, 0, "no memory for a ping");
            nc_engine_cancel(socket->engine, socket->id);
        }
    } else if (socket->is_closing) {
        socket->pinged_ns = now;
    }
    pthread_mutex_unlock(&socket->mutex);
    set_timer(socket);
}

/* --- frames of the server --- */

/// Sends a close frame and ignores what follows.
static void fail(nc_socket *socket, nc_status status, uint16_t close_code, const char *text) {
    nc_socket_record(socket, status, close_code, text);
    pthread_mutex_lock(&socket->mutex);
    nc_status appended = nc_socket_append_close(socket, close_code, nc_slice_of(""));
    pthread_mutex_unlock(&socket->mutex);
    if (appended != NC_OK) {
        nc_engine_cancel(socket->engine, socket->id);
    }
    close_within(socket, FAILURE_MS);
}

static void fail_with(nc_socket *socket, nc_ws_fault fault) {
    fail(socket, nc_ws_fault_status(fault), nc_ws_fault_close_code(fault), nc_ws_fault_text(fault));
}

static void take_ping(nc_socket *socket, nc_slice payload) {
    socket->has_pong = true;
    socket->pong_bytes = (uint8_t)payload.length;
    if (payload.length > 0) {
        memcpy(socket->pong, payload.data, payload.length);
    }
    if (nc_socket_queued_bytes(socket) <= MAX_QUEUED_BEFORE_PONG) {
        nc_socket_send_pong(socket);
    }
}

static void take_close(nc_socket *socket, const nc_ws_event *event) {
    socket->has_close = true;
    socket->close_code = event->close_code;
    nc_buf_append(&socket->close_reason, event->bytes);
    uint16_t echoed = event->close_code == NC_SOCKET_NO_CLOSE_CODE ? 0 : event->close_code;
    pthread_mutex_lock(&socket->mutex);
    nc_status status = nc_socket_append_close(socket, echoed, nc_slice_of(""));
    pthread_mutex_unlock(&socket->mutex);
    if (status != NC_OK) {
        nc_engine_cancel(socket->engine, socket->id);
    }
    close_within(socket, socket->options.close_timeout_ms);
}

/// Collects a message. Returns false if memory is exhausted.
static bool collect(nc_socket *socket, nc_ws_event *event) {
    if (socket->options.delivers_pieces || (event->is_first && event->is_last)) {
        return true;
    }
    nc_buf_append(&socket->message, event->bytes);
    event->bytes = nc_buf_slice(&socket->message);
    return nc_buf_status(&socket->message) == NC_OK;
}

static nc_action take_data(nc_socket *socket, nc_ws_event *event) {
    nc_action action = NC_ACTION_CONTINUE;
    socket->control_frames = 0;
    if (!collect(socket, event)) {
        fail_with(socket, NC_WS_FAULT_MEMORY);
        return NC_ACTION_CONTINUE;
    }
    bool is_due = socket->options.delivers_pieces || event->is_last;
    if (is_due && socket->sink.on_message != NULL) {
        action = socket->sink.on_message(socket->sink.ctx, socket, event->is_text ? NC_SOCKET_TEXT : NC_SOCKET_BINARY,
                                         event->bytes, event->is_last);
    }
    if (event->is_last && socket->message.capacity > KEPT_MESSAGE_BYTES) {
        nc_buf_deinit(&socket->message);
    } else if (event->is_last) {
        nc_buf_reset(&socket->message);
    }
    return action;
}

/// Counts a control frame. Returns true if too many have arrived within a second without a message between them.
static bool is_flooded(nc_socket *socket) {
    if (now_ns(socket) - socket->window_ns >= second_ns) {
        socket->window_ns = now_ns(socket);
        socket->control_frames = 0;
    }
    return ++socket->control_frames > MAX_CONTROL_FRAMES;
}

static nc_action take_event(nc_socket *socket, nc_ws_event *event) {
    if (event->kind == NC_WS_DATA) {
        return take_data(socket, event);
    }
    if (is_flooded(socket)) {
        fail_with(socket, NC_WS_FAULT_CONTROL_FLOOD);
    } else if (event->kind == NC_WS_GOT_PING) {
        take_ping(socket, event->bytes);
    } else if (event->kind == NC_WS_GOT_CLOSE) {
        take_close(socket, event);
    } else if (socket->sink.on_pong != NULL) {
        socket->sink.on_pong(socket->sink.ctx, socket, event->bytes);
    }
    return NC_ACTION_CONTINUE;
}

/// Reads frames until the input is consumed or the receiver does not continue. `in` is advanced.
static nc_action read_frames(nc_socket *socket, nc_slice *in) {
    nc_action action = NC_ACTION_CONTINUE;
    while (action == NC_ACTION_CONTINUE && socket->error.status == NC_OK) {
        nc_ws_event event;
        nc_ws_fault fault = nc_ws_reader_next(&socket->reader, in, &event);
        if (fault != NC_WS_FAULT_NONE) {
            fail_with(socket, fault);
        } else if (event.kind == NC_WS_NEEDS_MORE) {
            break;
        } else {
            action = take_event(socket, &event);
        }
    }
    return action;
}

nc_action nc_socket_on_body(void *ctx, nc_transfer_id id, nc_slice bytes) {
    nc_socket *socket = ctx;
    (void)id;
    if (socket->is_refused) {
        size_t room = MAX_REFUSAL_BYTES - socket->refusal.length;
        nc_buf_append(&socket->refusal, nc_slice_make(bytes.data, bytes.length < room ? bytes.length : room));
        return bytes.length < room ? NC_ACTION_CONTINUE : NC_ACTION_STOP;
    }
    socket->received_ns = now_ns(socket);
    nc_action action = read_frames(socket, &bytes);
    if (action == NC_ACTION_PAUSE) {
        socket->is_paused = true;
        nc_buf_append(&socket->unread, bytes);
        if (nc_buf_status(&socket->unread) != NC_OK) {
            nc_socket_record(socket, NC_ERR_NO_MEMORY, 0, "no memory for the bytes of a paused WebSocket");
            return NC_ACTION_STOP;
        }
    }
    return action;
}

/// Reads what had arrived before the pause, then lets the engine continue.
static void resume(nc_socket *socket) {
    socket->is_paused = false;
    socket->received_ns = now_ns(socket);
    nc_slice in = nc_buf_slice(&socket->unread);
    in = nc_slice_make(in.length > 0 ? in.data + socket->unread_at : in.data, in.length - socket->unread_at);
    nc_action action = read_frames(socket, &in);
    socket->unread_at = socket->unread.length - in.length;
    socket->is_paused = action == NC_ACTION_PAUSE;
    if (action == NC_ACTION_STOP) {
        nc_socket_record(socket, NC_ERR_STOPPED_BY_CALLER, 0, "the message callback stopped the WebSocket");
        nc_engine_cancel(socket->engine, socket->id);
    } else if (!socket->is_paused) {
        nc_buf_deinit(&socket->unread);
        socket->unread_at = 0;
        nc_engine_resume_from(socket->engine, socket->id, NC_PAUSE_CALLBACK);
    }
    set_timer(socket);
}

/* --- the handshake --- */

static nc_action begin(nc_socket *socket, const nc_response *response) {
    nc_ws_offer offer = {.key = socket->key,
                         .protocols = nc_buf_slice(&socket->protocols),
                         .offers_deflate = socket->options.offers_compression};
    nc_ws_deflate_terms terms;
    nc_error err;
    if (nc_ws_handshake_check(&offer, response, &terms, &err) != NC_OK) {
        socket->error = err;
        return NC_ACTION_STOP;
    }
    if (nc_timers_announce(&socket->engine->loop.timers) != NC_OK) {
        nc_socket_record(socket, NC_ERR_NO_MEMORY, 0, "no memory for a time limit");
        return NC_ACTION_STOP;
    }
    socket->has_timer = true;
    socket->timer.fire = timer_due;
    socket->received_ns = now_ns(socket);
    socket->reader.terms = terms;
    pthread_mutex_lock(&socket->mutex);
    socket->terms = terms;
    socket->is_open = true;
    if (socket->awaits_bytes) {
        socket->awaits_bytes = false; // Messages may have been queued before.
        nc_engine_resume_from(socket->engine, socket->id, NC_PAUSE_SOURCE);
    }
    bool is_closing = socket->is_closing;
    pthread_mutex_unlock(&socket->mutex);
    set_timer(socket);
    if (is_closing) {
        close_within(socket, socket->options.close_timeout_ms);
    }
    if (socket->sink.on_open != NULL) {
        socket->sink.on_open(socket->sink.ctx, socket, response);
    }
    return NC_ACTION_CONTINUE;
}

nc_action nc_socket_on_head(void *ctx, nc_transfer_id id, const nc_response *response, bool is_last) {
    nc_socket *socket = ctx;
    (void)id;
    if (!is_last) {
        return NC_ACTION_CONTINUE;
    }
    if (nc_response_status(response) == 101) {
        return begin(socket, response);
    }
    socket->is_refused = true;
    return NC_ACTION_CONTINUE;
}

/* --- commands and the end --- */

void nc_socket_arrive(nc_worker_result *answer) {
    nc_socket *socket = NC_CONTAINER_OF(answer, nc_socket, answer);
    pthread_mutex_lock(&socket->mutex);
    bool is_ended = socket->is_ended;
    bool is_closing = socket->is_closing && socket->is_open;
    bool wants_resume = socket->wants_resume;
    socket->wants_resume = false;
    socket->is_posted = false;
    pthread_mutex_unlock(&socket->mutex);
    if (!is_ended && is_closing) {
        close_within(socket, socket->options.close_timeout_ms);
    }
    if (!is_ended && wants_resume && socket->is_paused) {
        resume(socket);
    }
    nc_socket_release(socket);
}

/// Returns the socket's result for the result of its transfer.
static nc_error result_of(const nc_socket *socket, const nc_response *response, const nc_error *error) {
    nc_error result = *error;
    if (socket->error.status != NC_OK) {
        return socket->error;
    }
    if (socket->has_close) {
        (void)nc_error_clear(&result); // Both sides have closed, so it does not matter how the connection ends.
    } else if (socket->is_refused && (error->status == NC_OK || socket->refusal.length == MAX_REFUSAL_BYTES)) {
        (void)nc_error_set(&result, NC_ERR_UPGRADE_REFUSED, nc_response_status(response), -1,
                           "the server refused the WebSocket handshake with status %u", nc_response_status(response));
    } else if (socket->is_open &&
               (error->status == NC_OK || error->status == NC_ERR_CUT_SHORT || error->status == NC_ERR_EMPTY_REPLY)) {
        // Some versions of libcurl report an empty reply if no byte follows the 101.
        (void)nc_error_set(&result, NC_ERR_CUT_SHORT, error->native_code, -1,
                           "the connection of the WebSocket ended without a close frame");
    }
    return result;
}

void nc_socket_on_done(void *ctx, nc_transfer_id id, nc_response *response, const nc_error *error) {
    nc_socket *socket = ctx;
    (void)id;
    if (socket->has_timer) {
        nc_timers_clear(&socket->engine->loop.timers, &socket->timer);
        nc_timers_withdraw(&socket->engine->loop.timers);
        socket->has_timer = false;
    }
    pthread_mutex_lock(&socket->mutex);
    socket->is_ended = true;
    pthread_mutex_unlock(&socket->mutex);
    nc_error result = result_of(socket, response, error);
    nc_socket_end end = {.error = &result,
                         .response = response,
                         .refusal = nc_buf_slice(&socket->refusal),
                         .close_code = socket->has_close ? socket->close_code : NC_SOCKET_NO_CLOSE_FRAME,
                         .close_reason = nc_buf_slice(&socket->close_reason)};
    socket->sink.on_end(socket->sink.ctx, socket, &end);
    nc_socket_release(socket);
}
