/// The client certificate: the servers that it is sent to, and the errors of unusable ones.
#include "fixture.h"
#include "tls_peer.h"

#include <openssl/pem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// A TLS server that requests client certificates, and a certificate that it trusts.
typedef struct identity_fixture {
    fixture f;
    char directory[64];
} identity_fixture;

static const char *member_file(identity_fixture *c, const char *name) {
    return fixture_text(&c->f, "%s/%s", c->directory, name);
}

static void identity_fixture_start(identity_fixture *c, nct_client_check check) {
    *c = (identity_fixture){0};
    fixture_start_with(&c->f, &(nct_server_options){.identity = NCT_TLS_VALID, .client_check = check}, NULL);
    fixture_script(&c->f, "/in", (nct_reply){.body = "in", .body_length = 2});
    (void)snprintf(c->directory, sizeof c->directory, "/tmp/netcore-member-XXXXXX");
    assert_non_null(mkdtemp(c->directory));
    assert_int_equal(nct_server_client_identity_write(c->f.server, c->directory), 0);
}

static void identity_fixture_stop(identity_fixture *c) {
    static const char *const names[] = {"cert.pem", "key.pem", "client.p12", "locked.pem"};
    for (size_t i = 0; i < 4; i++) {
        (void)unlink(member_file(c, names[i]));
    }
    assert_int_equal(rmdir(c->directory), 0);
    fixture_stop(&c->f);
}

/// Returns the options of a member's policy. If `other` is not NULL, the policy also trusts that server.
static nc_trust_options member_options(identity_fixture *c, const nct_server *other) {
    const char *both =
        fixture_text(&c->f, "%s%s", nct_server_ca_pem(c->f.server), other != NULL ? nct_server_ca_pem(other) : "");
    return (nc_trust_options){.roots = NC_ROOTS_BYTES,
                              .ca_pem = nc_slice_of(both),
                              .identity_file = nc_slice_of(member_file(c, "cert.pem")),
                              .identity_key_file = nc_slice_of(member_file(c, "key.pem"))};
}

static answer send_as(identity_fixture *c, const nc_trust_options *options, const char *url) {
    nc_request request = {.url = nc_slice_of(url), .trust = fixture_trust(&c->f, options)};
    return fixture_send(&c->f, &request);
}

static void engine__a_server_that_requests_the_client_certificate_receives_it(void **state) {
    static const nct_client_check checks[] = {NCT_CLIENT_ASKED, NCT_CLIENT_REQUIRED};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        identity_fixture c;
        identity_fixture_start(&c, checks[i]);
        const nc_trust_options options = member_options(&c, NULL);
        assert_response(send_as(&c, &options, fixture_url(&c.f, "/in")), 200, "in");
        assert_int_equal(nct_server_client_certificate_count(c.f.server), 1);
        identity_fixture_stop(&c);
    }
}

static void engine__a_server_that_requires_a_certificate_rejects_a_client_without_one(void **state) {
    (void)state;
    for (int is_old = 0; is_old < 2; is_old++) {
        fixture f;
        const nct_server_options options = {
            .identity = NCT_TLS_VALID, .client_check = NCT_CLIENT_REQUIRED, .is_tls_1_2_only = is_old == 1};
        fixture_start_with(&f, &options, NULL);
        assert_status(fixture_get(&f, "/in").error.status, NC_ERR_TLS_IDENTITY);
        assert_int_equal(nct_server_request_count(f.server), 0);
        fixture_stop(&f);
    }
}

/* --- alerts --- */

static int reject_client(X509_STORE_CTX *chain, void *error) {
    X509_STORE_CTX_set_error(chain, *(const int *)error);
    return 0;
}

static void serve_nothing(SSL *ssl, const tls_peer_connection *connection) {
    (void)ssl;
    (void)connection;
}

/// A connection that the server resets after its alert fails in one of several ways.
enum { ALERT_ATTEMPTS = 24 };

