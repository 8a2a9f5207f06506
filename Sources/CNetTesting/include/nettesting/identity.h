/// Certificates for servers and clients. They are created on demand, because certificates in the repository would
/// expire.
#ifndef NETTESTING_IDENTITY_H
#define NETTESTING_IDENTITY_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif
NCT_ASSUME_NONNULL_BEGIN

/// The certificate that a TLS server presents, or how its handshake fails. Certificates are created when the server
/// starts.
typedef NCT_ENUM(nct_identity){
    /// Plain HTTP, no certificate.
    NCT_PLAIN = 0,
    /// Signed by the server's own authority; valid for "localhost", 127.0.0.1 and the names in the options.
    NCT_TLS_VALID = 1,
    /// Like VALID, but it expired a day ago.
    NCT_TLS_EXPIRED = 2,
    /// Like VALID, but it becomes valid in a day.
    NCT_TLS_NOT_YET_VALID = 3,
    /// Signed by the authority, but only for "other.example".
    NCT_TLS_WRONG_NAME = 4,
    /// Signed by an authority that nct_server_ca_pem() does not return.
    NCT_TLS_UNTRUSTED = 5,
    /// Accepts the connection, and replies to the handshake with bytes that are not TLS.
    NCT_TLS_GARBAGE = 6,
    /// Replies to the ClientHello with FIN.
    NCT_TLS_CLOSED = 7,
    /// Replies to the ClientHello with RST.
    NCT_TLS_RESET = 8,
    /// Replies to the ClientHello with the fatal alert handshake_failure, then FIN.
    NCT_TLS_ALERT = 9,
    /// Does not reply to the ClientHello. The connection stalls as with NCT_STALL. After nct_server_release_stalled()
    /// it ends with FIN.
    NCT_TLS_STALLED = 10,
    /// Like VALID, but it supports only TLS 1.1.
    NCT_TLS_1_1 = 11,
} nct_identity;

/// Whether a TLS server requests a client certificate. The server trusts client certificates that its own authority has
/// signed.
typedef NCT_ENUM(nct_client_check){
    /// The server requests no certificate.
    NCT_CLIENT_ANONYMOUS = 0,
    /// The server requests a certificate, but accepts a client that presents none.
    NCT_CLIENT_ASKED = 1,
    /// The server requests a certificate. The handshake fails if the client presents no trusted certificate.
    NCT_CLIENT_REQUIRED = 2,
} nct_client_check;

/// A TLS server's policy for session tickets.
typedef NCT_ENUM(nct_tickets){
    /// The server issues tickets. With TLS 1.3 it issues a new one at each resumption.
    NCT_TICKETS_RENEWED = 0,
    /// The server issues no tickets and resumes no session.
    NCT_TICKETS_NONE = 1,
    /// The server issues tickets only in full handshakes. A client can resume several times with the same ticket.
    NCT_TICKETS_KEPT = 2,
} nct_tickets;

/// Creates a certificate for a server that is not an `nct_server`. Writes ca.pem, cert.pem and key.pem (mode 0600) into
/// `directory`.
///
/// Returns 0 or an errno. Thread-safe.
int nct_identity_write(nct_identity identity, const char *directory);

NCT_ASSUME_NONNULL_END
#ifdef __cplusplus
}
#endif

#endif
