/// Creation of rules: hosts, pins and their sources, valid and malformed.
#include "family.h"
#include "trust/identity.h"
#include "trust/pin.h"
#include "trust/policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIN_A "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
#define PIN_B "sha256/AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="

/* --- hosts --- */

static nc_pattern pattern_of(const char *text) {
    nc_pattern pattern;
    nc_error err;
    nc_status status = nc_pattern_parse(&pattern, nc_slice_of(text), &err);
    if (status != NC_OK) {
        fail_msg("'%s' is refused: %s", text, err.message);
    }
    return pattern;
}

static bool covers(const char *text, const char *host, uint16_t port) {
    nc_pattern pattern = pattern_of(text);
    nc_host_name name;
    assert_true(nc_host_name_parse(&name, nc_slice_of(host)));
    return nc_pattern_covers(&pattern, &name, port);
}

static void rules__patterns_match_their_hosts(void **state) {
    static const struct {
        const char *pattern;
        const char *host;
        uint16_t port;
        bool covers;
    } cases[] = {
        {"api.example.com", "api.example.com", 443, true},
        {"API.Example.com", "api.eXample.com", 443, true},
        {"api.example.com", "api.example.com.", 443, true},
        {"api.example.com.", "api.example.com", 443, true},
        {"api.example.com", "example.com", 443, false},
        {"api.example.com", "v1.api.example.com", 443, false},
        {"api.example.com", "apixexample.com", 443, false},
        {"api.example.com", "bpi.example.com", 443, false},
        {"*.example.com", "api.example.com", 443, true},
        {"*.example.com", "a.b.example.com", 443, false},
        {"*.example.com", "example.com", 443, false},
        {"*.example.com", ".example.com.", 443, false},
        {"*.example.com", "apiexample.com", 443, false},
        {"*.example.com", "api.example.org", 443, false},
        {"**.example.com", "example.com", 443, true},
        {"**.example.com", "api.example.com", 443, true},
        {"**.example.com", "a.b.c.example.com", 443, true},
        {"**.example.com", "badexample.com", 443, false},
        {"**.example.com", "example.com.evil.org", 443, false},
        {"**", "anything.at.all", 1, true},
        {"**", "127.0.0.1", 1, true},
        {"**:443", "anything", 443, true},
        {"**:443", "anything", 444, false},
        {"api.example.com:8443", "api.example.com", 8443, true},
        {"api.example.com:8443", "api.example.com", 443, false},
        {"api.example.com:8443", "api.example.com", 0, true}, // port 0 means any port of the host
        {"*.example.com:8443", "api.example.com", 8443, true},
        {"127.0.0.1", "127.0.0.1", 443, true},
        {"127.0.0.1:80", "127.0.0.1", 80, true},
        {"127.0.0.1", "127.0.0.2", 443, false},
        {"**.0.0.example", "127.0.0.1", 443, false},
        {"127.0.0.1", "[::ffff:127.0.0.1]", 443, true},
        {"127.0.0.1", "::ffff:7f00:1", 443, true},
        {"[::ffff:127.0.0.1]:80", "127.0.0.1", 80, true},
        {"[::ffff:7f00:1]", "[::FFFF:127.0.0.1]", 443, true},
        {"127.0.0.1", "[::127.0.0.1]", 443, false},
        {"[::1]", "::1", 443, true},
        {"[0:0:0:0:0:0:0:1]", "[::1]", 443, true},
        {"[::1]:8443", "[::1]", 8443, true},
        {"[::1]:8443", "[::1]", 443, false},
        {"[FE80::A]", "fe80::a", 443, true},
        {"xn--bcher-kva.example", "xn--bcher-kva.example", 443, true},
        {"_dmarc.example.com", "_dmarc.example.com", 443, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nc_host_name name;
        bool is_host = nc_host_name_parse(&name, nc_slice_of(cases[i].host));
        bool is_covered = is_host && covers(cases[i].pattern, cases[i].host, cases[i].port);
        if (is_covered != cases[i].covers) {
            fail_msg("%s and %s:%u", cases[i].pattern, cases[i].host, cases[i].port);
        }
    }
}

static void rules__malformed_patterns_are_rejected(void **state) {
    static const char *const texts[] = {
        "",
        "*",
        "***",
        "*.",
        "**.",
        ".",
        "..",
        "a..b",
        ".a",
        "a.*.b",
        "a*",
        "*a.example",
        "***.a",
        "*.*.a",
        "a b",
        "a/b",
        "a@b",
        "a:b",
        "a:0",
        "a:65536",
        "a:99999999",
        "a:-1",
        "a:",
        "::1",
        "[::1",
        "::1]",
        "[a]",
        "[127.0.0.1]",
        "*.127.0.0.1",
        "127.1",
        "127.0.0.1.1",
        "2130706433",
        "0x7f000001",
        "0X7F.0.0.0x1:443",
        "256.0.0.1",
        "*.1",
        "a.0x",
        "**.[::1]",
        "[::1]443",
        "http://a",
        "b\xc3\xbc.example",
        "a\x01",
        "*.example.com:x",
        "a.example.com:443:443",
        "[::1]:0",
        "**:",
        "**:0",
    };
    char label[80];
    char name[300];
    nc_pattern pattern = {.port = 7};
    nc_error err;
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        guarded text = guarded_copy(nc_slice_of(texts[i]));
        nc_status status = nc_pattern_parse(&pattern, text.slice, &err);
        guarded_deinit(&text);
        if (status != NC_ERR_BAD_PIN) {
            fail_msg("'%s' is taken", texts[i]);
        }
        assert_int_equal(pattern.port, 7);
    }
    assert_status(nc_pattern_parse(&pattern, nc_slice_make("a\0b", 3), &err), NC_ERR_BAD_PIN);
    memset(label, 'a', sizeof label);
    assert_status(nc_pattern_parse(&pattern, nc_slice_make(label, 63), &err), NC_OK);
    assert_status(nc_pattern_parse(&pattern, nc_slice_make(label, 64), &err), NC_ERR_BAD_PIN);
    for (size_t i = 0; i < sizeof name; i++) {
        name[i] = i % 50 == 49 ? '.' : 'a';
    }
    assert_status(nc_pattern_parse(&pattern, nc_slice_make(name, 253), &err), NC_OK);
    assert_status(nc_pattern_parse(&pattern, nc_slice_make(name, 254), &err), NC_ERR_BAD_PIN);
    name[253] = '.';
    assert_status(nc_pattern_parse(&pattern, nc_slice_make(name, 254), &err), NC_OK);
    assert_status(nc_pattern_parse(&pattern, nc_slice_make(name, 255), &err), NC_ERR_BAD_PIN);
}

