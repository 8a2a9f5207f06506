/// AFNetworking's table of pinning rules, row by row, with the stricter results that docs/trust.md explains.
#include "family.h"

#include <string.h>

/// Policies of one rule for every host.
typedef struct one_rule {
    nc_slice pins[4];
    nc_trust_rule rule;
    nc_trust_options options;
} one_rule;

static const nc_trust_options *keys(one_rule *r, const family *f, const nct_test_certificate *pinned) {
    *r = (one_rule){.pins = {nc_slice_of(nct_test_certificate_pin(pinned))}};
    r->rule = (nc_trust_rule){.hosts = nc_slice_of("**"), .mode = NC_PIN_PUBLIC_KEY, .pins = r->pins, .pin_count = 1};
    r->options = (nc_trust_options){.roots = NC_ROOTS_BYTES,
                                    .ca_pem = nc_slice_of(nct_test_certificate_pem(f->root)),
                                    .rules = &r->rule,
                                    .rule_count = 1};
    return &r->options;
}

static const nc_trust_options *certificates(one_rule *r, const family *f, const nct_test_certificate *pinned) {
    (void)keys(r, f, pinned);
    r->pins[0] = nc_slice_of(nct_test_certificate_pem(pinned));
    r->rule = (nc_trust_rule){
        .hosts = nc_slice_of("**"), .mode = NC_PIN_CERTIFICATE, .certificates = r->pins, .certificate_count = 1};
    return &r->options;
}

static void table__defaults_pin_nothing_and_check_chain_and_name(void **state) {
    family f;
    (void)state;
    family_make(&f);
    const nc_trust_options plain = {.roots = NC_ROOTS_BYTES, .ca_pem = nc_slice_of(nct_test_certificate_pem(f.root))};
    nc_slice chain = family_join(&f, f.leaf, f.middle, NULL);
    assert_status(family_status(&plain, chain, "localhost"), NC_OK);
    assert_status(family_status(&plain, chain, "other.example"), NC_ERR_TLS_NAME);
    assert_status(family_status(&plain, nc_slice_of(nct_test_certificate_pem(f.loner)), "localhost"),
                  NC_ERR_TLS_UNTRUSTED);
    const nc_trust_options system = {0};
    assert_status(family_status(&system, chain, "localhost"), NC_ERR_TLS_UNTRUSTED);
    family_free(&f);
}

static void table__r1_accepting_invalid_chains_with_a_name_check_requires_pins(void **state) {
    family f;
    one_rule r;
    (void)state;
    family_make(&f);
    nc_slice chain = family_join(&f, f.leaf, f.middle, NULL);
    nc_trust_options options = {.roots = NC_ROOTS_BYTES,
                                .ca_pem = nc_slice_of(nct_test_certificate_pem(f.root)),
                                .accepts_invalid_chains = true};
    nc_trust_result result = family_evaluate(&options, chain, "localhost");
    assert_status(result.status, NC_ERR_TLS_UNTRUSTED); // although the chain is valid
    assert_non_null(strstr(result.message, "only if an enforced pin matches"));
    // A rule of mode "none" does not count as a pin. Nor does a rule that only reports or has expired.
    const nc_trust_rule none = {.hosts = nc_slice_of("**")};
    options.rules = &none;
    options.rule_count = 1;
    assert_status(family_status(&options, chain, "localhost"), NC_ERR_TLS_UNTRUSTED);
    (void)keys(&r, &f, f.leaf);
    r.options.accepts_invalid_chains = true;
    assert_status(family_status(&r.options, chain, "localhost"), NC_OK);
    r.rule.reports_only = true;
    assert_status(family_status(&r.options, chain, "localhost"), NC_ERR_TLS_UNTRUSTED);
    r.rule.reports_only = false;
    r.rule.expires_at_s = 1;
    assert_status(family_status(&r.options, chain, "localhost"), NC_OK);
    r.rule.lapses = true;
    assert_status(family_status(&r.options, chain, "localhost"), NC_ERR_TLS_UNTRUSTED);
    // Pins for another host do not apply.
    r.rule = (nc_trust_rule){
        .hosts = nc_slice_of("other.example"), .mode = NC_PIN_PUBLIC_KEY, .pins = r.pins, .pin_count = 1};
    assert_status(family_status(&r.options, chain, "localhost"), NC_ERR_TLS_UNTRUSTED);
    family_free(&f);
}

