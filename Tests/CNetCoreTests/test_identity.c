/// Client certificates: accepted formats, errors and their messages, and the certificates of the TLS context.
#include "harness.h"
#include "trust/identity.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEXT_BYTES = 16384 };

/// Keys and certificates as PEM text; created once, because RSA keys are slow.
static struct {
    char ec[TEXT_BYTES], ec_key[TEXT_BYTES], ec_locked[TEXT_BYTES];
    char rsa[TEXT_BYTES], rsa_key[TEXT_BYTES], rsa_locked[TEXT_BYTES]; // encrypted as PEM, not as PKCS#8
    char issuer[TEXT_BYTES], weak[TEXT_BYTES], weak_key[TEXT_BYTES], public_key[TEXT_BYTES];
    char ec_long_locked[TEXT_BYTES], long_password[NC_IDENTITY_MAX_PASSWORD_BYTES + 1];
} made;

/* --- creation of keys and certificates --- */

static void take_text(char *out, BIO *bio) {
    char *bytes = NULL;
    long length = BIO_get_mem_data(bio, &bytes);
    assert_in_range(length, 1, TEXT_BYTES - 1);
    memcpy(out, bytes, (size_t)length);
    out[length] = '\0';
    BIO_free(bio);
}

static void write_certificate(char *out, EVP_PKEY *key, const char *name, EVP_PKEY *issuer_key) {
    X509 *certificate = X509_new();
    BIO *bio = BIO_new(BIO_s_mem());
    assert_true(X509_set_version(certificate, X509_VERSION_3) == 1 &&
                ASN1_INTEGER_set(X509_get_serialNumber(certificate), 7) == 1 &&
                X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC,
                                           (const unsigned char *)name, -1, -1, 0) == 1 &&
                X509_NAME_add_entry_by_txt(X509_get_issuer_name(certificate), "CN", MBSTRING_ASC,
                                           (const unsigned char *)"issuer", -1, -1, 0) == 1 &&
                X509_gmtime_adj(X509_getm_notBefore(certificate), -3600) != NULL &&
                X509_gmtime_adj(X509_getm_notAfter(certificate), 3600) != NULL &&
                X509_set_pubkey(certificate, key) == 1 && X509_sign(certificate, issuer_key, EVP_sha256()) != 0 &&
                PEM_write_bio_X509(bio, certificate) == 1);
    take_text(out, bio);
    X509_free(certificate);
}

/// A NULL `password` leaves the key unencrypted.
static void write_key(char *out, EVP_PKEY *key, bool is_traditional, const char *password) {
    BIO *bio = BIO_new(BIO_s_mem());
    const EVP_CIPHER *cipher = password != NULL ? EVP_aes_128_cbc() : NULL;
    int length = password != NULL ? (int)strlen(password) : 0;
    int (*write_it)(BIO *, const EVP_PKEY *, const EVP_CIPHER *, const unsigned char *, int, pem_password_cb *,
                    void *) = is_traditional ? PEM_write_bio_PrivateKey_traditional : PEM_write_bio_PrivateKey;
    assert_int_equal(write_it(bio, key, cipher, (const unsigned char *)password, length, NULL, NULL), 1);
    take_text(out, bio);
}

