#define _GNU_SOURCE 1
#include "courier.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// More than the longest accepted head, so that every head can become complete.
#define MAX_WAITING ((size_t)2 * 1024 * 1024)

bool nct_courier_init(nct_courier *courier, int fd, SSL_CTX *context, int stop) {
    *courier = (nct_courier){.upstream.fd = -1, .stop = stop};
    return nct_wire_init(&courier->client, fd, context);
}

static void leave_upstream(nct_courier *courier) {
    if (courier->upstream.fd >= 0)
        nct_wire_deinit(&courier->upstream, false);
    nct_bytes_reset(&courier->to_upstream);
    courier->has_upstream_ended = false;
    courier->is_upstream_told = false;
}

void nct_courier_deinit(nct_courier *courier) {
    leave_upstream(courier);
    if (courier->client.fd >= 0)
        nct_wire_deinit(&courier->client, false);
    nct_bytes_deinit(&courier->in);
    nct_bytes_deinit(&courier->to_upstream);
    nct_bytes_deinit(&courier->to_client);
}

/* --- waiting --- */

/// Waits for events of both sides; 0 for a side means none. Returns false if the proxy stops.
static bool wait_for(const nct_courier *courier, short client_events, short upstream_events) {
    // A side that is not waited for must not wake the thread with POLLHUP repeatedly.
    struct pollfd fds[] = {
        {.fd = courier->stop, .events = POLLIN},
        {.fd = client_events == 0 ? -1 : courier->client.fd, .events = client_events},
        {.fd = upstream_events == 0 ? -1 : courier->upstream.fd, .events = upstream_events},
    };
    while (poll(fds, 3, -1) < 0 && errno == EINTR)
        continue;
    return fds[0].revents == 0;
}

static short events_of(nct_wire_result result) {
    if (result == NCT_WIRE_WANT_READ)
        return POLLIN;
    return result == NCT_WIRE_WANT_WRITE ? POLLOUT : 0;
}

bool nct_courier_greet(nct_courier *courier) {
    for (;;) {
        nct_wire_result result = nct_wire_handshake(&courier->client);
        if (result == NCT_WIRE_DONE || result == NCT_WIRE_ENDED)
            return result == NCT_WIRE_DONE;
        if (!wait_for(courier, events_of(result), 0))
            return false;
    }
}

static struct sockaddr_in address_of(const char *host, size_t host_length, uint16_t port) {
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    char text[INET_ADDRSTRLEN] = {0};
    struct in_addr parsed;
    if (host_length < sizeof text)
        memcpy(text, host, host_length);
    if (inet_pton(AF_INET, text, &parsed) == 1 && ntohl(parsed.s_addr) >> 24 == IN_LOOPBACKNET)
        address.sin_addr = parsed;
    return address;
}

int nct_courier_connect(nct_courier *courier, const char *host, size_t host_length, uint16_t port) {
    leave_upstream(courier);
    struct sockaddr_in address = address_of(host, host_length, port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return errno;
    (void)nct_wire_init(&courier->upstream, fd, NULL);
    int failure = connect(fd, (struct sockaddr *)&address, sizeof address) == 0 ? 0 : errno;
    if (failure == EINPROGRESS) {
        socklen_t length = sizeof failure;
        if (!wait_for(courier, 0, POLLOUT))
            failure = ECANCELED;
        else
            getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &length);
    }
    if (failure != 0)
        leave_upstream(courier);
    return failure;
}

/* --- moving --- */

/// Reads once if there is room, and adds the events to wait for to `events`. Returns true if something changed.
static bool move_in(nct_wire *wire, nct_bytes *bytes, bool *has_ended, short *events) {
    uint8_t scratch[16 * 1024];
    size_t count = 0;
    if (*has_ended || bytes->length >= MAX_WAITING)
        return false;
    nct_wire_result result = nct_wire_read(wire, scratch, sizeof scratch, &count);
    *events |= events_of(result);
    *has_ended = result == NCT_WIRE_ENDED || !nct_bytes_append(bytes, scratch, count);
    return result == NCT_WIRE_DONE || *has_ended;
}