static void assert_alert_is_reported(identity_fixture *c, int version, const char *protocols, int error,
                                     bool shows_identity) {
    tls_peer peer = {.serve = serve_nothing, .members = protocols};
    nc_trust_options options = {.accepts_anything = true};
    if (shows_identity) {
        options.identity_file = nc_slice_of(member_file(c, "cert.pem"));
        options.identity_key_file = nc_slice_of(member_file(c, "key.pem"));
    }
    tls_peer_start(&peer);
    assert_int_equal(SSL_CTX_set_max_proto_version(peer.context, version), 1);
    SSL_CTX_set_verify(peer.context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    SSL_CTX_set_cert_verify_callback(peer.context, reject_client, &error);
    const char *url = fixture_text(&c->f, "https://127.0.0.1:%u/", (unsigned)peer.port);
    for (size_t i = 0; i < ALERT_ATTEMPTS; i++) {
        answer one = send_as(c, &options, url);
        assert_status(one.error.status, NC_ERR_TLS_IDENTITY);
        assert_non_null(strstr(one.error.message, "TLS alert"));
    }
    tls_peer_stop(&peer);
    assert_int_equal(atomic_load(&peer.count), ALERT_ATTEMPTS); // none was sent again
}

static void engine__an_alert_about_the_certificate_is_reported_however_the_connection_ends(void **state) {
    static const struct {
        int version;
        const char *protocols;
        int error;
        bool shows_identity;
    } rows[] = {
        {TLS1_3_VERSION, "1", X509_V_ERR_UNSPECIFIED, false}, // certificate_required
        {TLS1_3_VERSION, "2", X509_V_ERR_UNSPECIFIED, false},
        {TLS1_3_VERSION, "1", X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, true}, // unknown_ca
        {TLS1_3_VERSION, "2", X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, true},
        {TLS1_3_VERSION, "1", X509_V_ERR_CERT_HAS_EXPIRED, true},
        {TLS1_3_VERSION, "1", X509_V_ERR_CERT_REVOKED, true},
        {TLS1_3_VERSION, "1", X509_V_ERR_INVALID_PURPOSE, true},          // unsupported_certificate
        {TLS1_3_VERSION, "1", X509_V_ERR_EE_KEY_TOO_SMALL, true},         // bad_certificate
        {TLS1_3_VERSION, "1", X509_V_ERR_APPLICATION_VERIFICATION, true}, // handshake_failure
        {TLS1_2_VERSION, "1", X509_V_ERR_UNSPECIFIED, false},             // handshake_failure
        {TLS1_2_VERSION, "2", X509_V_ERR_CERT_HAS_EXPIRED, true},
    };
    identity_fixture c;
    (void)state;
    identity_fixture_start(&c, NCT_CLIENT_REQUIRED);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_alert_is_reported(&c, rows[i].version, rows[i].protocols, rows[i].error, rows[i].shows_identity);
    }
    identity_fixture_stop(&c);
}

static void engine__a_request_without_identity_never_uses_an_authenticated_connection(void **state) {
    identity_fixture c;
    (void)state;
    identity_fixture_start(&c, NCT_CLIENT_ASKED);
    const nc_trust_options with = member_options(&c, NULL);
    nc_trust_options without = with;
    without.identity_file = without.identity_key_file = (nc_slice){0};
    for (size_t i = 0; i < 3; i++) {
        assert_response(send_as(&c, &with, fixture_url(&c.f, "/in")), 200, "in");
        assert_response(send_as(&c, &without, fixture_url(&c.f, "/in")), 200, "in");
    }
    size_t members = nct_server_request_connection(c.f.server, 0);
    size_t others = nct_server_request_connection(c.f.server, 1);
    assert_int_not_equal(members, others);
    for (size_t i = 2; i < 6; i++) {
        assert_int_equal(nct_server_request_connection(c.f.server, i), i % 2 == 0 ? members : others);
    }
    // A resumed session would carry the identity of its first client.
    assert_int_equal(nct_server_resumed_count(c.f.server), 0);
    assert_int_equal(nct_server_client_certificate_count(c.f.server), 1);
    identity_fixture_stop(&c);
}

