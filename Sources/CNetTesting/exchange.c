#define _GNU_SOURCE 1
#include "exchange.h"

#include "basic.h"

#include <sys/epoll.h>
#include <time.h>

// One connection sends at most this many buffers in a row, so that the others get their turn.
#define MAX_ROUNDS 16

uint64_t nct_exchange_now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* --- waiting --- */

static nct_step wait_for(nct_connection *connection, uint32_t events) {
    if (connection->events != events) {
        connection->events = events;
        struct epoll_event event = {.events = events, .data.ptr = connection};
        epoll_ctl(connection->coordinator->poller, EPOLL_CTL_MOD, connection->wire.fd, &event);
    }
    return NCT_STEP_WAIT;
}

static nct_step wait_as(nct_connection *connection, nct_wire_result result) {
    if (result == NCT_WIRE_ENDED)
        return NCT_STEP_CLOSE;
    return wait_for(connection, result == NCT_WIRE_WANT_WRITE ? EPOLLOUT : EPOLLIN);
}

static nct_step stall(nct_connection *connection, nct_phase resumed_phase) {
    connection->phase = NCT_PHASE_STALLED;
    connection->resumed_phase = resumed_phase;
    connection->stall_ticket = nct_record_stall(&connection->coordinator->record);
    return wait_for(connection, EPOLLRDHUP);
}

static nct_step pause_for(nct_connection *connection, uint32_t milliseconds) {
    connection->phase = NCT_PHASE_PAUSED;
    connection->due_ms = nct_exchange_now_ms() + milliseconds;
    connection->coordinator->paused++;
    return wait_for(connection, EPOLLRDHUP);
}

/* --- reading --- */

static nct_step shake_hands(nct_connection *connection) {
    nct_wire_result result = nct_wire_handshake(&connection->wire);
    if (result != NCT_WIRE_DONE)
        return wait_as(connection, result);
    nct_record *record = &connection->coordinator->record;
    if (nct_wire_is_resumed(&connection->wire))
        nct_record_add(record, NCT_COUNT_RESUMED, 1);
    else if (nct_wire_has_certificate(&connection->wire))
        nct_record_add(record, NCT_COUNT_CERTIFICATES, 1);
    connection->phase = NCT_PHASE_READ;
    return NCT_STEP_NEXT;
}

static nct_step read_more(nct_connection *connection) {
    if (!connection->is_readable && !nct_wire_has_pending(&connection->wire))
        return wait_for(connection, EPOLLIN);
    uint8_t *scratch = connection->coordinator->scratch;
    size_t count = 0;
    nct_wire_result result = nct_wire_read(&connection->wire, scratch, sizeof connection->coordinator->scratch, &count);
    // If a read fills the buffer, the socket may have more bytes. Otherwise the poller reports new bytes.
    connection->is_readable = result == NCT_WIRE_DONE && count == sizeof connection->coordinator->scratch;
    if (result != NCT_WIRE_DONE)
        return wait_as(connection, result);
    return nct_bytes_append(&connection->in, scratch, count) ? NCT_STEP_NEXT : NCT_STEP_CLOSE;
}

static nct_step begin_reply(nct_connection *connection, nct_script *script, nct_request *request) {
    if (!nct_reply_stream_begin(&connection->reply_stream, script, request))
        return NCT_STEP_CLOSE;
    connection->stall_ticket = 0;
    if (script->delay_ms != 0)
        return pause_for(connection, script->delay_ms);
    connection->phase = NCT_PHASE_SEND;
    return NCT_STEP_NEXT;
}

/// Replies to a malformed request, and ends the connection after it, because further input cannot be parsed.
static nct_step refuse(nct_connection *connection, nct_script *script) {
    connection->request.is_last = true;
    return begin_reply(connection, nct_script_retain(script), NULL);
}

