/// Edge cases of trust/: keys in DER, files without pins, half-broken chains, and exact errors.
#include "family.h"

#include "trust/pin.h"
#include "trust/policy.h"

#include <errno.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// Returns a certificate's public key in DER; free it with free().
static uint8_t *key_der(const nct_test_certificate *made, size_t *length) {
    BIO *bio = BIO_new_mem_buf(nct_test_certificate_public_pem(made), -1);
    EVP_PKEY *key = PEM_read_bio_PUBKEY(bio, NULL, NULL, NULL);
    int bytes = i2d_PUBKEY(key, NULL);
    assert_true(bytes > 0);
    uint8_t *out = malloc((size_t)bytes + 1);
    assert_non_null(out);
    unsigned char *at = out;
    assert_int_equal(i2d_PUBKEY(key, &at), bytes);
    out[bytes] = 0;
    EVP_PKEY_free(key);
    BIO_free(bio);
    *length = (size_t)bytes;
    return out;
}

static void edges__a_der_key_is_a_pin_unless_bytes_follow_it(void **state) {
    family f;
    nc_error err;
    size_t length = 0;
    nc_pin_list list = {0};
    (void)state;
    family_make(&f);
    uint8_t *key = key_der(f.leaf, &length);
    char text[NC_PIN_TEXT_BYTES];
    assert_status(nc_pin_list_add_bytes(&list, nc_slice_make(key, length), NC_PIN_PUBLIC_KEY, "bytes", &err), NC_OK);
    assert_int_equal(list.count, 1);
    nc_pin_format(text, list.pins[0].digest);
    assert_string_equal(text, nct_test_certificate_pin(f.leaf));
    assert_status(nc_pin_list_add_bytes(&list, nc_slice_make(key, length + 1), NC_PIN_PUBLIC_KEY, "bytes", &err),
                  NC_ERR_BAD_PIN);
    assert_int_equal(list.count, 1);
    nc_pin_list_deinit(&list);
    free(key);
    family_free(&f);
}

static void edges__a_file_without_pins_is_explained(void **state) {
    char path[] = "/tmp/netcore-edges-XXXXXX";
    static const char block[64 * 1024];
    nc_pin_list list = {0};
    nc_error err;
    (void)state;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    for (size_t i = 0; i < 17; i++) { // more than 1 MiB
        assert_int_equal(write(fd, block, sizeof block), sizeof block);
    }
    assert_int_equal(close(fd), 0);
    assert_status(nc_pin_list_add_path(&list, nc_slice_of(path), NC_PIN_PUBLIC_KEY, &err), NC_ERR_BAD_PIN);
    assert_non_null(strstr(err.message, "larger than 1 MiB"));
    assert_int_equal(unlink(path), 0);
    assert_status(nc_pin_list_add_path(&list, nc_slice_of(path), NC_PIN_PUBLIC_KEY, &err), NC_ERR_BAD_PIN);
    assert_non_null(strstr(err.message, "No such file"));
    nc_pin_list_deinit(&list);
}

static void edges__pins_are_sorted(void **state) {
    family f;
    (void)state;
    family_make(&f);
    X509 *first = family_certificate(f.leaf);
    X509 *second = family_certificate(f.other);
    const nc_pin none = {.digest = {1}};
    const nc_pin other = {.digest = {2}};
    const nc_pin leaf = {.digest = {1}, .certificate = first};
    const nc_pin stranger = {.digest = {1}, .certificate = second};
    assert_int_equal(nc_pin_compare(&none, &none), 0);
    assert_true(nc_pin_compare(&none, &other) < 0);
    assert_true(nc_pin_compare(&other, &leaf) > 0);
    assert_true(nc_pin_compare(&none, &leaf) < 0);
    assert_true(nc_pin_compare(&leaf, &none) > 0);
    assert_int_equal(nc_pin_compare(&leaf, &leaf), 0);
    int order = nc_pin_compare(&leaf, &stranger);
    assert_true(order != 0 && (order < 0) == (nc_pin_compare(&stranger, &leaf) > 0));
    X509_free(first);
    X509_free(second);
    family_free(&f);
}

static void edges__a_chain_is_read_completely_or_rejected(void **state) {
    family f;
    nc_certificates *read = NULL;
    nc_error err;
    (void)state;
    family_make(&f);
    char text[8192];
    (void)snprintf(text, sizeof text, "%s-----BEGIN CERTIFICATE-----\n****\n-----END CERTIFICATE-----\n",
                   nct_test_certificate_pem(f.leaf));
    assert_status(nc_certificates_read(&read, nc_slice_of(text), &err), NC_ERR_TLS_CERTIFICATE);
    assert_non_null(strstr(err.message, "block 2 of the chain cannot be read"));
    assert_status(nc_certificates_read(&read, nc_slice_make("", 0), &err), NC_ERR_TLS_CERTIFICATE);
    assert_non_null(strstr(err.message, "the chain is empty"));
    const size_t large = (size_t)64 << 20;
    char *bytes = calloc(1, large);
    assert_non_null(bytes);
    assert_status(nc_certificates_read(&read, nc_slice_make(bytes, large), &err), NC_ERR_TLS_CERTIFICATE);
    assert_non_null(strstr(err.message, "the chain is larger than"));
    free(bytes);
    family_free(&f);
}