static void rules__the_narrower_pattern_applies(void **state) {
    static const char *const texts[] = {"a.longer.example:9",
                                        "a.longer.example:8",
                                        "a.longer.example",
                                        "a.example",
                                        "b.example",
                                        "*.longer.example:1",
                                        "*.longer.example",
                                        "*.example",
                                        "**.longer.example",
                                        "**.example:443",
                                        "**.example",
                                        "**:443",
                                        "**"};
    enum { COUNT = sizeof texts / sizeof *texts };
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t k = 0; k < COUNT; k++) {
            nc_pattern a = pattern_of(texts[i]);
            nc_pattern b = pattern_of(texts[k]);
            int order = nc_pattern_compare(&a, &b);
            if ((order < 0) != (i < k) || (order == 0) != (i == k)) {
                fail_msg("%s and %s", texts[i], texts[k]);
            }
        }
    }
}

/* --- pins --- */

static void rules__a_pin_has_three_spellings(void **state) {
    static const char *const spellings[] = {
        "sha256/AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=", "sha256//AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=",
        "0101010101010101010101010101010101010101010101010101010101010101"};
    uint8_t expected[NC_PIN_DIGEST_BYTES];
    uint8_t digest[NC_PIN_DIGEST_BYTES];
    char written[NC_PIN_TEXT_BYTES];
    nc_error err;
    (void)state;
    memset(expected, 1, sizeof expected);
    for (size_t i = 0; i < 3; i++) {
        guarded text = guarded_copy(nc_slice_of(spellings[i]));
        assert_status(nc_pin_parse(digest, text.slice, &err), NC_OK);
        assert_memory_equal(digest, expected, sizeof digest);
        guarded_deinit(&text);
    }
    nc_pin_format(written, digest);
    assert_string_equal(written, spellings[0]);
    // A hash may begin with a slash.
    assert_status(nc_pin_parse(digest, nc_slice_of("sha256//AEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="), &err),
                  NC_OK);
    assert_int_equal(digest[0], 0xfc);
    assert_status(
        nc_pin_parse(digest, nc_slice_of("ABCDEFabcdef0123456789ABCDEFabcdef0123456789ABCDEFabcdef01234567"), &err),
        NC_OK);
    assert_int_equal(digest[0], 0xab);
    assert_int_equal(digest[31], 0x67);
}

