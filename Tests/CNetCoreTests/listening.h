/// Listening sockets, for behaviour that the scripted server lacks.
///
///     uint16_t port;
///     int listener = listen_anywhere(&port, 1);
#ifndef NETCORE_TEST_LISTENING_H
#define NETCORE_TEST_LISTENING_H

#include <stdint.h>

/// Listens on a port of 127.0.0.1 that the kernel chooses. The caller closes the socket. Fails the test on an error.
int listen_anywhere(uint16_t *port, int backlog);

typedef struct full_listener {
    int listener;
    int waiting[8];
    uint16_t port;
} full_listener;

/// Starts a listener whose backlog is full, so that further connection attempts time out. `address` is in host order.
/// Port 0 lets the kernel choose.
full_listener full_listener_start(uint32_t address, uint16_t port);
void full_listener_stop(full_listener *full);

#endif