static int make_all(void **state) {
    EVP_PKEY *ec = EVP_EC_gen("P-256");
    EVP_PKEY *rsa = EVP_RSA_gen(2048);
    EVP_PKEY *weak = EVP_RSA_gen(1024);
    EVP_PKEY *issuer = EVP_EC_gen("P-256");
    BIO *bio = BIO_new(BIO_s_mem());
    (void)state;
    memset(made.long_password, 'p', NC_IDENTITY_MAX_PASSWORD_BYTES);
    write_certificate(made.issuer, issuer, "issuer", issuer);
    write_certificate(made.ec, ec, "ec", issuer);
    write_certificate(made.rsa, rsa, "rsa", issuer);
    write_certificate(made.weak, weak, "weak", issuer);
    write_key(made.ec_key, ec, false, NULL);
    write_key(made.ec_locked, ec, false, "secret");
    write_key(made.ec_long_locked, ec, false, made.long_password);
    write_key(made.rsa_key, rsa, true, NULL);
    write_key(made.rsa_locked, rsa, true, "secret");
    write_key(made.weak_key, weak, false, NULL);
    assert_int_equal(PEM_write_bio_PUBKEY(bio, ec), 1);
    take_text(made.public_key, bio);
    EVP_PKEY_free(ec);
    EVP_PKEY_free(rsa);
    EVP_PKEY_free(weak);
    EVP_PKEY_free(issuer);
    return 0;
}

static const char *joined(char *out, const char *first, const char *second, const char *third) {
    int length = snprintf(out, 3 * TEXT_BYTES, "%s%s%s", first, second, third);
    assert_in_range(length, 1, 3 * TEXT_BYTES - 1);
    return out;
}

/* --- loading --- */

static nc_status load(nc_identity **out, nc_trust_options options, nc_error *err) {
    const nc_file_ops files = nc_file_ops_system();
    nc_trust *trust = NULL;
    assert_status(nc_trust_new(&trust, &options, err), NC_OK);
    nc_status status = nc_trust_load_identity(out, trust, &files, err);
    nc_trust_release(trust);
    assert_status(err->status, status);
    // An error left in the queue would be attributed to the next handshake.
    assert_int_equal(ERR_peek_error(), 0);
    return status;
}

static nc_trust_options of_texts(const char *certificate, const char *key, const char *password) {
    return (nc_trust_options){.identity_pem = nc_slice_of(certificate),
                              .identity_key_pem = nc_slice_of(key),
                              .identity_password = nc_slice_of(password)};
}

/// Loads an identity into a context and checks it: the leaf's name, and the number of certificates after it.
static void check_shown(nc_trust_options options, const char *name, int chain_count) {
    nc_identity *identity = NULL;
    nc_error err;
    STACK_OF(X509) *chain = NULL;
    char shown[32] = "";
    if (load(&identity, options, &err) != NC_OK) {
        fail_msg("%s", err.message);
    }
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    assert_true(nc_identity_apply(identity, context));
    nc_identity_free(identity);
    X509 *leaf = SSL_CTX_get0_certificate(context);
    assert_true(X509_NAME_get_text_by_NID(X509_get_subject_name(leaf), NID_commonName, shown, sizeof shown) > 0);
    assert_string_equal(shown, name);
    assert_int_equal(SSL_CTX_check_private_key(context), 1);
    assert_int_equal(SSL_CTX_get0_chain_certs(context, &chain), 1);
    assert_int_equal(chain != NULL ? sk_X509_num(chain) : 0, chain_count);
    SSL_CTX_free(context);
}

/// Fails with NC_ERR_TLS_IDENTITY and a message that contains `sentence`, but neither key nor pass phrase.
static void check_refused(nc_trust_options options, const char *sentence) {
    nc_identity *identity = NULL;
    nc_error err;
    assert_status(load(&identity, options, &err), NC_ERR_TLS_IDENTITY);
    assert_null(identity);
    if (strstr(err.message, sentence) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", sentence, err.message);
    }
    assert_null(strstr(err.message, "secret"));
    assert_null(strstr(err.message, "MII"));
    assert_null(strchr(err.message, '\n'));
}

/* --- cases --- */

static void identity__is_null_when_the_policy_has_none(void **state) {
    nc_identity *identity = (nc_identity *)&made;
    nc_error err;
    (void)state;
    assert_status(load(&identity, (nc_trust_options){.accepts_anything = true}, &err), NC_OK);
    assert_null(identity);
    nc_identity_free(NULL);
}

