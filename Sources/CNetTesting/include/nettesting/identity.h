/// Certificates of servers and clients, made when they are asked for: nothing
/// checked in, nothing that expires.
#ifndef NETTESTING_IDENTITY_H
#define NETTESTING_IDENTITY_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif
NCT_ASSUME_NONNULL_BEGIN

/// The certificate that a TLS server shows, or how it fails in the handshake;
/// all are made when the server starts.
typedef NCT_ENUM(nct_identity){
    /// Plain HTTP, no certificate.
    NCT_PLAIN = 0,
    /// Signed by the server's own authority, valid for "localhost", 127.0.0.1
    /// and what the options add.
    NCT_TLS_VALID = 1,
    /// As VALID, but it expired a day ago.
    NCT_TLS_EXPIRED = 2,
    /// As VALID, but it begins in a day.
    NCT_TLS_NOT_YET_VALID = 3,
    /// Signed by the authority, but for "other.example" only.
    NCT_TLS_WRONG_NAME = 4,
    /// Signed by an authority that nct_server_ca_pem() does not show.
    NCT_TLS_UNTRUSTED = 5,
    /// Accepts the connection and answers the handshake with bytes that are not
    /// TLS.
    NCT_TLS_GARBAGE = 6,
    /// Answers the client's hello with FIN.
    NCT_TLS_CLOSED = 7,
    /// Answers the client's hello with RST.
    NCT_TLS_RESET = 8,
    /// Answers the client's hello with the fatal alert handshake_failure, then
    /// FIN.
    NCT_TLS_ALERT = 9,
    /// Answers the client's hello with nothing. This is a stall as NCT_STALL
    /// is; released, the connection ends with FIN.
    NCT_TLS_STALLED = 10,
    /// As VALID, but it speaks TLS 1.1 alone.
    NCT_TLS_1_1 = 11,
} nct_identity;

/// Whether a TLS server asks for the client's certificate; its own authority is
/// the one it trusts.
typedef NCT_ENUM(nct_client_check){
    /// It does not ask.
    NCT_CLIENT_ANONYMOUS = 0,
    /// It asks, and takes a client without one.
    NCT_CLIENT_ASKED = 1,
    /// It asks, and fails the handshake without one that it trusts.
    NCT_CLIENT_REQUIRED = 2,
} nct_client_check;

/// What a TLS server does about session tickets.
typedef NCT_ENUM(nct_tickets){
    /// It gives them, and over TLS 1.3 a new one with each resumption.
    NCT_TICKETS_RENEWED = 0,
    /// It gives none and resumes nothing.
    NCT_TICKETS_NONE = 1,
    /// It gives them with whole handshakes only; a resumed session keeps its
    /// ticket.
    NCT_TICKETS_KEPT = 2,
} nct_tickets;

/// Makes a certificate for another server: writes ca.pem, cert.pem and key.pem
/// (mode 0600) into `directory`.
///
/// Returns 0 or an errno. Thread-safe.
int nct_identity_write(nct_identity identity, const char *directory);

NCT_ASSUME_NONNULL_END
#ifdef __cplusplus
}
#endif

#endif
