/// The relay between a proxy's client and a server. Moves bytes both ways, waiting in poll(2), until the proxy stops.
#ifndef NCT_COURIER_H
#define NCT_COURIER_H

#include "bytes.h"
#include "wire.h"

/// One client's connection. Confined: one thread at a time.
typedef struct nct_courier {
    /// The client's side.
    nct_wire client;
    /// The server's side; its descriptor is -1 for none.
    nct_wire upstream;
    /// Readable once the proxy stops.
    int stop;
    /// Received from the client, for the proxy to parse.
    nct_bytes in;
    /// Bytes to send to the server.
    nct_bytes to_upstream;
    /// Bytes to send to the client.
    nct_bytes to_client;
    /// The client sends no more.
    bool has_client_ended;
    /// The server sends no more.
    bool has_upstream_ended;
    /// The server's side was shut down because the client sends no more.
    bool is_upstream_told;
    /// The client's side was shut down because the server sends no more.
    bool is_client_told;
} nct_courier;

/// Initializes the relay with an accepted socket, which it owns also after a failure. `context` is NULL for plain.
/// Returns false if it failed.
bool nct_courier_init(nct_courier *courier, int fd, SSL_CTX *context, int stop);

/// Closes both sides.
void nct_courier_deinit(nct_courier *courier);

/// Performs the TLS handshake, if any. Returns false if it failed or the proxy stops.
bool nct_courier_greet(nct_courier *courier);

/// Connects to a server, and closes an earlier connection. Returns 0 or an errno; ECANCELED if the proxy stops.
///
/// - host: not NUL-terminated; an address in 127.0.0.0/8, or anything else for 127.0.0.1.
int nct_courier_connect(nct_courier *courier, const char *host, size_t host_length, uint16_t port);

/// Moves bytes, or waits until that is possible. Returns false if the proxy stops, the client has closed, or both sides
/// have ended.
bool nct_courier_move(nct_courier *courier);

/// Waits until `in` holds at least `count` bytes. Returns false like nct_courier_move().
bool nct_courier_need(nct_courier *courier, size_t count);

/// Relays bytes until both sides have ended.
void nct_courier_relay(nct_courier *courier);

/// Sends the remaining bytes to the client, then FIN.
void nct_courier_finish(nct_courier *courier);

#endif