static void identity__is_loaded_from_bytes_with_and_without_pass_phrase(void **state) {
    char text[3 * TEXT_BYTES];
    (void)state;
    check_shown(of_texts(made.ec, made.ec_key, ""), "ec", 0);
    check_shown(of_texts(made.rsa, made.rsa_key, ""), "rsa", 0);
    check_shown(of_texts(made.ec, made.ec_locked, "secret"), "ec", 0);
    check_shown(of_texts(made.rsa, made.rsa_locked, "secret"), "rsa", 0);
    check_shown(of_texts(made.ec, made.ec_long_locked, made.long_password), "ec", 0);
    // An unneeded pass phrase is ignored.
    check_shown(of_texts(made.ec, made.ec_key, "secret"), "ec", 0);
    // The key may come first, and only the first one counts.
    check_shown(of_texts(joined(text, made.ec_key, made.ec, ""), "", ""), "ec", 0);
    check_shown(of_texts(joined(text, made.ec, made.ec_key, made.rsa_key), "", ""), "ec", 0);
    // A separate key takes precedence over one beside the certificate.
    check_shown(of_texts(joined(text, made.ec, made.rsa_key, ""), made.ec_key, ""), "ec", 0);
    nc_trust_options reckless = of_texts(made.ec, made.ec_key, "");
    reckless.accepts_anything = true;
    check_shown(reckless, "ec", 0);
}

static void identity__sends_its_chain_in_order(void **state) {
    char text[3 * TEXT_BYTES];
    (void)state;
    check_shown(of_texts(joined(text, made.ec, made.issuer, made.ec_locked), "", "secret"), "ec", 1);
    check_shown(of_texts(joined(text, made.rsa, made.issuer, made.ec), made.rsa_key, ""), "rsa", 2);
    // Other PEM objects are skipped.
    check_shown(of_texts(joined(text, "Bag Attributes\n", made.public_key, made.ec), made.ec_key, ""), "ec", 0);
}

static void write_file(char *path, const char *text) {
    int fd = mkstemp(strcpy(path, "/tmp/nc_identity_XXXXXX"));
    assert_true(fd >= 0);
    size_t length = strlen(text);
    assert_int_equal(write(fd, text, length), (ssize_t)length);
    assert_int_equal(close(fd), 0);
}

static void identity__is_loaded_from_files(void **state) {
    char both[3 * TEXT_BYTES];
    char whole[32];
    char certificate[32];
    char key[32];
    char empty[32];
    (void)state;
    write_file(whole, joined(both, made.ec_locked, made.ec, made.issuer));
    write_file(certificate, made.rsa);
    write_file(key, made.rsa_key);
    write_file(empty, "");
    nc_trust_options options = {.identity_file = nc_slice_of(whole), .identity_password = nc_slice_of("secret")};
    check_shown(options, "ec", 1);
    options = (nc_trust_options){.identity_file = nc_slice_of(certificate), .identity_key_file = nc_slice_of(key)};
    check_shown(options, "rsa", 0);
    snprintf(both, sizeof both, "no private key in the file '%s'", certificate);
    check_refused((nc_trust_options){.identity_file = nc_slice_of(certificate)}, both);
    snprintf(both, sizeof both, "no certificate in the file '%s'", empty);
    check_refused((nc_trust_options){.identity_file = nc_slice_of(empty)}, both);
    options.identity_key_file = nc_slice_of(empty);
    snprintf(both, sizeof both, "no private key in the file '%s'", empty);
    check_refused(options, both);
    const char *paths[] = {whole, certificate, key, empty};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        assert_int_equal(unlink(paths[i]), 0);
    }
}

