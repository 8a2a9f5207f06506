/// TLS trust of connections, and the errors of a failed evaluation.
#include "fixture.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// Sends a request to a server of one identity under the fixture's policy.
static void expect_refusal(nct_identity identity, nc_status status, int native, const char *part) {
    fixture f;
    fixture_start(&f, identity);
    fixture_script(&f, "/t", (nct_reply){.body = "ok", .body_length = 2});
    for (int i = 0; i < 2; i++) { // twice: the second attempt must not benefit from the first
        answer one = fixture_get(&f, "/t");
        assert_ended(one, status, native, part);
        assert_int_equal(nc_response_status(one.response), 0);
        nc_hop_metrics hop = nc_response_hop_at(one.response, 0);
        assert_int_equal(hop.secured_ns + hop.ready_ns + hop.sent_bytes, 0);
    }
    assert_int_equal(nct_server_request_count(f.server), 0);
    assert_false(nc_status_is_retryable(status));
    fixture_stop(&f);
}

static void engine__a_certificate_of_the_trusted_authority_is_accepted(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_TLS_VALID);
    fixture_script(&f, "/t", (nct_reply){.body = "ok", .body_length = 2});
    assert_response(fixture_get(&f, "/t"), 200, "ok");
    nc_request request = {.url = nc_slice_of(fixture_url_at(&f, "localhost", "/t"))};
    assert_response(fixture_send(&f, &request), 200, "ok");
    fixture_stop(&f);
}

static void engine__bad_certificates_each_have_their_own_status(void **state) {
    (void)state;
    expect_refusal(NCT_TLS_UNTRUSTED, NC_ERR_TLS_UNTRUSTED, CURLE_PEER_FAILED_VERIFICATION, "127.0.0.1:");
    expect_refusal(NCT_TLS_EXPIRED, NC_ERR_TLS_EXPIRED, CURLE_PEER_FAILED_VERIFICATION, "has expired");
    expect_refusal(NCT_TLS_NOT_YET_VALID, NC_ERR_TLS_NOT_YET_VALID, CURLE_PEER_FAILED_VERIFICATION, "not valid yet");
    expect_refusal(NCT_TLS_WRONG_NAME, NC_ERR_TLS_NAME, CURLE_PEER_FAILED_VERIFICATION, "for another host name");
}

static void engine__a_peer_without_tls_fails_the_handshake(void **state) {
    fixture f;
    (void)state;
    expect_refusal(NCT_TLS_GARBAGE, NC_ERR_TLS_HANDSHAKE, CURLE_SSL_CONNECT_ERROR, "handshake failed");
    // The result is the same under a policy that accepts every certificate.
    fixture_start(&f, NCT_TLS_GARBAGE);
    nc_trust_options options = {.accepts_anything = true};
    nc_request request = fixture_request(&f, "/t");
    request.url = nc_slice_of(fixture_text(&f, "https://127.0.0.1:%u/", nct_server_port(f.server)));
    request.trust = fixture_trust(&f, &options);
    assert_ended(fixture_send(&f, &request), NC_ERR_TLS_HANDSHAKE, CURLE_SSL_CONNECT_ERROR, "handshake failed");
    fixture_stop(&f);
}

static void expect_connected(answer one, uint16_t port) {
    nc_hop_metrics hop = nc_response_hop_at(one.response, 0);
    assert_int_equal(hop.connection_id, 1);
    assert_int_equal(hop.connections_opened, 1);
    assert_string_equal(hop.remote_address, "127.0.0.1");
    assert_int_equal(hop.remote_port, port);
    assert_true(hop.connected_ns >= hop.resolved_ns && hop.resolved_ns >= hop.started_ns && hop.started_ns > 0);
    assert_true(hop.connected_ns <=
                hop.ended_ns + 1000000); // the loop reads the clock for `ended_ns` once per iteration
    assert_int_equal(hop.secured_ns + hop.ready_ns + hop.first_byte_ns, 0);
}

static void engine__a_failed_handshake_reports_the_tcp_address_and_time(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_TLS_UNTRUSTED);
    nc_request request = fixture_request(&f, "/t");
    nc_trust_options system = {0};
    request.trust = fixture_trust(&f, &system);
    expect_connected(fixture_send(&f, &request), nct_server_port(f.server));
    fixture_stop(&f);
    // If the peer accepts the connection and sends nothing, the connection has not failed.
    fixture_start(&f, NCT_PLAIN);
    request = fixture_request(&f, "/t");
    request.url = nc_slice_of(fixture_text(&f, "https://127.0.0.1:%u/", nct_server_port(f.server)));
    request.limits.connect_ms = 100;
    expect_connected(fixture_send(&f, &request), nct_server_port(f.server));
    fixture_stop(&f);
}