static void engine__a_redirect_to_another_origin_sends_no_client_certificate(void **state) {
    identity_fixture c;
    nct_server *other = NULL;
    const nct_server_options asks = {.identity = NCT_TLS_VALID, .client_check = NCT_CLIENT_ASKED};
    (void)state;
    identity_fixture_start(&c, NCT_CLIENT_REQUIRED);
    assert_int_equal(nct_server_start(&other, &asks), 0);
    assert_int_equal(nct_server_script(other, "/there", &(nct_reply){.body = "out", .body_length = 3}), 0);
    const nc_trust_options options = member_options(&c, other);
    const char *there = fixture_url_of(&c.f, other, "127.0.0.1", "/there");
    // Directly, the other server requests the certificate, does not trust its issuer, and ends the handshake.
    assert_status(send_as(&c, &options, there).error.status, NC_ERR_TLS_IDENTITY);
    assert_int_equal(nct_server_request_count(other), 0);
    fixture_script(&c.f, "/away", (nct_reply){.location = there});
    fixture_script(&c.f, "/stay", (nct_reply){.location = "/in"});
    assert_response(send_as(&c, &options, fixture_url(&c.f, "/away")), 200, "out");
    assert_response(send_as(&c, &options, fixture_url(&c.f, "/stay")), 200, "in");
    assert_int_equal(nct_server_client_certificate_count(c.f.server), 1); // on a single connection
    nct_server_stop(other);
    identity_fixture_stop(&c);
}

static void engine__a_request_marked_cross_origin_sends_no_client_certificate(void **state) {
    identity_fixture c;
    (void)state;
    identity_fixture_start(&c, NCT_CLIENT_ASKED);
    const nc_trust_options options = member_options(&c, NULL);
    for (int i = 0; i < 2; i++) {
        nc_request request = fixture_request(&c.f, "/in");
        request.trust = fixture_trust(&c.f, &options);
        request.is_cross_origin = i == 0; // first, so that no connection with the certificate exists
        assert_response(fixture_send(&c.f, &request), 200, "in");
        assert_int_equal(nct_server_client_certificate_count(c.f.server), i);
    }
    identity_fixture_stop(&c);
}

static void engine__a_proxy_receives_no_client_certificate(void **state) {
    identity_fixture c;
    (void)state;
    identity_fixture_start(&c, NCT_CLIENT_ASKED); // acts as the proxy: its paths are whole URLs
    fixture_script(&c.f, "*", (nct_reply){.body = "through", .body_length = 7});
    const nc_trust_options options = member_options(&c, NULL);
    const nc_proxy proxy = {.choice = NC_PROXY_URL, .url = nc_slice_of(fixture_url(&c.f, ""))};
    nc_request request = {
        .url = nc_slice_of("http://a.example/x"), .trust = fixture_trust(&c.f, &options), .proxy = &proxy};
    assert_response(fixture_send(&c.f, &request), 200, "through");
    assert_int_equal(nct_server_client_certificate_count(c.f.server), 0);
    identity_fixture_stop(&c);
}

static void engine__a_doh_server_receives_no_client_certificate(void **state) {
    identity_fixture c;
    nc_engine *engine = NULL;
    nc_error err;
    (void)state;
    identity_fixture_start(&c, NCT_CLIENT_ASKED); // the server requests a certificate and accepts none
    const nc_trust_options options = member_options(&c, NULL);
    const nc_engine_options asks = {.trust = fixture_trust(&c.f, &options),
                                    .doh_url = nc_slice_of(fixture_url(&c.f, "/in"))};
    assert_status(nc_engine_new(&engine, &asks, &err), NC_OK);
    const nc_request request = {.url = nc_slice_of("http://a.example/")};
    nc_transfer_id id = 0;
    nc_response *response = NULL;
    assert_status(nc_engine_submit(engine, &request, NULL, &id, &err), NC_OK);
    assert_status(nc_engine_wait(engine, id, FIXTURE_LIMIT_MS, &response, &err), NC_ERR_RESOLVE);
    nc_response_release(response);
    assert_true(nct_server_request_count(c.f.server) > 0);
    assert_int_equal(nct_server_client_certificate_count(c.f.server), 0);
    assert_status(nc_engine_close(engine, FIXTURE_LIMIT_MS), NC_OK);
    identity_fixture_stop(&c);
}

/* --- keys --- */