static void rules__malformed_pins_are_rejected(void **state) {
    static const char *const texts[] = {
        "",
        "sha256/",
        "sha256//",
        "sha256",
        "sha1/2jmj7l5rSw0yVb/vlWAYkK/YBwk=",
        "sha256/AAAA",
        "SHA256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        "sha512/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",  // no padding
        "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", // no '='
        "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB=", // nonzero bits after the end
        "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAC=",
        "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==",
        "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==",
        "sha256/AAAAAAAAAAAAAAAAAAAAA AAAAAAAAAAAAAAAAAAAAA=",
        "sha256/-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        "sha256///AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        " sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        "010101010101010101010101010101010101010101010101010101010101010",
        "01010101010101010101010101010101010101010101010101010101010101011",
        "g101010101010101010101010101010101010101010101010101010101010101",
        "010101010101010101010101010101010101010101010101010101010101010g",
        "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=;sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
    };
    uint8_t digest[NC_PIN_DIGEST_BYTES] = {0};
    nc_error err;
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        guarded text = guarded_copy(nc_slice_of(texts[i]));
        if (nc_pin_parse(digest, text.slice, &err) != NC_ERR_BAD_PIN) {
            fail_msg("'%s' is taken", texts[i]);
        }
        guarded_deinit(&text);
    }
}

/* --- rules --- */

static nc_status made(const nc_trust_rule *rules, size_t count, nc_error *err) {
    nc_trust *trust = NULL;
    const nc_trust_options options = {.rules = rules, .rule_count = count};
    nc_status status = nc_trust_new(&trust, &options, err);
    nc_trust_release(trust);
    return status;
}

