/// Edge cases of trust: the exact seconds at which certificates and lists begin and end, lists of other issuers,
/// unusual files in a directory of pins, and PKCS#12 with every kind of pass phrase.
#include "family.h"

#include "trust/identity.h"
#include "trust/pin.h"

#include <openssl/pem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DAY_S = 86400 };

/// Writes a file with these bytes.
static void write_file(const char *path, const void *bytes, size_t length) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static void make_path(char *path) {
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(close(fd), 0);
}

static nc_trust_result evaluate_at(const nc_trust_options *options, nc_slice chain, int64_t at_s) {
    const nc_trust_question question = {.chain = chain, .host = nc_slice_of("localhost"), .at_s = at_s};
    nc_trust *trust = family_trust(options);
    nc_trust_result result;
    nc_error err;
    assert_status(nc_trust_evaluate(&result, trust, &question, &err), NC_OK);
    nc_trust_release(trust);
    return result;
}

/* --- times --- */

static nc_certificate dates_of(const nct_test_certificate *made) {
    nc_certificates *read = NULL;
    assert_status(nc_certificates_read(&read, nc_slice_of(nct_test_certificate_pem(made)), NULL), NC_OK);
    nc_certificate one = nc_certificates_at(read, 0);
    nc_certificates_free(read);
    return one; // only its dates are used
}

static void unusual__a_certificate_is_valid_from_its_first_second_and_not_at_distant_times(void **state) {
    family f;
    (void)state;
    family_make(&f);
    const nc_trust_options options = {.roots = NC_ROOTS_BYTES, .ca_pem = nc_slice_of(nct_test_certificate_pem(f.root))};
    nc_slice chain = family_join(&f, f.leaf, f.middle, NULL);
    // The root was created first, so it ends no later than the leaf, which begins last.
    int64_t begins_s = dates_of(f.leaf).begins_at_s;
    int64_t ends_s = dates_of(f.root).ends_at_s;
    assert_status(evaluate_at(&options, chain, begins_s).status, NC_OK);
    assert_status(evaluate_at(&options, chain, begins_s - 1).status, NC_ERR_TLS_NOT_YET_VALID);
    assert_status(evaluate_at(&options, chain, ends_s - 1).status, NC_OK);
    assert_status(evaluate_at(&options, chain, dates_of(f.leaf).ends_at_s + 1).status, NC_ERR_TLS_EXPIRED);
    const int64_t far[] = {INT64_MIN, -1, 0, 253402300800, INT64_MAX}; // also after the year 9999
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        assert_true(evaluate_at(&options, chain, far[i]).status != NC_OK);
    }
    family_free(&f);
}

/* --- revocation lists --- */

static void write_lists(const char *path, const nct_test_certificate *first, const nct_test_certificate *second) {
    char *lists[] = {nct_test_certificate_revocation_list(first, NULL),
                     nct_test_certificate_revocation_list(second, NULL)};
    char both[8192];
    (void)snprintf(both, sizeof both, "%s%s", lists[0], lists[1]);
    write_file(path, both, strlen(both));
    free(lists[0]);
    free(lists[1]);
}

static void expect_at(const nc_trust_options *options, nc_slice chain, int64_t at_s, const char *part) {
    nc_trust_result result = evaluate_at(options, chain, at_s);
    assert_status(result.status, NC_ERR_TLS_CERTIFICATE);
    if (strstr(result.message, part) == NULL) {
        fail_msg("'%s' is not in '%s'", part, result.message);
    }
}