/// Replaces the reply if the chooser chooses another one for the request's body.
static nct_script *reconsider(const nct_connection *connection, nct_script *script) {
    const nct_chooser *chooser = &connection->coordinator->chooser;
    if (!script->awaits_body || chooser->choose == NULL)
        return script;
    nct_script *other = nct_choice_make(chooser, &connection->request, connection->number, true);
    if (other == NULL)
        return script;
    nct_script_release(script);
    return other;
}

static nct_step answer(nct_connection *connection) {
    nct_request *request = &connection->request;
    nct_script *script = reconsider(connection, connection->script);
    connection->script = NULL;
    const nct_chooser *chooser = &connection->coordinator->chooser;
    nct_record_request(&connection->coordinator->record, connection->number, &request->first, request->length);
    if (chooser->received != NULL)
        chooser->received(chooser->context, connection->number, (const char *)nct_bytes_first(&request->first),
                          request->first.length, request->body_received);
    return begin_reply(connection, script, request);
}

/// Returns the reply for a complete head, retained.
static nct_script *script_for(nct_coordinator *coordinator, const nct_request *request, size_t connection) {
    if (coordinator->chooser.choose == NULL)
        return nct_table_next(&coordinator->table, nct_bytes_first(&request->path), request->path.length);
    nct_script *script = nct_choice_make(&coordinator->chooser, request, connection, false);
    return script != NULL ? script : nct_script_retain(coordinator->table.fallback);
}

/// Chooses the reply for a complete head.
static void choose_reply(nct_connection *connection) {
    nct_request *request = &connection->request;
    nct_script *script = script_for(connection->coordinator, request, connection->number);
    const nct_bytes *shown = &request->fields[NCT_FIELD_AUTHORIZATION];
    if (script->challenge != NULL && !nct_basic_is_equal(&script->credentials, nct_bytes_first(shown), shown->length)) {
        nct_script *challenge = nct_script_retain(script->challenge);
        nct_script_release(script);
        script = challenge;
    }
    if (script->no_upgrade != NULL && !nct_socket_is_handshake(request)) {
        nct_script *refusal = nct_script_retain(script->no_upgrade);
        nct_script_release(script);
        script = refusal;
    }
    connection->script = script;
    connection->is_early = script->early != NCT_PATIENT;
    if (connection->is_early && request->is_waiting && script->early == NCT_EARLY_INSTEAD)
        request->phase = NCT_EXPECT_NOTHING;
}

/// Reads body bytes, and counts them as they arrive.
static nct_progress take_body(nct_connection *connection, bool is_kept) {
    nct_request *request = &connection->request;
    uint64_t before = request->body_received;
    nct_progress progress = nct_request_take_body(request, &connection->in, is_kept);
    if (request->body_received != before)
        nct_record_add(&connection->coordinator->record, NCT_COUNT_RECEIVED, (size_t)(request->body_received - before));
    return progress;
}

static bool is_body_kept(const nct_connection *connection) {
    const nct_script *script = connection->script;
    return script->is_echo || (script->awaits_body && connection->request.body_received < NCT_CHOICE_MAX_BODY);
}

static nct_step read_request(nct_connection *connection) {
    nct_coordinator *coordinator = connection->coordinator;
    nct_request *request = &connection->request;
    if (coordinator->is_never_reading && connection->stall_ticket == 0)
        return stall(connection, NCT_PHASE_READ);
    if (coordinator->greeting != NULL)
        return connection->in.length == 0 ? read_more(connection) : refuse(connection, coordinator->greeting);
    nct_progress progress = nct_request_take_head(request, &connection->in);
    if (progress == NCT_PROGRESS_WHOLE) {
        if (connection->script == NULL)
            choose_reply(connection);
        if (connection->is_early)
            return answer(connection);
        if (request->is_waiting) {
            request->is_waiting = false;
            connection->is_interim = true;
            return begin_reply(connection, nct_script_retain(coordinator->interim), NULL);
        }
        progress = take_body(connection, is_body_kept(connection));
    }
    if (progress == NCT_PROGRESS_BAD)
        return refuse(connection, coordinator->refusal);
    if (progress == NCT_PROGRESS_MORE)
        return read_more(connection);
    return answer(connection);
}