static void table__r2_the_name_is_checked_by_default(void **state) {
    family f;
    (void)state;
    family_make(&f);
    nc_slice chain = family_join(&f, f.leaf, f.middle, NULL);
    nc_trust_options options = {.roots = NC_ROOTS_BYTES, .ca_pem = nc_slice_of(nct_test_certificate_pem(f.root))};
    assert_status(family_status(&options, chain, "elsewhere.example"), NC_ERR_TLS_NAME);
    // An empty host does not disable the check of names, unlike in AFNetworking.
    assert_status(family_status(&options, chain, ""), NC_ERR_TLS_NAME);
    assert_status(family_status(&options, chain, "not a host"), NC_ERR_TLS_NAME);
    options.skips_name_check = true;
    nc_trust_result result = family_evaluate(&options, chain, "elsewhere.example");
    assert_status(result.status, NC_OK);
    assert_int_equal(result.notes, NC_TRUST_FLAG_NAME_UNCHECKED); // the result reports it
    // The chain is verified in any case.
    assert_status(family_status(&options, nc_slice_of(nct_test_certificate_pem(f.loner)), "localhost"),
                  NC_ERR_TLS_UNTRUSTED);
    family_free(&f);
}

static void table__r3_without_pins_a_valid_chain_is_required_or_anything_is_accepted(void **state) {
    family f;
    (void)state;
    family_make(&f);
    nc_trust_options options = {.roots = NC_ROOTS_BYTES, .ca_pem = nc_slice_of(nct_test_certificate_pem(f.root))};
    assert_status(family_status(&options, nc_slice_of(nct_test_certificate_pem(f.expired)), "localhost"),
                  NC_ERR_TLS_EXPIRED);
    options.accepts_invalid_chains = true;
    options.skips_name_check = true;
    nc_trust_result result =
        family_evaluate(&options, nc_slice_of(nct_test_certificate_pem(f.expired)), "elsewhere.example");
    assert_status(result.status, NC_OK);
    assert_int_equal(result.notes, NC_TRUST_FLAG_NAME_UNCHECKED | NC_TRUST_FLAG_CHAIN_UNCHECKED);
    assert_status(family_status(&options, nc_slice_of(nct_test_certificate_pem(f.loner)), "localhost"), NC_OK);
    family_free(&f);
}

static void table__r4_pins_do_not_make_an_invalid_chain_valid(void **state) {
    family f;
    one_rule r;
    (void)state;
    family_make(&f);
    assert_status(family_status(keys(&r, &f, f.loner), nc_slice_of(nct_test_certificate_pem(f.loner)), "localhost"),
                  NC_ERR_TLS_UNTRUSTED);
    assert_status(
        family_status(certificates(&r, &f, f.loner), nc_slice_of(nct_test_certificate_pem(f.loner)), "localhost"),
        NC_ERR_TLS_UNTRUSTED);
    assert_status(family_status(keys(&r, &f, f.expired), nc_slice_of(nct_test_certificate_pem(f.expired)), "localhost"),
                  NC_ERR_TLS_EXPIRED);
    family_free(&f);
}

