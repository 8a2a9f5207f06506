/// Other parts of a policy in a handshake: observers, versions, ciphers, revocation, the client certificate.
#include "pinned.h"
#include "trust/handshake.h"

#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- the observer --- */

/// An observer's result and its arguments. Used by the loop thread until the transfer ends.
typedef struct recorder {
    bool allows;
    size_t decided;
    size_t reported;
    size_t released;
    nc_status status;
    nc_status finding;
    uint32_t notes;
    uint64_t unreported;
    size_t chain_count;
    char host[64];
    uint8_t first_byte;
} recorder;

static void record(recorder *w, const nc_trust_event *event) {
    w->status = event->verdict->status;
    w->finding = event->verdict->finding;
    w->notes = event->verdict->notes;
    w->unreported = event->unreported;
    w->chain_count = event->chain_count;
    w->first_byte = event->chain_count > 0 ? event->chain[0].data[0] : 0;
    (void)snprintf(w->host, sizeof w->host, "%.*s", (int)event->host.length, (const char *)event->host.data);
}

static bool decide(void *ctx, const nc_trust_event *event) {
    recorder *w = ctx;
    record(w, event);
    w->decided++;
    return w->allows;
}

static void report(void *ctx, const nc_trust_event *event) {
    recorder *w = ctx;
    record(w, event);
    w->reported++;
}

static void count_release(void *ctx) {
    ((recorder *)ctx)->released++;
}

static void trust__an_observer_can_reject_but_not_override_by_default(void **state) {
    pinned p;
    recorder w = {.allows = false};
    (void)state;
    pinned_start(&p);
    p.options.observer = (nc_trust_observer){.ctx = &w, .decide = decide};
    answer one = pinned_get(&p);
    assert_ended(one, NC_ERR_TLS_CERTIFICATE, 60, "observer refused");
    assert_int_equal(nc_response_trust_result(one.response)->notes, NC_TRUST_FLAG_TIGHTENED);
    assert_int_equal(w.decided, 1);
    assert_status(w.status, NC_OK);
    assert_int_equal(w.chain_count, 3);
    assert_int_equal(w.first_byte, 0x30);
    assert_string_equal(w.host, "localhost");
    w.allows = true;
    assert_response(pinned_get(&p), 200, "ok");
    assert_response(pinned_get(&p), 200, "ok"); // uses the same connection, so the chain is not evaluated again
    assert_int_equal(w.decided, 2);
    pinned_rule(&p, 0, "localhost", p.family.foreign);
    assert_status(pinned_get(&p).error.status, NC_ERR_PIN_MISMATCH);
    p.options.rule_count = 0;
    assert_status(pinned_get_at(&p, "second.test", "/t").error.status, NC_ERR_TLS_NAME);
    pinned_stop(&p);
}

static void trust__an_observer_can_override_a_rejection_if_permitted(void **state) {
    pinned p;
    recorder w = {.allows = true};
    (void)state;
    pinned_start(&p);
    p.options.observer = (nc_trust_observer){.ctx = &w, .decide = decide, .report = report, .allows_override = true};
    pinned_rule(&p, 0, "localhost", p.family.foreign);
    assert_response(pinned_get(&p), 200, "ok");
    assert_int_equal(w.notes, NC_TRUST_FLAG_OVERRIDDEN);
    assert_status(w.finding, NC_ERR_PIN_MISMATCH);
    assert_int_equal(w.reported, 1); // an overridden failure is reported too
    p.options.rule_count = 0;
    p.options.ca_pem = nc_slice_of(nct_test_certificate_pem(p.family.foreign));
    assert_response(pinned_get(&p), 200, "ok");
    assert_response(pinned_get_at(&p, "second.test", "/t"), 200, "ok"); // a host that the certificate does not name
    w.allows = false;
    assert_status(pinned_get_at(&p, "third.test", "/t").error.status, NC_ERR_TLS_UNTRUSTED);
    pinned_stop(&p);
}