/// Writes the member's key again, encrypted with a pass phrase.
static void lock_key(identity_fixture *c, const char *phrase) {
    FILE *in = fopen(member_file(c, "key.pem"), "r");
    FILE *out = fopen(member_file(c, "locked.pem"), "w");
    assert_non_null(in);
    assert_non_null(out);
    EVP_PKEY *key = PEM_read_PrivateKey(in, NULL, NULL, NULL);
    assert_non_null(key);
    assert_int_equal(PEM_write_PKCS8PrivateKey(out, key, EVP_aes_256_cbc(), phrase, (int)strlen(phrase), NULL, NULL),
                     1);
    EVP_PKEY_free(key);
    assert_int_equal(fclose(in), 0);
    assert_int_equal(fclose(out), 0);
}

static void engine__an_encrypted_key_opens_only_with_its_pass_phrase(void **state) {
    static const struct {
        const char *phrase;
        nc_status status;
    } cases[] = {{"open sesame", NC_OK}, {"open barley", NC_ERR_TLS_IDENTITY}, {"", NC_ERR_TLS_IDENTITY}};
    identity_fixture c;
    (void)state;
    identity_fixture_start(&c, NCT_CLIENT_REQUIRED);
    lock_key(&c, "open sesame");
    for (size_t i = 0; i < 3; i++) {
        nc_trust_options options = member_options(&c, NULL);
        options.identity_key_file = nc_slice_of(member_file(&c, "locked.pem"));
        options.identity_password = nc_slice_of(cases[i].phrase);
        answer one = send_as(&c, &options, fixture_url(&c.f, "/in"));
        assert_status(one.error.status, cases[i].status);
        assert_null(strstr(one.error.message, "sesame"));
        assert_null(strstr(one.error.message, "barley"));
    }
    assert_int_equal(nct_server_request_count(c.f.server), 1);
    identity_fixture_stop(&c);
}

static void engine__an_unusable_identity_fails_before_any_byte_is_sent(void **state) {
    identity_fixture c;
    char other_directory[] = "/tmp/netcore-other-XXXXXX";
    (void)state;
    identity_fixture_start(&c, NCT_CLIENT_REQUIRED);
    assert_non_null(mkdtemp(other_directory));
    assert_int_equal(nct_identity_write(NCT_TLS_VALID, other_directory), 0);
    const char *const keys[] = {fixture_text(&c.f, "%s/key.pem", other_directory), // of another certificate
                                member_file(&c, "missing.pem"), member_file(&c, "cert.pem"), c.directory};
    for (size_t i = 0; i < 4; i++) {
        nc_trust_options options = member_options(&c, NULL);
        options.identity_key_file = nc_slice_of(keys[i]);
        assert_status(send_as(&c, &options, fixture_url(&c.f, "/in")).error.status, NC_ERR_TLS_IDENTITY);
    }
    assert_int_equal(nct_server_connection_count(c.f.server), 0);
    // Plain requests do not need it.
    nct_server *plain = NULL;
    assert_int_equal(nct_server_start(&plain, NULL), 0);
    nc_trust_options options = member_options(&c, NULL);
    options.identity_key_file = nc_slice_of(keys[0]);
    answer one = send_as(&c, &options, fixture_url_of(&c.f, plain, "127.0.0.1", "/"));
    assert_response(one, 404, "");
    nct_server_stop(plain);
    static const char *const names[] = {"ca.pem", "cert.pem", "key.pem"};
    for (size_t i = 0; i < 3; i++) {
        (void)unlink(fixture_text(&c.f, "%s/%s", other_directory, names[i]));
    }
    assert_int_equal(rmdir(other_directory), 0);
    identity_fixture_stop(&c);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine__a_server_that_requests_the_client_certificate_receives_it),
        harness_case(engine__a_server_that_requires_a_certificate_rejects_a_client_without_one),
        harness_case(engine__an_alert_about_the_certificate_is_reported_however_the_connection_ends),
        harness_case(engine__a_request_without_identity_never_uses_an_authenticated_connection),
        harness_case(engine__a_redirect_to_another_origin_sends_no_client_certificate),
        harness_case(engine__a_request_marked_cross_origin_sends_no_client_certificate),
        harness_case(engine__a_proxy_receives_no_client_certificate),
        harness_case(engine__a_doh_server_receives_no_client_certificate),
        harness_case(engine__an_encrypted_key_opens_only_with_its_pass_phrase),
        harness_case(engine__an_unusable_identity_fails_before_any_byte_is_sent),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