static void unusual__an_expired_or_foreign_revocation_list_is_rejected(void **state) {
    char path[] = "/tmp/netcore-odd-XXXXXX";
    family f;
    (void)state;
    family_make(&f);
    make_path(path);
    const nc_trust_options options = {.roots = NC_ROOTS_BYTES,
                                      .ca_pem = nc_slice_of(nct_test_certificate_pem(f.root)),
                                      .crl_file = nc_slice_of(path)};
    nc_slice chain = family_join(&f, f.leaf, f.middle, NULL);
    write_lists(path, f.root, f.middle);
    assert_status(evaluate_at(&options, chain, family_now()).status, NC_OK);
    expect_at(&options, chain, family_now() + 2 * DAY_S, "CRL has expired");
    expect_at(&options, chain, family_now() - 2 * DAY_S, "CRL is not yet valid");
    write_lists(path, f.root, f.foreign);
    expect_at(&options, chain, family_now(), "unable to get certificate CRL");
    // With the correct name, and another key.
    nct_test_certificate *forger =
        nct_test_certificate_create(&(nct_certificate_options){.common_name = "Middle", .is_authority = true});
    write_lists(path, f.root, forger);
    nc_trust_result result = evaluate_at(&options, chain, family_now());
    assert_true(result.status == NC_ERR_TLS_CERTIFICATE);
    nct_test_certificate_free(forger);
    assert_int_equal(unlink(path), 0);
    family_free(&f);
}

/* --- folders of pins --- */

typedef struct folder {
    char path[64];
    char file[128];
} folder;

static const char *in_folder(folder *d, const char *name) {
    (void)snprintf(d->file, sizeof d->file, "%s/%s", d->path, name);
    return d->file;
}

/// Returns the number of pins from a directory with only this file, or -1.
static int pins_of(folder *d, nc_pin_mode mode) {
    nc_pin_list list = {0};
    nc_error err;
    nc_status status = nc_pin_list_add_path(&list, nc_slice_of(d->path), mode, &err);
    nc_pin_list_normalize(&list);
    int count = status == NC_OK ? (int)list.count : -1;
    assert_true(status == NC_OK || (status == NC_ERR_BAD_PIN && err.message[0] != '\0'));
    nc_pin_list_deinit(&list);
    return count;
}

static int pins_of_text(folder *d, const char *text, size_t length) {
    write_file(in_folder(d, "a.pem"), text, length);
    int count = pins_of(d, NC_PIN_PUBLIC_KEY);
    assert_int_equal(pins_of(d, NC_PIN_CERTIFICATE), count);
    assert_int_equal(unlink(in_folder(d, "a.pem")), 0);
    return count;
}

/// Writes the certificate in OpenSSL's "TRUSTED CERTIFICATE" format.
static size_t write_trusted(char *out, size_t capacity, const nct_test_certificate *made) {
    size_t length = 0;
    const unsigned char *at = nct_test_certificate_der(made, &length);
    X509 *certificate = d2i_X509(NULL, &at, (long)length);
    BIO *bio = BIO_new(BIO_s_mem());
    assert_int_equal(X509_alias_set1(certificate, (const unsigned char *)"mine", 4), 1);
    assert_int_equal(PEM_write_bio_X509_AUX(bio, certificate), 1);
    int written = BIO_read(bio, out, (int)capacity);
    assert_true(written > 0 && (size_t)written < capacity);
    BIO_free(bio);
    X509_free(certificate);
    return (size_t)written;
}

static size_t with_crlf(char *out, const char *text) {
    size_t length = 0;
    for (; *text != '\0'; text++) {
        if (*text == '\n') {
            out[length++] = '\r';
        }
        out[length++] = *text;
    }
    return length;
}

