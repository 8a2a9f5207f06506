/// The socket that a server listens on: TCP on a loopback address, or a Unix socket.
#ifndef NCT_LISTENER_H
#define NCT_LISTENER_H

#include "nettesting/server.h"

/// Opens a non-blocking listening socket and returns its port (0 for a Unix socket). Returns 0 or an errno.
int nct_listener_open(int *out, uint16_t *out_port, const nct_server_options *options);

/// Lengthens the queue of waiting connections, which is short if the server accepts late (`is_accepting_late`).
void nct_listener_widen(int listener);

#endif
