/// OpenSSL's error code after a policy rejects a handshake. It becomes the alert that the server receives (RFC 8446,
/// section 6.2).
#include "family.h"

#include "trust/handshake.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <string.h>

/// The result of a handshake in memory.
typedef struct handshake_result {
    bool is_done;
    long client_result; // X509_V_OK or an X509_V_ERR_ number
    int server_reason;  // of OpenSSL's error at the server: an alert
    nc_status refusal;  // the argument of `refused`; NC_OK if it was not called
} handshake_result;

static void record_rejection(void *ctx, const nc_trust_result *result) {
    *(nc_status *)ctx = result->status;
}

static SSL *server_of(SSL_CTX **context, const nct_test_certificate *leaf, const nct_test_certificate *middle) {
    BIO *bio = BIO_new_mem_buf(nct_test_certificate_key_pem(leaf), -1);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);
    X509 *certificate = family_certificate(leaf);
    *context = SSL_CTX_new(TLS_server_method());
    assert_int_equal(SSL_CTX_use_certificate(*context, certificate), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey(*context, key), 1);
    assert_int_equal(SSL_CTX_add_extra_chain_cert(*context, family_certificate(middle)), 1);
    X509_free(certificate);
    EVP_PKEY_free(key);
    BIO_free(bio);
    SSL *server = SSL_new(*context);
    SSL_set_accept_state(server);
    return server;
}

/// Runs both sides until neither makes progress.
static bool run_handshake(SSL *client, SSL *server) {
    int client_done = 0;
    int server_done = 0;
    for (size_t turns = 0; turns < 20 && !(client_done == 1 && server_done == 1); turns++) {
        client_done = SSL_do_handshake(client);
        server_done = SSL_do_handshake(server);
    }
    return client_done == 1 && server_done == 1;
}

static handshake_result run_both_sides(const nc_trust_options *options, const nct_test_certificate *leaf,
                                       const nct_test_certificate *middle) {
    const nc_file_ops files = nc_file_ops_system();
    const nc_clock clock = nc_clock_system();
    nc_report_limiter gate = {{{0}}};
    nc_root_store *roots = NULL;
    SSL_CTX *server_context;
    BIO *near;
    BIO *far;
    handshake_result out = {.refusal = NC_OK};
    nc_trust *trust = family_trust(options);
    if (nc_trust_needs_roots(trust)) {
        assert_status(nc_trust_load_roots(&roots, trust, &files, NULL), NC_OK);
    }
    nc_handshake handshake = {.trust = trust,
                              .roots = roots,
                              .gate = &gate,
                              .port = 443,
                              .clock = &clock,
                              .ctx = &out.refusal,
                              .refused = record_rejection};
    assert_true(nc_host_name_parse(&handshake.host, nc_slice_of("localhost")));
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    assert_true(nc_handshake_install(context, &handshake));
    SSL *client = SSL_new(context);
    SSL *server = server_of(&server_context, leaf, middle);
    assert_int_equal(BIO_new_bio_pair(&near, 0, &far, 0), 1);
    SSL_set_bio(client, near, near);
    SSL_set_bio(server, far, far);
    SSL_set_connect_state(client);
    out.is_done = run_handshake(client, server);
    out.client_result = SSL_get_verify_result(client);
    out.server_reason = ERR_GET_REASON(ERR_peek_last_error());
    ERR_clear_error();
    SSL_free(client);
    SSL_free(server);
    SSL_CTX_free(context);
    SSL_CTX_free(server_context);
    nc_trust_free_roots(roots);
    nc_trust_release(trust);
    return out;
}

static void alerts__a_rejected_server_receives_the_reason(void **state) {
    family f;
    (void)state;
    family_make(&f);
    const nc_trust_options root = {.roots = NC_ROOTS_BYTES, .ca_pem = nc_slice_of(nct_test_certificate_pem(f.root))};
    handshake_result good = run_both_sides(&root, f.leaf, f.middle);
    assert_true(good.is_done);
    assert_int_equal(good.client_result, X509_V_OK);
    assert_status(good.refusal, NC_OK);
    handshake_result old = run_both_sides(&root, f.expired, f.middle);
    assert_false(old.is_done);
    assert_int_equal(old.client_result, X509_V_ERR_CERT_HAS_EXPIRED);
    assert_int_equal(old.server_reason, SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED);
    assert_status(old.refusal, NC_ERR_TLS_EXPIRED);
    handshake_result evil = run_both_sides(&root, f.evil, f.middle);
    assert_int_equal(evil.client_result, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY);
    assert_int_equal(evil.server_reason, SSL_R_TLSV1_ALERT_UNKNOWN_CA);
    assert_status(evil.refusal, NC_ERR_TLS_UNTRUSTED);
    // A rejection without an OpenSSL error code.
    handshake_result unpinned = run_both_sides(&(nc_trust_options){.accepts_invalid_chains = true}, f.leaf, f.middle);
    assert_false(unpinned.is_done);
    assert_int_equal(unpinned.client_result, X509_V_ERR_APPLICATION_VERIFICATION);
    assert_status(unpinned.refusal, NC_ERR_TLS_UNTRUSTED);
    family_free(&f);
}

static void alerts__the_whole_verified_chain_is_reported_with_a_pinned_intermediate(void **state) {
    family f;
    (void)state;
    family_make(&f);
    const nc_slice middle = nc_slice_of(nct_test_certificate_pem(f.middle));
    const nc_trust_rule rule = {
        .hosts = nc_slice_of("**"), .mode = NC_PIN_CERTIFICATE, .certificates = &middle, .certificate_count = 1};
    nc_trust_options options = {.roots = NC_ROOTS_BYTES,
                                .ca_pem = nc_slice_of(nct_test_certificate_pem(f.root)),
                                .rules = &rule,
                                .rule_count = 1};
    nc_slice chain = family_join(&f, f.leaf, f.middle, NULL);
    nc_trust_result result = family_evaluate(&options, chain, "localhost");
    assert_status(result.status, NC_OK);
    assert_int_equal(result.chain_count, 3); // up to the root, as verified
    assert_string_equal(nc_trust_result_chain_pin(&result, 2), nct_test_certificate_pin(f.root));
    options = (nc_trust_options){.roots = NC_ROOTS_PINNED, .rules = &rule, .rule_count = 1};
    assert_int_equal(family_evaluate(&options, chain, "localhost").chain_count, 2); // ends at the only anchor
    family_free(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(alerts__a_rejected_server_receives_the_reason),
        harness_case(alerts__the_whole_verified_chain_is_reported_with_a_pinned_intermediate),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
