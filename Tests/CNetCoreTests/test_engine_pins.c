/// Pins with several hops, connections, sessions, proxies and policies. The result of one check is never used for
/// another host, policy or key.
#include "pinned.h"
#include "state/engine_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void pins__a_mismatch_lists_the_chains_pins_and_the_policys_pins(void **state) {
    pinned p;
    (void)state;
    pinned_start(&p);
    pinned_rule(&p, 0, "localhost", p.family.foreign);
    answer one = pinned_get(&p);
    assert_ended(one, NC_ERR_PIN_MISMATCH, 60, nct_test_certificate_pin(p.family.leaf));
    // The message cannot list all keys of the chain, but it lists the policy's only pin.
    assert_non_null(strstr(one.error.message, ", …, the policy "));
    assert_non_null(strstr(one.error.message, fixture_text(&p.f, " %s)", nct_test_certificate_pin(p.family.foreign))));
    assert_non_null(strstr(one.error.message, fixture_text(&p.f, "localhost:%u", nct_server_port(p.f.server))));
    const nc_trust_result *trust_result = nc_response_trust_result(one.response);
    assert_non_null(trust_result);
    assert_int_equal(trust_result->chain_count, 3);
    assert_string_equal(nc_trust_result_chain_pin(trust_result, 0), nct_test_certificate_pin(p.family.leaf));
    assert_string_equal(nc_trust_result_chain_pin(trust_result, 1), nct_test_certificate_pin(p.family.middle));
    assert_string_equal(nc_trust_result_chain_pin(trust_result, 2), nct_test_certificate_pin(p.family.root));
    assert_string_equal(nc_trust_result_chain_pin(trust_result, 3), "");
    assert_string_equal(nc_trust_result_chain_pin(trust_result, 1000), "");
    assert_int_equal(trust_result->pin_count, 1);
    assert_string_equal(nc_trust_result_pin(trust_result, 0), nct_test_certificate_pin(p.family.foreign));
    assert_string_equal(nc_trust_result_pin(trust_result, 1000), "");
    assert_int_equal(nct_server_request_count(p.f.server), 0);
    pinned_rule(&p, 0, "localhost", p.family.leaf);
    one = pinned_get(&p);
    assert_response(one, 200, "ok");
    assert_null(nc_response_trust_result(one.response));
    pinned_stop(&p);
}

static void pins__a_pooled_connection_is_reused_only_with_the_same_policy(void **state) {
    pinned p;
    (void)state;
    pinned_start(&p);
    pinned_rule(&p, 0, "localhost", p.family.leaf);
    assert_response(pinned_get(&p), 200, "ok");
    answer again = pinned_get(&p);
    assert_response(again, 200, "ok");
    assert_true(nc_response_hop_at(again.response, 0).is_reused);
    assert_int_equal(nct_server_connection_count(p.f.server), 1);
    // The policy changes between two requests, and back.
    pinned_rule(&p, 0, "localhost", p.family.foreign);
    assert_status(pinned_get(&p).error.status, NC_ERR_PIN_MISMATCH);
    assert_int_equal(nct_server_connection_count(p.f.server), 2);
    pinned_rule(&p, 0, "localhost", p.family.middle);
    assert_response(pinned_get(&p), 200, "ok");
    assert_int_equal(nct_server_connection_count(p.f.server), 3);
    pinned_rule(&p, 0, "localhost", p.family.leaf);
    assert_response(pinned_get(&p), 200, "ok");
    assert_int_equal(nct_server_connection_count(p.f.server), 3);
    pinned_stop(&p);
}

static void pins__a_tls_session_is_resumed_only_with_the_same_policy(void **state) {
    (void)state;
    for (int is_old = 0; is_old < 2; is_old++) {
        pinned p;
        pinned_start_with(&p, &(nct_server_options){.is_tls_1_2_only = is_old == 1});
        fixture_script(&p.f, "/t", (nct_reply){.body = "ok", .body_length = 2, .ending = NCT_CLOSE});
        pinned_rule(&p, 0, "localhost", p.family.leaf);
        for (size_t i = 0; i < 3; i++) {
            assert_response(pinned_get(&p), 200, "ok");
            assert_true(nct_server_wait_for_silence(p.f.server, FIXTURE_LIMIT_MS));
        }
        assert_int_equal(nct_server_resumed_count(p.f.server), 2); // the pins were checked in the full handshake
        pinned_rule(&p, 0, "localhost", p.family.foreign);
        assert_status(pinned_get(&p).error.status, NC_ERR_PIN_MISMATCH);
        assert_status(pinned_get(&p).error.status, NC_ERR_PIN_MISMATCH);
        assert_int_equal(nct_server_resumed_count(p.f.server), 2);
        assert_int_equal(nct_server_request_count(p.f.server), 3);
        pinned_stop(&p);
    }
}

