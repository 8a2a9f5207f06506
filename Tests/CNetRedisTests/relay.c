#include "relay.h"

#include "harness.h"

#include <netinet/in.h>
#include <nettesting.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MAX_CONNECTIONS = 1024, NO_CUT = -1 };

typedef struct pair {
    int fds[2]; // of the client and of the server; -1 if closed
    bool is_held;
} pair;

struct relay {
    pthread_t thread;
    pthread_mutex_t lock;
    int listener;
    int stop[2];
    uint16_t port;
    uint16_t target;
    pair pairs[MAX_CONNECTIONS];
    size_t count;
    bool cuts_server;
    long cut_after; // NO_CUT without a cut
};

static int connect_to(uint16_t port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)(const void *)&address, sizeof address) != 0) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

static void close_pair(pair *closed) {
    for (size_t i = 0; i < 2; i++) {
        if (closed->fds[i] >= 0) {
            (void)close(closed->fds[i]);
        }
        closed->fds[i] = -1;
    }
}

static void accept_one(relay *between) {
    int fd = accept4(between->listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0 || between->count == MAX_CONNECTIONS) {
        (void)close(fd);
        return;
    }
    pair *added = &between->pairs[between->count++];
    *added = (pair){.fds = {fd, connect_to(between->target)}};
    if (added->fds[1] < 0) {
        close_pair(added);
    }
}

/// Forwards what one side has sent, up to the place of the cut.
static void forward(relay *between, pair *connection, size_t from) {
    char bytes[4096];
    ssize_t length = recv(connection->fds[from], bytes, sizeof bytes, 0);
    bool is_counted = between->cut_after != NO_CUT && between->cuts_server == (from == 1);
    bool is_cut = is_counted && length >= between->cut_after;
    size_t forwarded = is_cut ? (size_t)between->cut_after : length > 0 ? (size_t)length : 0;
    bool is_sent =
        forwarded == 0 || send(connection->fds[1 - from], bytes, forwarded, MSG_NOSIGNAL) == (ssize_t)forwarded;
    if (is_counted) {
        between->cut_after = is_cut ? NO_CUT : between->cut_after - (long)forwarded;
    }
    if (length <= 0 || is_cut || !is_sent) {
        close_pair(connection);
    }
}

static void *run(void *ctx) {
    relay *between = ctx;
    for (;;) {
        struct pollfd fds[2 * MAX_CONNECTIONS + 2] = {{.fd = between->stop[0], .events = POLLIN},
                                                      {.fd = between->listener, .events = POLLIN}};
        (void)pthread_mutex_lock(&between->lock);
        size_t count = between->count;
        for (size_t i = 0; i < 2 * count; i++) {
            const pair *connection = &between->pairs[i / 2];
            fds[i + 2] = (struct pollfd){.fd = connection->is_held ? -1 : connection->fds[i % 2], .events = POLLIN};
        }
        (void)pthread_mutex_unlock(&between->lock);
        if (poll(fds, 2 * count + 2, -1) < 0) {
            continue;
        }
        if ((fds[0].revents & POLLHUP) != 0) {
            return NULL;
        }
        char byte[16];
        if ((fds[0].revents & POLLIN) != 0 && read(between->stop[0], byte, sizeof byte) < 0) {
            return NULL;
        }
        (void)pthread_mutex_lock(&between->lock);
        for (size_t i = 0; i < 2 * count; i++) {
            pair *connection = &between->pairs[i / 2];
            if (fds[i + 2].revents != 0 && connection->fds[i % 2] >= 0 && !connection->is_held) {
                forward(between, connection, i % 2);
            }
        }
        if (fds[1].revents != 0) {
            accept_one(between);
        }
        (void)pthread_mutex_unlock(&between->lock);
    }
}

relay *relay_start(uint16_t port) {
    relay *between = calloc(1, sizeof *between);
    assert_non_null(between);
    between->target = port;
    between->cut_after = NO_CUT;
    between->listener = nct_port_listen(&between->port);
    assert_true(between->listener >= 0);
    assert_int_equal(pipe(between->stop), 0);
    assert_int_equal(pthread_mutex_init(&between->lock, NULL), 0);
    assert_int_equal(pthread_create(&between->thread, NULL, run, between), 0);
    return between;
}

uint16_t relay_port(const relay *between) {
    return between->port;
}

unsigned relay_connections(relay *between) {
    (void)pthread_mutex_lock(&between->lock);
    unsigned count = (unsigned)between->count;
    (void)pthread_mutex_unlock(&between->lock);
    return count;
}

void relay_cut(relay *between, bool is_of_server, size_t bytes) {
    (void)pthread_mutex_lock(&between->lock);
    between->cuts_server = is_of_server;
    between->cut_after = (long)bytes;
    (void)pthread_mutex_unlock(&between->lock);
}

void relay_hold(relay *between) {
    (void)pthread_mutex_lock(&between->lock);
    for (size_t i = 0; i < between->count; i++) {
        between->pairs[i].is_held = true;
    }
    assert_int_equal(write(between->stop[1], "", 1), 1);
    (void)pthread_mutex_unlock(&between->lock);
}

void relay_stop(relay *between) {
    (void)close(between->stop[1]);
    (void)pthread_join(between->thread, NULL);
    for (size_t i = 0; i < between->count; i++) {
        close_pair(&between->pairs[i]);
    }
    (void)close(between->stop[0]);
    (void)close(between->listener);
    (void)pthread_mutex_destroy(&between->lock);
    free(between);
}
