/// Protocols and routes of a request: versions, Unix sockets, host overrides, DNS over HTTPS.
#include "fixture.h"

#include <netcore/client.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* --- versions --- */

static void engine__the_protocol_is_chosen_per_request(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/v", (nct_reply){.body = "ok", .body_length = 2});
    static const nc_http_choice choices[] = {NC_HTTP_AUTO, NC_HTTP_1_0, NC_HTTP_1_1, NC_HTTP_1_0, NC_HTTP_AUTO};
    for (size_t i = 0; i < 5; i++) {
        nc_request request = fixture_request(&f, "/v");
        request.http = choices[i];
        assert_response(fixture_send(&f, &request), 200, "ok");
        const char *line = choices[i] == NC_HTTP_1_0 ? "GET /v HTTP/1.0\r\n" : "GET /v HTTP/1.1\r\n";
        assert_memory_equal(fixture_received(&f, i), line, strlen(line));
        assert_null(strstr(fixture_received(&f, i), "pgrade")); // h2c is never offered by Upgrade
    }
    nc_request request = fixture_request(&f, "/v");
    request.http = NC_HTTP_1_0;
    request.method = nc_slice_of("POST");
    request.body = nc_slice_of("a body");
    assert_response(fixture_send(&f, &request), 200, "ok");
    assert_non_null(strstr(fixture_received(&f, 5), "Content-Length: 6\r\n"));
    fixture_stop(&f);
}

static nc_pull pull_one_byte(void *ctx, nc_transfer_id id, uint8_t *bytes, size_t capacity, size_t *filled) {
    (void)ctx;
    (void)id;
    (void)capacity;
    bytes[0] = 'x';
    *filled = 1;
    return NC_PULL_END;
}

static void engine__a_body_of_unknown_length_is_rejected_with_http_1_0(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    nc_request request = fixture_request(&f, "/v");
    request.http = NC_HTTP_1_0;
    request.method = nc_slice_of("POST");
    request.body_source = (nc_body_source){.pull = pull_one_byte};
    request.body_length = NC_LENGTH_UNKNOWN;
    nc_error err;
    nc_transfer_id id;
    assert_status(nc_engine_submit(f.engine, &request, NULL, &id, &err), NC_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "HTTP/1.0"));
    assert_int_equal(nct_server_connection_count(f.server), 0);
    fixture_stop(&f);
}

static void expect_version(fixture *f, size_t index, const char *version) {
    const char *end = strstr(fixture_received(f, index), "\r\n");
    size_t length = strlen(version);
    assert_non_null(end);
    assert_memory_equal(end - length, version, length);
}

static void engine__its_http_version_applies_to_requests_without_their_own(void **state) {
    static const nct_reply replies[] = {{.status = 503}, {.body = "yes", .body_length = 3}};
    fixture f;
    nc_error err;
    nc_client *client;
    nc_call *call;
    nc_response *response;
    (void)state;
    fixture_start_with(&f, NULL, &(nc_engine_options){.http = NC_HTTP_1_0});
    fixture_script(&f, "/a", (nct_reply){.location = "/b"});
    fixture_script(&f, "/b", (nct_reply){.body = "ok", .body_length = 2});
    assert_response(fixture_get(&f, "/a"), 200, "ok");
    nc_request request = fixture_request(&f, "/a");
    request.http = NC_HTTP_1_1;
    assert_response(fixture_send(&f, &request), 200, "ok");
    nc_retry_policy policy = NC_RETRY_POLICY_INIT;
    policy.base_delay_ms = 0;
    assert_int_equal(nct_server_script_sequence(f.server, "/c", replies, 2), 0);
    assert_status(nc_client_new(&client, f.engine, &(nc_client_options){.retry = &policy}, &err), NC_OK);
    request = fixture_request(&f, "/c");
    assert_status(nc_client_send(client, &request, NULL, NULL, &call, &err), NC_OK);
    assert_status(nc_call_wait(call, FIXTURE_LIMIT_MS, &response, &err), NC_OK);
    nc_response_release(response);
    nc_call_release(call);
    assert_status(nc_client_close(client), NC_OK);
    for (size_t i = 0; i < 6; i++) {
        expect_version(&f, i, i == 2 || i == 3 ? "HTTP/1.1" : "HTTP/1.0"); // a redirect, the same with 1.1, a retry
    }
    fixture_stop(&f);
}