/// The number of calls of a redirect callback, and how many of them it accepts.
typedef struct chooser {
    int calls;
    int allowed;
} chooser;

static bool choose(void *ctx, const nc_trust_event *event) {
    chooser *by = ctx;
    (void)event;
    return by->calls++ < by->allowed;
}

static void pins__the_observer_is_called_for_every_connection(void **state) {
    (void)state;
    for (int is_old = 0; is_old < 2; is_old++) {
        pinned p;
        chooser by = {.allowed = 2};
        pinned_start_with(&p, &(nct_server_options){.is_tls_1_2_only = is_old == 1});
        fixture_script(&p.f, "/t", (nct_reply){.body = "ok", .body_length = 2, .ending = NCT_CLOSE});
        p.options.observer = (nc_trust_observer){.ctx = &by, .decide = choose};
        for (int i = 0; i < 3; i++) {
            assert_status(pinned_get(&p).error.status, i < by.allowed ? NC_OK : NC_ERR_TLS_CERTIFICATE);
            assert_true(nct_server_wait_for_silence(p.f.server, FIXTURE_LIMIT_MS));
        }
        assert_int_equal(by.calls, 3);
        assert_int_equal(nct_server_resumed_count(p.f.server), 0);
        pinned_stop(&p);
    }
}

static void pins__two_hosts_of_one_server_are_two_connections(void **state) {
    pinned p;
    (void)state;
    pinned_start(&p);
    pinned_rule(&p, 0, "localhost", p.family.leaf);
    pinned_rule(&p, 1, "127.0.0.1", p.family.foreign);
    assert_response(pinned_get(&p), 200, "ok");
    assert_status(pinned_get_at(&p, "127.0.0.1", "/t").error.status, NC_ERR_PIN_MISMATCH);
    assert_response(pinned_get(&p), 200, "ok");
    assert_int_equal(nct_server_connection_count(p.f.server), 2);
    pinned_stop(&p);
}

static void pins__each_hop_of_a_redirect_is_checked(void **state) {
    pinned p;
    nct_server *target = NULL;
    (void)state;
    pinned_start(&p);
    const nct_server_options options = pinned_server_options(&p);
    assert_int_equal(nct_server_start(&target, &options), 0);
    assert_int_equal(nct_server_script(target, "/x", &(nct_reply){.body = "there", .body_length = 5}), 0);
    fixture_script(&p.f, "/r", (nct_reply){.location = fixture_url_of(&p.f, target, "127.0.0.1", "/x")});
    // A redirect from a pinned host to a host without pins.
    pinned_rule(&p, 0, "localhost", p.family.leaf);
    assert_response(pinned_get_at(&p, "localhost", "/r"), 200, "there");
    // A redirect to a pinned host, with a matching and a wrong pin.
    pinned_rule(&p, 1, "127.0.0.1", p.family.root);
    assert_response(pinned_get_at(&p, "localhost", "/r"), 200, "there");
    size_t before = nct_server_request_count(target);
    pinned_rule(&p, 1, "127.0.0.1", p.family.foreign);
    answer one = pinned_get_at(&p, "localhost", "/r");
    assert_status(one.error.status, NC_ERR_PIN_MISMATCH);
    assert_int_equal(nc_response_hop_count(one.response), 2);
    assert_int_equal(nct_server_request_count(target), before);
    pinned_stop(&p);
    nct_server_stop(target);
}

static void pins__a_redirect_to_http_of_a_pinned_host_is_rejected(void **state) {
    pinned p;
    nct_server *clear = NULL;
    (void)state;
    pinned_start(&p);
    assert_int_equal(nct_server_start(&clear, NULL), 0);
    assert_int_equal(nct_server_script(clear, "/x", &(nct_reply){.body = "clear", .body_length = 5}), 0);
    const char *target = fixture_url_of(&p.f, clear, "127.0.0.1", "/x");
    assert_int_equal(nct_server_script(clear, "/r", &(nct_reply){.location = target}), 0);
    fixture_script(&p.f, "/r", (nct_reply){.location = target});
    nc_request request = {.redirects = NC_REDIRECTS_FOLLOW_DOWNGRADE};
    const char *const starts[] = {fixture_url_at(&p.f, "localhost", "/r"),
                                  fixture_url_of(&p.f, clear, "localhost", "/r")};
    for (size_t i = 0; i < 2; i++) {
        request.url = nc_slice_of(starts[i]);
        pinned_rule(&p, 0, "127.0.0.1", p.family.leaf);
        request.trust = fixture_trust(&p.f, &p.options);
        answer one = fixture_send(&p.f, &request);
        assert_ended(one, NC_ERR_PLAINTEXT_REFUSED, 0, "127.0.0.1:");
        assert_int_equal(nc_response_hop_count(one.response), 2);
        pinned_rule(&p, 0, "elsewhere.example", p.family.leaf);
        request.trust = fixture_trust(&p.f, &p.options);
        assert_response(fixture_send(&p.f, &request), 200, "clear");
    }
    pinned_stop(&p);
    nct_server_stop(clear);
}

