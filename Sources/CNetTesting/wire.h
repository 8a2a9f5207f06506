/// A socket with or without TLS: one set of results for both.
#ifndef NCT_WIRE_H
#define NCT_WIRE_H

#include "certificate.h"
#include "nettesting/server.h"

#include <openssl/ssl.h>

/// What a wire answers.
typedef enum nct_wire_result {
    /// Done, or some bytes moved.
    NCT_WIRE_DONE,
    /// Again when the socket is readable.
    NCT_WIRE_WANT_READ,
    /// Again when the socket is writable.
    NCT_WIRE_WANT_WRITE,
    /// The peer ended it, or it failed.
    NCT_WIRE_ENDED,
} nct_wire_result;

/// One accepted connection.
typedef struct nct_wire {
    /// The socket; non-blocking, owned.
    int fd;
    /// NULL for plain.
    SSL *ssl;
} nct_wire;

/// Makes the context that TLS connections share, from what the options say of
/// TLS; NULL when OpenSSL refused.
SSL_CTX *nct_wire_context_new(const nct_certificate *certificate, const nct_server_options *options);

/// Begins a connection on `fd` and owns it, whatever is returned; `context` is
/// NULL for plain.
bool nct_wire_init(nct_wire *wire, int fd, SSL_CTX *context);

/// Closes the socket: FIN with what is unsent before it, or RST at once.
void nct_wire_deinit(nct_wire *wire, bool is_reset);

/// Does the TLS handshake; DONE at once when plain.
nct_wire_result nct_wire_handshake(nct_wire *wire);

/// True when the handshake resumed a session.
bool nct_wire_is_resumed(const nct_wire *wire);

/// True when the client showed a certificate.
bool nct_wire_has_certificate(const nct_wire *wire);

/// Reads what is there; `count` is set when DONE, and is not 0.
nct_wire_result nct_wire_read(nct_wire *wire, uint8_t *bytes, size_t capacity, size_t *count);

/// Writes what fits; `count` is set when DONE. A repeated write must offer the
/// same bytes.
nct_wire_result nct_wire_write(nct_wire *wire, const uint8_t *bytes, size_t length, size_t *count);

/// True while decrypted bytes wait that no readiness will announce.
bool nct_wire_has_pending(const nct_wire *wire);

/// Says that nothing more is sent: close_notify over TLS when `is_announced` is set, then FIN.
nct_wire_result nct_wire_end(nct_wire *wire, bool is_announced);

/// As nct_wire_end(), and drops what was received unread.
nct_wire_result nct_wire_finish(nct_wire *wire, bool is_announced);

/// Drops what is there, TLS or not; ENDED when the peer ended it.
nct_wire_result nct_wire_drain(nct_wire *wire);

/// DONE when the kernel has put every byte on its way, so that a RST overtakes
/// none.
nct_wire_result nct_wire_flush(nct_wire *wire);

#endif