static void rules__contradictory_rules_are_rejected(void **state) {
    const nc_slice pins[] = {nc_slice_of(PIN_A), nc_slice_of(PIN_B), nc_slice_of(PIN_A)};
    const nc_slice hosts = nc_slice_of("a.example");
    nc_error err;
    (void)state;
    const nc_trust_rule good = {.hosts = hosts, .mode = NC_PIN_PUBLIC_KEY, .pins = pins, .pin_count = 2};
    assert_status(made(&good, 1, &err), NC_OK);
    const struct {
        nc_trust_rule rule;
        nc_status status;
    } cases[] = {
        {{.hosts = {0}}, NC_ERR_BAD_PIN},
        {{.hosts = hosts, .mode = NC_PIN_PUBLIC_KEY}, NC_ERR_BAD_PIN},
        {{.hosts = hosts, .mode = NC_PIN_CERTIFICATE}, NC_ERR_BAD_PIN},
        {{.hosts = hosts, .pins = pins, .pin_count = 1}, NC_ERR_BAD_PIN}, // the mode is missing
        {{.hosts = hosts, .min_pins = 1}, NC_ERR_BAD_PIN},
        {{.hosts = hosts, .mode = NC_PIN_CERTIFICATE, .pins = pins, .pin_count = 1}, NC_ERR_BAD_PIN},
        {{.hosts = hosts, .mode = (nc_pin_mode)9, .pins = pins, .pin_count = 1}, NC_ERR_USAGE},
        {{.hosts = hosts, .mode = NC_PIN_PUBLIC_KEY, .pin_count = 1}, NC_ERR_USAGE},
        {{.hosts = hosts, .mode = NC_PIN_PUBLIC_KEY, .certificate_count = 1}, NC_ERR_USAGE},
        {{.hosts = hosts, .mode = NC_PIN_PUBLIC_KEY, .file_count = 1}, NC_ERR_USAGE},
        {{.hosts = hosts, .mode = NC_PIN_PUBLIC_KEY, .pins = pins, .pin_count = 1, .expires_at_s = -1}, NC_ERR_USAGE},
        {{.hosts = hosts, .mode = NC_PIN_PUBLIC_KEY, .pins = pins, .pin_count = 1, .min_pins = 2}, NC_ERR_BAD_PIN},
        // A duplicate pin counts once.
        {{.hosts = hosts, .mode = NC_PIN_PUBLIC_KEY, .pins = pins, .pin_count = 3, .min_pins = 3}, NC_ERR_BAD_PIN},
        {{.hosts = hosts, .mode = NC_PIN_PUBLIC_KEY, .pins = pins, .pin_count = 3, .min_pins = 2}, NC_OK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (made(&cases[i].rule, 1, &err) != cases[i].status) {
            fail_msg("case %zu: %s", i, err.message);
        }
    }
    const nc_trust_rule twice[] = {good, good};
    assert_status(made(twice, 2, &err), NC_ERR_BAD_PIN);
    nc_trust_rule capital = good;
    capital.hosts = nc_slice_of("A.EXAMPLE.");
    const nc_trust_rule same[] = {good, capital};
    assert_status(made(same, 2, &err), NC_ERR_BAD_PIN);
    assert_status(made(NULL, 1, &err), NC_ERR_USAGE);
    assert_status(made(&good, NC_TRUST_MAX_RULES + 1, &err), NC_ERR_USAGE);
}

static void rules__contradictory_policies_are_rejected(void **state) {
    const nc_trust_options cases[] = {
        {.roots = NC_ROOTS_PINNED},
        {.roots = (nc_roots)9},
        {.max_version = (nc_tls_limit)9},
        {.min_version = NC_TLS_1_3, .max_version = NC_TLS_LIMIT_1_2},
        {.ciphers = nc_slice_of("NO-SUCH-CIPHER")},
        {.cipher_suites = nc_slice_of("NO_SUCH_SUITE")},
        {.ciphers = nc_slice_make("ALL\0x", 5)},
        {.crl_file = nc_slice_make("a\0b", 3)},
        {.crl_file = nc_slice_of("/a"), .accepts_anything = true},
        {.crl_file = nc_slice_of("/a"), .accepts_invalid_chains = true},
        {.requires_staple = true, .accepts_invalid_chains = true},
    };
    nc_error err;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nc_trust *trust = NULL;
        if (nc_trust_new(&trust, &cases[i], &err) != NC_ERR_USAGE) {
            fail_msg("case %zu is taken", i);
        }
    }
}