/* --- sending --- */

/// Continues with the next request, or ends the connection.
static nct_step end_exchange(nct_connection *connection, nct_ending ending) {
    static const nct_phase phases[] = {
        [NCT_KEEP] = NCT_PHASE_READ,  [NCT_CLOSE] = NCT_PHASE_FINISH,    [NCT_RESET] = NCT_PHASE_FLUSH,
        [NCT_STALL] = NCT_PHASE_READ, [NCT_TRUNCATE] = NCT_PHASE_FINISH, [NCT_HALF_CLOSE] = NCT_PHASE_HALF_FINISH,
    };
    if ((ending == NCT_KEEP || ending == NCT_STALL) && connection->request.is_last)
        ending = NCT_CLOSE;
    connection->is_truncated = ending == NCT_TRUNCATE;
    connection->stall_ticket = 0;
    connection->is_early = false;
    nct_request_reset(&connection->request);
    nct_reply_stream_deinit(&connection->reply_stream);
    connection->phase = ending < sizeof phases / sizeof phases[0] ? phases[ending] : NCT_PHASE_FINISH;
    return NCT_STEP_NEXT;
}

static void report_reply(nct_connection *connection) {
    const nct_chooser *chooser = &connection->coordinator->chooser;
    if (chooser->replied != NULL)
        chooser->replied(chooser->context, connection->number);
}

/// Continues after the reply, or the part of it before the cut, was sent.
static nct_step end_reply(nct_connection *connection) {
    const nct_script *script = connection->reply_stream.script;
    if (connection->is_interim) {
        connection->is_interim = false;
        nct_reply_stream_deinit(&connection->reply_stream);
        connection->phase = NCT_PHASE_READ;
        return NCT_STEP_NEXT;
    }
    if (script->no_upgrade != NULL) {
        connection->phase = NCT_PHASE_SOCKET;
        return NCT_STEP_NEXT;
    }
    if (connection->stall_ticket == 0)
        report_reply(connection);
    bool is_stopping = connection->is_early && script->early == NCT_EARLY_STOP;
    if ((script->ending == NCT_STALL || is_stopping) && connection->stall_ticket == 0)
        return stall(connection, NCT_PHASE_SEND);
    if (connection->is_early && script->early == NCT_EARLY_END)
        return end_exchange(connection, script->ending == NCT_KEEP ? NCT_CLOSE : script->ending);
    if (connection->is_early) {
        connection->phase = NCT_PHASE_DISCARD;
        return NCT_STEP_NEXT;
    }
    return end_exchange(connection, script->ending);
}

static nct_step discard_body(nct_connection *connection) {
    nct_progress progress = take_body(connection, false);
    if (progress == NCT_PROGRESS_BAD)
        return NCT_STEP_CLOSE;
    if (progress == NCT_PROGRESS_MORE)
        return read_more(connection);
    return end_exchange(connection, connection->reply_stream.script->ending);
}

/// Sends the reply's next piece, or the part of it for which the socket has room.
static nct_wire_result send_piece(nct_connection *connection) {
    nct_reply_stream *reply_stream = &connection->reply_stream;
    size_t drip_bytes = reply_stream->script->drip_bytes;
    size_t capacity = sizeof connection->coordinator->scratch;
    if (drip_bytes != 0) {
        nct_wire_result result = nct_wire_flush(&connection->wire);
        if (result != NCT_WIRE_DONE)
            return result;
        capacity = drip_bytes < capacity ? drip_bytes : capacity;
    }
    size_t length = nct_reply_stream_read(reply_stream, connection->coordinator->scratch, capacity);
    if (length == 0)
        return NCT_WIRE_ENDED;
    size_t count = 0;
    nct_wire_result result = nct_wire_write(&connection->wire, connection->coordinator->scratch, length, &count);
    reply_stream->sent += count;
    return result;
}