static void pins__an_engine_can_reject_all_cleartext_requests(void **state) {
    fixture f;
    (void)state;
    fixture_start_with(&f, &(nct_server_options){.identity = NCT_PLAIN},
                       &(nc_engine_options){.refuses_plaintext = true});
    fixture_script(&f, "/t", (nct_reply){.body = "ok", .body_length = 2});
    assert_ended(fixture_get(&f, "/t"), NC_ERR_PLAINTEXT_REFUSED, 0, "127.0.0.1:");
    nc_request to_ipv6 = {.url = nc_slice_of("http://[::1]:80/")};
    assert_ended(fixture_send(&f, &to_ipv6), NC_ERR_PLAINTEXT_REFUSED, 0, "[::1]:80");
    assert_int_equal(nct_server_connection_count(f.server), 0);
    fixture_stop(&f);
    fixture_start_with(&f, &(nct_server_options){.identity = NCT_TLS_VALID},
                       &(nc_engine_options){.refuses_plaintext = true});
    fixture_script(&f, "/t", (nct_reply){.body = "ok", .body_length = 2});
    assert_response(fixture_get(&f, "/t"), 200, "ok");
    fixture_stop(&f);
}

static void pins__a_host_without_an_ascii_form_is_a_bad_url(void **state) {
    static const char *const urls[] = {"http://b\xEF\xBF\xBF.test/", "http://b%EF%BF%BF.test:1/",
                                       "https://b\xEF\xBF\xBF.test/"};
    pinned p;
    (void)state;
    pinned_start(&p);
    pinned_rule(&p, 0, "localhost", p.family.leaf);
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        const nc_request request = {.url = nc_slice_of(urls[i]), .trust = fixture_trust(&p.f, &p.options)};
        answer one = fixture_send(&p.f, &request);
        assert_status(one.error.status, NC_ERR_BAD_URL);
        assert_non_null(strstr(one.error.message, ".test"));
    }
    pinned_stop(&p);
}

static void pins__a_rule_matches_its_host_in_any_case(void **state) {
    static const char *const urls[] = {"http://b\xC3\xBC\x63her.test/", "http://B%C3%9Ccher.test:1/"};
    pinned p;
    (void)state;
    if ((curl_version_info(CURLVERSION_NOW)->features & CURL_VERSION_IDN) == 0) {
        return;
    }
    pinned_start(&p);
    pinned_rule(&p, 0, "xn--bcher-kva.test", p.family.leaf);
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        const nc_request request = {.url = nc_slice_of(urls[i]), .trust = fixture_trust(&p.f, &p.options)};
        assert_status(fixture_send(&p.f, &request).error.status, NC_ERR_PLAINTEXT_REFUSED);
    }
    pinned_stop(&p);
}

static void pins__a_tunnels_origin_is_pinned_and_its_proxy_is_not(void **state) {
    static const nct_identity identities[] = {NCT_PLAIN, NCT_TLS_VALID};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        pinned p;
        nct_proxy *proxy = NULL;
        pinned_start(&p);
        assert_int_equal(nct_proxy_start(&proxy, &(nct_proxy_options){.identity = identities[i]}), 0);
        const char *scheme = identities[i] == NCT_PLAIN ? "http" : "https";
        const nc_proxy settings = {
            .choice = NC_PROXY_URL,
            .url = nc_slice_of(fixture_text(&p.f, "%s://127.0.0.1:%u", scheme, nct_proxy_port(proxy)))};
        const char *both = fixture_text(&p.f, "%s%s", nct_test_certificate_pem(p.family.root), nct_proxy_ca_pem(proxy));
        p.options.ca_pem = nc_slice_of(both);
        // The proxy is at 127.0.0.1 and does not have the pinned key.
        pinned_rule(&p, 1, "127.0.0.1", p.family.foreign);
        pinned_rule(&p, 0, "localhost", p.family.leaf);
        p.options.rule_count = 2;
        nc_request request = {.url = nc_slice_of(fixture_url_at(&p.f, "localhost", "/t")), .proxy = &settings};
        request.trust = fixture_trust(&p.f, &p.options);
        assert_response(fixture_send(&p.f, &request), 200, "ok");
        pinned_rule(&p, 0, "localhost", p.family.foreign);
        p.options.rule_count = 2;
        request.trust = fixture_trust(&p.f, &p.options);
        assert_status(fixture_send(&p.f, &request).error.status, NC_ERR_PIN_MISMATCH);
        assert_int_equal(nct_server_request_count(p.f.server), 1);
        assert_int_equal(nct_proxy_tunnel_count(proxy), 2);
        pinned_stop(&p);
        nct_proxy_stop(proxy);
    }
}

