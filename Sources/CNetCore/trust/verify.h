/// Verifies a chain, the names of its leaf and its OCSP staple with OpenSSL. The same OpenSSL flags apply to all
/// policies.
#ifndef NETCORE_PRIVATE_VERIFY_H
#define NETCORE_PRIVATE_VERIFY_H

#include "trust/pattern.h"

#include <openssl/x509.h>

/// The certificates that the server sent.
typedef struct nc_sent_chain {
    X509 *leaf;
    STACK_OF(X509) * certificates; // untrusted, with or without the leaf; may be NULL
    int64_t at_s;                  // the time of the check
} nc_sent_chain;

/// Builds and verifies a chain from the leaf to an anchor of `anchors`; returns X509_V_OK or an X509_V_ERR_ number.
///
/// - is_strict: true if no error of X509_V_FLAG_X509_STRICT is ignored.
/// - lists:    a store with the revocation lists for every certificate; NULL for none.
/// - verified: receives the chain, owned by the caller, if X509_V_OK is returned.
NC_NODISCARD int nc_verify_chain(STACK_OF(X509) * *verified, const nc_sent_chain *sent, X509_STORE *anchors,
                                 X509_STORE *lists, bool is_strict);

/// Returns true if a subject alternative name of the certificate matches the host.
NC_NODISCARD bool nc_verify_name(X509 *leaf, const nc_host_name *host);

/// Converts a certificate's time to seconds since 1970. Returns INT64_MIN if it cannot be read.
int64_t nc_verify_seconds_of(const ASN1_TIME *time);

/// Returns the status for an X509_V_ERR_ number.
nc_status nc_verify_status(int code);

/* --- ocsp_staple.c: the leaf's revocation status, which the server sends (RFC 6066, 8; RFC 6960) --- */

/// Evaluates the OCSP response for the first certificate of a verified chain.
///
/// `chain` must have at least one certificate. The response must be valid at `at_s`, with a tolerance of 5 minutes.
/// Returns NC_OK if the status is good, NC_ERR_TLS_REVOKED, or NC_ERR_TLS_STAPLE with the reason in `why`, a static
/// text.
NC_NODISCARD nc_status nc_ocsp_staple_evaluate(const char **why, nc_slice reply, STACK_OF(X509) * chain,
                                               X509_STORE *anchors, int64_t at_s);

#endif
