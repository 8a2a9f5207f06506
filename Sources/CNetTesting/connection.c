#define _GNU_SOURCE 1
#include "exchange.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/epoll.h>

static void close_connection(nct_connection *connection, bool is_reset) {
    nct_desk *desk = connection->desk;
    if (connection->phase == NCT_PHASE_STALLED)
        nct_record_stall_ended(&desk->record, connection->stall_ticket);
    if (connection->phase == NCT_PHASE_PAUSED)
        desk->paused--;
    if (connection->previous != NULL)
        connection->previous->next = connection->next;
    else
        desk->first = connection->next;
    if (connection->next != NULL)
        connection->next->previous = connection->previous;
    // A forked child that has not reached its exec yet keeps a closed socket open, and so its events.
    epoll_ctl(desk->poller, EPOLL_CTL_DEL, connection->wire.fd, NULL);
    nct_wire_deinit(&connection->wire, is_reset);
    nct_request_deinit(&connection->request);
    nct_outgoing_deinit(&connection->outgoing);
    nct_script_release(connection->script);
    nct_bytes_deinit(&connection->in);
    free(connection);
    nct_record_closed(&desk->record);
}

static void run(nct_connection *connection) {
    nct_step next = NCT_STEP_NEXT;
    while (next == NCT_STEP_NEXT)
        next = nct_exchange_step(connection);
    if (next != NCT_STEP_WAIT)
        close_connection(connection, next == NCT_STEP_RESET);
}

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
    connection->number = nct_record_opened(&desk->record);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    if (epoll_ctl(desk->poller, EPOLL_CTL_ADD, fd, &event) != 0)
        close_connection(connection, false);
    else if (desk->is_never_reading)
        run(connection);
}

void nct_connection_handle(nct_connection *connection, uint32_t events) {
    bool is_broken = (events & (EPOLLHUP | EPOLLERR)) != 0;
    bool is_silent = connection->phase == NCT_PHASE_STALLED || connection->phase == NCT_PHASE_PAUSED ||
                     connection->phase == NCT_PHASE_FLUSH;
    // These phases read nothing, so only the poller reports that the peer has closed.
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
        if (connection->phase != NCT_PHASE_STALLED || connection->stall_ticket > released)
            continue;
        connection->outgoing.limit = connection->outgoing.total_length;
        connection->phase = connection->resumed_phase;
        run(connection);
    }
}

int nct_connection_resume_due(nct_desk *desk) {
    if (desk->paused == 0)
        return -1;
    uint64_t now_ms = nct_exchange_now_ms();
    uint64_t earliest_ms = UINT64_MAX;
    nct_connection *next = NULL;
    for (nct_connection *connection = desk->first; connection != NULL; connection = next) {
        next = connection->next;
        if (connection->phase == NCT_PHASE_PAUSED && connection->due_ms <= now_ms) {
            desk->paused--;
            connection->phase = NCT_PHASE_SEND;
            uint64_t due_ms = now_ms + connection->outgoing.script->drip_ms;
            run(connection);
            // The connection may be gone; a spurious wake-up is harmless.
            earliest_ms = due_ms < earliest_ms ? due_ms : earliest_ms;
        } else if (connection->phase == NCT_PHASE_PAUSED && connection->due_ms < earliest_ms) {
            earliest_ms = connection->due_ms;
        }
    }
    if (desk->paused == 0)
        return -1;
    uint64_t rest_ms = earliest_ms - now_ms;
    return rest_ms > INT_MAX ? INT_MAX : (int)rest_ms;
}

void nct_connection_close_all(nct_desk *desk) {
    while (desk->first != NULL)
        close_connection(desk->first, false);
}
