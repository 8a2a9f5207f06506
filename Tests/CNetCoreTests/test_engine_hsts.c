/// Strict-Transport-Security, which applies only if it is enabled.
#include "fixture.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char year[] = "Strict-Transport-Security: max-age=31536000\r\n";

static void start(fixture *f, nct_identity identity, const nc_engine_options *options) {
    const nct_server_options server = {.identity = identity,
                                       .names = "DNS:a.example,DNS:sub.a.example,DNS:b.example,"
                                                "DNS:xn--bcher-kva.example"};
    fixture_start_with(f, &server, options);
    fixture_script(f, "*", (nct_reply){.body = "ok", .body_length = 2});
    fixture_script(f, "/sts", (nct_reply){.headers = year});
    fixture_script(f, "/forget", (nct_reply){.headers = "Strict-Transport-Security: max-age=0\r\n"});
    fixture_script(f, "/all",
                   (nct_reply){.headers = "Strict-Transport-Security: max-age=31536000; includeSubDomains\r\n"});
}

static answer get(fixture *f, nc_trust *trust, const char *scheme, const char *host, const char *path) {
    const nc_connect_to here = {.to_host = nc_slice_of("127.0.0.1")};
    const char *url = fixture_text(f, "%s://%s:%u%s", scheme, host, nct_server_port(f->server), path);
    nc_request request = {.url = nc_slice_of(url), .trust = trust, .connect_to = &here, .connect_to_count = 1};
    request.limits.first_byte_ms = 3000;
    return fixture_send(f, &request);
}

/// Returns true if http was upgraded to https. The server speaks only TLS, so plain HTTP gets no response. The
/// response's URL is checked too, because libcurl 8.x may send a request for http over a TLS connection to the same
/// port.
static bool is_upgraded(fixture *f, nc_trust *trust, const char *host) {
    answer one = get(f, trust, "http", host, "/");
    bool is_answered = one.error.status == NC_OK && nc_response_status(one.response) == 200;
    nc_slice url = nc_response_url(one.response);
    return is_answered && url.length > 6 && memcmp(url.data, "https:", 6) == 0;
}

static void engine__hsts_is_applied_only_if_enabled(void **state) {
    (void)state;
    for (int asks = 0; asks < 2; asks++) {
        fixture f;
        start(&f, NCT_TLS_VALID, &(nc_engine_options){.uses_hsts = asks == 1});
        assert_false(is_upgraded(&f, NULL, "a.example"));
        assert_response(get(&f, NULL, "https", "a.example", "/sts"), 200, "");
        assert_int_equal(is_upgraded(&f, NULL, "a.example"), asks);
        assert_false(is_upgraded(&f, NULL, "b.example"));
        assert_false(is_upgraded(&f, NULL, "sub.a.example"));
        fixture_stop(&f);
    }
}

static void engine__hsts_covers_subdomains_and_expires_as_declared(void **state) {
    fixture f;
    (void)state;
    start(&f, NCT_TLS_VALID, &(nc_engine_options){.uses_hsts = true});
    assert_response(get(&f, NULL, "https", "a.example", "/all"), 200, "");
    assert_true(is_upgraded(&f, NULL, "a.example"));
    assert_true(is_upgraded(&f, NULL, "sub.a.example"));
    assert_response(get(&f, NULL, "https", "a.example", "/forget"), 200, "");
    assert_false(is_upgraded(&f, NULL, "a.example"));
    assert_false(is_upgraded(&f, NULL, "sub.a.example"));
    assert_response(get(&f, NULL, "https", "127.0.0.1", "/sts"), 200, "");
    assert_false(is_upgraded(&f, NULL, "127.0.0.1")); // RFC 6797, 8.1.1: not for addresses
    fixture_stop(&f);
}

static void engine__hsts_applies_to_every_spelling_of_a_host_regression_1(void **state) {
    static const char *const spellings[] = {"%61.example", "a%2eexample", "A%2Eexample.", "me:pw@%61.ex%61mple"};
    static const char *const international[] = {"\xef\xbd\x81.example", "a\xe3\x80\x82\x65xample",
                                                "\xef\xbc\xa1\xef\xbc\x8e\x65xample"};
    fixture f;
    (void)state;
    start(&f, NCT_TLS_VALID, &(nc_engine_options){.uses_hsts = true});
    assert_response(get(&f, NULL, "https", "a.example", "/sts"), 200, "");
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        assert_true(is_upgraded(&f, NULL, spellings[i]));
    }
    assert_false(is_upgraded(&f, NULL, "%62.example"));
    assert_response(get(&f, NULL, "https", "%62.example", "/sts"), 200, "");
    assert_true(is_upgraded(&f, NULL, "b.example"));
    bool has_idn = (curl_version_info(CURLVERSION_NOW)->features & CURL_VERSION_IDN) != 0;
    for (size_t i = 0; has_idn && i < sizeof international / sizeof *international; i++) {
        assert_true(is_upgraded(&f, NULL, international[i]));
    }
    if (has_idn) {
        assert_response(get(&f, NULL, "https", "b\xc3\xbc\x63her.example", "/sts"), 200, "");
        assert_true(is_upgraded(&f, NULL, "xn--bcher-kva.example"));
        assert_true(is_upgraded(&f, NULL, "B\xc3\x9c\x63her.example"));
    }
    fixture_stop(&f);
}

