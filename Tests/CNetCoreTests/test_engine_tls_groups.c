/// The group of a TLS key exchange: OpenSSL's preference is kept, and the metrics name the negotiated group.
#include "fixture.h"
#include "tls_peer.h"

#include <string.h>

/// The first group that OpenSSL offers by default: since 3.5 the hybrid of X25519 and ML-KEM-768.
static const char *preferred_group(void) {
    return OpenSSL_version_num() >= 0x30500000UL ? "X25519MLKEM768" : "x25519";
}

/// Serves every request. The connection stays open, or is closed if the peer's context is set.
static void serve(SSL *ssl, const tls_peer_connection *connection) {
    static const char kept[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    static const char closed[] = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi";
    const char *text = connection->peer->ctx != NULL ? closed : kept;
    char request[4096];
    while (tls_peer_read_to(ssl, request, sizeof request, "\r\n\r\n") &&
           SSL_write(ssl, text, (int)strlen(text)) == (int)strlen(text) && text != closed) {
    }
}

static nc_hop_metrics hop_of(fixture *f, const tls_peer *peer) {
    nc_request request = {.url = nc_slice_of(fixture_text(f, "https://127.0.0.1:%u/", peer->port))};
    answer one = fixture_send(f, &request);
    assert_response(one, 200, "hi");
    return nc_response_hop_at(one.response, 0);
}

static void engine__the_preferred_group_of_openssl_is_negotiated(void **state) {
    tls_peer peer = {.serve = serve, .members = "1"};
    fixture f;
    (void)state;
    fixture_start_trusting_all(&f);
    tls_peer_start(&peer);
    nc_hop_metrics first = hop_of(&f, &peer);
    assert_string_equal(first.tls_version, "TLSv1.3");
    assert_string_equal(first.tls_group, preferred_group());
    nc_hop_metrics second = hop_of(&f, &peer);
    assert_true(second.is_reused);
    assert_string_equal(second.tls_group, preferred_group());
    tls_peer_stop(&peer);
    fixture_stop(&f);
}

static void engine__the_preferred_group_is_negotiated_with_the_test_server(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_TLS_VALID);
    fixture_script(&f, "/", (nct_reply){.body = "ok", .body_length = 2});
    assert_string_equal(nc_response_hop_at(fixture_get(&f, "/").response, 0).tls_group, preferred_group());
    fixture_stop(&f);
}

static void engine__a_hop_names_the_group_that_the_server_selects(void **state) {
    // Only the first two have a key share in the client's first message; the others need a HelloRetryRequest.
    static const char *const groups[][2] = {
        {"X25519", "x25519"},   {"X25519:P-256", "x25519"}, {"P-256", "secp256r1"},    {"P-384", "secp384r1"},
        {"P-521", "secp521r1"}, {"X448", "x448"},           {"ffdhe2048", "ffdhe2048"}};
    (void)state;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        tls_peer peer = {.serve = serve, .members = "1"};
        fixture f;
        fixture_start_trusting_all(&f);
        tls_peer_start(&peer);
        assert_int_equal(SSL_CTX_set1_groups_list(peer.context, groups[i][0]), 1);
        assert_string_equal(hop_of(&f, &peer).tls_group, groups[i][1]);
        tls_peer_stop(&peer);
        fixture_stop(&f);
    }
}

static void engine__a_resumed_session_names_its_group(void **state) {
    tls_peer peer = {.serve = serve, .members = "1", .ctx = &peer};
    fixture f;
    (void)state;
    fixture_start_trusting_all(&f);
    tls_peer_start(&peer);
    for (int i = 0; i < 2; i++) {
        nc_hop_metrics hop = hop_of(&f, &peer);
        assert_false(hop.is_reused);
        assert_string_equal(hop.tls_group, preferred_group());
    }
    assert_true(SSL_CTX_sess_hits(peer.context) > 0);
    tls_peer_stop(&peer);
    fixture_stop(&f);
}

static void engine__the_hybrid_group_is_not_used_before_tls_1_3(void **state) {
    tls_peer peer = {.serve = serve, .members = "1"};
    fixture f;
    (void)state;
    fixture_start_trusting_all(&f);
    tls_peer_start(&peer);
    assert_int_equal(SSL_CTX_set_max_proto_version(peer.context, TLS1_2_VERSION), 1);
    nc_hop_metrics hop = hop_of(&f, &peer);
    assert_string_equal(hop.tls_version, "TLSv1.2");
    assert_string_equal(hop.tls_group, "x25519");
    tls_peer_stop(&peer);
    fixture_stop(&f);
}

static void engine__a_hop_without_tls_names_no_group(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/", (nct_reply){.body = "ok", .body_length = 2});
    assert_string_equal(nc_response_hop_at(fixture_get(&f, "/").response, 0).tls_group, "");
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine__the_preferred_group_of_openssl_is_negotiated),
        harness_case(engine__the_preferred_group_is_negotiated_with_the_test_server),
        harness_case(engine__a_hop_names_the_group_that_the_server_selects),
        harness_case(engine__a_resumed_session_names_its_group),
        harness_case(engine__the_hybrid_group_is_not_used_before_tls_1_3),
        harness_case(engine__a_hop_without_tls_names_no_group),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