static void identity__names_the_file_that_cannot_be_read(void **state) {
    char certificate[32];
    char large[32];
    nc_identity *identity = NULL;
    nc_error err;
    (void)state;
    write_file(certificate, made.ec);
    write_file(large, "");
    assert_int_equal(truncate(large, NC_IDENTITY_MAX_BYTES + 1), 0);
    const nc_slice missing = nc_slice_of("/nowhere/x.pem");
    check_refused((nc_trust_options){.identity_file = missing},
                  "cannot read the file '/nowhere/x.pem': No such file or directory");
    check_refused((nc_trust_options){.identity_file = nc_slice_of(certificate), .identity_key_file = missing},
                  "cannot read the file '/nowhere/x.pem': No such file or directory");
    assert_status(load(&identity, (nc_trust_options){.identity_file = missing}, &err), NC_ERR_TLS_IDENTITY);
    assert_int_equal(err.native_code, ENOENT);
    check_refused((nc_trust_options){.identity_file = nc_slice_of("/tmp")}, "'/tmp': Is a directory");
    check_refused((nc_trust_options){.identity_file = nc_slice_of(large)}, "larger than 1 MiB");
    // The message truncates a long path, so that the reason fits.
    char path[4096];
    memset(path, 'x', sizeof path);
    check_refused((nc_trust_options){.identity_file = nc_slice_make(path, 4095)}, ": File name too long");
    assert_int_equal(unlink(certificate), 0);
    // One byte less is read to the end.
    assert_int_equal(truncate(large, NC_IDENTITY_MAX_BYTES), 0);
    check_refused((nc_trust_options){.identity_file = nc_slice_of(large)}, "no certificate in the file");
    assert_int_equal(unlink(large), 0);
}

static void identity__reports_what_is_wrong_with_the_text(void **state) {
    static const char broken[] = "-----BEGIN CERTIFICATE-----\n*\n-----END CERTIFICATE-----\n";
    static const char empty[] = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    static const char junk[] = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
    char text[3 * TEXT_BYTES];
    (void)state;
    check_refused(of_texts("pem", "", ""), "no certificate in the given bytes");
    check_refused(of_texts(made.ec_key, "", ""), "no certificate in the given bytes");
    check_refused(of_texts(made.ec, "", ""), "no private key in the given bytes");
    check_refused(of_texts(made.ec, "pem", ""), "no private key in the given bytes");
    check_refused(of_texts(made.ec, made.public_key, ""), "no private key in the given bytes");
    check_refused(of_texts(broken, made.ec_key, ""), "a PEM block in the given bytes cannot be read: ");
    check_refused(of_texts(empty, made.ec_key, ""), "certificate 1 in the given bytes cannot be read: ");
    check_refused(of_texts(joined(text, made.ec, made.issuer, empty), made.ec_key, ""),
                  "certificate 3 in the given bytes cannot be read: ");
    check_refused(of_texts(made.ec, junk, ""), "the private key in the given bytes cannot be read: ");
    check_refused(of_texts(made.ec, junk, "secret"), "the private key in the given bytes cannot be read: ");
    check_refused(of_texts(made.ec, made.rsa_key, ""),
                  "the private key does not belong to the first certificate in the given bytes");
    check_refused(of_texts(joined(text, made.issuer, made.ec, ""), made.ec_key, ""),
                  "the private key does not belong to the first certificate in the given bytes");
    check_refused(of_texts(made.weak, made.weak_key, ""),
                  "the client certificate in the given bytes cannot be used: ee key too small");
}

static void identity__distinguishes_a_wrong_from_a_missing_pass_phrase(void **state) {
    const char *locked[][2] = {{made.ec, made.ec_locked}, {made.rsa, made.rsa_locked}};
    char almost[NC_IDENTITY_MAX_PASSWORD_BYTES + 1];
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        check_refused(of_texts(locked[i][0], locked[i][1], ""),
                      "the pass phrase of the private key in the given bytes is missing");
        check_refused(of_texts(locked[i][0], locked[i][1], "Secret"),
                      "the pass phrase of the private key in the given bytes is wrong");
    }
    memcpy(almost, made.long_password, sizeof almost);
    almost[NC_IDENTITY_MAX_PASSWORD_BYTES - 1] = 'q';
    check_refused(of_texts(made.ec, made.ec_long_locked, almost), "is wrong");
    // With about one wrong phrase in 256, the decrypted bytes have valid padding by chance. It must be rejected too.
    for (int i = 0; i < 600; i++) {
        char phrase[16];
        snprintf(phrase, sizeof phrase, "w%d", i);
        check_refused(of_texts(made.rsa, made.rsa_locked, phrase), "is wrong");
    }
}