static void rules__policies_with_any_different_rule_differ(void **state) {
    static char one;
    const nc_slice a = nc_slice_of(PIN_A);
    const nc_slice b = nc_slice_of(PIN_B);
    const nc_slice both[] = {a, b};
    const nc_slice reversed[] = {b, a, b};
    const nc_slice host = nc_slice_of("a.example");
#define RULE(...)                                                                                                      \
    { .hosts = host, .mode = NC_PIN_PUBLIC_KEY, __VA_ARGS__ }
    const nc_trust_rule rules[] = {
        RULE(.pins = &a, .pin_count = 1),
        RULE(.pins = &b, .pin_count = 1),
        RULE(.pins = both, .pin_count = 2),
        RULE(.pins = &a, .pin_count = 1, .expires_at_s = 5),
        RULE(.pins = &a, .pin_count = 1, .expires_at_s = 6),
        RULE(.pins = &a, .pin_count = 1, .lapses = true),
        RULE(.pins = &a, .pin_count = 1, .reports_only = true),
        {.hosts = host},
        {.hosts = nc_slice_of("b.example"), .mode = NC_PIN_PUBLIC_KEY, .pins = &a, .pin_count = 1},
        {.hosts = nc_slice_of("a.example:1"), .mode = NC_PIN_PUBLIC_KEY, .pins = &a, .pin_count = 1},
        {.hosts = nc_slice_of("*.a.example"), .mode = NC_PIN_PUBLIC_KEY, .pins = &a, .pin_count = 1},
        {.hosts = nc_slice_of("**.a.example"), .mode = NC_PIN_PUBLIC_KEY, .pins = &a, .pin_count = 1},
    };
    enum { RULE_COUNT = sizeof rules / sizeof *rules };
    const nc_trust_options others[] = {
        {0},
        {.accepts_invalid_chains = true},
        {.skips_name_check = true},
        {.requires_staple = true},
        {.skips_alpn = true},
        {.max_version = NC_TLS_LIMIT_1_2},
        {.max_version = NC_TLS_LIMIT_1_3},
        {.ciphers = nc_slice_of("ECDHE+AESGCM")},
        {.cipher_suites = nc_slice_of("TLS_AES_256_GCM_SHA384")},
        {.crl_file = nc_slice_of("/a")},
        {.observer = {.ctx = &one}},
        {.observer = {.allows_override = true}},
    };
    enum { COUNT = RULE_COUNT + sizeof others / sizeof *others };
    nc_trust *policies[COUNT];
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        nc_trust_options options =
            i < RULE_COUNT ? (nc_trust_options){.rules = &rules[i], .rule_count = 1} : others[i - RULE_COUNT];
        policies[i] = family_trust(&options);
    }
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t k = 0; k < COUNT; k++) {
            if (nc_trust_is_equal(policies[i], policies[k]) != (i == k)) {
                fail_msg("policies %zu and %zu", i, k);
            }
        }
    }
    // The order of pins and of rules does not matter, nor does a duplicate pin.
    const nc_trust_rule again = RULE(.pins = reversed, .pin_count = 3);
    nc_trust *same = family_trust(&(nc_trust_options){.rules = &again, .rule_count = 1});
    assert_true(nc_trust_is_equal(same, policies[2]));
    nc_trust_release(same);
    const nc_trust_rule forth[] = {rules[0], rules[8]};
    const nc_trust_rule back[] = {rules[8], rules[0]};
    nc_trust *x = family_trust(&(nc_trust_options){.rules = forth, .rule_count = 2});
    nc_trust *y = family_trust(&(nc_trust_options){.rules = back, .rule_count = 2});
    assert_true(nc_trust_is_equal(x, y));
    assert_false(nc_trust_is_equal(x, policies[0]));
    nc_trust_release(x);
    nc_trust_release(y);
    for (size_t i = 0; i < COUNT; i++) {
        nc_trust_release(policies[i]);
    }
#undef RULE
}

static void rules__a_rule_without_a_backup_pin_causes_a_warning(void **state) {
    const nc_slice pins[] = {nc_slice_of(PIN_A), nc_slice_of(PIN_B)};
    const nc_trust_rule rules[] = {
        {.hosts = nc_slice_of("*.a.example"), .mode = NC_PIN_PUBLIC_KEY, .pins = pins, .pin_count = 1},
        {.hosts = nc_slice_of("b.example"), .mode = NC_PIN_PUBLIC_KEY, .pins = pins, .pin_count = 2},
        {.hosts = nc_slice_of("c.example")},
        {.hosts = nc_slice_of("**"), .mode = NC_PIN_PUBLIC_KEY, .pins = pins, .pin_count = 1},
    };
    char line[100];
    (void)state;
    nc_trust *trust = family_trust(&(nc_trust_options){.rules = rules, .rule_count = 4});
    assert_int_equal(nc_trust_warning_count(trust), 2);
    assert_true(nc_trust_warning_at(trust, 0, line, sizeof line));
    assert_string_equal(line, "the rule for *.a.example has no backup pin");
    assert_true(nc_trust_warning_at(trust, 1, line, sizeof line));
    assert_string_equal(line, "the rule for ** has no backup pin");
    assert_false(nc_trust_warning_at(trust, 2, line, sizeof line));
    assert_string_equal(line, "");
    nc_trust_release(trust);
}