static void engine__the_system_roots_do_not_trust_the_test_authority(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_TLS_VALID);
    nc_request request = fixture_request(&f, "/t");
    nc_trust_options system = {0};
    request.trust = fixture_trust(&f, &system);
    assert_status(fixture_send(&f, &request).error.status, NC_ERR_TLS_UNTRUSTED);
    fixture_stop(&f);
}

static void engine__accepting_anything_accepts_every_certificate(void **state) {
    static const nct_identity identities[] = {NCT_TLS_VALID, NCT_TLS_UNTRUSTED, NCT_TLS_EXPIRED, NCT_TLS_NOT_YET_VALID,
                                              NCT_TLS_WRONG_NAME};
    (void)state;
    for (size_t i = 0; i < sizeof identities / sizeof *identities; i++) {
        fixture f;
        fixture_start(&f, identities[i]);
        fixture_script(&f, "/t", (nct_reply){.body = "ok", .body_length = 2});
        nc_request request = fixture_request(&f, "/t");
        nc_trust_options options = {.accepts_anything = true};
        request.trust = fixture_trust(&f, &options);
        assert_response(fixture_send(&f, &request), 200, "ok");
        fixture_stop(&f);
    }
}

static void engine__the_minimum_tls_version_is_enforced(void **state) {
    const nct_server_options old = {.identity = NCT_TLS_VALID, .is_tls_1_2_only = true};
    fixture f;
    (void)state;
    fixture_start_with(&f, &old, NULL);
    fixture_script(&f, "/t", (nct_reply){.body = "ok", .body_length = 2});
    assert_response(fixture_get(&f, "/t"), 200, "ok");
    nc_trust_options options = {
        .roots = NC_ROOTS_BYTES, .ca_pem = nc_slice_of(nct_server_ca_pem(f.server)), .min_version = NC_TLS_1_3};
    nc_request request = fixture_request(&f, "/t");
    request.trust = fixture_trust(&f, &options);
    assert_ended(fixture_send(&f, &request), NC_ERR_TLS_HANDSHAKE, CURLE_SSL_CONNECT_ERROR, "handshake failed");
    options.accepts_anything = true;
    request.trust = fixture_trust(&f, &options);
    assert_ended(fixture_send(&f, &request), NC_ERR_TLS_HANDSHAKE, CURLE_SSL_CONNECT_ERROR, "handshake failed");
    assert_int_equal(nct_server_request_count(f.server), 1);
    fixture_stop(&f);
}

/* --- authorities --- */

static const char *write_file(fixture *f, const char *text) {
    char *path = (char *)(uintptr_t)fixture_text(f, "/tmp/netcore-ca-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    return path;
}

static answer send_with_file(fixture *f, const char *path) {
    nc_trust_options options = {.roots = NC_ROOTS_FILE, .ca_file = nc_slice_of(path)};
    nc_request request = fixture_request(f, "/t");
    request.trust = fixture_trust(f, &options);
    return fixture_send(f, &request);
}

static void engine__ca_certificates_are_read_from_a_file(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_TLS_VALID);
    fixture_script(&f, "/t", (nct_reply){.body = "ok", .body_length = 2});
    const char *pem = nct_server_ca_pem(f.server);
    const char *good = write_file(&f, fixture_text(&f, "# a comment\n%s\n%s", pem, pem));
    assert_response(send_with_file(&f, good), 200, "ok");
    unlink(good);

    const char *empty = write_file(&f, "");
    answer one = send_with_file(&f, empty);
    assert_ended(one, NC_ERR_TLS_ROOTS, 0, fixture_text(&f, "no certificate in %s", empty));
    unlink(empty);
    one = send_with_file(&f, empty);
    assert_ended(one, NC_ERR_TLS_ROOTS, ENOENT, fixture_text(&f, "cannot read the CA file '%s'", empty));

    const char *text = write_file(&f, "this is no PEM\n");
    assert_ended(send_with_file(&f, text), NC_ERR_TLS_ROOTS, 0, "no certificate in");
    unlink(text);
    const char *broken = write_file(&f, fixture_text(&f,
                                                     "%s\n-----BEGIN CERTIFICATE-----\nAAAA\n"
                                                     "-----END CERTIFICATE-----\n",
                                                     pem));
    assert_ended(send_with_file(&f, broken), NC_ERR_TLS_ROOTS, 0, "certificate 2 cannot be read");
    unlink(broken);
    assert_ended(send_with_file(&f, "/tmp"), NC_ERR_TLS_ROOTS, EISDIR, "cannot read the CA file '/tmp'");
    assert_int_equal(nct_server_request_count(f.server), 1);
    fixture_stop(&f);
}

