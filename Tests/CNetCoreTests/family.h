/// A root, an intermediate, leaves and a stranger: what tests of trust judge.
#ifndef NETCORE_TEST_FAMILY_H
#define NETCORE_TEST_FAMILY_H

#include "harness.h"

#include <nettesting.h>
#include <openssl/x509.h>

typedef struct family {
    nct_made *root;
    nct_made *middle;  // by the root
    nct_made *leaf;    // by the middle, for localhost and 127.0.0.1
    nct_made *other;   // by the middle, for other.example
    nct_made *loner;   // signed itself, for localhost
    nct_made *foreign; // an authority that is not the root
    nct_made *evil;    // by the foreign one, for localhost
    nct_made *expired; // by the root, for localhost
    char *texts[64];   // what family_join() made
    size_t text_count;
} family;

/// Makes them all; fails the case when it cannot.
void family_make(family *f);
/// Frees them and the texts.
void family_free(family *f);
/// The PEM texts of some of them; a NULL ends them.
nc_slice family_join(family *f, const nct_made *first, ...);

/// A certificate as OpenSSL has it; the caller frees it.
X509 *family_certificate(const nct_made *made);

/// Makes a policy; fails the case when it cannot.
nc_trust *family_trust(const nc_trust_options *options);
/// Judges a chain now.
nc_trust_verdict family_judge(const nc_trust_options *options, nc_slice chain, const char *host);
/// The status of that.
nc_status family_status(const nc_trust_options *options, nc_slice chain, const char *host);
/// Seconds since 1970.
int64_t family_now(void);

#endif