static void edges__an_evaluation_that_cannot_run_is_an_error_with_a_message(void **state) {
    family f;
    nc_error err = {0};
    nc_trust_result result;
    (void)state;
    family_make(&f);
    nc_trust *trust =
        family_trust(&(nc_trust_options){.roots = NC_ROOTS_FILE, .ca_file = nc_slice_of("/nowhere/authorities.pem")});
    nc_trust_question question = {
        .chain = nc_slice_of(nct_test_certificate_pem(f.leaf)), .host = nc_slice_of("localhost"), .at_s = family_now()};
    nc_status status = nc_trust_evaluate(&result, trust, &question, &err);
    assert_status(status, NC_ERR_TLS_ROOTS);
    assert_int_equal(err.status, status);
    assert_true(err.message[0] != '\0');
    assert_int_equal(nc_trust_evaluate(&result, trust, &question, NULL), status);
    nc_trust_release(trust);
    family_free(&f);
}

static void read_certificates(void *ctx) {
    const nc_slice *chain = ctx;
    nc_certificates *read = NULL;
    nc_error err;
    nc_status status = nc_certificates_read(&read, *chain, &err);
    if (harness_has_failed_allocation()) {
        assert_status(status, NC_ERR_NO_MEMORY);
        return;
    }
    assert_status(status, NC_OK);
    assert_slice_equals(nc_certificates_at(read, 0).subject, "CN=leaf");
    assert_slice_equals(nc_certificates_at(read, 0).issuer, "CN=Middle");
    assert_slice_equals(nc_certificates_at(read, 0).names, "DNS:localhost, IP Address:127.0.0.1");
    nc_certificates_free(read);
}

static void edges__a_certificate_is_described_completely_or_rejected(void **state) {
    family f;
    (void)state;
    family_make(&f);
    nc_slice chain = nc_slice_of(nct_test_certificate_pem(f.leaf));
    assert_true(each_allocation_failure(read_certificates, &chain) > 3);
    family_free(&f);
}

/* --- without TLS --- */

static void edges__a_wider_rule_without_pins_does_not_unpin_a_host_regression_2(void **state) {
    const nc_slice pin = nc_slice_of("sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=");
    const struct {
        const char *pinned;
        const char *open;
        bool reports_only; // the second rule only reports; otherwise its mode is none
        uint16_t port;
        bool is_forbidden;
    } cases[] = {
        {"api.example:443", "other.example", false, 80, true},
        {"api.example:443", "**", false, 80, true},
        {"api.example:443", "**", true, 80, true},
        {"*.example:443", "**.example", false, 8080, true},
        {"api.example:443", "api.example", false, 80, true},
        {"api.example:443", "api.example:80", false, 80, false}, // the exception names this port
        {"api.example:443", "api.example:80", false, 8080, true},
        {"*.example", "api.example", false, 80, false}, // the more specific one counts
        {"**", "api.example", false, 80, false},
        {"**:443", "api.example", false, 80, false},
        {"other.example", "api.example", false, 80, false},
    };
    nc_host_name host;
    (void)state;
    assert_true(nc_host_name_parse(&host, nc_slice_of("api.example")));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nc_trust_rule rules[] = {
            {.hosts = nc_slice_of(cases[i].pinned), .mode = NC_PIN_PUBLIC_KEY, .pins = &pin, .pin_count = 1},
            {.hosts = nc_slice_of(cases[i].open)}};
        if (cases[i].reports_only) {
            rules[1].mode = NC_PIN_PUBLIC_KEY;
            rules[1].pins = &pin;
            rules[1].pin_count = 1;
            rules[1].reports_only = true;
        }
        nc_trust *trust = family_trust(&(nc_trust_options){.rules = rules, .rule_count = 2});
        if (nc_trust_forbids_plaintext(trust, &host, cases[i].port, 5) != cases[i].is_forbidden) {
            fail_msg("%s beside %s, port %u", cases[i].pinned, cases[i].open, cases[i].port);
        }
        nc_trust_release(trust);
    }
}

/* --- the name of a rule without pins --- */

static void edges__messages_name_a_rule_by_its_hosts_without_reading_past_them(void **state) {
    char hosts[160];
    char expected[256];
    nc_trust *trust = NULL;
    nc_error err;
    (void)state;
    memset(hosts, 'a', sizeof hosts);
    hosts[60] = '.';
    hosts[120] = '.';
    const size_t lengths[] = {1, 9, 95, 96, 97, 150};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        int shown = lengths[i] < 96 ? (int)lengths[i] : 96;
        const nc_trust_rule rule = {.hosts = nc_slice_make(hosts, lengths[i]), .mode = NC_PIN_PUBLIC_KEY};
        const nc_trust_options options = {.rules = &rule, .rule_count = 1};
        (void)snprintf(expected, sizeof expected, "the rule for '%.*s' has 0 pins, but requires at least 1", shown,
                       hosts);
        assert_status(nc_trust_new(&trust, &options, &err), NC_ERR_BAD_PIN);
        assert_string_equal(err.message, expected);
    }
}