static void table__r5_pinned_certificates_are_the_only_anchors(void **state) {
    family f;
    one_rule r;
    (void)state;
    family_make(&f);
    nc_slice chain = family_join(&f, f.leaf, f.middle, NULL);
    const nct_test_certificate *const places[] = {f.leaf, f.middle, f.root};
    for (size_t i = 0; i < 3; i++) {
        assert_status(family_status(certificates(&r, &f, places[i]), chain, "localhost"), NC_OK);
        assert_status(family_status(&r.options, chain, "other.example"), NC_ERR_TLS_NAME);
        // With invalid chains accepted, the chain must still lead to a pinned certificate, and the name is compared.
        r.options.accepts_invalid_chains = true;
        assert_status(family_status(&r.options, chain, "localhost"), NC_OK);
        assert_status(family_status(&r.options, chain, "other.example"), NC_ERR_TLS_NAME);
        assert_status(family_status(&r.options, nc_slice_of(nct_test_certificate_pem(f.evil)), "localhost"),
                      NC_ERR_PIN_MISMATCH);
        r.options.skips_name_check = true;
        assert_status(family_status(&r.options, chain, "other.example"), NC_OK);
        // No other certificate is an anchor.
        r.options = (nc_trust_options){.roots = NC_ROOTS_PINNED, .rules = &r.rule, .rule_count = 1};
        assert_status(family_status(&r.options, chain, "localhost"), NC_OK);
        assert_status(family_status(&r.options, nc_slice_of(nct_test_certificate_pem(f.loner)), "localhost"),
                      NC_ERR_TLS_UNTRUSTED);
    }
    assert_status(family_status(certificates(&r, &f, f.foreign), chain, "localhost"), NC_ERR_PIN_MISMATCH);
    (void)certificates(&r, &f, f.loner);
    r.options.accepts_invalid_chains = true;
    assert_status(family_status(&r.options, nc_slice_of(nct_test_certificate_pem(f.loner)), "localhost"), NC_OK);
    // A pinned certificate that has expired stays invalid: the chain must verify.
    (void)certificates(&r, &f, f.expired);
    r.options.accepts_invalid_chains = true;
    assert_status(family_status(&r.options, nc_slice_of(nct_test_certificate_pem(f.expired)), "localhost"),
                  NC_ERR_PIN_MISMATCH);
    family_free(&f);
}

/// The same intermediate, issued by another authority. The chain leads to it as well as to the root.
static void table__r5_a_pinned_certificate_may_be_on_an_alternative_path(void **state) {
    family f;
    one_rule r;
    (void)state;
    family_make(&f);
    nct_test_certificate *twin = nct_test_certificate_create(&(nct_certificate_options){
        .issuer = f.foreign, .same_key_as = f.middle, .common_name = "Middle", .is_authority = true});
    assert_non_null(twin);
    nc_slice chain = family_join(&f, f.leaf, f.middle, NULL);
    assert_status(family_status(certificates(&r, &f, twin), chain, "localhost"), NC_OK);
    assert_status(family_status(&r.options, chain, "other.example"), NC_ERR_TLS_NAME);
    nct_test_certificate_free(twin);
    family_free(&f);
}

static void table__r6_a_pinned_key_may_be_anywhere_in_the_verified_chain(void **state) {
    family f;
    one_rule r;
    (void)state;
    family_make(&f);
    nc_slice chain = family_join(&f, f.leaf, f.middle, NULL);
    const nct_test_certificate *const places[] = {f.leaf, f.middle, f.root};
    for (size_t i = 0; i < 3; i++) {
        nc_trust_result result = family_evaluate(keys(&r, &f, places[i]), chain, "localhost");
        assert_status(result.status, NC_OK);
        assert_true(result.is_verified);
        assert_int_equal(result.chain_count, 3);
        assert_string_equal(nc_trust_result_chain_pin(&result, i), nct_test_certificate_pin(places[i]));
    }
    assert_status(family_status(keys(&r, &f, f.foreign), chain, "localhost"), NC_ERR_PIN_MISMATCH);
    nc_slice decoy = family_join(&f, f.evil, f.leaf, f.middle, NULL);
    (void)keys(&r, &f, f.leaf);
    nc_slice both = family_join(&f, f.root, f.foreign, NULL);
    r.options.ca_pem = both;
    assert_status(family_status(&r.options, decoy, "localhost"), NC_ERR_PIN_MISMATCH);
    family_free(&f);
}