static void trust__repeated_rejections_are_reported_at_intervals(void **state) {
    pinned p;
    recorder w = {.reported = 0};
    (void)state;
    pinned_start(&p);
    p.options.observer = (nc_trust_observer){.ctx = &w, .report = report};
    assert_response(pinned_get(&p), 200, "ok");
    assert_int_equal(w.reported, 0);
    pinned_rule(&p, 0, "localhost", p.family.foreign);
    for (size_t i = 0; i < 5; i++) {
        assert_status(pinned_get(&p).error.status, NC_ERR_PIN_MISMATCH);
        assert_int_equal(w.reported, 1);
    }
    assert_status(w.status, NC_ERR_PIN_MISMATCH);
    assert_int_equal(w.unreported, 0);
    // Another host is evaluated separately. A rule that only reports makes another policy, which is too.
    pinned_rule(&p, 0, "127.0.0.1", p.family.foreign);
    assert_status(pinned_get_at(&p, "127.0.0.1", "/t").error.status, NC_ERR_PIN_MISMATCH);
    assert_int_equal(w.reported, 2);
    pinned_rule(&p, 0, "localhost", p.family.foreign);
    p.rules[0].reports_only = true;
    assert_response(pinned_get(&p), 200, "ok");
    assert_int_equal(w.reported, 3);
    assert_status(w.status, NC_OK);
    assert_status(w.finding, NC_ERR_PIN_MISMATCH);
    assert_int_equal(w.notes, NC_TRUST_FLAG_REPORT_ONLY);
    // Without TLS there is no chain.
    nct_server *clear = NULL;
    assert_int_equal(nct_server_start(&clear, NULL), 0);
    pinned_rule(&p, 0, "127.0.0.1", p.family.foreign);
    nc_request request = {.url = nc_slice_of(fixture_url_of(&p.f, clear, "127.0.0.1", "/")),
                          .trust = fixture_trust(&p.f, &p.options)};
    assert_status(fixture_send(&p.f, &request).error.status, NC_ERR_PLAINTEXT_REFUSED);
    assert_int_equal(w.reported, 4);
    assert_int_equal(w.chain_count, 0);
    assert_int_equal(w.notes, NC_TRUST_FLAG_PLAINTEXT);
    nct_server_stop(clear);
    pinned_stop(&p);
}

static void trust__the_observer_is_released_once_with_the_last_reference(void **state) {
    recorder w = {.released = 0};
    const nc_trust_options options = {.observer = {.ctx = &w, .release = count_release},
                                      .identity_pem = nc_slice_of("certificate")};
    nc_trust *trust = NULL;
    nc_error err;
    (void)state;
    assert_status(nc_trust_new(&trust, &options, &err), NC_OK);
    nc_trust_release(nc_trust_retain(trust));
    assert_int_equal(w.released, 0);
    nc_trust_release(trust);
    assert_int_equal(w.released, 1);
    const nc_trust_options bad = {.observer = {.ctx = &w, .release = count_release}, .roots = (nc_roots)9};
    assert_status(nc_trust_new(&trust, &bad, &err), NC_ERR_USAGE);
    assert_int_equal(w.released, 1);
}

/* --- protocols --- */

static void trust__versions_and_ciphers_are_enforced(void **state) {
    pinned p;
    (void)state;
    pinned_start(&p);
    assert_string_equal(nc_response_hop_at(pinned_get(&p).response, 0).tls_version, "TLSv1.3");
    p.options.max_version = NC_TLS_LIMIT_1_3;
    assert_string_equal(nc_response_hop_at(pinned_get(&p).response, 0).tls_version, "TLSv1.3");
    p.options.cipher_suites = nc_slice_of("TLS_CHACHA20_POLY1305_SHA256");
    assert_string_equal(nc_response_hop_at(pinned_get(&p).response, 0).tls_cipher, "TLS_CHACHA20_POLY1305_SHA256");
    p.options.max_version = NC_TLS_LIMIT_1_2;
    p.options.ciphers = nc_slice_of("ECDHE-ECDSA-AES256-GCM-SHA384");
    nc_hop_metrics hop = nc_response_hop_at(pinned_get(&p).response, 0);
    assert_string_equal(hop.tls_version, "TLSv1.2");
    assert_string_equal(hop.tls_cipher, "ECDHE-ECDSA-AES256-GCM-SHA384");
    p.options.ciphers = nc_slice_of("ECDHE-RSA-AES256-GCM-SHA384"); // impossible with the server's key
    assert_status(pinned_get(&p).error.status, NC_ERR_TLS_HANDSHAKE);
    pinned_stop(&p);
}

