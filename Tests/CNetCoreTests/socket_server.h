/// A WebSocket server on threads: it answers the handshake and then runs a function for each connection. Its own frame
/// reader and writer are independent of the library.
///
///     socket_server server = {.serve = socket_peer_echo};
///     socket_server_start(&server);     // at ws://127.0.0.1:<server.port>/
///     socket_server_stop(&server);
#ifndef NETCORE_TEST_SOCKET_SERVER_H
#define NETCORE_TEST_SOCKET_SERVER_H

#include "harness.h"

#include <nettesting.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdatomic.h>

enum { SOCKET_SERVER_CONNECTIONS = 64 };

typedef struct socket_server socket_server;

typedef struct socket_peer {
    socket_server *server;
    size_t index;
    int fd;
    SSL *ssl;        // NULL without TLS
    char head[8192]; // of the request
    pthread_t thread;
} socket_peer;

struct socket_server {
    /// Called after the handshake. The connection is closed when it returns.
    void (*serve)(socket_peer *peer);
    /// Lines of the 101, each with CR LF; NULL for none.
    const char *fields;
    /// If set, sent instead of the 101. The connection is closed after it.
    const char *(*refuse)(const socket_peer *peer);
    /// The accept key to send; NULL for the right one.
    const char *accept;
    bool has_tls;
    const nct_test_certificate *certificate; // NULL: a self-signed one for 127.0.0.1
    const char *unix_path;                   // NULL: TCP
    void *ctx;
    uint16_t port;           // out
    atomic_uint close_code;  // of the last close frame that arrived; 1005 without a code
    atomic_size_t count;     // connections
    atomic_bool is_unmasked; // a frame without a mask has arrived
    SSL_CTX *context;
    int listener;
    pthread_t thread;
    pthread_mutex_t mutex;
    socket_peer *peers[SOCKET_SERVER_CONNECTIONS];
};

void socket_server_start(socket_server *server);
/// Ends the connections that are still open, and waits for their threads.
void socket_server_stop(socket_server *server);

/// Reads exactly `length` bytes. Returns false at the end of the connection.
bool socket_peer_read(socket_peer *peer, void *bytes, size_t length);
/// Writes all bytes. Returns false if the connection has ended.
bool socket_peer_write(socket_peer *peer, const void *bytes, size_t length);
/// Reads one frame: its first byte, and its payload without the mask. Returns false at the end.
bool socket_peer_read_frame(socket_peer *peer, uint8_t *first, nc_buf *payload);
/// Writes one frame with this first byte.
bool socket_peer_write_frame(socket_peer *peer, uint8_t first, nc_slice payload);
/// Reads frames until a close frame arrives, and records its code. Returns false if the connection ends before.
bool socket_peer_await_close(socket_peer *peer);
/// Makes the end of the connection a TCP reset.
void socket_peer_reset(const socket_peer *peer);
/// Sends every frame back, a ping as a pong. Returns after a close frame.
void socket_peer_echo(socket_peer *peer);

#endif
