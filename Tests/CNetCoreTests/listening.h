/// Sockets that listen, for servers that the scripted one cannot play.
///
///     uint16_t port;
///     int listener = listen_anywhere(&port, 1);
#ifndef NETCORE_TEST_LISTENING_H
#define NETCORE_TEST_LISTENING_H

#include <stdint.h>

/// Listens on a port of 127.0.0.1 that the kernel chooses; the caller closes it. Fails the test when it cannot.
int listen_anywhere(uint16_t *port, int backlog);

typedef struct full_listener {
    int listener;
    int waiting[8];
    uint16_t port;
} full_listener;

/// A listener whose backlog is full: further connects get no answer at all. `address` is in host order; port 0 is one
/// that the kernel chooses.
full_listener full_listener_start(uint32_t address, uint16_t port);
void full_listener_stop(full_listener *full);

#endif
