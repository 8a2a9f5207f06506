/// A socket with or without TLS, with the same results for both.
#ifndef NCT_WIRE_H
#define NCT_WIRE_H

#include "certificate.h"
#include "nettesting/server.h"

#include <openssl/ssl.h>

/// The result of an operation.
typedef enum nct_wire_result {
    /// Done, or some bytes moved.
    NCT_WIRE_DONE,
    /// Call again when the socket is readable.
    NCT_WIRE_WANT_READ,
    /// Call again when the socket is writable.
    NCT_WIRE_WANT_WRITE,
    /// The peer closed it, or it failed.
    NCT_WIRE_ENDED,
} nct_wire_result;

/// One accepted connection.
typedef struct nct_wire {
    /// The socket; non-blocking, owned.
    int fd;
    /// NULL for plain.
    SSL *ssl;
} nct_wire;

/// Creates the context that TLS connections share from the TLS options. Returns NULL if OpenSSL failed.
SSL_CTX *nct_wire_context_new(const nct_certificate *certificate, const nct_server_options *options);

/// Begins a connection on `fd`, which it owns also after a failure. `context` is NULL for plain.
bool nct_wire_init(nct_wire *wire, int fd, SSL_CTX *context);

/// Closes the socket: with FIN after the unsent bytes, or with RST immediately.
void nct_wire_deinit(nct_wire *wire, bool is_reset);

/// Performs the TLS handshake. Returns DONE immediately for plain.
nct_wire_result nct_wire_handshake(nct_wire *wire);

/// Returns true if the handshake resumed a session.
bool nct_wire_is_resumed(const nct_wire *wire);

/// Returns true if the client presented a certificate.
bool nct_wire_has_certificate(const nct_wire *wire);

/// Reads the available bytes. With DONE, `count` is set and not 0.
nct_wire_result nct_wire_read(nct_wire *wire, uint8_t *bytes, size_t capacity, size_t *count);

/// Writes as many bytes as fit. With DONE, `count` is set. A repeated write must pass the same bytes.
nct_wire_result nct_wire_write(nct_wire *wire, const uint8_t *bytes, size_t length, size_t *count);

/// Returns true while decrypted bytes wait that the poller does not report.
bool nct_wire_has_pending(const nct_wire *wire);

/// Announces the end of output: close_notify over TLS if `is_announced` is set, then FIN.
nct_wire_result nct_wire_end(nct_wire *wire, bool is_announced);

/// Like nct_wire_end(), and drops unread input.
nct_wire_result nct_wire_finish(nct_wire *wire, bool is_announced);

/// Drops available input, TLS or not. Returns ENDED if the peer closed it.
nct_wire_result nct_wire_drain(nct_wire *wire);

/// Returns DONE when the kernel has sent every byte, so that a RST overtakes none.
nct_wire_result nct_wire_flush(nct_wire *wire);

#endif