static void trust__aes_128_is_offered_first_by_default(void **state) {
    static const char *const orders[] = {"TLS_AES_256_GCM_SHA384:TLS_AES_128_GCM_SHA256",
                                         "TLS_CHACHA20_POLY1305_SHA256"};
    pinned p;
    (void)state;
    pinned_start(&p);
    assert_string_equal(nc_response_hop_at(pinned_get(&p).response, 0).tls_cipher, "TLS_AES_128_GCM_SHA256");
    pinned_stop(&p);
    nc_trust *trust = NULL;
    assert_status(nc_trust_new(&trust, NULL, NULL), NC_OK);
    for (size_t i = 0; i < 2; i++) {
        SSL_CTX *context = SSL_CTX_new(TLS_client_method()); // openssl.cnf may set such a list
        assert_int_equal(SSL_CTX_set_ciphersuites(context, orders[i]), 1);
        assert_true(nc_handshake_configure(context, trust));
        const SSL_CIPHER *first = sk_SSL_CIPHER_value(SSL_CTX_get_ciphers(context), 0);
        assert_memory_equal(SSL_CIPHER_get_name(first), orders[i], strlen(SSL_CIPHER_get_name(first)));
        SSL_CTX_free(context);
    }
    nc_trust_release(trust);
}

static void trust__without_alpn_http_1_is_used(void **state) {
    pinned p;
    (void)state;
    pinned_start(&p);
    p.options.skips_alpn = true;
    answer one = pinned_get(&p);
    assert_response(one, 200, "ok");
    assert_int_equal(nc_response_http_version(one.response), NC_HTTP_VERSION_1_1);
    pinned_stop(&p);
}

/* --- revocation --- */

