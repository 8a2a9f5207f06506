/// What stands between a proxy's client and a server: bytes both ways, waiting in poll(2), until the proxy stops.
#ifndef NCT_COURIER_H
#define NCT_COURIER_H

#include "bytes.h"
#include "wire.h"

/// One client's connection; confined to its thread.
typedef struct nct_courier {
    /// The client's side.
    nct_wire client;
    /// The server's side; its descriptor is -1 for none.
    nct_wire upstream;
    /// Readable once the proxy stops.
    int stop;
    /// Received from the client, for the proxy to understand.
    nct_bytes in;
    /// On its way to the server.
    nct_bytes to_upstream;
    /// On its way to the client.
    nct_bytes to_client;
    /// The client sends no more.
    bool has_client_ended;
    /// The server sends no more.
    bool has_upstream_ended;
    /// The server was told that the client sends no more.
    bool is_upstream_told;
    /// The client was told that the server sends no more.
    bool is_client_told;
} nct_courier;

/// Begins with an accepted socket, owned whatever is returned; `context` is NULL for plain. False when it failed.
bool nct_courier_init(nct_courier *courier, int fd, SSL_CTX *context, int stop);

/// Closes both sides.
void nct_courier_deinit(nct_courier *courier);

/// Does the TLS handshake, if any; false when it failed or the proxy stops.
bool nct_courier_greet(nct_courier *courier);

/// Connects to a server, an earlier one is left; returns 0 or an errno, ECANCELED when the proxy stops.
///
/// - host: not NUL-terminated; an address in 127.0.0.0/8, or anything else for 127.0.0.1.
int nct_courier_connect(nct_courier *courier, const char *host, size_t host_length, uint16_t port);

/// Moves what can be moved, or waits until something can; false when the proxy stops, the client went away, or both
/// sides are at their end.
bool nct_courier_move(nct_courier *courier);

/// Waits until `in` holds at least `count` bytes; false as for nct_courier_move().
bool nct_courier_need(nct_courier *courier, size_t count);

/// Passes everything on until both sides are at their end.
void nct_courier_relay(nct_courier *courier);

/// Sends what waits for the client, and FIN.
void nct_courier_finish(nct_courier *courier);

#endif
