#define _GNU_SOURCE 1
#include "exchange.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/epoll.h>

static void close_connection(nct_connection *connection, bool is_reset) {
    nct_coordinator *coordinator = connection->coordinator;
    if (connection->phase == NCT_PHASE_STALLED)
        nct_record_stall_ended(&coordinator->record, connection->stall_ticket);
    if (connection->phase == NCT_PHASE_PAUSED)
        coordinator->paused--;
    if (connection->previous != NULL)
        connection->previous->next = connection->next;
    else
        coordinator->first = connection->next;
    if (connection->next != NULL)
        connection->next->previous = connection->previous;
    // A child process has a copy of the socket between fork() and exec(). While the copy is open, closing the socket
    // here would not remove it from epoll.
    epoll_ctl(coordinator->poller, EPOLL_CTL_DEL, connection->wire.fd, NULL);
    nct_wire_deinit(&connection->wire, is_reset);
    nct_request_deinit(&connection->request);
    nct_reply_stream_deinit(&connection->reply_stream);
    nct_script_release(connection->script);
    nct_bytes_deinit(&connection->in);
    nct_bytes_deinit(&connection->socket.out);
    free(connection);
    nct_record_closed(&coordinator->record);
}

static void run(nct_connection *connection) {
    nct_step next = NCT_STEP_NEXT;
    while (next == NCT_STEP_NEXT)
        next = nct_exchange_step(connection);
    if (next != NCT_STEP_WAIT)
        close_connection(connection, next == NCT_STEP_RESET);
}

void nct_connection_open(nct_coordinator *coordinator, int fd) {
    nct_connection *connection = calloc(1, sizeof *connection);
    nct_wire wire;
    bool is_open = nct_wire_init(&wire, fd, coordinator->context);
    if (connection == NULL || !is_open) {
        free(connection);
        if (is_open)
            nct_wire_deinit(&wire, false);
        return;
    }
    connection->coordinator = coordinator;
    connection->wire = wire;
    connection->events = EPOLLIN;
    connection->next = coordinator->first;
    if (coordinator->first != NULL)
        coordinator->first->previous = connection;
    coordinator->first = connection;
    connection->number = nct_record_opened(&coordinator->record);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    if (epoll_ctl(coordinator->poller, EPOLL_CTL_ADD, fd, &event) != 0)
        close_connection(connection, false);
    else if (coordinator->is_never_reading)
        run(connection);
}

void nct_connection_handle(nct_connection *connection, uint32_t events) {
    bool is_broken = (events & (EPOLLHUP | EPOLLERR)) != 0;
    bool is_silent = connection->phase == NCT_PHASE_STALLED || connection->phase == NCT_PHASE_PAUSED ||
                     connection->phase == NCT_PHASE_FLUSH;
    // In these phases nothing is read, so only the poller can report that the peer has closed.
    if (is_silent && (is_broken || (events & EPOLLRDHUP) != 0)) {
        close_connection(connection, false);
        return;
    }
    if (is_broken || (events & EPOLLIN) != 0)
        connection->is_readable = true;
    run(connection);
}

void nct_connection_resume_released(nct_coordinator *coordinator) {
    uint64_t released = nct_record_released(&coordinator->record);
    nct_connection *next = NULL;
    for (nct_connection *connection = coordinator->first; connection != NULL; connection = next) {
        next = connection->next;
        if (connection->phase != NCT_PHASE_STALLED || connection->stall_ticket > released)
            continue;
        connection->reply_stream.limit = connection->reply_stream.total_length;
        connection->phase = connection->resumed_phase;
        run(connection);
    }
}

int nct_connection_resume_due(nct_coordinator *coordinator) {
    if (coordinator->paused == 0)
        return -1;
    uint64_t now_ms = nct_exchange_now_ms();
    uint64_t earliest_ms = UINT64_MAX;
    nct_connection *next = NULL;
    for (nct_connection *connection = coordinator->first; connection != NULL; connection = next) {
        next = connection->next;
        if (connection->phase == NCT_PHASE_PAUSED && connection->due_ms <= now_ms) {
            coordinator->paused--;
            connection->phase = NCT_PHASE_SEND;
            uint64_t due_ms = now_ms + connection->reply_stream.script->drip_ms;
            run(connection);
            // run() may have freed the connection, so its time is not read again. An unnecessary wake-up is harmless.
            earliest_ms = due_ms < earliest_ms ? due_ms : earliest_ms;
        } else if (connection->phase == NCT_PHASE_PAUSED && connection->due_ms < earliest_ms) {
            earliest_ms = connection->due_ms;
        }
    }
    if (coordinator->paused == 0)
        return -1;
    uint64_t remaining_ms = earliest_ms - now_ms;
    return remaining_ms > INT_MAX ? INT_MAX : (int)remaining_ms;
}

void nct_connection_close_all(nct_coordinator *coordinator) {
    while (coordinator->first != NULL)
        close_connection(coordinator->first, false);
}
