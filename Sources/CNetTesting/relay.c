#define _GNU_SOURCE 1
#include "relay.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// The limit of unsent input. It exceeds the longest accepted head, so that every head can be received completely.
#define MAX_WAITING ((size_t)2 * 1024 * 1024)

bool nct_relay_init(nct_relay *relay, int fd, SSL_CTX *context, int stop) {
    *relay = (nct_relay){.upstream.fd = -1, .stop = stop};
    return nct_wire_init(&relay->client, fd, context);
}

static void disconnect_upstream(nct_relay *relay) {
    if (relay->upstream.fd >= 0)
        nct_wire_deinit(&relay->upstream, false);
    nct_bytes_reset(&relay->to_upstream);
    relay->has_upstream_ended = false;
    relay->is_upstream_shut_down = false;
}

void nct_relay_deinit(nct_relay *relay) {
    disconnect_upstream(relay);
    if (relay->client.fd >= 0)
        nct_wire_deinit(&relay->client, false);
    nct_bytes_deinit(&relay->in);
    nct_bytes_deinit(&relay->to_upstream);
    nct_bytes_deinit(&relay->to_client);
}

/* --- waiting --- */

/// Waits for events of both sides. 0 means not to wait for that side. Returns false if the proxy stops.
static bool wait_for(const nct_relay *relay, short client_events, short upstream_events) {
    // Without events, poll() would still report POLLHUP for a side, again and again. So its descriptor is omitted.
    struct pollfd fds[] = {
        {.fd = relay->stop, .events = POLLIN},
        {.fd = client_events == 0 ? -1 : relay->client.fd, .events = client_events},
        {.fd = upstream_events == 0 ? -1 : relay->upstream.fd, .events = upstream_events},
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

bool nct_relay_handshake(nct_relay *relay) {
    for (;;) {
        nct_wire_result result = nct_wire_handshake(&relay->client);
        if (result == NCT_WIRE_DONE || result == NCT_WIRE_ENDED)
            return result == NCT_WIRE_DONE;
        if (!wait_for(relay, events_of(result), 0))
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

int nct_relay_connect(nct_relay *relay, const char *host, size_t host_length, uint16_t port) {
    disconnect_upstream(relay);
    struct sockaddr_in address = address_of(host, host_length, port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return errno;
    (void)nct_wire_init(&relay->upstream, fd, NULL);
    int failure = connect(fd, (struct sockaddr *)&address, sizeof address) == 0 ? 0 : errno;
    if (failure == EINPROGRESS) {
        socklen_t length = sizeof failure;
        if (!wait_for(relay, 0, POLLOUT))
            failure = ECANCELED;
        else
            getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &length);
    }
    if (failure != 0)
        disconnect_upstream(relay);
    return failure;
}

/* --- moving --- */

/// Reads once if there is room, and adds the events to wait for to `events`. Returns true if bytes arrived or the input
/// ended.
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

/// Writes once, and adds the events to wait for to `events`. Returns NCT_WIRE_ENDED if the peer accepts no more bytes.
static nct_wire_result move_out(nct_wire *wire, nct_bytes *bytes, short *events) {
    size_t count = 0;
    nct_wire_result result = nct_wire_write(wire, nct_bytes_first(bytes), bytes->length, &count);
    nct_bytes_drop(bytes, count);
    *events |= events_of(result);
    return result;
}

/// If one side has ended and all its bytes were passed on, shuts down the other side. Returns true if it did this for a
/// side.
static bool shut_down_ended_sides(nct_relay *relay) {
    bool has_told = false;
    bool is_passed_on = relay->in.length == 0 && relay->to_upstream.length == 0;
    if (relay->has_client_ended && is_passed_on && relay->upstream.fd >= 0 && !relay->is_upstream_shut_down) {
        (void)nct_wire_end(&relay->upstream, true);
        relay->is_upstream_shut_down = has_told = true;
    }
    if (relay->has_upstream_ended && relay->to_client.length == 0 && !relay->is_client_shut_down) {
        (void)nct_wire_end(&relay->client, true);
        relay->is_client_shut_down = has_told = true;
    }
    return has_told;
}

/// Moves bytes from and to the client. Sets `is_gone` if the client accepts no more. Returns true if something changed.
static bool move_client(nct_relay *relay, short *events, bool *is_gone) {
    bool has_moved = false;
    if (relay->to_upstream.length < MAX_WAITING)
        has_moved = move_in(&relay->client, &relay->in, &relay->has_client_ended, events);
    if (relay->to_client.length == 0)
        return has_moved;
    nct_wire_result result = move_out(&relay->client, &relay->to_client, events);
    *is_gone = result == NCT_WIRE_ENDED;
    return has_moved || result == NCT_WIRE_DONE;
}

/// Moves bytes from and to the server, if there is one. Returns true if something changed.
static bool move_upstream(nct_relay *relay, short *events) {
    if (relay->upstream.fd < 0)
        return false;
    bool has_moved = move_in(&relay->upstream, &relay->to_client, &relay->has_upstream_ended, events);
    if (relay->to_upstream.length == 0)
        return has_moved;
    nct_wire_result result = move_out(&relay->upstream, &relay->to_upstream, events);
    // The server accepts no more bytes, so the unsent ones are dropped. A reply that it has already sent is still read.
    if (result == NCT_WIRE_ENDED)
        nct_bytes_reset(&relay->to_upstream);
    return has_moved || result == NCT_WIRE_DONE || result == NCT_WIRE_ENDED;
}

bool nct_relay_step(nct_relay *relay) {
    short client_events = 0;
    short upstream_events = 0;
    bool is_gone = false;
    bool has_moved = move_client(relay, &client_events, &is_gone);
    has_moved = move_upstream(relay, &upstream_events) || has_moved;
    has_moved = shut_down_ended_sides(relay) || has_moved;
    bool is_upstream_over = relay->upstream.fd < 0 || relay->has_upstream_ended;
    if (is_gone || (relay->has_client_ended && is_upstream_over && relay->to_client.length == 0))
        return false;
    return has_moved || wait_for(relay, client_events, upstream_events);
}

bool nct_relay_read_at_least(nct_relay *relay, size_t count) {
    while (relay->in.length < count)
        if (relay->has_client_ended || !nct_relay_step(relay))
            return relay->in.length >= count;
    return true;
}

void nct_relay_run(nct_relay *relay) {
    do {
        if (!nct_bytes_append(&relay->to_upstream, nct_bytes_first(&relay->in), relay->in.length))
            return;
        nct_bytes_drop(&relay->in, relay->in.length);
    } while (nct_relay_step(relay));
}

void nct_relay_finish(nct_relay *relay) {
    disconnect_upstream(relay);
    while (relay->to_client.length != 0 && nct_relay_step(relay))
        continue;
    (void)nct_wire_finish(&relay->client, true);
}