static void unusual__pem_in_any_valid_layout_gives_its_pins(void **state) {
    static const char seven[] = "-----BEGIN PKCS7-----\nMCcGCSqGSIb3DQEHAqAaMBgCAQExADALBgkqhkiG9w0BBwGgADEA\n"
                                "-----END PKCS7-----\n";
    char text[8192];
    family f;
    folder d = {.path = "/tmp/netcore-odd-XXXXXX"};
    (void)state;
    family_make(&f);
    assert_non_null(mkdtemp(d.path));
    const char *pem = nct_test_certificate_pem(f.leaf);
    assert_int_equal(pins_of(&d, NC_PIN_PUBLIC_KEY), -1); // empty
    assert_int_equal(pins_of_text(&d, pem, strlen(pem)), 1);
    assert_int_equal(pins_of_text(&d, text, with_crlf(text, pem)), 1);
    assert_int_equal(pins_of_text(&d, text, write_trusted(text, sizeof text, f.leaf)), 1);
    (void)snprintf(text, sizeof text, "\xef\xbb\xbfsubject=CN = leaf\n%s\nbehind\n%s", pem,
                   nct_test_certificate_pem(f.root));
    assert_int_equal(pins_of_text(&d, text, strlen(text)), 2);
    assert_int_equal(pins_of_text(&d, pem, strlen(pem) - 30), -1); // truncated
    assert_int_equal(pins_of_text(&d, seven, strlen(seven)), -1);
    (void)snprintf(text, sizeof text, "%s%s", pem, seven);
    assert_int_equal(pins_of_text(&d, text, strlen(text)), -1); // half a pin is invalid
    assert_int_equal(pins_of_text(&d, "", 0), -1);
    assert_int_equal(pins_of_text(&d, "\0\0\0\0", 4), -1);
    assert_int_equal(rmdir(d.path), 0);
    family_free(&f);
}

static void unusual__a_special_file_in_a_pin_directory_is_rejected_without_blocking(void **state) {
    family f;
    folder d = {.path = "/tmp/netcore-odd-XXXXXX"};
    (void)state;
    family_make(&f);
    assert_non_null(mkdtemp(d.path));
    write_file(in_folder(&d, "good.crt"), nct_test_certificate_pem(f.leaf), strlen(nct_test_certificate_pem(f.leaf)));
    assert_int_equal(pins_of(&d, NC_PIN_PUBLIC_KEY), 1);
    assert_int_equal(mkdir(in_folder(&d, "a.pem"), 0700), 0);
    assert_int_equal(pins_of(&d, NC_PIN_PUBLIC_KEY), -1);
    assert_int_equal(rmdir(in_folder(&d, "a.pem")), 0);
    assert_int_equal(mkfifo(in_folder(&d, "a.pem"), 0600), 0);
    assert_int_equal(pins_of(&d, NC_PIN_PUBLIC_KEY), -1);
    assert_int_equal(unlink(in_folder(&d, "a.pem")), 0);
    assert_int_equal(symlink("/nowhere/at/all.pem", in_folder(&d, "a.pem")), 0);
    assert_int_equal(pins_of(&d, NC_PIN_PUBLIC_KEY), -1);
    assert_int_equal(unlink(in_folder(&d, "a.pem")), 0);
    assert_int_equal(symlink("good.crt", in_folder(&d, "a.pem")), 0); // a duplicate is one pin
    assert_int_equal(pins_of(&d, NC_PIN_PUBLIC_KEY), 1);
    assert_int_equal(unlink(in_folder(&d, "a.pem")), 0);
    assert_int_equal(unlink(in_folder(&d, "good.crt")), 0);
    assert_int_equal(rmdir(d.path), 0);
    family_free(&f);
}

/* --- PKCS#12 --- */

/// Reads a bundle that is encrypted with `password`, with the pass phrase `given`. Returns the message, or "" on
/// success.
static const char *read_bundle(const family *f, const char *password, const char *given, size_t cut) {
    static nc_error err;
    const nc_file_ops files = nc_file_ops_system();
    size_t length = 0;
    nc_identity *identity = NULL;
    void *bytes = nct_test_certificate_pkcs12(f->leaf, f->middle, password, &length);
    assert_non_null(bytes);
    nc_trust *trust = family_trust(&(nc_trust_options){.identity_pem = nc_slice_make(bytes, length - cut),
                                                       .identity_password = nc_slice_of(given)});
    nc_status status = nc_trust_load_identity(&identity, trust, &files, &err);
    assert_true(status == NC_OK || status == NC_ERR_TLS_IDENTITY);
    assert_true(status != NC_OK || sk_X509_num(identity->chain) == 1);
    nc_identity_free(identity);
    nc_trust_release(trust);
    free(bytes);
    return err.message;
}

