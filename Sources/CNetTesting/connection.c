#define _GNU_SOURCE 1
#include "connection.h"

#include <stdlib.h>
#include <sys/epoll.h>

// One connection sends at most this many scratches in a row, then the others have their turn.
#define MAX_ROUNDS 16

typedef enum phase {
    PHASE_HANDSHAKE,
    PHASE_READ,
    PHASE_SEND,
    PHASE_STALLED,
    PHASE_FLUSH,
    PHASE_FINISH,
} phase;

/// What a step asks for.
typedef enum step {
    STEP_NEXT,
    STEP_WAIT,
    STEP_CLOSE,
    STEP_RESET,
} step;

struct nct_connection {
    nct_desk *desk;
    nct_connection *previous;
    nct_connection *next;
    nct_wire wire;
    nct_bytes in;
    nct_request request;
    /// Chosen when the head was whole; owned until the reply begins.
    nct_script *script;
    nct_outgoing outgoing;
    uint64_t stall_ticket;
    uint32_t events;
    phase phase;
    /// The poller said so, and no read has emptied the socket since.
    bool is_readable;
    /// What is being sent is 100 Continue; the body follows.
    bool is_interim;
};

static step wait_for(nct_connection *connection, uint32_t events) {
    if (connection->events != events) {
        connection->events = events;
        struct epoll_event event = {.events = events, .data.ptr = connection};
        epoll_ctl(connection->desk->poller, EPOLL_CTL_MOD, connection->wire.fd, &event);
    }
    return STEP_WAIT;
}

static step wait_as(nct_connection *connection, nct_wire_result result) {
    if (result == NCT_WIRE_ENDED)
        return STEP_CLOSE;
    return wait_for(connection, result == NCT_WIRE_WANT_WRITE ? EPOLLOUT : EPOLLIN);
}

static void close_connection(nct_connection *connection, bool is_reset) {
    nct_desk *desk = connection->desk;
    if (connection->phase == PHASE_STALLED)
        nct_record_stall_ended(&desk->record, connection->stall_ticket);
    if (connection->previous != NULL)
        connection->previous->next = connection->next;
    else
        desk->first = connection->next;
    if (connection->next != NULL)
        connection->next->previous = connection->previous;
    // A child that was forked but has not reached its exec yet keeps a closed socket alive, and so its events.
    epoll_ctl(desk->poller, EPOLL_CTL_DEL, connection->wire.fd, NULL);
    nct_wire_deinit(&connection->wire, is_reset);
    nct_request_deinit(&connection->request);
    nct_outgoing_deinit(&connection->outgoing);
    nct_script_release(connection->script);
    nct_bytes_deinit(&connection->in);
    free(connection);
    nct_record_closed(&desk->record);
}

/* --- steps --- */

static step begin_reply(nct_connection *connection, nct_script *script, nct_request *request) {
    if (!nct_outgoing_begin(&connection->outgoing, script, request))
        return STEP_CLOSE;
    connection->phase = PHASE_SEND;
    return STEP_NEXT;
}

/// Answers what cannot be understood, after which nothing else can be.
static step refuse(nct_connection *connection, nct_script *script) {
    connection->request.is_last = true;
    return begin_reply(connection, nct_script_retain(script), NULL);
}

static step read_more(nct_connection *connection) {
    if (!connection->is_readable && !nct_wire_has_pending(&connection->wire))
        return wait_for(connection, EPOLLIN);
    uint8_t *scratch = connection->desk->scratch;
    size_t count = 0;
    nct_wire_result result = nct_wire_read(&connection->wire, scratch, sizeof connection->desk->scratch, &count);
    // A read that fills the buffer may have left more; the poller tells again in every other case.
    connection->is_readable = result == NCT_WIRE_DONE && count == sizeof connection->desk->scratch;
    if (result != NCT_WIRE_DONE)
        return wait_as(connection, result);
    return nct_bytes_append(&connection->in, scratch, count) ? STEP_NEXT : STEP_CLOSE;
}

static step read_request(nct_connection *connection) {
    nct_desk *desk = connection->desk;
    nct_request *request = &connection->request;
    if (desk->garbage != NULL)
        return connection->in.length == 0 ? read_more(connection) : refuse(connection, desk->garbage);
    nct_progress progress = nct_request_take_head(request, &connection->in);
    if (progress == NCT_PROGRESS_WHOLE) {
        if (connection->script == NULL)
            connection->script =
                nct_scripts_find(&desk->scripts, nct_bytes_first(&request->path), request->path.length);
        if (request->is_waiting) {
            request->is_waiting = false;
            connection->is_interim = true;
            return begin_reply(connection, nct_script_retain(desk->interim), NULL);
        }
        progress = nct_request_take_body(request, &connection->in, connection->script->is_echo);
    }
    if (progress == NCT_PROGRESS_BAD)
        return refuse(connection, desk->refusal);
    if (progress == NCT_PROGRESS_MORE)
        return read_more(connection);
    nct_record_request(&desk->record, &request->first, request->length);
    nct_script *script = connection->script;
    connection->script = NULL;
    return begin_reply(connection, script, request);
}

