/// Functions that set parts of a test certificate.
#ifndef NCT_X509_H
#define NCT_X509_H

#include <openssl/x509.h>
#include <stdbool.h>

/// Sets a random serial number, positive and not 0 (RFC 5280, 4.1.2.2).
bool nct_x509_set_serial(X509 *certificate);
/// Adds the extension with the NID `nid`. `value` is in the syntax of OpenSSL's configuration. NULL adds no extension.
bool nct_x509_extend(X509 *certificate, X509 *issuer, int nid, const char *value);

#endif
