/// The socket that a server listens on: TCP on any loopback address, or a Unix
/// socket.
#ifndef NCT_LISTENER_H
#define NCT_LISTENER_H

#include "nettesting/server.h"

/// Opens a listening socket, non-blocking, with the port that it got (0 for a
/// Unix socket); returns 0 or an errno.
int nct_listener_open(int *out, uint16_t *out_port, const nct_server_options *options);

/// Lets more connections wait than a server that accepts late did.
void nct_listener_widen(int listener);

#endif
