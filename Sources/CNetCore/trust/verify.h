/// OpenSSL's verification of a chain and the comparison of its name, with the flags that every policy has.
#ifndef NETCORE_PRIVATE_VERIFY_H
#define NETCORE_PRIVATE_VERIFY_H

#include "trust/pattern.h"

#include <openssl/x509.h>

/// What the other side sent.
typedef struct nc_sent_chain {
    X509 *leaf;
    STACK_OF(X509) * certificates; // with or without the leaf; not trusted, may be NULL
    int64_t at_s;                  // when
} nc_sent_chain;

/// Builds and verifies a chain from the leaf to an anchor of `anchors`; returns X509_V_OK or an X509_V_ERR_ number.
///
/// - is_strict: nothing that X509_V_FLAG_X509_STRICT finds is passed over, neither missing hints nor an anchor's
/// faults.
/// - lists:    a store whose revocation lists every certificate is looked up in; NULL: none.
/// - verified: the chain, owned by the caller, when X509_V_OK is returned.
NC_NODISCARD int nc_verify_chain(STACK_OF(X509) * *verified, const nc_sent_chain *sent, X509_STORE *anchors,
                                 X509_STORE *lists, bool is_strict);

/// Whether the certificate is for the host, by its subject alternative names alone.
NC_NODISCARD bool nc_verify_name(X509 *leaf, const nc_host_name *host);

/// When a certificate's time is, in seconds since 1970; INT64_MIN when it cannot be read.
int64_t nc_verify_seconds_of(const ASN1_TIME *time);

/// The status that an X509_V_ERR_ number is told by.
nc_status nc_verify_status(int code);

#endif