static void rules__expiry_is_reported_and_ends_a_rule_only_on_request(void **state) {
    family f;
    (void)state;
    family_make(&f);
    const nc_slice pin = nc_slice_of(nct_test_certificate_pin(f.foreign));
    nc_trust_rule rule = {.hosts = nc_slice_of("localhost"), .mode = NC_PIN_PUBLIC_KEY, .pins = &pin, .pin_count = 1};
    const nc_trust_options options = {.roots = NC_ROOTS_BYTES,
                                      .ca_pem = nc_slice_of(nct_test_certificate_pem(f.root)),
                                      .rules = &rule,
                                      .rule_count = 1};
    nc_slice chain = family_join(&f, f.leaf, f.middle, NULL);
    rule.expires_at_s = family_now() + 1000;
    rule.lapses = true;
    nc_trust_result result = family_evaluate(&options, chain, "localhost");
    assert_status(result.status, NC_ERR_PIN_MISMATCH);
    assert_int_equal(result.notes, 0);
    rule.expires_at_s = family_now() - 1;
    result = family_evaluate(&options, chain, "localhost");
    assert_status(result.status, NC_OK);
    assert_status(result.finding, NC_ERR_PIN_MISMATCH);
    assert_int_equal(result.notes, NC_TRUST_FLAG_RULE_EXPIRED | NC_TRUST_FLAG_RULE_LAPSED);
    rule.lapses = false;
    result = family_evaluate(&options, chain, "localhost");
    assert_status(result.status, NC_ERR_PIN_MISMATCH);
    assert_int_equal(result.notes, NC_TRUST_FLAG_RULE_EXPIRED);
    rule.reports_only = true;
    result = family_evaluate(&options, chain, "localhost");
    assert_status(result.status, NC_OK);
    assert_int_equal(result.notes, NC_TRUST_FLAG_RULE_EXPIRED | NC_TRUST_FLAG_REPORT_ONLY);
    // At its exact expiry second, a rule has expired.
    nc_trust *trust = family_trust(&options);
    nc_trust_question question = {.chain = chain, .host = nc_slice_of("localhost"), .at_s = rule.expires_at_s};
    assert_status(nc_trust_evaluate(&result, trust, &question, NULL), NC_OK);
    assert_int_equal(result.notes & NC_TRUST_FLAG_RULE_EXPIRED, NC_TRUST_FLAG_RULE_EXPIRED);
    question.at_s--;
    assert_status(nc_trust_evaluate(&result, trust, &question, NULL), NC_OK);
    assert_int_equal(result.notes & NC_TRUST_FLAG_RULE_EXPIRED, 0);
    nc_trust_release(trust);
    family_free(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(rules__patterns_match_their_hosts),
        harness_case(rules__malformed_patterns_are_rejected),
        harness_case(rules__the_narrower_pattern_applies),
        harness_case(rules__a_pin_has_three_spellings),
        harness_case(rules__malformed_pins_are_rejected),
        harness_case(rules__contradictory_rules_are_rejected),
        harness_case(rules__contradictory_policies_are_rejected),
        harness_case(rules__policies_with_any_different_rule_differ),
        harness_case(rules__a_rule_without_a_backup_pin_causes_a_warning),
        harness_case(rules__expiry_is_reported_and_ends_a_rule_only_on_request),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