static void engine__its_http_version_has_the_limits_of_a_requests_version(void **state) {
    fixture f;
    nc_engine *engine;
    nc_error err;
    nc_transfer_id id;
    (void)state;
    const nc_engine_options unknown = {.http = (nc_http_choice)(NC_HTTP_3_IF_POSSIBLE + 1)};
    assert_status(nc_engine_new(&engine, &unknown, &err), NC_ERR_USAGE);
    fixture_start_with(&f, NULL, &(nc_engine_options){.http = NC_HTTP_1_0});
    nc_request request = fixture_request(&f, "/v");
    request.method = nc_slice_of("POST");
    request.body_source = (nc_body_source){.pull = pull_one_byte};
    request.body_length = NC_LENGTH_UNKNOWN;
    assert_status(nc_engine_submit(f.engine, &request, NULL, &id, &err), NC_ERR_UNSUPPORTED);
    fixture_stop(&f);
}

static void engine__http_2_prior_knowledge_fails_with_an_http_1_server(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    nc_request request = fixture_request(&f, "/v");
    request.http = NC_HTTP_2_PRIOR_KNOWLEDGE;
    answer one = fixture_send(&f, &request);
    assert_status(one.error.status, NC_ERR_HTTP2);
    assert_int_equal(nc_response_status(one.response), 0);
    fixture_stop(&f);
    // Over TLS the handshake negotiates the version, so no prior knowledge is needed.
    fixture_start(&f, NCT_TLS_VALID);
    request = fixture_request(&f, "/v");
    request.http = NC_HTTP_2_PRIOR_KNOWLEDGE;
    one = fixture_send(&f, &request);
    assert_response(one, 404, "");
    assert_int_equal(nc_response_http_version(one.response), NC_HTTP_VERSION_1_1);
    fixture_stop(&f);
}

static void engine__protocols_that_libcurl_lacks_are_rejected_at_submission(void **state) {
    const nc_capabilities has = nc_capabilities_query();
    fixture f;
    nc_error err;
    nc_transfer_id id;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    nc_request request = fixture_request(&f, "/");
    request.http = NC_HTTP_3_ONLY;
    if (!has.has_http3) {
        assert_status(nc_engine_submit(f.engine, &request, NULL, &id, &err), NC_ERR_UNSUPPORTED);
        assert_non_null(strstr(err.message, "HTTP/3"));
        assert_non_null(strstr(err.message, has.curl_version));
    }
    static const char *const schemes[] = {"ws", "wss", "WSS"};
    for (size_t i = 0; i < 3; i++) {
        request = (nc_request){.url = nc_slice_of(fixture_text(&f, "%s://127.0.0.1/", schemes[i]))};
        assert_status(nc_engine_submit(f.engine, &request, NULL, &id, &err), NC_ERR_UNSUPPORTED);
        assert_non_null(strstr(err.message, "nc_socket_open()"));
    }
    fixture_script(&f, "/ws", (nct_reply){.location = "ws://127.0.0.1/"});
    assert_status(fixture_get(&f, "/ws").error.status, NC_ERR_REDIRECT_REFUSED);
    assert_int_equal(nct_server_request_count(f.server), 1);
    fixture_stop(&f);
}