static void engine__hsts_over_plain_http_is_ignored(void **state) {
    fixture f;
    (void)state;
    start(&f, NCT_PLAIN, &(nc_engine_options){.uses_hsts = true});
    for (int i = 0; i < 2; i++) {
        assert_response(get(&f, NULL, "http", "a.example", "/sts"), 200, "");
    }
    fixture_stop(&f);
}

static void engine__an_hsts_file_outlives_its_engine(void **state) {
    char path[] = "/tmp/netcore-hsts-XXXXXX";
    (void)state;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(close(fd), 0);
    for (int round = 0; round < 2; round++) {
        fixture f;
        const nc_engine_options options = {.uses_hsts = true, .hsts_file = nc_slice_of(path)};
        start(&f, NCT_TLS_VALID, &options);
        assert_int_equal(is_upgraded(&f, NULL, "a.example"), round);
        assert_response(get(&f, NULL, "https", "a.example", "/sts"), 200, "");
        fixture_stop(&f);
    }
    assert_int_equal(unlink(path), 0);
}

static void engine__an_hsts_host_learned_in_one_pool_applies_to_all(void **state) {
    fixture f;
    (void)state;
    start(&f, NCT_TLS_VALID, &(nc_engine_options){.uses_hsts = true, .cookies = NC_COOKIES_MEMORY});
    nc_trust *other = NULL;
    const nc_trust_options strict = {
        .roots = NC_ROOTS_BYTES, .ca_pem = nc_slice_of(nct_server_ca_pem(f.server)), .min_version = NC_TLS_1_3};
    assert_status(nc_trust_new(&other, &strict, NULL), NC_OK);
    // The field applies to both policies and to an exclusive connection (`may_pause`).
    const nc_connect_to here = {.to_host = nc_slice_of("127.0.0.1")};
    const char *url = fixture_text(&f, "https://a.example:%u/sts", nct_server_port(f.server));
    nc_request request = {.url = nc_slice_of(url), .connect_to = &here, .connect_to_count = 1, .may_pause = true};
    assert_response(fixture_send(&f, &request), 200, "");
    assert_response(get(&f, other, "https", "b.example", "/sts"), 200, "");
    assert_true(is_upgraded(&f, NULL, "a.example"));
    assert_true(is_upgraded(&f, other, "a.example"));
    assert_true(is_upgraded(&f, NULL, "b.example"));
    nc_trust_release(other);
    fixture_stop(&f);
}

