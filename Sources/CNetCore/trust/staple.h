/// OCSP staples (RFC 6066, 8; RFC 6960): the leaf's revocation status, signed by its authority and sent by the server.
#ifndef NETCORE_PRIVATE_STAPLE_H
#define NETCORE_PRIVATE_STAPLE_H

#include <netcore/bytes.h>
#include <netcore/status.h>
#include <openssl/x509.h>

/// Evaluates the OCSP response for the first certificate of a verified chain.
///
/// Returns NC_OK if the status is good, NC_ERR_TLS_REVOKED, or NC_ERR_TLS_STAPLE with the reason in `why`, a static
/// text. `chain` has at least one certificate. The response's times are compared with `at_s`, with a tolerance of 5
/// minutes.
NC_NODISCARD nc_status nc_staple_judge(const char **why, nc_slice reply, STACK_OF(X509) * chain, X509_STORE *anchors,
                                       int64_t at_s);

#endif