/* --- files of authorities and revocation lists --- */

/// Loads a policy's authorities from files. On failure `err` has the reason.
static nc_status load(const nc_trust_options *options, const nc_file_ops *files, nc_error *err) {
    const nc_file_ops system = nc_file_ops_system();
    nc_root_store *roots = NULL;
    nc_trust *trust = family_trust(options);
    nc_status status = nc_trust_load_roots(&roots, trust, files != NULL ? files : &system, err);
    nc_trust_free_roots(roots);
    nc_trust_release(trust);
    return status;
}

static void expect_line(const nc_trust_options *options, const nc_file_ops *files, const char *part, int native) {
    nc_error err = {0};
    assert_status(load(options, files, &err), NC_ERR_TLS_ROOTS);
    assert_status(err.status, NC_ERR_TLS_ROOTS);
    assert_int_equal(err.native_code, native);
    if (strstr(err.message, part) == NULL) {
        fail_msg("'%s' is not in '%s'", part, err.message);
    }
    assert_status(load(options, files, NULL), NC_ERR_TLS_ROOTS);
}

static int open_nothing(void *ctx, const char *path, int flags, mode_t mode) {
    (void)ctx;
    (void)path;
    (void)flags;
    (void)mode;
    errno = ENOENT;
    return -1;
}

static void write_file(const char *path, const char *text, off_t length) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(length > 0 ? truncate(path, length) : 0, 0);
}

/// Expects errors for a file that is too large and for a missing one.
static void expect_unreadable(const nc_trust_options *options, const char *path) {
    write_file(path, "", (off_t)NC_TRUST_MAX_PEM_BYTES + 1);
    expect_line(options, NULL, "not a readable file of at most 16 MiB", 0);
    assert_int_equal(unlink(path), 0);
    expect_line(options, NULL, "No such file or directory", ENOENT);
}

static void make_file(char *path) {
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(close(fd), 0);
}

static void edges__unavailable_ca_certificates_are_reported_with_the_reason(void **state) {
    static const char broken[] = "-----BEGIN CERTIFICATE-----\n****\n-----END CERTIFICATE-----\n";
    char path[] = "/tmp/netcore-roots-XXXXXX";
    nc_file_ops without = nc_file_ops_system();
    (void)state;
    without.open = open_nothing;
    make_file(path);
    const nc_trust_options bytes = {.roots = NC_ROOTS_BYTES, .ca_pem = nc_slice_of(broken)};
    const nc_trust_options file = {.roots = NC_ROOTS_FILE, .ca_file = nc_slice_of(path)};
    expect_line(&bytes, NULL, "certificate 1 cannot be read: bad base64 decode", 0);
    expect_line(&file, NULL, "no certificate in /tmp/", 0);
    write_file(path, broken, 0);
    expect_line(&file, NULL, "certificate 1 cannot be read: bad base64 decode", 0);
    expect_unreadable(&file, path);
    expect_line(&(nc_trust_options){0}, &without, "no bundle of trusted authorities was found", ENOENT);
    assert_status(load(&(nc_trust_options){0}, NULL, NULL), NC_OK); // the system's own
}

static void edges__unavailable_revocation_lists_are_reported_with_the_reason(void **state) {
    static const char broken[] = "-----BEGIN X509 CRL-----\n****\n-----END X509 CRL-----\n";
    char path[] = "/tmp/netcore-lists-XXXXXX";
    family f;
    (void)state;
    family_make(&f);
    make_file(path);
    const nc_trust_options options = {.roots = NC_ROOTS_BYTES,
                                      .ca_pem = nc_slice_of(nct_test_certificate_pem(f.root)),
                                      .crl_file = nc_slice_of(path)};
    expect_line(&options, NULL, "no revocation list in", 0);
    write_file(path, nct_test_certificate_pem(f.root), 0);
    expect_line(&options, NULL, "no revocation list in", 0);
    write_file(path, broken, 0);
    expect_line(&options, NULL, "revocation list 1 in", 0);
    expect_unreadable(&options, path);
    family_free(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(edges__a_der_key_is_a_pin_unless_bytes_follow_it),
        harness_case(edges__a_file_without_pins_is_explained),
        harness_case(edges__pins_are_sorted),
        harness_case(edges__a_chain_is_read_completely_or_rejected),
        harness_case(edges__an_evaluation_that_cannot_run_is_an_error_with_a_message),
        harness_case(edges__a_certificate_is_described_completely_or_rejected),
        harness_case(edges__a_wider_rule_without_pins_does_not_unpin_a_host_regression_2),
        harness_case(edges__messages_name_a_rule_by_its_hosts_without_reading_past_them),
        harness_case(edges__unavailable_ca_certificates_are_reported_with_the_reason),
        harness_case(edges__unavailable_revocation_lists_are_reported_with_the_reason),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