static void engine__a_ca_file_that_appears_later_is_read(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_TLS_VALID);
    fixture_script(&f, "/t", (nct_reply){.body = "ok", .body_length = 2});
    const char *path = write_file(&f, "");
    nc_trust_options options = {.roots = NC_ROOTS_FILE, .ca_file = nc_slice_of(path)};
    nc_request request = fixture_request(&f, "/t");
    request.trust = fixture_trust(&f, &options);
    assert_status(fixture_send(&f, &request).error.status, NC_ERR_TLS_ROOTS);
    const char *full = write_file(&f, nct_server_ca_pem(f.server));
    assert_int_equal(rename(full, path), 0);
    assert_response(fixture_send(&f, &request), 200, "ok");
    unlink(path);
    fixture_stop(&f);
}

static void engine__plain_requests_need_no_ca_certificates(void **state) {
    nc_trust_options options = {.roots = NC_ROOTS_FILE, .ca_file = nc_slice_of("/nonexistent/ca.pem")};
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    nc_request request = fixture_request(&f, "/none");
    request.trust = fixture_trust(&f, &options);
    assert_response(fixture_send(&f, &request), 404, "");
    fixture_stop(&f);
}

/* --- several policies --- */

static void engine__two_policies_never_share_a_connection(void **state) {
    fixture f;
    nct_server *stranger;
    const nct_server_options tls = {.identity = NCT_TLS_VALID};
    (void)state;
    fixture_start(&f, NCT_TLS_VALID);
    assert_int_equal(nct_server_start(&stranger, &tls), 0);
    fixture_script(&f, "/t", (nct_reply){.body = "ok", .body_length = 2});
    nc_request request = fixture_request(&f, "/t");
    nc_request distrusting = request;
    distrusting.trust = fixture_trust_of(&f, stranger);
    nc_request careless = request;
    nc_trust_options options = {.accepts_anything = true};
    careless.trust = fixture_trust(&f, &options);

    assert_response(fixture_send(&f, &careless), 200, "ok");
    assert_int_equal(nct_server_connection_count(f.server), 1);
    assert_response(fixture_send(&f, &request), 200, "ok");
    assert_int_equal(nct_server_connection_count(f.server), 2);
    for (size_t i = 0; i < 3; i++) {
        // Pooled connections and sessions of another policy are not used.
        assert_status(fixture_send(&f, &distrusting).error.status, NC_ERR_TLS_UNTRUSTED);
        assert_int_equal(nct_server_connection_count(f.server), 3 + i);
        assert_response(fixture_send(&f, &request), 200, "ok");
        assert_response(fixture_send(&f, &careless), 200, "ok");
        assert_int_equal(nct_server_connection_count(f.server), 3 + i);
    }
    // An equal new policy counts as the same policy.
    request.trust = fixture_trust_of(&f, f.server);
    answer one = fixture_send(&f, &request);
    assert_response(one, 200, "ok");
    assert_true(nc_response_hop_at(one.response, 0).is_reused);
    fixture_stop(&f);
    nct_server_stop(stranger);
}

static void engine__a_redirect_uses_the_policy_of_its_request(void **state) {
    fixture f;
    nct_server *stranger;
    const nct_server_options tls = {.identity = NCT_TLS_VALID};
    (void)state;
    fixture_start(&f, NCT_TLS_VALID);
    assert_int_equal(nct_server_start(&stranger, &tls), 0);
    fixture_script(&f, "/r", (nct_reply){.location = fixture_url_of(&f, stranger, "127.0.0.1", "/x")});
    answer one = fixture_get(&f, "/r");
    assert_status(one.error.status, NC_ERR_TLS_UNTRUSTED);
    assert_int_equal(nc_response_hop_count(one.response), 2);
    assert_int_equal(nct_server_request_count(stranger), 0);
    fixture_stop(&f);
    nct_server_stop(stranger);
}

static void engine__more_policies_than_pools_all_work(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_TLS_VALID);
    fixture_script(&f, "/t", (nct_reply){.body = "ok", .body_length = 2});
    for (size_t i = 0; i < 40; i++) {
        const char *pem = fixture_text(&f, "# %zu\n%s", i % 20, nct_server_ca_pem(f.server));
        nc_trust_options options = {.roots = NC_ROOTS_BYTES, .ca_pem = nc_slice_of(pem)};
        nc_request request = fixture_request(&f, "/t");
        request.trust = fixture_trust(&f, &options);
        assert_response(fixture_send(&f, &request), 200, "ok");
    }
    fixture_stop(&f);
}

/* --- the environment --- */

static char key_log[] = "/tmp/netcore-keys-XXXXXX";

