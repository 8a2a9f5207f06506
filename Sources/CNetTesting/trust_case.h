/// The table of trust fixtures.
#ifndef NCT_SCENE_PLOT_H
#define NCT_SCENE_PLOT_H

#include "nettesting/test_certificate.h"
#include "nettesting/trust_fixture.h"

#define NCT_TRUST_CASE_PINS 4

/// The chain that the server presents.
typedef enum nct_trust_case_chain {
    PLAIN,
    WHOLE,
    WITHOUT_MIDDLE,
    RENEWED_WHOLE,
    REPLACED_WHOLE,
    BY_OTHER_ROOT,
    WITH_DECOYS,
    WITH_ROOT_DECOY,
    CUSTOM,       // a leaf from `certificate_options`, signed by the root
    CUSTOM_BELOW, // the same, signed by the intermediate
    CUSTOM_ALONE, // the same, self-signed
    BY_UNRELATED_AUTHORITY,
    CONSTRAINED, // signed by an intermediate that may only sign for other names
    PERMITTED,   // signed by an intermediate that may sign for this name
} nct_trust_case_chain;

/// One fixture before it is started.
typedef struct nct_trust_case {
    const char *name;
    const char *expectation;
    nct_trust_case_chain chain;
    const char *host; // NULL means localhost
    const char *pins[NCT_TRUST_CASE_PINS];
    nct_certificate_options certificate_options;
    bool accepts_anything;
    bool reports_only;
} nct_trust_case;

/// All fixtures.
extern const nct_trust_case nct_trust_cases[];
/// Their number.
extern const size_t nct_trust_case_count;

#endif
