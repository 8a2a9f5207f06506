/// Sources of pins and chains: bytes, files and directories, PEM and DER, valid and damaged; and failing allocations.
#include "family.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static nc_slice der_of(const nct_test_certificate *made) {
    size_t length = 0;
    const void *bytes = nct_test_certificate_der(made, &length);
    return nc_slice_make(bytes, length);
}

/// Creates a policy with one rule from bytes.
static nc_status from_bytes(nc_slice bytes, nc_pin_mode mode, nc_error *err) {
    const nc_trust_rule rule = {
        .hosts = nc_slice_of("**"), .mode = mode, .certificates = &bytes, .certificate_count = 1};
    nc_trust *trust = NULL;
    nc_status status = nc_trust_new(&trust, &(nc_trust_options){.rules = &rule, .rule_count = 1}, err);
    nc_trust_release(trust);
    return status;
}

static nc_status evaluate_with(const family *f, const nc_trust_rule *rule, nc_slice chain) {
    const nc_trust_options options = {.roots = NC_ROOTS_BYTES,
                                      .ca_pem = nc_slice_of(nct_test_certificate_pem(f->root)),
                                      .rules = rule,
                                      .rule_count = 1};
    return family_status(&options, chain, "localhost");
}

static void sources__keys_are_read_from_certificates_and_public_keys_in_pem_or_der(void **state) {
    family f;
    (void)state;
    family_make(&f);
    nc_slice chain = family_join(&f, f.leaf, f.middle, NULL);
    const nc_slice right[] = {nc_slice_of(nct_test_certificate_pem(f.leaf)), der_of(f.leaf),
                              nc_slice_of(nct_test_certificate_public_pem(f.leaf)),
                              family_join(&f, f.foreign, f.root, NULL)};
    const nc_slice wrong[] = {nc_slice_of(nct_test_certificate_pem(f.foreign)), der_of(f.foreign),
                              nc_slice_of(nct_test_certificate_public_pem(f.foreign))};
    for (size_t i = 0; i < 4; i++) {
        nc_trust_rule rule = {
            .hosts = nc_slice_of("**"), .mode = NC_PIN_PUBLIC_KEY, .certificates = &right[i], .certificate_count = 1};
        assert_status(evaluate_with(&f, &rule, chain), NC_OK);
        if (i < 3) {
            rule.certificates = &wrong[i];
            assert_status(evaluate_with(&f, &rule, chain), NC_ERR_PIN_MISMATCH);
        }
    }
    family_free(&f);
}