static void engine__dot_segments_are_sent_unchanged_on_request(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    for (int keeps = 0; keeps < 2; keeps++) {
        nc_request request = fixture_request(&f, "/a/./b/../c/%2e%2e/d?x=/../y");
        request.keeps_dot_segments = keeps == 1;
        (void)fixture_send(&f, &request);
    }
    (void)fixture_get(&f, "/a/../b"); // and the next request is normal
    // libcurl 8 reads %2e as a dot.
    const bool is_older = nc_capabilities_query().curl_version[0] < '8';
    const char *const lines[] = {is_older ? "GET /a/c/%2e%2e/d?x=/../y HTTP" : "GET /a/d?x=/../y HTTP",
                                 "GET /a/./b/../c/%2e%2e/d?x=/../y HTTP", "GET /b HTTP"};
    for (size_t i = 0; i < 3; i++) {
        assert_memory_equal(fixture_received(&f, i), lines[i], strlen(lines[i]));
    }
    fixture_stop(&f);
}

/* --- Unix sockets --- */

static void engine__a_unix_socket_replaces_the_host(void **state) {
    fixture f;
    nct_server *other = NULL;
    char path[64];
    (void)state;
    (void)snprintf(path, sizeof path, "/tmp/netcore-socket-%ld", (long)getpid());
    fixture_start_with(&f, &(nct_server_options){.unix_path = path}, NULL);
    assert_int_equal(nct_server_start(&other, NULL), 0);
    fixture_script(&f, "/u", (nct_reply){.body = "unix", .body_length = 4});
    fixture_script(&f, "/same", (nct_reply){.location = "/u"});
    fixture_script(&f, "/away", (nct_reply){.location = fixture_url_of(&f, other, "127.0.0.1", "/tcp")});
    assert_int_equal(nct_server_script(other, "/tcp", &(nct_reply){.body = "tcp", .body_length = 3}), 0);
    static const char *const paths[] = {"/u", "/same", "/away"};
    for (size_t i = 0; i < 3; i++) {
        nc_request request = {.url = nc_slice_of(fixture_text(&f, "http://no.such.host%s", paths[i])),
                              .unix_socket = nc_slice_of(path)};
        answer one = fixture_send(&f, &request);
        assert_response(one, 200, i < 2 ? "unix" : "tcp");
        nc_hop_metrics last = nc_response_hop_at(one.response, nc_response_hop_count(one.response) - 1);
        assert_string_equal(last.remote_address, i < 2 ? "" : "127.0.0.1");
        assert_int_equal(last.remote_port != 0, i == 2);
    }
    assert_non_null(strstr(fixture_received(&f, 0), "\r\nHost: no.such.host\r\n"));
    // Without the path the host is resolved, even if a connection is open.
    nc_request request = {.url = nc_slice_of("http://no.such.host/u")};
    assert_status(fixture_send(&f, &request).error.status, NC_ERR_RESOLVE);
    nct_server_stop(other);
    fixture_stop(&f);
}

