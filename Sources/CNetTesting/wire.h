/// A socket with or without TLS. The functions have the same results in both cases.
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

/// Creates the OpenSSL context that the TLS connections of a server share. Returns NULL if OpenSSL failed.
SSL_CTX *nct_wire_context_new(const nct_certificate *certificate, const nct_server_options *options);

/// Begins a connection on `fd`, and owns the descriptor even after a failure. `context` is NULL for a plain connection.
/// Returns false after a failure.
bool nct_wire_init(nct_wire *wire, int fd, SSL_CTX *context);

/// Closes the socket. If `is_reset` is true, sends RST immediately; otherwise sends FIN after the unsent bytes.
void nct_wire_deinit(nct_wire *wire, bool is_reset);

/// Performs the TLS handshake. Returns NCT_WIRE_DONE immediately for a plain connection.
nct_wire_result nct_wire_handshake(nct_wire *wire);

/// Returns true if the handshake resumed a session.
bool nct_wire_is_resumed(const nct_wire *wire);

/// Returns true if the client presented a certificate.
bool nct_wire_has_certificate(const nct_wire *wire);

/// Reads the available bytes. If it returns NCT_WIRE_DONE, `count` is set and not 0.
nct_wire_result nct_wire_read(nct_wire *wire, uint8_t *bytes, size_t capacity, size_t *count);

/// Writes the bytes for which the socket has room. If it returns NCT_WIRE_DONE, `count` is set. Otherwise the next call
/// must pass the same bytes again.
nct_wire_result nct_wire_write(nct_wire *wire, const uint8_t *bytes, size_t length, size_t *count);

/// Returns true if OpenSSL has bytes to read that it already took from the socket. The poller does not report these.
bool nct_wire_has_pending(const nct_wire *wire);

/// Ends the output with FIN. Over TLS, sends close_notify before it if `is_announced` is true.
nct_wire_result nct_wire_end(nct_wire *wire, bool is_announced);

/// Like nct_wire_end(), and drops unread input.
nct_wire_result nct_wire_finish(nct_wire *wire, bool is_announced);

/// Drops the available input without decrypting it. Returns NCT_WIRE_ENDED if the peer has closed the connection.
nct_wire_result nct_wire_drain(nct_wire *wire);

/// Returns NCT_WIRE_DONE when the kernel has sent all bytes. An RST before that would discard the unsent bytes.
nct_wire_result nct_wire_flush(nct_wire *wire);

#endif