static void sources__an_invalid_pin_is_rejected(void **state) {
    family f;
    nc_error err;
    (void)state;
    family_make(&f);
    nc_slice der = der_of(f.leaf);
    char longer[4096];
    memcpy(longer, der.data, der.length);
    longer[der.length] = 0;
    const struct {
        nc_slice bytes;
        const char *part;
    } cases[] = {
        {nc_slice_make("", 0), "nothing in the given bytes"},
        {nc_slice_of("text"), "neither a certificate nor a public key"},
        {nc_slice_make(der.data, der.length - 1), "neither a certificate nor a public key"},
        {nc_slice_make(longer, der.length + 1), "neither a certificate nor a public key"},
        {nc_slice_of(nct_test_certificate_key_pem(f.leaf)), "a PEM block that is neither"},
        {nc_slice_of("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), "a certificate cannot be read"},
        {nc_slice_of("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"), "a public key cannot be read"},
        {nc_slice_of("-----BEGIN CERTIFICATE-----\n****\n-----END CERTIFICATE-----\n"), "a PEM block cannot be read"},
        {nc_slice_of("-----BEGIN "), "no certificate and no public key"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        guarded bytes = guarded_copy(cases[i].bytes);
        assert_status(from_bytes(bytes.slice, NC_PIN_PUBLIC_KEY, &err), NC_ERR_BAD_PIN);
        if (strstr(err.message, cases[i].part) == NULL) {
            fail_msg("case %zu: %s", i, err.message);
        }
        guarded_deinit(&bytes);
    }
    // A truncated certificate is rejected at every length.
    for (size_t i = 0; i < der.length; i += 7) {
        assert_status(from_bytes(nc_slice_make(der.data, i), NC_PIN_CERTIFICATE, &err), NC_ERR_BAD_PIN);
    }
    assert_status(from_bytes(nc_slice_of(nct_test_certificate_public_pem(f.leaf)), NC_PIN_CERTIFICATE, &err),
                  NC_ERR_BAD_PIN);
    assert_non_null(strstr(err.message, "a public key instead of a certificate"));
    family_free(&f);
}

/* --- files --- */

typedef struct folder {
    char path[64];
    char file[128];
} folder;

static void folder_make(folder *d) {
    (void)snprintf(d->path, sizeof d->path, "/tmp/netcore-pins-XXXXXX");
    assert_non_null(mkdtemp(d->path));
}

static const char *folder_file(folder *d, const char *name) {
    (void)snprintf(d->file, sizeof d->file, "%s/%s", d->path, name);
    return d->file;
}

static void folder_write(folder *d, const char *name, nc_slice bytes) {
    FILE *file = fopen(folder_file(d, name), "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes.data, 1, bytes.length, file), bytes.length);
    assert_int_equal(fclose(file), 0);
}

static nc_status from_path(const family *f, const char *path, nc_pin_mode mode, nc_slice chain, nc_error *err) {
    const nc_slice paths[] = {nc_slice_of(path)};
    const nc_trust_rule rule = {.hosts = nc_slice_of("**"), .mode = mode, .files = paths, .file_count = 1};
    nc_trust *trust = NULL;
    nc_status status = nc_trust_new(&trust, &(nc_trust_options){.rules = &rule, .rule_count = 1}, err);
    nc_trust_release(trust);
    return status == NC_OK ? evaluate_with(f, &rule, chain) : status;
}

static void sources__a_directory_gives_its_certificates(void **state) {
    static const char *const names[] = {"a.cer", "b.CRT", "c.pem", "d.txt", "e", ".pem"};
    family f;
    folder d;
    nc_error err;
    (void)state;
    family_make(&f);
    folder_make(&d);
    nc_slice chain = family_join(&f, f.leaf, f.middle, NULL);
    assert_status(from_path(&f, d.path, NC_PIN_CERTIFICATE, chain, &err), NC_ERR_BAD_PIN);
    assert_non_null(strstr(err.message, "no .cer, .crt or .pem file in"));
    folder_write(&d, "d.txt", nc_slice_of(nct_test_certificate_pem(f.root))); // other extensions are ignored
    assert_status(from_path(&f, d.path, NC_PIN_CERTIFICATE, chain, &err), NC_ERR_BAD_PIN);
    folder_write(&d, "a.cer", der_of(f.foreign));
    assert_status(from_path(&f, d.path, NC_PIN_CERTIFICATE, chain, &err), NC_ERR_PIN_MISMATCH);
    folder_write(&d, "b.CRT", nc_slice_of(nct_test_certificate_pem(f.middle)));
    assert_status(from_path(&f, d.path, NC_PIN_CERTIFICATE, chain, &err), NC_OK);
    assert_status(from_path(&f, d.path, NC_PIN_PUBLIC_KEY, chain, &err), NC_OK);
    assert_status(from_path(&f, folder_file(&d, "b.CRT"), NC_PIN_CERTIFICATE, chain, &err), NC_OK);
    // An unreadable file is an error, not skipped.
    folder_write(&d, "c.pem", nc_slice_of("no PEM"));
    assert_status(from_path(&f, d.path, NC_PIN_CERTIFICATE, chain, &err), NC_ERR_BAD_PIN);
    assert_non_null(strstr(err.message, "c.pem"));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        (void)unlink(folder_file(&d, names[i]));
    }
    assert_int_equal(rmdir(d.path), 0);
    assert_status(from_path(&f, d.path, NC_PIN_CERTIFICATE, chain, &err), NC_ERR_BAD_PIN);
    assert_int_equal(err.native_code, 2);
    assert_status(from_path(&f, "", NC_PIN_CERTIFICATE, chain, &err), NC_ERR_BAD_PIN);
    family_free(&f);
}

/* --- chains --- */

static void sources__an_unreadable_chain_is_rejected(void **state) {
    family f;
    (void)state;
    family_make(&f);
    const nc_trust_options all = {.accepts_anything = true};
    nc_slice der = der_of(f.leaf);
    const nc_slice cases[] = {nc_slice_make("", 0), nc_slice_of("text"), nc_slice_make(der.data, der.length - 1),
                              nc_slice_of(nct_test_certificate_key_pem(f.leaf)),
                              nc_slice_of("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        guarded bytes = guarded_copy(cases[i]);
        nc_trust_result result = family_evaluate(&all, bytes.slice, "localhost");
        assert_status(result.status, NC_ERR_TLS_CERTIFICATE);
        assert_true(result.message[0] != '\0');
        guarded_deinit(&bytes);
    }
    // Concatenated DER is read like PEM.
    char two[8192];
    nc_slice second = der_of(f.middle);
    memcpy(two, der.data, der.length);
    memcpy(two + der.length, second.data, second.length);
    const nc_trust_options plain = {.roots = NC_ROOTS_BYTES, .ca_pem = nc_slice_of(nct_test_certificate_pem(f.root))};
    assert_status(family_status(&plain, nc_slice_make(two, der.length + second.length), "localhost"), NC_OK);
    assert_status(family_status(&plain, der, "localhost"), NC_ERR_TLS_UNTRUSTED);
    char *long_chain = calloc(NC_CHAIN_MAX_CERTIFICATES + 1, der.length);
    assert_non_null(long_chain);
    for (size_t i = 0; i <= NC_CHAIN_MAX_CERTIFICATES; i++) {
        memcpy(long_chain + i * der.length, der.data, der.length);
    }
    nc_trust_result result =
        family_evaluate(&all, nc_slice_make(long_chain, NC_CHAIN_MAX_CERTIFICATES * der.length), "localhost");
    assert_status(result.status, NC_OK);
    assert_int_equal(result.chain_count, NC_CHAIN_MAX_CERTIFICATES);
    assert_string_equal(nc_trust_result_chain_pin(&result, NC_TRUST_RESULT_MAX_PINS - 1),
                        nct_test_certificate_pin(f.leaf));
    assert_string_equal(nc_trust_result_chain_pin(&result, NC_TRUST_RESULT_MAX_PINS), "");
    assert_status(
        family_status(&all, nc_slice_make(long_chain, (NC_CHAIN_MAX_CERTIFICATES + 1) * der.length), "localhost"),
        NC_ERR_TLS_CERTIFICATE);
    free(long_chain);
    family_free(&f);
}

static void sources__the_number_of_a_rules_pins_is_limited(void **state) {
    enum { COUNT = NC_TRUST_MAX_PINS + 1 };
    static char texts[COUNT][65];
    static nc_slice pins[COUNT];
    family f;
    nc_error err;
    nc_trust *trust = NULL;
    (void)state;
    family_make(&f);
    for (size_t i = 0; i < COUNT; i++) {
        (void)snprintf(texts[i], sizeof texts[i], "%064zx", i);
        pins[i] = nc_slice_of(texts[i]);
    }
    nc_trust_rule rule = {.hosts = nc_slice_of("**"), .mode = NC_PIN_PUBLIC_KEY, .pins = pins, .pin_count = COUNT - 1};
    nc_trust_options options = {.accepts_anything = true, .rules = &rule, .rule_count = 1};
    nc_trust_result result = family_evaluate(&options, nc_slice_of(nct_test_certificate_pem(f.leaf)), "localhost");
    assert_status(result.status, NC_ERR_PIN_MISMATCH);
    assert_int_equal(result.pin_count, COUNT - 1);
    assert_string_equal(nc_trust_result_pin(&result, 0), "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=");
    assert_int_equal(strlen(nc_trust_result_pin(&result, NC_TRUST_RESULT_MAX_PINS - 1)), NC_PIN_TEXT_BYTES - 1);
    assert_string_equal(nc_trust_result_pin(&result, NC_TRUST_RESULT_MAX_PINS), "");
    rule.pin_count = COUNT;
    assert_status(nc_trust_new(&trust, &options, &err), NC_ERR_BAD_PIN);
    assert_non_null(strstr(err.message, "more than"));
    family_free(&f);
}

static void sources__the_default_port_is_443(void **state) {
    family f;
    (void)state;
    family_make(&f);
    const nc_slice pin = nc_slice_of(nct_test_certificate_pin(f.foreign));
    nc_trust_rule rule = {.hosts = nc_slice_of("**:443"), .mode = NC_PIN_PUBLIC_KEY, .pins = &pin, .pin_count = 1};
    const nc_trust_options options = {.accepts_anything = true, .rules = &rule, .rule_count = 1};
    nc_slice chain = nc_slice_of(nct_test_certificate_pem(f.leaf));
    assert_status(family_status(&options, chain, "localhost"), NC_ERR_PIN_MISMATCH);
    rule.hosts = nc_slice_of("**:8443");
    assert_status(family_status(&options, chain, "localhost"), NC_OK);
    family_free(&f);
}

/// Evaluates a chain of three with authorities of these descriptions.
static nc_status evaluate_chain_of(nct_certificate_options root_wish, nct_certificate_options middle_wish) {
    root_wish.common_name = "Wished root";
    nct_test_certificate *root = nct_test_certificate_create(&root_wish);
    assert_non_null(root);
    middle_wish.common_name = "Wished middle";
    middle_wish.issuer = root;
    nct_test_certificate *middle = nct_test_certificate_create(&middle_wish);
    assert_non_null(middle);
    nct_test_certificate *leaf = nct_test_certificate_create(
        &(nct_certificate_options){.issuer = middle, .common_name = "leaf", .names = "DNS:localhost"});
    assert_non_null(leaf);
    char chain[8192];
    (void)snprintf(chain, sizeof chain, "%s%s", nct_test_certificate_pem(leaf), nct_test_certificate_pem(middle));
    const nc_trust_options options = {.roots = NC_ROOTS_BYTES, .ca_pem = nc_slice_of(nct_test_certificate_pem(root))};
    nc_status status = family_status(&options, nc_slice_of(chain), "localhost");
    nct_test_certificate_free(root);
    nct_test_certificate_free(middle);
    nct_test_certificate_free(leaf);
    return status;
}

static void sources__malformed_certificates_are_errors_only_if_a_server_sends_them(void **state) {
    const nct_certificate_options good = {.is_authority = true};
    const nct_certificate_options loose = {.is_authority = true, .is_loose = true};
    const nct_certificate_options bare = {.is_authority = true, .is_bare = true};
    const nct_certificate_options none = {.is_authority = false};
    (void)state;
    assert_status(evaluate_chain_of(good, good), NC_OK);
    assert_status(evaluate_chain_of(loose, good), NC_OK); // certificates that the caller trusts are not checked further
    assert_status(evaluate_chain_of(good, loose), NC_ERR_TLS_CERTIFICATE);
    assert_status(evaluate_chain_of(bare, bare), NC_OK); // missing extensions restrict nothing
    assert_status(evaluate_chain_of(good, bare), NC_OK);
    assert_status(evaluate_chain_of(good, none), NC_ERR_TLS_CERTIFICATE); // a leaf cannot issue certificates
}

static void sources__a_certificate_is_described_correctly(void **state) {
    family f;
    nc_certificates *read = NULL;
    nc_error err;
    (void)state;
    family_make(&f);
    assert_status(nc_certificates_read(&read, family_join(&f, f.leaf, f.middle, NULL), &err), NC_OK);
    assert_int_equal(nc_certificates_count(read), 2);
    nc_certificate leaf = nc_certificates_at(read, 0);
    assert_slice_equals(leaf.subject, "CN=leaf");
    assert_slice_equals(leaf.issuer, "CN=Middle");
    assert_slice_equals(leaf.names, "DNS:localhost, IP Address:127.0.0.1");
    assert_slice_equals(leaf.key, "EC P-256");
    assert_string_equal(leaf.pin, nct_test_certificate_pin(f.leaf));
    assert_false(leaf.is_authority);
    assert_true(llabs(leaf.begins_at_s - (family_now() - 7 * 86400)) < 3600);
    assert_true(llabs(leaf.ends_at_s - (family_now() + 7 * 86400)) < 3600);
    assert_true(nc_slice_is_equal(leaf.der, der_of(f.leaf)));
    assert_true(nc_certificates_at(read, 1).is_authority);
    assert_slice_equals(nc_certificates_at(read, 1).names, "");
    assert_int_equal(nc_certificates_at(read, 2).der.length, 0);
    nc_certificates_free(read);
    nc_certificates_free(NULL);
    nct_test_certificate *weak =
        nct_test_certificate_create(&(nct_certificate_options){.common_name = "w\x1b[2J", .rsa_bits = 1024});
    assert_status(nc_certificates_read(&read, nc_slice_of(nct_test_certificate_pem(weak)), &err), NC_OK);
    assert_slice_equals(nc_certificates_at(read, 0).key, "RSA 1024");
    assert_null(memchr(nc_certificates_at(read, 0).subject.data, 0x1b, nc_certificates_at(read, 0).subject.length));
    nc_certificates_free(read);
    nct_test_certificate_free(weak);
    assert_status(nc_certificates_read(&read, nc_slice_of("none"), &err), NC_ERR_TLS_CERTIFICATE);
    family_free(&f);
}

/* --- memory --- */

static void create_and_evaluate(void *ctx) {
    const family *f = ctx;
    nc_slice pins[] = {nc_slice_of(nct_test_certificate_pin(f->leaf)), nc_slice_of(nct_test_certificate_pin(f->root))};
    const nc_slice bytes = nc_slice_of(nct_test_certificate_pem(f->middle));
    const nc_trust_rule rules[] = {
        {.hosts = nc_slice_of("localhost"), .mode = NC_PIN_PUBLIC_KEY, .pins = pins, .pin_count = 2},
        {.hosts = nc_slice_of("*.b"), .mode = NC_PIN_CERTIFICATE, .certificates = &bytes, .certificate_count = 1}};
    const nc_trust_options options = {.roots = NC_ROOTS_BYTES,
                                      .ca_pem = nc_slice_of(nct_test_certificate_pem(f->root)),
                                      .rules = rules,
                                      .rule_count = 2,
                                      .identity_pem = nc_slice_of("some")};
    const nc_trust_question question = {.chain = nc_slice_of(nct_test_certificate_pem(f->leaf)),
                                        .host = nc_slice_of("localhost"),
                                        .at_s = family_now()};
    nc_trust *trust = NULL;
    nc_certificates *read = NULL;
    nc_trust_result result;
    nc_error err;
    nc_status status = nc_trust_new(&trust, &options, &err);
    if (status == NC_OK) {
        assert_status(nc_trust_evaluate(&result, trust, &question, &err), NC_OK);
        assert_status(result.status, NC_ERR_TLS_UNTRUSTED); // the chain lacks the intermediate
    } else {
        assert_status(status, NC_ERR_NO_MEMORY);
    }
    nc_trust_release(trust);
    status = nc_certificates_read(&read, question.chain, &err);
    assert_true(status == NC_OK || status == NC_ERR_NO_MEMORY);
    nc_certificates_free(status == NC_OK ? read : NULL);
}

static void sources__every_allocation_failure_is_reported(void **state) {
    family f;
    (void)state;
    family_make(&f);
    assert_true(each_allocation_failure(create_and_evaluate, &f) > 5);
    family_free(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(sources__keys_are_read_from_certificates_and_public_keys_in_pem_or_der),
        harness_case(sources__an_invalid_pin_is_rejected),
        harness_case(sources__a_directory_gives_its_certificates),
        harness_case(sources__an_unreadable_chain_is_rejected),
        harness_case(sources__the_number_of_a_rules_pins_is_limited),
        harness_case(sources__the_default_port_is_443),
        harness_case(sources__malformed_certificates_are_errors_only_if_a_server_sends_them),
        harness_case(sources__a_certificate_is_described_correctly),
        harness_case(sources__every_allocation_failure_is_reported),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