static void engine__hsts_is_ignored_without_a_verified_certificate(void **state) {
    static const nc_trust_options policies[] = {
        {.accepts_anything = true},
        {.accepts_invalid_chains = true, .skips_name_check = true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        fixture f;
        nc_trust *any = NULL;
        start(&f, NCT_TLS_VALID, &(nc_engine_options){.uses_hsts = true});
        assert_status(nc_trust_new(&any, &policies[i], NULL), NC_OK);
        assert_response(get(&f, any, "https", "a.example", "/sts"), 200, "");
        assert_false(is_upgraded(&f, NULL, "a.example"));
        nc_trust_release(any);
        fixture_stop(&f);
    }
}

static void engine__an_upgraded_hop_has_an_https_url(void **state) {
    fixture f;
    (void)state;
    start(&f, NCT_TLS_VALID, &(nc_engine_options){.uses_hsts = true});
    assert_response(get(&f, NULL, "https", "a.example", "/sts"), 200, "");
    answer one = get(&f, NULL, "http", "a.example", "/x?y");
    assert_response(one, 200, "ok");
    assert_int_equal(nc_response_hop_count(one.response), 1);
    assert_slice_equals(nc_response_hop_at(one.response, 0).url,
                        fixture_text(&f, "https://a.example:%u/x?y", nct_server_port(f.server)));
    fixture_stop(&f);
}

static void engine__a_redirect_to_http_of_an_hsts_host_uses_https_regression_2(void **state) {
    fixture f;
    (void)state;
    start(&f, NCT_TLS_VALID, &(nc_engine_options){.uses_hsts = true});
    unsigned port = nct_server_port(f.server);
    fixture_script(&f, "/r", (nct_reply){.location = fixture_text(&f, "http://a.example:%u/end?x", port)});
    // A redirect from https to http fails if the host has no HSTS entry. A redirect to another scheme always fails.
    assert_ended(get(&f, NULL, "https", "a.example", "/r"), NC_ERR_REDIRECT_REFUSED, 0, "a.example");
    assert_response(get(&f, NULL, "https", "a.example", "/sts"), 200, "");
    for (int i = 0; i < 2; i++) {
        const char *from = i == 0 ? "a.example" : "b.example";
        answer one = get(&f, NULL, "https", from, "/r");
        assert_response(one, 200, "ok");
        assert_int_equal(nc_response_hop_count(one.response), 2);
        assert_slice_equals(nc_response_hop_at(one.response, 1).url,
                            fixture_text(&f, "https://a.example:%u/end?x", port));
    }
    fixture_script(&f, "/ftp", (nct_reply){.location = "ftp://a.example/"});
    assert_status(get(&f, NULL, "https", "a.example", "/ftp").error.status, NC_ERR_REDIRECT_REFUSED);
    fixture_stop(&f);
}

static void engine__a_redirect_to_http_of_an_hsts_host_is_same_origin_regression_3(void **state) {
    fixture f;
    (void)state;
    start(&f, NCT_TLS_VALID, &(nc_engine_options){.uses_hsts = true});
    unsigned port = nct_server_port(f.server);
    fixture_script(&f, "/r", (nct_reply){.location = fixture_text(&f, "http://a.example:%u/end", port)});
    assert_response(get(&f, NULL, "https", "a.example", "/sts"), 200, "");
    const nc_connect_to here = {.to_host = nc_slice_of("127.0.0.1")};
    const nc_header secret = {.name = nc_slice_of("X-Secret"), .value = nc_slice_of("s")};
    static const nc_redirect_choice choices[] = {NC_REDIRECTS_FOLLOW, NC_REDIRECTS_FOLLOW_DOWNGRADE};
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        nc_request request = {.url = nc_slice_of(fixture_text(&f, "https://a.example:%u/r", port)),
                              .headers = &secret,
                              .header_count = 1,
                              .redirects = choices[i],
                              .connect_to = &here,
                              .connect_to_count = 1};
        assert_response(fixture_send(&f, &request), 200, "ok");
        assert_non_null(strstr(fixture_received(&f, 2 + 2 * i), "X-Secret: s"));
    }
    fixture_stop(&f);
}

static void engine__an_hsts_file_is_private_and_must_be_valid(void **state) {
    char path[] = "/tmp/netcore-hsts-XXXXXX";
    struct stat info;
    nc_engine *engine = NULL;
    nc_error err;
    (void)state;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(fchmod(fd, 0644), 0);
    const nc_engine_options options = {.uses_hsts = true, .hsts_file = nc_slice_of(path)};
    fixture f;
    start(&f, NCT_TLS_VALID, &options);
    assert_response(get(&f, NULL, "https", "a.example", "/sts"), 200, "");
    fixture_stop(&f);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0600);
    assert_int_equal(pwrite(fd, "not a list of hosts\n", 20, 0), 20); // the old file: replaced, not written over
    assert_status(nc_engine_new(&engine, &options, &err), NC_OK);
    assert_status(nc_engine_close(engine, 10000), NC_OK);
    assert_int_equal(close(fd), 0);
    fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    assert_int_equal(write(fd, "# hosts\nnot a list of hosts\n", 28), 28);
    assert_int_equal(close(fd), 0);
    assert_status(nc_engine_new(&engine, &options, &err), NC_ERR_FILE);
    assert_non_null(strstr(err.message, "is not a valid HSTS file: line 2"));
    assert_int_equal(unlink(path), 0);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine__hsts_is_applied_only_if_enabled),
        harness_case(engine__hsts_covers_subdomains_and_expires_as_declared),
        harness_case(engine__hsts_applies_to_every_spelling_of_a_host_regression_1),
        harness_case(engine__hsts_over_plain_http_is_ignored),
        harness_case(engine__an_hsts_file_outlives_its_engine),
        harness_case(engine__an_hsts_host_learned_in_one_pool_applies_to_all),
        harness_case(engine__hsts_is_ignored_without_a_verified_certificate),
        harness_case(engine__an_upgraded_hop_has_an_https_url),
        harness_case(engine__a_redirect_to_http_of_an_hsts_host_uses_https_regression_2),
        harness_case(engine__a_redirect_to_http_of_an_hsts_host_is_same_origin_regression_3),
        harness_case(engine__an_hsts_file_is_private_and_must_be_valid),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
