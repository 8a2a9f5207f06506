/// Name constraints and wildcard names.
#include "forged.h"

#include <openssl/x509_vfy.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

typedef struct row {
    const char *root;  // name constraints of the root
    const char *upper; // of the intermediate below it
    const char *lower; // of the one below that
    const char *names; // of the leaf
    const char *host;
    bool is_allowed;
} row;

static const row rows[] = {
    // A wildcard that covers an excluded name is rejected for every host.
    {"excluded;DNS:bar.example.com", NULL, NULL, "DNS:*.example.com", "bar.example.com", false},
    {"excluded;DNS:bar.example.com", NULL, NULL, "DNS:*.example.com", "foo.example.com", false},
    {NULL, "excluded;DNS:bar.example.com", NULL, "DNS:*.example.com", "bar.example.com", false},
    {NULL, NULL, "excluded;DNS:bar.example.com", "DNS:*.example.com", "bar.example.com", false},
    {NULL, NULL, "excluded;DNS:BAR.Example.com", "DNS:*.eXample.COM", "bar.example.com", false},
    {"permitted;DNS:example.com,excluded;DNS:bar.example.com", NULL, NULL, "DNS:*.example.com", "a.example.com", false},
    {NULL, "excluded;DNS:other.org,excluded;DNS:bar.example.com", NULL, "DNS:*.example.com", "a.example.com", false},
    {NULL, "excluded;DNS:other.org", "excluded;DNS:bar.example.com", "DNS:*.example.com", "a.example.com", false},
    {"excluded;DNS:bar.example.com", NULL, NULL, "DNS:a.org,DNS:*.example.com", "a.org", false},
    // All names of the wildcard are excluded.
    {"excluded;DNS:example.com", NULL, NULL, "DNS:*.example.com", "a.example.com", false},
    {"excluded;DNS:example.com", NULL, NULL, "DNS:*.bar.example.com", "a.bar.example.com", false},
    {"excluded;DNS:bar.example.com", NULL, NULL, "DNS:*.bar.example.com", "a.bar.example.com", false},
    {"excluded;DNS:com", NULL, NULL, "DNS:*.example.com", "a.example.com", false},
    {"excluded;DNS:.example.com", NULL, NULL, "DNS:*.example.com", "a.example.com", false},
    // A wildcard is one label: it covers neither deeper names nor its siblings.
    {"excluded;DNS:a.bar.example.com", NULL, NULL, "DNS:*.example.com", "bar.example.com", true},
    {"excluded;DNS:bar.example.com", NULL, NULL, "DNS:*.foo.example.com", "bar.foo.example.com", true},
    {"excluded;DNS:barexample.com", NULL, NULL, "DNS:*.example.com", "bar.example.com", true},
    {"excluded;DNS:bar.example.org", NULL, NULL, "DNS:*.example.com", "bar.example.com", true},
    {"excluded;DNS:bar.example.com", NULL, NULL, "DNS:foo.example.com", "foo.example.com", true},
    {"excluded;email:bar.example.com", NULL, NULL, "DNS:*.example.com", "bar.example.com", true},
    // The permitted subtree must include all names of the wildcard.
    {"permitted;DNS:example.com", NULL, NULL, "DNS:*.example.com", "a.example.com", true},
    {"permitted;DNS:example.com", NULL, NULL, "DNS:*.bar.example.com", "a.bar.example.com", true},
    {"permitted;DNS:bar.example.com", NULL, NULL, "DNS:*.example.com", "bar.example.com", false},
    {NULL, "permitted;DNS:example.com", "permitted;DNS:bar.example.com", "DNS:*.example.com", "bar.example.com", false},
    {NULL, "permitted;DNS:a.org,permitted;DNS:example.com", NULL, "DNS:*.example.com", "bar.example.com", true},
};

static void constrain(custom_certificate *wish, const char *constraints, char text[200]) {
    if (constraints != NULL) {
        (void)snprintf(text, 200, "critical,%s", constraints);
        wish->extensions[0] = (custom_extension){"nameConstraints", text};
    }
}

static void constraints__apply_to_every_name_that_a_wildcard_covers(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char texts[3][200];
        custom_certificate certificates[4] = {{.extensions = {{"subjectAltName", rows[i].names}}}};
        custom_chain chain;
        constrain(&certificates[1], rows[i].lower, texts[0]);
        constrain(&certificates[2], rows[i].upper, texts[1]);
        constrain(&certificates[3], rows[i].root, texts[2]);
        custom_chain_make(&chain, certificates, 4);
        nc_trust_result result = custom_chain_evaluate(&chain, rows[i].host, NULL);
        if ((result.status == NC_OK) != rows[i].is_allowed) {
            fail_msg("row %zu, %s: %s", i, rows[i].names, result.message);
        }
        bool is_violation =
            result.native_code == X509_V_ERR_EXCLUDED_VIOLATION || result.native_code == X509_V_ERR_PERMITTED_VIOLATION;
        assert_true(rows[i].is_allowed || (is_violation && result.status == NC_ERR_TLS_CERTIFICATE));
        custom_chain_free(&chain);
    }
}

static void constraints__of_a_root_apply_to_its_leaf(void **state) {
    (void)state;
    const custom_certificate certificates[] = {
        {.extensions = {{"subjectAltName", "DNS:*.example.com"}}},
        {.extensions = {{"nameConstraints", "critical,excluded;DNS:bar.example.com"}}},
    };
    custom_chain chain;
    custom_chain_make(&chain, certificates, 2);
    assert_status(custom_chain_evaluate(&chain, "bar.example.com", NULL).status, NC_ERR_TLS_CERTIFICATE);
    assert_status(custom_chain_evaluate(&chain, "foo.example.com", NULL).status, NC_ERR_TLS_CERTIFICATE);
    custom_chain_free(&chain);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(constraints__apply_to_every_name_that_a_wildcard_covers),
        harness_case(constraints__of_a_root_apply_to_its_leaf),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
