/// A TLS server that runs a function for each connection on its own thread. Each connection chooses its protocol,
/// like a host whose servers differ in HTTP/2 support.
///
///     tls_peer peer = {.serve = serve, .members = "12"};
///     tls_peer_start(&peer);     // at https://127.0.0.1:<peer.port>/
///     tls_peer_stop(&peer);
#ifndef NETCORE_TEST_TLS_PEER_H
#define NETCORE_TEST_TLS_PEER_H

#include <nettesting.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { TLS_PEER_CONNECTIONS = 160 };

/// HTTP/2 frame heads (RFC 9113, section 4.1) as text, with lengths and streams up to 255.
#define FRAME_HEAD(length, type, flags, stream) "\0\0" length type flags "\0\0\0" stream
/// The server's SETTINGS, and the acknowledgement of the client's.
#define SETTINGS FRAME_HEAD("\0", "\4", "\0", "\0") FRAME_HEAD("\0", "\4", "\1", "\0")
/// :status: 200
#define OK_HEAD(stream) FRAME_HEAD("\1", "\1", "\4", stream) "\x88"
/// Responses on the first stream: status 200 and "hi", or 401 with a Digest challenge and its end.
#define FIRST_ANSWER OK_HEAD("\1") FRAME_HEAD("\2", "\0", "\1", "\1") "hi"
#define FIRST_CHALLENGE                                                                                                \
    FRAME_HEAD("\x23", "\1", "\5", "\1")                                                                               \
    "\x08\3"                                                                                                           \
    "401"                                                                                                              \
    "\x0f\x2e\x1b"                                                                                                     \
    "Digest realm=\"r\", nonce=\"n\""

typedef struct tls_peer tls_peer;

typedef struct tls_peer_connection {
    tls_peer *peer;
    size_t index; // from 0, in the order of acceptance
    int fd;       // under the peer's mutex; -1 when closed
    pthread_t thread;
} tls_peer_connection;

struct tls_peer {
    /// Called after the handshake on the connection's thread. The connection is closed when it returns.
    void (*serve)(SSL *ssl, const tls_peer_connection *connection);
    /// '1' or '2' for each connection: the HTTP version that it chooses if the client offers it. The last one applies
    /// to all further connections.
    const char *members;
    /// Sent with the first flight of the handshake, before the client's Finished (RFC 8446, section 4.4.4). NULL for
    /// nothing.
    const char *early;
    size_t early_length;
    void *ctx;
    uint16_t port; // out
    SSL_CTX *context;
    int listener;
    pthread_t thread;
    pthread_mutex_t mutex;
    atomic_size_t count; // number of connections
    tls_peer_connection connections[TLS_PEER_CONNECTIONS];
};

void tls_peer_start(tls_peer *peer);
/// Closes connections that the client keeps open. Then all results are final.
void tls_peer_stop(tls_peer *peer);
/// Reads until the text ends with `end`. Returns false at the end of the connection, or if the text does not fit.
bool tls_peer_read_to(SSL *ssl, char *text, size_t capacity, const char *end);
/// Sets a self-signed certificate for 127.0.0.1.
void tls_peer_present_certificate(SSL_CTX *context);
/// Sets this certificate and its key, without its issuers.
void tls_peer_present(SSL_CTX *context, const nct_test_certificate *made);

#endif
