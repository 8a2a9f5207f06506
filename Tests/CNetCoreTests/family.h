/// A root, an intermediate, leaves and an unrelated authority, for tests of trust evaluation.
#ifndef NETCORE_TEST_FAMILY_H
#define NETCORE_TEST_FAMILY_H

#include "harness.h"

#include <nettesting.h>
#include <openssl/x509.h>

typedef struct family {
    nct_test_certificate *root;
    nct_test_certificate *middle;  // issued by the root
    nct_test_certificate *leaf;    // issued by `middle`, for localhost and 127.0.0.1
    nct_test_certificate *other;   // issued by `middle`, for other.example
    nct_test_certificate *loner;   // self-signed, for localhost
    nct_test_certificate *foreign; // an authority other than the root
    nct_test_certificate *evil;    // issued by `foreign`, for localhost
    nct_test_certificate *expired; // issued by the root, for localhost
    char *texts[64];               // results of family_join()
    size_t text_count;
} family;

/// Creates all certificates. Fails the test on an error.
void family_make(family *f);
/// Frees the certificates and the texts.
void family_free(family *f);
/// Returns the joined PEM texts of certificates. NULL ends the arguments.
nc_slice family_join(family *f, const nct_test_certificate *first, ...);

/// Returns an OpenSSL certificate that the caller frees.
X509 *family_certificate(const nct_test_certificate *made);

/// Creates a policy. Fails the test on an error.
nc_trust *family_trust(const nc_trust_options *options);
/// Evaluates a chain at the current time.
nc_trust_result family_evaluate(const nc_trust_options *options, nc_slice chain, const char *host);
/// Returns the status of family_evaluate().
nc_status family_status(const nc_trust_options *options, nc_slice chain, const char *host);
/// Returns the seconds since 1970.
int64_t family_now(void);

#endif