/// Before the first engine: libcurl reads SSLKEYLOGFILE once per process.
static int set_key_log(void **state) {
    (void)state;
    int fd = mkstemp(key_log);
    return fd < 0 || close(fd) != 0 || setenv("SSLKEYLOGFILE", key_log, 1) != 0 ? -1 : 0;
}

static int remove_key_log(void **state) {
    (void)state;
    return unlink(key_log);
}

static void engine__the_environment_changes_nothing(void **state) {
    static const char *const names[] = {"SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE", "http_proxy", "HTTP_PROXY",
                                        "https_proxy",   "HTTPS_PROXY",  "all_proxy",      "ALL_PROXY"};
    (void)state;
    for (int is_secure = 0; is_secure < 2; is_secure++) {
        fixture f;
        fixture_start(&f, is_secure ? NCT_TLS_VALID : NCT_PLAIN);
        fixture_script(&f, "/t", (nct_reply){.body = "ok", .body_length = 2});
        const char *ca = write_file(&f, nct_server_ca_pem(f.server));
        for (size_t i = 0; i < 9; i++) {
            assert_int_equal(setenv(names[i], i < 3 ? ca : "http://127.0.0.1:1", 1), 0);
        }
        assert_response(fixture_get(&f, "/t"), 200, "ok");
        nc_trust_options system = {0};
        nc_request request = fixture_request(&f, "/t");
        request.trust = fixture_trust(&f, &system);
        answer one = fixture_send(&f, &request);
        assert_status(one.error.status, is_secure ? NC_ERR_TLS_UNTRUSTED : NC_OK);
        for (size_t i = 0; i < 9; i++) {
            unsetenv(names[i]);
        }
        unlink(ca);
        fixture_stop(&f);
    }
    FILE *written = fopen(key_log, "r");
    assert_non_null(written);
    assert_int_equal(fgetc(written), EOF);
    (void)fclose(written);
}

/// RFC 9112, section 9.8: an attacker could close the connection and so truncate a body without another end.
static void engine__a_body_that_ends_without_close_notify_is_truncated_regression_1(void **state) {
    static const char reply[] = "HTTP/1.1 200 OK\r\nX-Length: none\r\n\r\nabcdef";
    static const size_t cuts[] = {sizeof reply - 7, sizeof reply - 4, sizeof reply - 1};
    (void)state;
    for (int is_old = 0; is_old < 2; is_old++) {
        fixture f;
        const nct_server_options server = {.identity = NCT_TLS_VALID, .is_tls_1_2_only = is_old != 0};
        nct_reply scripted = {.is_raw = true, .body = reply, .body_length = sizeof reply - 1, .is_cut = true};
        fixture_start_with(&f, &server, NULL);
        for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
            scripted.cut_after = cuts[i];
            scripted.ending = NCT_TRUNCATE;
            fixture_script(&f, "/t", scripted);
            answer cut = fixture_get(&f, "/t");
            assert_ended(cut, NC_ERR_CUT_SHORT, CURLE_PARTIAL_FILE, "without close_notify");
            assert_true(nc_response_body(cut.response).length <= 6);
        }
        scripted.ending = NCT_CLOSE;
        fixture_script(&f, "/t", scripted);
        answer whole = fixture_get(&f, "/t");
        assert_response(whole, 200, "abcdef");
        assert_true(nc_response_is_close_delimited(whole.response));
        // A body with a length does not need it.
        fixture_script(&f, "/l", (nct_reply){.body = "abc", .body_length = 3, .ending = NCT_TRUNCATE});
        assert_response(fixture_get(&f, "/l"), 200, "abc");
        fixture_stop(&f);
    }
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine__a_certificate_of_the_trusted_authority_is_accepted),
        harness_case(engine__bad_certificates_each_have_their_own_status),
        harness_case(engine__a_peer_without_tls_fails_the_handshake),
        harness_case(engine__a_failed_handshake_reports_the_tcp_address_and_time),
        harness_case(engine__the_system_roots_do_not_trust_the_test_authority),
        harness_case(engine__accepting_anything_accepts_every_certificate),
        harness_case(engine__the_minimum_tls_version_is_enforced),
        harness_case(engine__ca_certificates_are_read_from_a_file),
        harness_case(engine__a_ca_file_that_appears_later_is_read),
        harness_case(engine__plain_requests_need_no_ca_certificates),
        harness_case(engine__two_policies_never_share_a_connection),
        harness_case(engine__a_redirect_uses_the_policy_of_its_request),
        harness_case(engine__more_policies_than_pools_all_work),
        harness_case(engine__the_environment_changes_nothing),
        harness_case(engine__a_body_that_ends_without_close_notify_is_truncated_regression_1),
    };
    return cmocka_run_group_tests(cases, set_key_log, remove_key_log);
}
