/// The strict profile: a chain of three certificates with one violation.
#include "forged.h"

#include <openssl/x509_vfy.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
#define NAMES "subjectAltName"
#define USAGE "extendedKeyUsage"
#define BASICS "basicConstraints"
#define LIMITS "nameConstraints"
#define ISSUER_KEY "authorityKeyIdentifier"
#define OWN_KEY "subjectKeyIdentifier"

enum { LEAF, MIDDLE, ROOT, LENGTH };

typedef struct row {
    int index;
    custom_certificate certificate;
    const char *word; // part of the message; NULL: allowed
    /// The standard policy rejects it too.
    bool is_always_refused;
} row;

/// 20 octets, 21 octets, and the largest number of 20 octets without a sign.
#define SERIAL_20 "730750818665451459101842416358141509827966271487"
#define SERIAL_21 "730750818665451459101842416358141509827966271488"

static const row rows[] = {
    {LEAF, {0}, NULL, false},
    {LEAF, {.key = "RSA:2048"}, NULL, false},
    {LEAF, {.key = "ED25519"}, NULL, false},
    {LEAF, {.common_name = "", .extensions = {{NAMES, "critical,DNS:www.example.com"}}}, NULL, false},
    {LEAF, {.extensions = {{NAMES, "DNS:www.example.com,DNS:*.example.com,IP:192.0.2.1"}}}, NULL, false},
    {LEAF, {.common_name = "2001:db8::1", .extensions = {{NAMES, "DNS:www.example.com,IP:2001:db8::1"}}}, NULL, false},
    {LEAF, {.serial = SERIAL_20}, NULL, false},
    {MIDDLE, {.extensions = {{LIMITS, "critical,permitted;DNS:example.com"}}}, NULL, false},
    {MIDDLE, {.extensions = {{"policyConstraints", "critical,requireExplicitPolicy:3"}}}, NULL, false},
    {ROOT, {.serial = "0"}, NULL, false},
    {ROOT, {.extensions = {{ISSUER_KEY, NULL}}}, NULL, false},
    // The owner of such a name may have a certificate for it, although its customers share the suffix.
    {LEAF, {.extensions = {{NAMES, "DNS:www.example.com,DNS:*.github.io"}}}, NULL, false},
    // Names.
    {LEAF, {.common_name = "other.example.com"}, "common name", false},
    {LEAF, {.common_name = "WWW.example.com"}, "common name", false},
    {LEAF,
     {.common_name = "2001:DB8::1", .extensions = {{NAMES, "DNS:www.example.com,IP:2001:db8::1"}}},
     "common name",
     false},
    {LEAF, {.extensions = {{NAMES, "critical,DNS:www.example.com"}}}, "alternative names", false},
    {LEAF, {.extensions = {{NAMES, "DNS:www.example.com,DNS:.example.com"}}}, "malformed", false},
    {LEAF, {.extensions = {{NAMES, "DNS:www.example.com,DNS:a_b.example.com"}}}, "malformed", false},
    {LEAF, {.extensions = {{NAMES, "DNS:www.example.com,DNS:a..example.com"}}}, "malformed", false},
    {LEAF, {.extensions = {{NAMES, "DNS:www.example.com,DNS:a*.example.com"}}}, "malformed", false},
    {LEAF, {.extensions = {{NAMES, "DNS:www.example.com,DNS:*.com"}}}, "wildcard", false},
    {LEAF, {.extensions = {{NAMES, "DNS:www.example.com,DNS:*.co.uk"}}}, "wildcard", false},
    {LEAF, {.extensions = {{NAMES, "DNS:www.example.com,DNS:*.Co.JP"}}}, "wildcard", false},
    // Key identifiers.
    {LEAF, {.extensions = {{ISSUER_KEY, NULL}}}, "uthority Key Identifier", false},
    {MIDDLE, {.extensions = {{ISSUER_KEY, NULL}}}, "Authority Key Identifier", false},
    {MIDDLE, {.extensions = {{OWN_KEY, NULL}}}, "Key Identifier", false},
    {ROOT, {.extensions = {{OWN_KEY, NULL}, {ISSUER_KEY, NULL}}}, "Key Identifier", false},
    {ROOT, {.extensions = {{ISSUER_KEY, "keyid:always,issuer:always"}}}, "authority key identifier", false},
    {ROOT, {.extensions = {{ISSUER_KEY, "DER:3000"}}}, "authority key identifier", false},
    {ROOT, {.extensions = {{ISSUER_KEY, "DER:3006800401020304"}}}, "", false},
    // Serial numbers.
    {LEAF, {.serial = "0"}, "serial number", false},
    {LEAF, {.serial = "-5"}, "serial number", false},
    {LEAF, {.serial = SERIAL_21}, "serial number", false},
    {MIDDLE, {.serial = "0"}, "serial number", false},
    // Critical extensions.
    {ROOT, {.extensions = {{BASICS, "CA:TRUE"}}}, "asic", false},
    {MIDDLE, {.extensions = {{BASICS, "CA:TRUE"}}}, "asic", true},
    {MIDDLE, {.extensions = {{LIMITS, "permitted;DNS:example.com"}}}, "name constraints", false},
    {ROOT, {.extensions = {{LIMITS, "permitted;DNS:example.com"}}}, "name constraints", false},
    {MIDDLE, {.extensions = {{"policyConstraints", "requireExplicitPolicy:3"}}}, "policy constraints", false},
    {MIDDLE, {.extensions = {{"inhibitAnyPolicy", "3"}}}, "policy constraints", false},
    // Name constraints.
    {LEAF, {.extensions = {{LIMITS, "critical,permitted;DNS:example.com"}}}, "name constraints", false},
    {MIDDLE, {.extensions = {{LIMITS, "critical,permitted;DNS:.example.com"}}}, "name constraints", false},
    {MIDDLE, {.extensions = {{LIMITS, "critical,excluded;DNS:*.example.org"}}}, "name constraints", false},
    {MIDDLE, {.extensions = {{LIMITS, "critical,excluded;IP:10.0.0.0/255.0.255.0"}}}, "name constraints", false},
    {MIDDLE, {.extensions = {{LIMITS, "critical,DER:3000"}}}, "name constraints", false},
    {MIDDLE, {.extensions = {{LIMITS, "critical,DER:3004A000A100"}}}, "name constraints", false},
    // Extended key usage.
    {LEAF, {.extensions = {{USAGE, NULL}}}, "extended key usage", false},
    {LEAF, {.extensions = {{USAGE, "serverAuth,anyExtendedKeyUsage"}}}, "extended key usage", false},
    {LEAF, {.extensions = {{USAGE, "critical,serverAuth"}}}, "extended key usage", false},
    {LEAF, {.extensions = {{USAGE, "clientAuth"}}}, "purpose", true},
    {ROOT, {.extensions = {{USAGE, "serverAuth"}}}, "extended key usage", false},
    // Keys.
    {LEAF, {.key = "DSA"}, "has a key", false},
    {LEAF, {.key = "RSA:2052"}, "has a key", false},
    {MIDDLE, {.key = "RSA:2060"}, "has a key", false},
    {LEAF, {.key = "RSA:1024"}, "key too weak", true},
    {LEAF, {.key = "secp256k1"}, "has a key", false},
    // Other extensions.
    {LEAF, {.extensions = {{"authorityInfoAccess", "DER:3000"}}}, "information access", false},
    {LEAF, {.extensions = {{"authorityInfoAccess", "critical,caIssuers;URI:http://a/"}}}, "", true},
    {MIDDLE, {.extensions = {{"keyUsage", NULL}}}, "key usage", false},
};

