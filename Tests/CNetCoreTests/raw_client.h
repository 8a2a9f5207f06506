/// A client of raw bytes for the tests of CNetTesting. It fails at the first unexpected byte. No wait takes longer
/// than RAW_LIMIT_MS.
#ifndef NETCORE_TEST_RAW_CLIENT_H
#define NETCORE_TEST_RAW_CLIENT_H

#include "nettesting.h"

#include <openssl/ssl.h>

/// Far above the duration of a wait that succeeds.
#define RAW_LIMIT_MS 10000
/// A request.
#define GET(path) "GET " path " HTTP/1.1\r\nHost: x\r\n\r\n"
/// The response head with a body of this length.
#define OK(length) "HTTP/1.1 200 OK\r\nContent-Length: " length "\r\n\r\n"

/* --- a server per case --- */

/// cmocka's setup: a plain server in `state`.
int raw_setup_plain(void **state);
/// cmocka's teardown.
int raw_stop(void **state);
/// Scripts a path.
void raw_script(nct_server *server, const char *path, nct_reply reply);
/// Scripts a path with a text.
void raw_script_text(nct_server *server, const char *path, const char *body);

/* --- plain --- */

/// Connects to a port of 127.0.0.1.
int raw_dial_port(uint16_t port);
/// Connects to a server.
int raw_dial(const nct_server *server);
/// Sends a text.
void raw_send(int fd, const char *text);
/// Sends a request on a new connection.
int raw_request(const nct_server *server, const char *request);
/// Fails unless exactly these bytes arrive next.
void raw_expect_bytes(int fd, const void *bytes, size_t length);
/// Fails unless exactly this text arrives next.
void raw_expect(int fd, const char *text);
/// Fails unless the connection ends next, with FIN or RST. Closes it.
void raw_expect_end(int fd, bool is_reset);
/// Fails unless nothing has arrived.
void raw_expect_nothing(int fd);
/// Sends requests, first whole and then byte by byte. Expects these replies and nothing after them.
void raw_exchange(nct_server *server, const char *request, const char *reply);

/* --- TLS --- */

/// A server, a client that trusts only its authority, and the client's connection.
typedef struct raw_pair {
    nct_server *server;
    /// The client's TLS context.
    SSL_CTX *context;
    /// The latest connection.
    SSL *ssl;
    /// The result of SSL_connect().
    int returned;
} raw_pair;

/// Starts a server that serves "hello" at "/a".
raw_pair raw_start_pair(const nct_server_options *options);
/// Stops it.
void raw_stop_pair(raw_pair *pair);
/// Trusts an authority by its PEM text.
void raw_trust(SSL_CTX *context, const char *ca_pem);
/// Connects with the SNI `host`. Resumes `session` unless it is NULL.
void raw_greet(raw_pair *pair, const char *host, SSL_SESSION *session);
/// Closes the connection.
void raw_part(raw_pair *pair);
/// Sends a request and expects a reply.
void raw_exchange_tls(SSL *ssl, const char *request, const char *reply);

#endif