/// Goes on after the whole reply, or the whole of what is sent of it.
static step end_reply(nct_connection *connection) {
    nct_ending ending = connection->outgoing.script->ending;
    if (connection->is_interim) {
        connection->is_interim = false;
        ending = NCT_KEEP;
    } else if (ending == NCT_STALL && connection->stall_ticket == 0) {
        connection->phase = PHASE_STALLED;
        connection->stall_ticket = nct_record_stall(&connection->desk->record);
        return wait_for(connection, EPOLLRDHUP);
    } else {
        bool is_last = connection->request.is_last;
        connection->stall_ticket = 0;
        nct_request_reset(&connection->request);
        if (ending == NCT_STALL || ending == NCT_KEEP)
            ending = is_last ? NCT_CLOSE : NCT_KEEP;
    }
    nct_outgoing_deinit(&connection->outgoing);
    connection->phase = PHASE_READ;
    if (ending == NCT_CLOSE)
        connection->phase = PHASE_FINISH;
    if (ending == NCT_RESET)
        connection->phase = PHASE_FLUSH;
    return STEP_NEXT;
}

static step send_reply(nct_connection *connection) {
    nct_outgoing *outgoing = &connection->outgoing;
    uint8_t *scratch = connection->desk->scratch;
    for (int rounds = 0; outgoing->sent < outgoing->limit; rounds++) {
        if (rounds == MAX_ROUNDS)
            return wait_for(connection, EPOLLOUT);
        size_t length = nct_outgoing_read(outgoing, scratch, sizeof connection->desk->scratch);
        size_t count = 0;
        nct_wire_result result = nct_wire_write(&connection->wire, scratch, length, &count);
        if (result != NCT_WIRE_DONE)
            return wait_as(connection, result);
        outgoing->sent += count;
    }
    return end_reply(connection);
}

static step take_step(nct_connection *connection) {
    nct_wire_result result;
    switch (connection->phase) {
    case PHASE_HANDSHAKE:
        result = nct_wire_handshake(&connection->wire);
        if (result != NCT_WIRE_DONE)
            return wait_as(connection, result);
        connection->phase = PHASE_READ;
        return STEP_NEXT;
    case PHASE_READ:
        return read_request(connection);
    case PHASE_SEND:
        return send_reply(connection);
    case PHASE_STALLED:
        return STEP_WAIT;
    case PHASE_FLUSH:
        result = nct_wire_flush(&connection->wire);
        return result == NCT_WIRE_WANT_WRITE ? wait_for(connection, EPOLLOUT) : STEP_RESET;
    case PHASE_FINISH:
        result = nct_wire_finish(&connection->wire);
        return result == NCT_WIRE_WANT_WRITE ? wait_for(connection, EPOLLOUT) : STEP_CLOSE;
    }
    return STEP_CLOSE;
}

static void run(nct_connection *connection) {
    step next = STEP_NEXT;
    while (next == STEP_NEXT)
        next = take_step(connection);
    if (next != STEP_WAIT)
        close_connection(connection, next == STEP_RESET);
}

/* --- what the loop calls --- */

void nct_connection_open(nct_desk *desk, int fd) {
    nct_connection *connection = calloc(1, sizeof *connection);
    nct_wire wire;
    bool is_open = nct_wire_init(&wire, fd, desk->context);
    if (connection == NULL || !is_open) {
        free(connection);
        if (is_open)
            nct_wire_deinit(&wire, false);
        return;
    }
    connection->desk = desk;
    connection->wire = wire;
    connection->events = EPOLLIN;
    connection->next = desk->first;
    if (desk->first != NULL)
        desk->first->previous = connection;
    desk->first = connection;
    nct_record_opened(&desk->record);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    if (epoll_ctl(desk->poller, EPOLL_CTL_ADD, fd, &event) != 0)
        close_connection(connection, false);
}

void nct_connection_handle(nct_connection *connection, uint32_t events) {
    bool is_broken = (events & (EPOLLHUP | EPOLLERR)) != 0;
    bool is_silent = connection->phase == PHASE_STALLED || connection->phase == PHASE_FLUSH;
    // Nothing is read in these phases, so only the poller tells that the peer went away.
    if (is_silent && (is_broken || (events & EPOLLRDHUP) != 0)) {
        close_connection(connection, false);
        return;
    }
    if (is_broken || (events & EPOLLIN) != 0)
        connection->is_readable = true;
    run(connection);
}

void nct_connection_resume_released(nct_desk *desk) {
    uint64_t released = nct_record_released(&desk->record);
    nct_connection *next = NULL;
    for (nct_connection *connection = desk->first; connection != NULL; connection = next) {
        next = connection->next;
        if (connection->phase != PHASE_STALLED || connection->stall_ticket > released)
            continue;
        connection->outgoing.limit = connection->outgoing.total_length;
        connection->phase = PHASE_SEND;
        run(connection);
    }
}

void nct_connection_close_all(nct_desk *desk) {
    while (desk->first != NULL)
        close_connection(desk->first, false);
}