static void engine__an_invalid_unix_socket_is_an_error(void **state) {
    char directory[] = "/tmp/netcore-unix-XXXXXX";
    char file[64];
    char deaf[64];
    char far[200] = "/tmp/";
    fixture f;
    nc_error err;
    nc_transfer_id id;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    assert_non_null(mkdtemp(directory));
    (void)snprintf(file, sizeof file, "%s/file", directory);
    (void)snprintf(deaf, sizeof deaf, "%s/deaf", directory);
    FILE *plain = fopen(file, "w");
    assert_non_null(plain);
    assert_int_equal(fclose(plain), 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", deaf);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0); // bound, but not listening
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
    const char *const paths[] = {"/tmp/netcore-no-such-socket", file, deaf, directory};
    for (size_t i = 0; i < 4; i++) {
        nc_request request = {.url = nc_slice_of("http://a.example/"), .unix_socket = nc_slice_of(paths[i])};
        answer one = fixture_send(&f, &request);
        if (one.error.status != NC_ERR_REFUSED && one.error.status != NC_ERR_CONNECT) {
            fail_msg("%s: %s, %s", paths[i], nc_status_name(one.error.status), one.error.message);
        }
        if (strstr(one.error.message, paths[i]) == NULL) {
            fail_msg("'%s' does not name %s", one.error.message, paths[i]);
        }
    }
    memset(far + 5, 'x', 150);
    nc_request request = {.url = nc_slice_of("http://a.example/"), .unix_socket = nc_slice_of(far)};
    assert_status(nc_engine_submit(f.engine, &request, NULL, &id, &err), NC_ERR_USAGE);
    assert_non_null(strstr(err.message, "longer than 107"));
    request.unix_socket = nc_slice_make("\0abstract", 9); // such names have no path
    assert_status(nc_engine_submit(f.engine, &request, NULL, &id, &err), NC_ERR_USAGE);
    assert_non_null(strstr(err.message, "contains a NUL byte"));
    (void)close(fd);
    (void)unlink(deaf);
    (void)unlink(file);
    assert_int_equal(rmdir(directory), 0);
    fixture_stop(&f);
}

/* --- host overrides --- */

static void engine__the_first_matching_connect_to_entry_applies_and_preserves_the_name(void **state) {
    fixture f;
    (void)state;
    fixture_start_with(&f, &(nct_server_options){.identity = NCT_TLS_VALID, .names = "DNS:a.example"}, NULL);
    fixture_script(&f, "/o", (nct_reply){.body = "ok", .body_length = 2});
    uint16_t port = nct_server_port(f.server);
    const nc_connect_to overrides[] = {
        {.host = nc_slice_of("b.example"), .to_host = nc_slice_of("127.0.0.9")},
        {.host = nc_slice_of("a.example"), .port = 443, .to_host = nc_slice_of("127.0.0.1"), .to_port = port},
        {.to_host = nc_slice_of("127.0.0.8")}};
    nc_request request = {.url = nc_slice_of("https://a.example/o"), .connect_to = overrides, .connect_to_count = 3};
    assert_response(fixture_send(&f, &request), 200, "ok");
    assert_non_null(strstr(fixture_received(&f, 0), "\r\nHost: a.example\r\n"));
    // The certificate must be for the requested name, not for the override's target.
    request.url = nc_slice_of("https://c.example/o");
    const nc_connect_to all = {.to_host = nc_slice_of("127.0.0.1"), .to_port = port};
    request.connect_to = &all;
    request.connect_to_count = 1;
    assert_status(fixture_send(&f, &request).error.status, NC_ERR_TLS_NAME);
    fixture_stop(&f);
}

static void engine__a_connect_to_entry_that_changes_nothing_matches_first(void **state) {
    fixture f;
    nct_server *other = NULL;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    assert_int_equal(nct_server_start(&other, NULL), 0);
    assert_int_equal(nct_server_script(other, "*", &(nct_reply){.body = "other", .body_length = 5}), 0);
    fixture_script(&f, "*", (nct_reply){.body = "own", .body_length = 3});
    uint16_t port = nct_server_port(f.server);
    const nc_slice host = nc_slice_of("127.0.0.1");
    const nc_connect_to elsewhere = {.to_host = host, .to_port = nct_server_port(other)};
    const nc_connect_to stays[] = {
        {.host = host}, {.host = host, .port = port},    {.port = port},
        {.port = 0},    {.host = host, .to_host = host}, {.port = port, .to_port = port},
    };
    for (size_t i = 0; i < sizeof stays / sizeof *stays; i++) {
        const nc_connect_to overrides[] = {stays[i], elsewhere};
        nc_request request = fixture_request(&f, "/");
        request.connect_to = overrides;
        request.connect_to_count = 2;
        assert_response(fixture_send(&f, &request), 200, "own");
        // Entries that do not match are ignored.
        request.url = nc_slice_of("http://a.example:1/");
        bool fits = stays[i].host.length == 0 && stays[i].port == 0;
        if (!fits) {
            assert_response(fixture_send(&f, &request), 200, "other");
        }
    }
    fixture_stop(&f);
    nct_server_stop(other);
}

/* --- DNS over HTTPS --- */

/// A response to any query: one A record, 127.0.0.1. It repeats libcurl's question for "a.example".
static const uint8_t dns_answer[] = {0,   0,   0x81, 0x80, 0,   1,   0,   1, 0, 0,   0, 0, 1,    'a', 7,
                                     'e', 'x', 'a',  'm',  'p', 'l', 'e', 0, 0, 1,   0, 1, 0xc0, 12,  0,
                                     1,   0,   1,    0,    0,   0,   60,  0, 4, 127, 0, 0, 1};

static void engine__dns_over_https_is_used_only_if_enabled(void **state) {
    nct_server *doh = NULL;
    char url[64];
    (void)state;
    assert_int_equal(nct_server_start(&doh, &(nct_server_options){.identity = NCT_TLS_VALID}), 0);
    const nct_reply reply = {
        .headers = "Content-Type: application/dns-message\r\n", .body = dns_answer, .body_length = sizeof dns_answer};
    assert_int_equal(nct_server_script(doh, "/dns-query", &reply), 0);
    (void)snprintf(url, sizeof url, "https://127.0.0.1:%u/dns-query", nct_server_port(doh));
    for (int asks = 0; asks < 3; asks++) {
        fixture f;
        nc_trust *trust = NULL;
        nc_trust_options believes = {.roots = NC_ROOTS_BYTES, .ca_pem = nc_slice_of(nct_server_ca_pem(doh))};
        if (asks == 2) { // an untrusted DoH server resolves no name
            believes = (nc_trust_options){0};
        }
        assert_status(nc_trust_new(&trust, &believes, NULL), NC_OK);
        nc_engine_options options = {.trust = trust, .doh_url = nc_slice_of(asks ? url : "")};
        fixture_start_with(&f, NULL, &options);
        fixture_script(&f, "/x", (nct_reply){.body = "ok", .body_length = 2});
        nc_request request = {.url = nc_slice_of(fixture_url_at(&f, "a.example", "/x"))};
        answer one = fixture_send(&f, &request);
        if (asks == 1) {
            assert_response(one, 200, "ok");
            assert_true(nct_server_request_count(doh) > 0);
            nct_server_forget(doh);
        } else if (asks == 2) {
            assert_status(one.error.status, NC_ERR_RESOLVE);
            assert_non_null(strstr(one.error.message, "a.example"));
            assert_non_null(strstr(one.error.message, fixture_text(&f, "127.0.0.1:%u", nct_server_port(doh))));
            assert_int_equal(nct_server_request_count(doh), 0);
        } else {
            assert_status(one.error.status, NC_ERR_RESOLVE);
            assert_int_equal(nct_server_connection_count(doh), 0);
        }
        fixture_stop(&f);
        nc_trust_release(trust);
    }
    nct_server_stop(doh);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine__the_protocol_is_chosen_per_request),
        harness_case(engine__a_body_of_unknown_length_is_rejected_with_http_1_0),
        harness_case(engine__its_http_version_applies_to_requests_without_their_own),
        harness_case(engine__its_http_version_has_the_limits_of_a_requests_version),
        harness_case(engine__http_2_prior_knowledge_fails_with_an_http_1_server),
        harness_case(engine__protocols_that_libcurl_lacks_are_rejected_at_submission),
        harness_case(engine__dot_segments_are_sent_unchanged_on_request),
        harness_case(engine__a_unix_socket_replaces_the_host),
        harness_case(engine__an_invalid_unix_socket_is_an_error),
        harness_case(engine__the_first_matching_connect_to_entry_applies_and_preserves_the_name),
        harness_case(engine__a_connect_to_entry_that_changes_nothing_matches_first),
        harness_case(engine__dns_over_https_is_used_only_if_enabled),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