/// A15: in AFNetworking, it was enough that any of the sent keys matched.
static void table__r6_invalid_chains_need_a_matching_name_and_the_leafs_key(void **state) {
    family f;
    one_rule r;
    (void)state;
    family_make(&f);
    nc_slice loner = nc_slice_of(nct_test_certificate_pem(f.loner));
    (void)keys(&r, &f, f.loner);
    r.options.accepts_invalid_chains = true;
    assert_status(family_status(&r.options, loner, "localhost"), NC_OK);
    assert_status(family_status(&r.options, loner, "other.example"), NC_ERR_TLS_NAME);
    // The key that signed the handshake may be in an expired certificate.
    (void)keys(&r, &f, f.expired);
    r.options.accepts_invalid_chains = true;
    assert_status(family_status(&r.options, nc_slice_of(nct_test_certificate_pem(f.expired)), "localhost"), NC_OK);
    // The pinned key must belong to the chain: it must have signed the certificate before it.
    (void)keys(&r, &f, f.middle);
    r.options.accepts_invalid_chains = true;
    assert_status(family_status(&r.options, family_join(&f, f.leaf, f.middle, NULL), "localhost"), NC_OK);
    assert_status(family_status(&r.options, family_join(&f, f.evil, f.middle, NULL), "localhost"), NC_ERR_PIN_MISMATCH);
    assert_status(family_status(&r.options, family_join(&f, f.loner, f.leaf, f.middle, NULL), "localhost"),
                  NC_ERR_PIN_MISMATCH);
    family_free(&f);
}

/// A18: in AFNetworking, a pinned authority's key made any leaf valid if the name was not compared.
static void table__r6_without_a_name_check_only_the_leafs_key_counts(void **state) {
    family f;
    one_rule r;
    (void)state;
    family_make(&f);
    nc_slice chain = family_join(&f, f.leaf, f.middle, NULL);
    for (int is_invalid = 0; is_invalid < 2; is_invalid++) {
        const nct_test_certificate *const authorities[] = {f.middle, f.root};
        for (size_t i = 0; i < 2; i++) {
            (void)keys(&r, &f, authorities[i]);
            r.options.skips_name_check = true;
            r.options.accepts_invalid_chains = is_invalid != 0;
            assert_status(family_status(&r.options, chain, "elsewhere.example"), NC_ERR_PIN_MISMATCH);
        }
        (void)keys(&r, &f, f.leaf);
        r.options.skips_name_check = true;
        r.options.accepts_invalid_chains = is_invalid != 0;
        assert_status(family_status(&r.options, chain, "elsewhere.example"), NC_OK);
    }
    family_free(&f);
}

static void table__empty_pins_are_rejected_when_the_policy_is_created(void **state) {
    static const nc_pin_mode modes[] = {NC_PIN_PUBLIC_KEY, NC_PIN_CERTIFICATE};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const nc_trust_rule rule = {.hosts = nc_slice_of("**"), .mode = modes[i]};
        const nc_trust_options options = {.rules = &rule, .rule_count = 1};
        nc_trust *trust = NULL;
        nc_error err;
        assert_status(nc_trust_new(&trust, &options, &err), NC_ERR_BAD_PIN);
        assert_non_null(strstr(err.message, "0 pins, but requires at least 1"));
    }
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(table__defaults_pin_nothing_and_check_chain_and_name),
        harness_case(table__r1_accepting_invalid_chains_with_a_name_check_requires_pins),
        harness_case(table__r2_the_name_is_checked_by_default),
        harness_case(table__r3_without_pins_a_valid_chain_is_required_or_anything_is_accepted),
        harness_case(table__r4_pins_do_not_make_an_invalid_chain_valid),
        harness_case(table__r5_pinned_certificates_are_the_only_anchors),
        harness_case(table__r5_a_pinned_certificate_may_be_on_an_alternative_path),
        harness_case(table__r6_a_pinned_key_may_be_anywhere_in_the_verified_chain),
        harness_case(table__r6_invalid_chains_need_a_matching_name_and_the_leafs_key),
        harness_case(table__r6_without_a_name_check_only_the_leafs_key_counts),
        harness_case(table__empty_pins_are_rejected_when_the_policy_is_created),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
