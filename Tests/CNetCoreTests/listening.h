/// A socket that listens, for servers that the scripted one cannot play.
///
///     uint16_t port;
///     int listener = listen_anywhere(&port, 1);
#ifndef NETCORE_TEST_LISTENING_H
#define NETCORE_TEST_LISTENING_H

#include <stdint.h>

/// Listens on a port of 127.0.0.1 that the kernel chooses; the caller closes it. Fails the test when it cannot.
int listen_anywhere(uint16_t *port, int backlog);

#endif