static void expect_verdict(const row *one, size_t number, const nc_trust_result *standard,
                           const nc_trust_result *strict) {
    bool is_strictly_allowed = one->word == NULL;
    if ((standard->status == NC_OK) == one->is_always_refused || (strict->status == NC_OK) != is_strictly_allowed ||
        (one->word != NULL && strstr(strict->message, one->word) == NULL)) {
        fail_msg("row %zu: standard '%s', strict '%s'", number, standard->message, strict->message);
    }
}

static void strict__rejects_violations_that_the_standard_policy_accepts(void **state) {
    (void)state;
    const nc_trust_options profile = {.is_strict = true};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        custom_certificate certificates[LENGTH] = {{0}};
        custom_chain chain;
        certificates[rows[i].index] = rows[i].certificate;
        custom_chain_make(&chain, certificates, LENGTH);
        nc_trust_result standard = custom_chain_evaluate(&chain, "www.example.com", NULL);
        nc_trust_result strict = custom_chain_evaluate(&chain, "www.example.com", &profile);
        expect_verdict(&rows[i], i, &standard, &strict);
        custom_chain_free(&chain);
    }
}

static void strict__names_the_violating_certificate(void **state) {
    (void)state;
    const nc_trust_options profile = {.is_strict = true};
    const custom_certificate certificates[] = {{0}, {.serial = "-1"}, {0}};
    custom_chain chain;
    custom_chain_make(&chain, certificates, LENGTH);
    nc_trust_result result = custom_chain_evaluate(&chain, "www.example.com", &profile);
    assert_status(result.status, NC_ERR_TLS_CERTIFICATE);
    assert_int_equal(result.native_code, X509_V_ERR_APPLICATION_VERIFICATION);
    assert_non_null(
        strstr(result.message, "www.example.com:443 (strict profile: certificate 2 of the chain has a serial"));
    custom_chain_free(&chain);
}

static void strict__the_chain_length_can_be_limited(void **state) {
    (void)state;
    const custom_certificate certificates[LENGTH] = {{0}};
    custom_chain chain;
    custom_chain_make(&chain, certificates, LENGTH);
    for (uint32_t most = 0; most <= 4; most++) {
        const nc_trust_options options = {.max_chain_length = most};
        nc_trust_result result = custom_chain_evaluate(&chain, "www.example.com", &options);
        assert_status(result.status, most == 0 || most >= 3 ? NC_OK : NC_ERR_TLS_CERTIFICATE);
    }
    custom_chain_free(&chain);
}

static void strict__requires_verified_chains(void **state) {
    (void)state;
    const nc_trust_options wrong[] = {{.is_strict = true, .accepts_anything = true},
                                      {.is_strict = true, .accepts_invalid_chains = true},
                                      {.max_chain_length = 2, .accepts_anything = true}};
    nc_trust *trust = NULL;
    nc_trust *other = NULL;
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        assert_status(nc_trust_new(&trust, &wrong[i], NULL), NC_ERR_USAGE);
    }
    const nc_trust_options strict = {.is_strict = true};
    const nc_trust_options brief = {.max_chain_length = 3};
    assert_status(nc_trust_new(&trust, &strict, NULL), NC_OK);
    assert_status(nc_trust_new(&other, NULL, NULL), NC_OK);
    assert_false(nc_trust_is_equal(trust, other));
    nc_trust_release(trust);
    assert_status(nc_trust_new(&trust, &brief, NULL), NC_OK);
    assert_false(nc_trust_is_equal(trust, other));
    nc_trust_release(trust);
    nc_trust_release(other);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(strict__rejects_violations_that_the_standard_policy_accepts),
        harness_case(strict__names_the_violating_certificate),
        harness_case(strict__the_chain_length_can_be_limited),
        harness_case(strict__requires_verified_chains),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
