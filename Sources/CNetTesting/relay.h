/// The relay between a proxy's client and a server. It moves bytes in both directions, and waits in poll(2) when that
/// is not possible. It ends when the proxy stops.
#ifndef NCT_COURIER_H
#define NCT_COURIER_H

#include "bytes.h"
#include "wire.h"

/// One client's connection. Confined: one thread at a time.
typedef struct nct_relay {
    /// The client's side.
    nct_wire client;
    /// The server's side; its descriptor is -1 while there is no connection.
    nct_wire upstream;
    /// A descriptor that becomes readable when the proxy stops.
    int stop;
    /// Bytes received from the client that the proxy has not parsed yet.
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
    bool is_upstream_shut_down;
    /// The client's side was shut down because the server sends no more.
    bool is_client_shut_down;
} nct_relay;

/// Initializes the relay with an accepted socket. The relay owns the socket, even if the initialization fails.
/// `context` is NULL for a plain connection. Returns false after a failure.
bool nct_relay_init(nct_relay *relay, int fd, SSL_CTX *context, int stop);

/// Closes both sides.
void nct_relay_deinit(nct_relay *relay);

/// Performs the TLS handshake, if any. Returns false if it failed or the proxy stops.
bool nct_relay_handshake(nct_relay *relay);

/// Connects to a server, and closes an earlier connection. Returns 0 or an errno; ECANCELED if the proxy stops.
///
/// - host: an address in 127.0.0.0/8; any other text means 127.0.0.1. It is not NUL-terminated.
int nct_relay_connect(nct_relay *relay, const char *host, size_t host_length, uint16_t port);

/// Moves bytes, or waits until that is possible. Returns false if the proxy stops, the client has closed, or both sides
/// have ended.
bool nct_relay_step(nct_relay *relay);

/// Waits until `in` has at least `count` bytes. Returns false in the same cases as nct_relay_step().
bool nct_relay_read_at_least(nct_relay *relay, size_t count);

/// Relays bytes until both sides have ended.
void nct_relay_run(nct_relay *relay);

/// Sends the remaining bytes to the client, then FIN.
void nct_relay_finish(nct_relay *relay);

#endif