static void pins__two_engines_share_no_connections(void **state) {
    pinned p;
    nc_engine *second = NULL;
    nc_error err;
    (void)state;
    pinned_start(&p);
    assert_status(nc_engine_new(&second, NULL, &err), NC_OK);
    pinned_rule(&p, 0, "localhost", p.family.leaf);
    assert_response(pinned_get(&p), 200, "ok");
    nc_engine *first = p.f.engine;
    p.f.engine = second;
    pinned_rule(&p, 0, "localhost", p.family.foreign);
    assert_status(pinned_get(&p).error.status, NC_ERR_PIN_MISMATCH);
    pinned_rule(&p, 0, "localhost", p.family.leaf);
    assert_response(pinned_get(&p), 200, "ok");
    p.f.engine = first;
    assert_int_equal(nct_server_connection_count(p.f.server), 3);
    assert_status(nc_engine_close(second, FIXTURE_LIMIT_MS), NC_OK);
    pinned_stop(&p);
}

static void pins__without_openssl_pinned_requests_fail(void **state) {
    pinned p;
    (void)state;
    pinned_start(&p);
    p.f.engine->capabilities.has_trust_policies = false;
    pinned_rule(&p, 0, "localhost", p.family.leaf);
    assert_ended(pinned_get(&p), NC_ERR_TLS_BACKEND, 0, "no OpenSSL backend");
    p.options.accepts_anything = true;
    assert_ended(pinned_get(&p), NC_ERR_TLS_BACKEND, 0, "no OpenSSL backend");
    assert_int_equal(nct_server_connection_count(p.f.server), 0);
    pinned_stop(&p);
}

static void pins__the_environment_changes_nothing(void **state) {
    static const char *const names[] = {"SSL_CERT_FILE", "CURL_CA_BUNDLE", "SSL_CERT_DIR", "https_proxy", "HTTPS_PROXY",
                                        "all_proxy",     "ALL_PROXY",      "NETRC",        "HOME"};
    char *home = getenv("HOME") != NULL ? strdup(getenv("HOME")) : NULL;
    pinned p;
    (void)state;
    pinned_start(&p);
    char path[] = "/tmp/netcore-pins-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value =
            strstr(names[i], "_") != NULL && strcasestr(names[i], "proxy") != NULL ? "http://127.0.0.1:1" : path;
        assert_int_equal(setenv(names[i], value, 1), 0);
    }
    pinned_rule(&p, 0, "localhost", p.family.leaf);
    assert_response(pinned_get(&p), 200, "ok");
    pinned_rule(&p, 0, "localhost", p.family.foreign);
    assert_status(pinned_get(&p).error.status, NC_ERR_PIN_MISMATCH);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        unsetenv(names[i]);
    }
    if (home != NULL) {
        assert_int_equal(setenv("HOME", home, 1), 0);
        free(home);
    }
    close(fd);
    unlink(path);
    pinned_stop(&p);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(pins__a_mismatch_lists_the_chains_pins_and_the_policys_pins),
        harness_case(pins__a_pooled_connection_is_reused_only_with_the_same_policy),
        harness_case(pins__a_tls_session_is_resumed_only_with_the_same_policy),
        harness_case(pins__the_observer_is_called_for_every_connection),
        harness_case(pins__two_hosts_of_one_server_are_two_connections),
        harness_case(pins__each_hop_of_a_redirect_is_checked),
        harness_case(pins__a_redirect_to_http_of_a_pinned_host_is_rejected),
        harness_case(pins__an_engine_can_reject_all_cleartext_requests),
        harness_case(pins__a_host_without_an_ascii_form_is_a_bad_url),
        harness_case(pins__a_rule_matches_its_host_in_any_case),
        harness_case(pins__a_tunnels_origin_is_pinned_and_its_proxy_is_not),
        harness_case(pins__two_engines_share_no_connections),
        harness_case(pins__without_openssl_pinned_requests_fail),
        harness_case(pins__the_environment_changes_nothing),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