/// Loads an encrypted key without a pass phrase. Returns true if standard input, which has a line, was not read. Runs
/// in a process without a terminal, because OpenSSL would prompt there first.
static bool leaves_standard_input_alone(void) {
    int ends[2];
    int waiting = 0;
    nc_error err;
    nc_identity *identity = NULL;
    bool is_ready = setsid() > 0 && pipe(ends) == 0 && write(ends[1], "secret\n", 7) == 7 && dup2(ends[0], 0) == 0;
    bool is_refused = is_ready && load(&identity, of_texts(made.ec, made.ec_locked, ""), &err) == NC_ERR_TLS_IDENTITY &&
                      load(&identity, of_texts(made.rsa, made.rsa_locked, ""), &err) == NC_ERR_TLS_IDENTITY;
    return is_refused && ioctl(0, FIONREAD, &waiting) == 0 && waiting == 7;
}

static void identity__never_prompts_for_a_pass_phrase(void **state) {
    int code = -1;
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        _exit(leaves_standard_input_alone() ? 0 : 1);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_true(WIFEXITED(code) && WEXITSTATUS(code) == 0);
}

static void identity__rejected_by_a_context_leaves_no_openssl_error_behind(void **state) {
    nc_identity *identity = NULL;
    nc_error err;
    (void)state;
    assert_status(load(&identity, of_texts(made.ec, made.ec_key, ""), &err), NC_OK);
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_security_level(context, 5);
    assert_false(nc_identity_apply(identity, context));
    assert_int_equal(ERR_peek_error(), 0);
    SSL_CTX_free(context);
    nc_identity_free(identity);
}

static void load_files(void *ctx) {
    const nc_file_ops files = nc_file_ops_system();
    nc_identity *identity = NULL;
    nc_error err;
    nc_status status = nc_trust_load_identity(&identity, ctx, &files, &err);
    assert_true(status == NC_OK || status == NC_ERR_NO_MEMORY);
    assert_status(err.status, status);
    assert_int_equal(identity != NULL, status == NC_OK);
    nc_identity_free(identity);
}

static void identity__survives_each_allocation_failure(void **state) {
    char certificate[32];
    char key[32];
    nc_trust *trust = NULL;
    (void)state;
    write_file(certificate, made.ec);
    write_file(key, made.ec_key);
    const nc_trust_options options = {.identity_file = nc_slice_of(certificate), .identity_key_file = nc_slice_of(key)};
    assert_status(nc_trust_new(&trust, &options, NULL), NC_OK);
    // The identity and a buffer for each file, which must not grow.
    assert_int_equal(each_allocation_failure(load_files, trust), 3);
    nc_trust_release(trust);
    assert_int_equal(unlink(certificate), 0);
    assert_int_equal(unlink(key), 0);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(identity__is_null_when_the_policy_has_none),
        harness_case(identity__is_loaded_from_bytes_with_and_without_pass_phrase),
        harness_case(identity__sends_its_chain_in_order),
        harness_case(identity__is_loaded_from_files),
        harness_case(identity__names_the_file_that_cannot_be_read),
        harness_case(identity__reports_what_is_wrong_with_the_text),
        harness_case(identity__distinguishes_a_wrong_from_a_missing_pass_phrase),
        harness_case(identity__never_prompts_for_a_pass_phrase),
        harness_case(identity__rejected_by_a_context_leaves_no_openssl_error_behind),
        harness_case(identity__survives_each_allocation_failure),
    };
    return cmocka_run_group_tests(cases, make_all, NULL);
}
