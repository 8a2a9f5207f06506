/// Parts of test certificates.
#ifndef NCT_X509_H
#define NCT_X509_H

#include <openssl/x509.h>
#include <stdbool.h>

/// Sets a random serial number, positive and not 0 (RFC 5280, 4.1.2.2).
bool nct_x509_set_serial(X509 *certificate);
/// Adds an extension by its NID, with its value in the syntax of OpenSSL's configuration; NULL adds none.
bool nct_x509_extend(X509 *certificate, X509 *issuer, int nid, const char *value);

#endif