static const char *write_file(fixture *f, const void *bytes, size_t length) {
    char *path = (char *)(uintptr_t)fixture_text(f, "/tmp/netcore-trust-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, length), (ssize_t)length);
    close(fd);
    return path;
}

static answer send_with_lists(pinned *p, const nct_test_certificate *revoked_by_root,
                              const nct_test_certificate *revoked_by_middle) {
    char *by_root = nct_test_certificate_revocation_list(p->family.root, revoked_by_root);
    char *by_middle = nct_test_certificate_revocation_list(p->family.middle, revoked_by_middle);
    const char *both = fixture_text(&p->f, "%s%s", by_root, by_middle);
    const char *path = write_file(&p->f, both, strlen(both));
    free(by_root);
    free(by_middle);
    p->options.crl_file = nc_slice_of(path);
    answer one = pinned_get(p);
    unlink(path);
    return one;
}

static void trust__a_revoked_certificate_is_refused(void **state) {
    pinned p;
    (void)state;
    pinned_start(&p);
    assert_response(send_with_lists(&p, NULL, NULL), 200, "ok");
    assert_response(send_with_lists(&p, p.family.other, p.family.other), 200, "ok");
    assert_ended(send_with_lists(&p, NULL, p.family.leaf), NC_ERR_TLS_REVOKED, 60, "was revoked");
    assert_ended(send_with_lists(&p, p.family.middle, NULL), NC_ERR_TLS_REVOKED, 60, "was revoked");
    pinned_rule(&p, 0, "localhost", p.family.leaf);
    assert_status(send_with_lists(&p, NULL, p.family.leaf).error.status, NC_ERR_TLS_REVOKED);
    // The same holds if pinned certificates are the trust anchors.
    const nc_slice root = nc_slice_of(nct_test_certificate_pem(p.family.root));
    p.rules[0] = (nc_trust_rule){
        .hosts = nc_slice_of("**"), .mode = NC_PIN_CERTIFICATE, .certificates = &root, .certificate_count = 1};
    p.options.roots = NC_ROOTS_PINNED;
    p.options.ca_pem = (nc_slice){0};
    assert_response(send_with_lists(&p, NULL, NULL), 200, "ok");
    assert_status(send_with_lists(&p, NULL, p.family.leaf).error.status, NC_ERR_TLS_REVOKED);
    pinned_stop(&p);
}

static void trust__a_missing_revocation_list_fails_closed(void **state) {
    pinned p;
    (void)state;
    pinned_start(&p);
    char *by_root = nct_test_certificate_revocation_list(p.family.root, NULL);
    const char *path = write_file(&p.f, by_root, strlen(by_root));
    free(by_root);
    p.options.crl_file = nc_slice_of(path);
    assert_ended(pinned_get(&p), NC_ERR_TLS_CERTIFICATE, 60,
                 "certificate CRL"); // the intermediate's own list is missing
    unlink(path);
    p.options.crl_file = nc_slice_of("/nonexistent/list.pem");
    assert_ended(pinned_get(&p), NC_ERR_TLS_ROOTS, 2, "cannot read the CRL file");
    const char *const texts[] = {"", "no PEM", "-----BEGIN X509 CRL-----\nAAAA\n-----END X509 CRL-----\n"};
    static const char *const parts[] = {"no revocation list in", "no revocation list in", "list 1 in"};
    for (size_t i = 0; i < 3; i++) {
        path = write_file(&p.f, texts[i], strlen(texts[i]));
        p.options.crl_file = nc_slice_of(path);
        assert_ended(pinned_get(&p), NC_ERR_TLS_ROOTS, 0, parts[i]);
        unlink(path);
    }
    assert_int_equal(nct_server_request_count(p.f.server), 0);
    pinned_stop(&p);
}

/// The staple and its expected result.
typedef struct stapled {
    const nct_test_certificate *issuer; // NULL: the staple is `text`, if any
    const nct_test_certificate *about;
    const char *text;
    bool is_revoked;
    int begins_in_days;
    nc_status status;
    const char *part;
    const nc_trust_rule *rule; // its certificates are the only anchors
} stapled;

static void send_stapled(pinned *p, const stapled *one, bool is_old) {
    size_t length = one->text != NULL ? strlen(one->text) : 0;
    void *reply = one->issuer != NULL ? nct_test_certificate_ocsp_staple(one->issuer, one->about, one->is_revoked,
                                                                         one->begins_in_days, &length)
                                      : NULL;
    const nct_server_options server = {
        .staple = reply != NULL ? reply : one->text, .staple_length = length, .is_tls_1_2_only = is_old};
    pinned_start_around(p, &server);
    p->options.requires_staple = true;
    if (one->rule != NULL) {
        p->options.roots = NC_ROOTS_PINNED;
        p->options.ca_pem = nc_slice_make(NULL, 0);
        p->options.rules = one->rule;
        p->options.rule_count = 1;
    }
    for (int i = 0; i < 2; i++) {
        answer ended = pinned_get(p);
        if (one->status == NC_OK) {
            assert_response(ended, 200, "ok");
        } else {
            assert_ended(ended, one->status, 60, one->part);
            assert_true(nc_response_trust_result(ended.response)->is_verified); // the chain was valid
            assert_int_equal(nct_server_request_count(p->f.server), 0);
        }
    }
    p->options.requires_staple = false;
    assert_response(pinned_get(p), 200, "ok");
    fixture_stop(&p->f);
    free(reply);
}

static void trust__an_ocsp_staple_is_requested_and_evaluated(void **state) {
    pinned p = {.options = {0}};
    (void)state;
    family_make(&p.family);
    const family *f = &p.family;
    const stapled cases[] = {
        {.issuer = f->middle, .about = f->leaf, .status = NC_OK},
        {.status = NC_ERR_TLS_STAPLE, .part = "stapled no OCSP response"},
        {.text = "garbage", .status = NC_ERR_TLS_STAPLE, .part = "cannot be read"},
        {.issuer = f->middle,
         .about = f->leaf,
         .is_revoked = true,
         .status = NC_ERR_TLS_REVOKED,
         .part = "according to the stapled OCSP response"},
        {.issuer = f->middle, .about = f->leaf, .begins_in_days = -3, .status = NC_ERR_TLS_STAPLE, .part = "outdated"},
        {.issuer = f->middle, .about = f->leaf, .begins_in_days = 2, .status = NC_ERR_TLS_STAPLE, .part = "outdated"},
        {.issuer = f->middle, .about = f->other, .status = NC_ERR_TLS_STAPLE, .part = "for another certificate"},
        {.issuer = f->foreign, .about = f->leaf, .status = NC_ERR_TLS_STAPLE, .part = "not signed by"},
    };
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        send_stapled(&p, &cases[i / 2], i % 2 == 1);
    }
    family_free(&p.family);
}

