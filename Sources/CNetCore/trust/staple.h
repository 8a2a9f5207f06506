/// Stapled OCSP replies (RFC 6066, 8; RFC 6960): what the authority says of the leaf, handed over by the server.
#ifndef NETCORE_PRIVATE_STAPLE_H
#define NETCORE_PRIVATE_STAPLE_H

#include <netcore/bytes.h>
#include <netcore/status.h>
#include <openssl/x509.h>

/// Judges a reply about the first certificate of a verified chain.
///
/// NC_OK when its authority says that it is good, NC_ERR_TLS_REVOKED, NC_ERR_TLS_STAPLE with what is wrong in `why`, a
/// static text. `chain` has at least one certificate; the times of the reply are held against `at_s`, 5 minutes
/// lenient.
NC_NODISCARD nc_status nc_staple_judge(const char **why, nc_slice reply, STACK_OF(X509) * chain, X509_STORE *anchors,
                                       int64_t at_s);

#endif