/// Writes once if there is something. Returns ENDED if the peer accepts no more.
static nct_wire_result move_out(nct_wire *wire, nct_bytes *bytes, short *events) {
    size_t count = 0;
    nct_wire_result result = nct_wire_write(wire, nct_bytes_first(bytes), bytes->length, &count);
    nct_bytes_drop(bytes, count);
    *events |= events_of(result);
    return result;
}

/// Shuts down each side whose peer has ended, after everything before that was sent. Returns true if it did.
static bool tell_ends(nct_courier *courier) {
    bool has_told = false;
    bool is_passed_on = courier->in.length == 0 && courier->to_upstream.length == 0;
    if (courier->has_client_ended && is_passed_on && courier->upstream.fd >= 0 && !courier->is_upstream_told) {
        (void)nct_wire_end(&courier->upstream, true);
        courier->is_upstream_told = has_told = true;
    }
    if (courier->has_upstream_ended && courier->to_client.length == 0 && !courier->is_client_told) {
        (void)nct_wire_end(&courier->client, true);
        courier->is_client_told = has_told = true;
    }
    return has_told;
}

/// Moves bytes from and to the client. Sets `is_gone` if it accepts no more. Returns true if something changed.
static bool move_client(nct_courier *courier, short *events, bool *is_gone) {
    bool has_moved = false;
    if (courier->to_upstream.length < MAX_WAITING)
        has_moved = move_in(&courier->client, &courier->in, &courier->has_client_ended, events);
    if (courier->to_client.length == 0)
        return has_moved;
    nct_wire_result result = move_out(&courier->client, &courier->to_client, events);
    *is_gone = result == NCT_WIRE_ENDED;
    return has_moved || result == NCT_WIRE_DONE;
}

/// Moves bytes from and to the server, if there is one. Returns true if something changed.
static bool move_upstream(nct_courier *courier, short *events) {
    if (courier->upstream.fd < 0)
        return false;
    bool has_moved = move_in(&courier->upstream, &courier->to_client, &courier->has_upstream_ended, events);
    if (courier->to_upstream.length == 0)
        return has_moved;
    nct_wire_result result = move_out(&courier->upstream, &courier->to_upstream, events);
    // A server that accepts no more may still have replied.
    if (result == NCT_WIRE_ENDED)
        nct_bytes_reset(&courier->to_upstream);
    return has_moved || result == NCT_WIRE_DONE || result == NCT_WIRE_ENDED;
}

bool nct_courier_move(nct_courier *courier) {
    short client_events = 0;
    short upstream_events = 0;
    bool is_gone = false;
    bool has_moved = move_client(courier, &client_events, &is_gone);
    has_moved = move_upstream(courier, &upstream_events) || has_moved;
    has_moved = tell_ends(courier) || has_moved;
    bool is_upstream_over = courier->upstream.fd < 0 || courier->has_upstream_ended;
    if (is_gone || (courier->has_client_ended && is_upstream_over && courier->to_client.length == 0))
        return false;
    return has_moved || wait_for(courier, client_events, upstream_events);
}

bool nct_courier_need(nct_courier *courier, size_t count) {
    while (courier->in.length < count)
        if (courier->has_client_ended || !nct_courier_move(courier))
            return courier->in.length >= count;
    return true;
}

void nct_courier_relay(nct_courier *courier) {
    do {
        if (!nct_bytes_append(&courier->to_upstream, nct_bytes_first(&courier->in), courier->in.length))
            return;
        nct_bytes_drop(&courier->in, courier->in.length);
    } while (nct_courier_move(courier));
}

void nct_courier_finish(nct_courier *courier) {
    leave_upstream(courier);
    while (courier->to_client.length != 0 && nct_courier_move(courier))
        continue;
    (void)nct_wire_finish(&courier->client, true);
}