/// If pinned certificates are the only anchors, the staple's signer must chain to one too.
static void trust__an_ocsp_staple_is_evaluated_with_pinned_anchors(void **state) {
    pinned p = {.options = {0}};
    (void)state;
    family_make(&p.family);
    const family *f = &p.family;
    const nc_slice anchor = nc_slice_of(nct_test_certificate_pem(f->middle));
    const nc_trust_rule rule = {
        .hosts = nc_slice_of("**"), .mode = NC_PIN_CERTIFICATE, .certificates = &anchor, .certificate_count = 1};
    const stapled cases[] = {
        {.issuer = f->middle, .about = f->leaf, .status = NC_OK, .rule = &rule},
        {.issuer = f->foreign, .about = f->leaf, .status = NC_ERR_TLS_STAPLE, .part = "not signed by", .rule = &rule},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        send_stapled(&p, &cases[i], false);
    }
    family_free(&p.family);
}

/* --- the client certificate --- */

static size_t write_pass_phrase(void *ctx, char *buffer, size_t capacity) {
    const char *secret = ctx;
    size_t length = strlen(secret);
    assert_true(length <= capacity);
    memcpy(buffer, secret, length);
    return length;
}

static size_t exceed_capacity(void *ctx, char *buffer, size_t capacity) {
    (void)ctx;
    (void)buffer;
    return capacity + 1;
}

static void trust__a_pkcs12_identity_is_sent_like_a_pem_one(void **state) {
    char directory[] = "/tmp/netcore-bundle-XXXXXX";
    fixture f;
    (void)state;
    fixture_start_with(&f, &(nct_server_options){.identity = NCT_TLS_VALID, .client_check = NCT_CLIENT_REQUIRED}, NULL);
    fixture_script(&f, "/in", (nct_reply){.body = "in", .body_length = 2});
    assert_non_null(mkdtemp(directory));
    assert_int_equal(nct_server_client_identity_write(f.server, directory), 0);
    const char *path = fixture_text(&f, "%s/client.p12", directory);
    nc_trust_options options = {.roots = NC_ROOTS_BYTES,
                                .ca_pem = nc_slice_of(nct_server_ca_pem(f.server)),
                                .identity_file = nc_slice_of(path)};
    const struct {
        const char *password;
        nc_pass_phrase_fn ask;
        const char *part; // part of the message; NULL: the request succeeds
    } cases[] = {
        {"secret", NULL, NULL},     {NULL, write_pass_phrase, NULL},          {"wrong", NULL, "is wrong"},
        {NULL, NULL, "is missing"}, {"wrong", write_pass_phrase, "is wrong"}, {NULL, exceed_capacity, "is missing"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        options.identity_password = nc_slice_of(cases[i].password);
        options.identity_pass_phrase = cases[i].ask;
        options.identity_ctx = (void *)(uintptr_t) "secret";
        nc_request request = fixture_request(&f, "/in");
        request.trust = fixture_trust(&f, &options);
        answer one = fixture_send(&f, &request);
        if (cases[i].part == NULL) {
            assert_response(one, 200, "in");
        } else {
            assert_ended(one, NC_ERR_TLS_IDENTITY, 0, cases[i].part);
        }
    }
    static const char *const names[] = {"cert.pem", "key.pem", "client.p12"};
    for (size_t i = 0; i < 3; i++) {
        (void)unlink(fixture_text(&f, "%s/%s", directory, names[i]));
    }
    assert_int_equal(rmdir(directory), 0);
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(trust__an_observer_can_reject_but_not_override_by_default),
        harness_case(trust__an_observer_can_override_a_rejection_if_permitted),
        harness_case(trust__repeated_rejections_are_reported_at_intervals),
        harness_case(trust__the_observer_is_released_once_with_the_last_reference),
        harness_case(trust__versions_and_ciphers_are_enforced),
        harness_case(trust__aes_128_is_offered_first_by_default),
        harness_case(trust__without_alpn_http_1_is_used),
        harness_case(trust__a_revoked_certificate_is_refused),
        harness_case(trust__a_missing_revocation_list_fails_closed),
        harness_case(trust__an_ocsp_staple_is_requested_and_evaluated),
        harness_case(trust__an_ocsp_staple_is_evaluated_with_pinned_anchors),
        harness_case(trust__a_pkcs12_identity_is_sent_like_a_pem_one),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