static void unusual__a_pkcs12_opens_only_with_its_pass_phrase_even_if_empty(void **state) {
    family f;
    (void)state;
    family_make(&f);
    const struct {
        const char *password;
        const char *given;
        const char *part;
    } cases[] = {
        {"secret", "secret", ""},
        {"secret", NULL, "the pass phrase of the PKCS#12 is missing"},
        {"secret", "", "the pass phrase of the PKCS#12 is missing"},
        {"secret", "Secret", "the pass phrase of the PKCS#12 is wrong"},
        {"secret", "secret ", "the pass phrase of the PKCS#12 is wrong"},
        {"secret", "secre", "the pass phrase of the PKCS#12 is wrong"},
        {"", NULL, ""},
        {"", "unasked", ""}, // nothing is encrypted
        {NULL, NULL, ""},
        {"p\xc3\xa4ss", "p\xc3\xa4ss", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *line = read_bundle(&f, cases[i].password, cases[i].given, 0);
        if ((cases[i].part[0] == '\0' && line[0] != '\0') || strstr(line, cases[i].part) == NULL) {
            fail_msg("case %zu: '%s'", i, line);
        }
    }
    assert_non_null(strstr(read_bundle(&f, "secret", "secret", 9), "neither PEM nor PKCS#12"));
    // In Latin-1 it has the same checksum and other contents: OpenSSL reports an error.
    const char *line = read_bundle(&f, "p\xc3\xa4ss", "p\xe4ss", 0);
    assert_non_null(strstr(line, "contents of the given bytes cannot be read: "));
    assert_true(strstr(line, "unknown reason") == NULL && strstr(line, "null") == NULL);
    family_free(&f);
}

static void unusual__a_key_with_an_unavailable_cipher_is_not_a_wrong_pass_phrase(void **state) {
    static const char locked[] = "-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n"
                                 "DEK-Info: DES-CBC,0011223344556677\n\nAAAAAAAAAAAAAAAAAAAAAA==\n"
                                 "-----END EC PRIVATE KEY-----\n";
    const nc_file_ops files = nc_file_ops_system();
    nc_identity *identity = NULL;
    nc_error err;
    family f;
    (void)state;
    family_make(&f);
    nc_trust *trust = family_trust(&(nc_trust_options){.identity_pem = nc_slice_of(nct_test_certificate_pem(f.leaf)),
                                                       .identity_key_pem = nc_slice_of(locked),
                                                       .identity_password = nc_slice_of("secret")});
    assert_status(nc_trust_load_identity(&identity, trust, &files, &err), NC_ERR_TLS_IDENTITY);
    assert_non_null(strstr(err.message, "the private key in the given bytes cannot be read: "));
    nc_trust_release(trust);
    family_free(&f);
}

static void unusual__a_pkcs12_without_a_chain_has_only_a_leaf(void **state) {
    const nc_file_ops files = nc_file_ops_system();
    size_t length = 0;
    nc_identity *identity = NULL;
    family f;
    (void)state;
    family_make(&f);
    void *bytes = nct_test_certificate_pkcs12(f.leaf, NULL, "x", &length);
    assert_non_null(bytes);
    nc_trust *trust = family_trust(
        &(nc_trust_options){.identity_pem = nc_slice_make(bytes, length), .identity_password = nc_slice_of("x")});
    assert_status(nc_trust_load_identity(&identity, trust, &files, NULL), NC_OK);
    assert_int_equal(sk_X509_num(identity->chain), 0);
    nc_identity_free(identity);
    nc_trust_release(trust);
    free(bytes);
    family_free(&f);
}

/* --- the policy's requirements --- */

static bool allow(void *ctx, const nc_trust_event *event) {
    (void)ctx;
    (void)event;
    return true;
}

static void ignore_event(void *ctx, const nc_trust_event *event) {
    (void)ctx;
    (void)event;
}

static void unusual__a_rule_needs_pins_or_an_observer(void **state) {
    const nc_trust_rule rule = {.hosts = nc_slice_of("**")};
    const struct {
        nc_trust_options options;
        bool has_rules;
    } cases[] = {
        {{.accepts_anything = true}, false},
        {{.accepts_anything = true, .rules = &rule, .rule_count = 1}, true},
        {{.accepts_anything = true, .observer = {.decide = allow}}, true},
        {{.accepts_anything = true, .observer = {.report = ignore_event}}, true},
        {{.observer = {.release = NULL}}, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nc_trust *trust = family_trust(&cases[i].options);
        assert_int_equal(nc_trust_has_rules(trust), cases[i].has_rules);
        assert_int_equal(nc_trust_checks_nothing(trust), cases[i].options.accepts_anything && !cases[i].has_rules);
        nc_trust_release(trust);
    }
}

/* --- names --- */

static void unusual__a_wildcard_matches_a_label_with_an_underscore(void **state) {
    static const struct {
        const char *names;
        const char *host;
        nc_status status;
    } cases[] = {
        {"DNS:*.example.com", "my_service.example.com", NC_OK},
        {"DNS:a.example, DNS:*.EXAMPLE.com", "_sip.example.COM", NC_OK},
        {"DNS:*.my_zone.example", "a.my_zone.example", NC_OK},
        {"DNS:my_service.example.com", "my_service.example.com", NC_OK},
        {"DNS:*.example.com", "a.my_service.example.com", NC_ERR_TLS_NAME},
        {"DNS:*.example.com", "my_service.example.org", NC_ERR_TLS_NAME},
        {"DNS:*.example.com", "my_example.com", NC_ERR_TLS_NAME},
        {"DNS:my*.example.com", "my_service.example.com", NC_ERR_TLS_NAME},
        {"DNS:*.com", "my_service.com", NC_ERR_TLS_NAME},
        {"email:*.example.com", "my_service.example.com", NC_ERR_TLS_NAME},
    };
    nct_test_certificate *root =
        nct_test_certificate_create(&(nct_certificate_options){.common_name = "Root", .is_authority = true});
    const nc_trust_options options = {.roots = NC_ROOTS_BYTES, .ca_pem = nc_slice_of(nct_test_certificate_pem(root))};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nct_test_certificate *leaf = nct_test_certificate_create(
            &(nct_certificate_options){.issuer = root, .common_name = "x", .names = cases[i].names});
        assert_non_null(leaf);
        assert_status(family_status(&options, nc_slice_of(nct_test_certificate_pem(leaf)), cases[i].host),
                      cases[i].status);
        nct_test_certificate_free(leaf);
    }
    nct_test_certificate_free(root);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(unusual__a_certificate_is_valid_from_its_first_second_and_not_at_distant_times),
        harness_case(unusual__an_expired_or_foreign_revocation_list_is_rejected),
        harness_case(unusual__pem_in_any_valid_layout_gives_its_pins),
        harness_case(unusual__a_special_file_in_a_pin_directory_is_rejected_without_blocking),
        harness_case(unusual__a_pkcs12_opens_only_with_its_pass_phrase_even_if_empty),
        harness_case(unusual__a_key_with_an_unavailable_cipher_is_not_a_wrong_pass_phrase),
        harness_case(unusual__a_pkcs12_without_a_chain_has_only_a_leaf),
        harness_case(unusual__a_rule_needs_pins_or_an_observer),
        harness_case(unusual__a_wildcard_matches_a_label_with_an_underscore),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