static nct_step send_reply(nct_connection *connection) {
    nct_reply_stream *reply_stream = &connection->reply_stream;
    for (int rounds = 0; reply_stream->sent < reply_stream->limit; rounds++) {
        if (rounds == MAX_ROUNDS)
            return wait_for(connection, EPOLLOUT);
        nct_wire_result result = send_piece(connection);
        if (result != NCT_WIRE_DONE)
            return wait_as(connection, result);
        bool is_dripping = reply_stream->script->drip_bytes != 0 && reply_stream->script->drip_ms != 0;
        if (is_dripping && reply_stream->sent < reply_stream->limit)
            return pause_for(connection, reply_stream->script->drip_ms);
    }
    return end_reply(connection);
}

/* --- WebSocket --- */

static nct_step send_frames(nct_connection *connection) {
    nct_bytes *out = &connection->socket.out;
    for (int rounds = 0; out->length > 0; rounds++) {
        if (rounds == MAX_ROUNDS)
            return wait_for(connection, EPOLLOUT);
        size_t count = 0;
        size_t capacity = sizeof connection->coordinator->scratch;
        size_t length = out->length < capacity ? out->length : capacity;
        nct_wire_result result = nct_wire_write(&connection->wire, nct_bytes_first(out), length, &count);
        if (result != NCT_WIRE_DONE)
            return wait_as(connection, result);
        nct_bytes_drop(out, count);
    }
    return NCT_STEP_NEXT;
}

/// Performs the steps of a WebSocket: sends first, and reads only if nothing waits to be sent.
static nct_step run_socket(nct_connection *connection) {
    const nct_script *script = connection->reply_stream.script;
    nct_socket *socket = &connection->socket;
    if (!nct_socket_advance(socket, script->socket_parts, script->socket_part_count, &connection->in))
        return NCT_STEP_CLOSE;
    if (socket->out.length > 0)
        return send_frames(connection);
    if (socket->is_stalling) {
        socket->is_stalling = false;
        return stall(connection, NCT_PHASE_SOCKET);
    }
    if (!socket->is_over)
        return read_more(connection);
    bool is_open = script->ending == NCT_KEEP || script->ending == NCT_STALL;
    report_reply(connection);
    nct_ending ending = is_open ? NCT_CLOSE : script->ending;
    return end_exchange(connection, socket->is_reset ? NCT_RESET : ending);
}

/* --- ending --- */

static nct_step finish(nct_connection *connection) {
    if (nct_wire_finish(&connection->wire, !connection->is_truncated) == NCT_WIRE_WANT_WRITE)
        return wait_for(connection, EPOLLOUT);
    if (connection->phase == NCT_PHASE_FINISH)
        return NCT_STEP_CLOSE;
    connection->phase = NCT_PHASE_DRAIN;
    return wait_for(connection, EPOLLIN);
}

static nct_step flush(nct_connection *connection) {
    nct_wire_result result = nct_wire_flush(&connection->wire);
    return result == NCT_WIRE_WANT_WRITE ? wait_for(connection, EPOLLOUT) : NCT_STEP_RESET;
}

nct_step nct_exchange_step(nct_connection *connection) {
    switch (connection->phase) {
    case NCT_PHASE_HANDSHAKE:
        return shake_hands(connection);
    case NCT_PHASE_READ:
        return read_request(connection);
    case NCT_PHASE_SEND:
        return send_reply(connection);
    case NCT_PHASE_DISCARD:
        return discard_body(connection);
    case NCT_PHASE_SOCKET:
        return run_socket(connection);
    case NCT_PHASE_STALLED:
    case NCT_PHASE_PAUSED:
        return NCT_STEP_WAIT;
    case NCT_PHASE_FLUSH:
        return flush(connection);
    case NCT_PHASE_FINISH:
    case NCT_PHASE_HALF_FINISH:
        return finish(connection);
    case NCT_PHASE_DRAIN:
        return nct_wire_drain(&connection->wire) == NCT_WIRE_ENDED ? NCT_STEP_CLOSE : wait_for(connection, EPOLLIN);
    }
    return NCT_STEP_CLOSE;
}
