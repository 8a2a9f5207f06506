/// The choice of HTTP/3 with a libcurl without QUIC, and without a QUIC server. Interop/test_http3*.c test HTTP/3
/// itself.
#include "fixture.h"

#include "curl/quirks.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static bool has_http3(void) {
    return nc_capabilities_query().has_http3;
}

/// Returns true if requests that do not require HTTP/3 may use it.
static bool is_http3_optional(void) {
    return has_http3() && !nc_quirk_appends_trailers();
}

/// A UDP socket on the port of a server. It receives and never responds, as if the network dropped UDP.
static int open_silent_port(const nct_server *server) {
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)nct_server_port(server)),
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

/// Reads and counts the datagrams that have arrived.
static unsigned take_datagrams(int fd) {
    char bytes[2048];
    unsigned count = 0;
    while (recv(fd, bytes, sizeof bytes, 0) >= 0) {
        count++;
    }
    return count;
}

static nc_request request_over(fixture *f, nc_http_choice choice) {
    nc_request request = fixture_request(f, "/x");
    request.http = choice;
    return request;
}

/* --- required --- */

static void http3__only_is_refused_where_it_is_impossible(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_TLS_VALID);
    const nc_proxy proxy = {.choice = NC_PROXY_URL, .url = nc_slice_of("http://127.0.0.1:1")};
    const nc_trust_options old = {
        .roots = NC_ROOTS_BYTES, .ca_pem = nc_slice_of(nct_server_ca_pem(f.server)), .max_version = NC_TLS_LIMIT_1_2};
    struct {
        nc_request request;
        const char *reason;
    } rows[4];
    for (size_t i = 0; i < 4; i++) {
        rows[i].request = request_over(&f, NC_HTTP_3_ONLY);
    }
    rows[0].request.url = nc_slice_of("http://localhost:1/");
    rows[0].reason = "an http URL";
    rows[1].request.proxy = &proxy;
    rows[1].reason = "a proxy";
    rows[2].request.unix_socket = nc_slice_of("/nonexistent");
    rows[2].reason = "a Unix socket";
    rows[3].request.trust = fixture_trust(&f, &old);
    rows[3].reason = "TLS 1.2";
    for (size_t i = 0; i < 4; i++) {
        nc_error err;
        nc_transfer_id id;
        if (!has_http3()) {
            assert_status(nc_engine_submit(f.engine, &rows[i].request, NULL, &id, &err), NC_ERR_UNSUPPORTED);
            assert_non_null(strstr(err.message, "does not support HTTP/3"));
            continue;
        }
        assert_ended(fixture_send(&f, &rows[i].request), NC_ERR_UNSUPPORTED, 0, rows[i].reason);
    }
    assert_int_equal(nct_server_connection_count(f.server), 0);
    fixture_stop(&f);
}

static void http3__only_as_the_engines_version_leaves_other_choices(void **state) {
    fixture f;
    nc_error err;
    nc_transfer_id id;
    (void)state;
    fixture_start_with(&f, NULL, &(nc_engine_options){.http = NC_HTTP_3_ONLY});
    nc_request request = fixture_request(&f, "/x");
    if (has_http3()) {
        assert_ended(fixture_send(&f, &request), NC_ERR_UNSUPPORTED, 0, "an http URL");
    } else {
        assert_status(nc_engine_submit(f.engine, &request, NULL, &id, &err), NC_ERR_UNSUPPORTED);
        assert_non_null(strstr(err.message, "does not support HTTP/3"));
    }
    fixture_script(&f, "/x", (nct_reply){.body = "tcp", .body_length = 3});
    request = request_over(&f, NC_HTTP_1_1);
    assert_response(fixture_send(&f, &request), 200, "tcp");
    fixture_stop(&f);
}

static void http3__only_never_uses_tcp(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_TLS_VALID);
    nc_request request = request_over(&f, NC_HTTP_3_ONLY);
    if (has_http3()) {
        assert_true(fixture_send(&f, &request).error.status != NC_OK); // no process listens on the UDP port
    }
    assert_int_equal(nct_server_connection_count(f.server), 0);
    fixture_stop(&f);
}

/* --- if possible --- */

static void http3__if_possible_uses_tcp_where_no_server_listens_for_quic(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_TLS_VALID);
    fixture_script(&f, "/x", (nct_reply){.body = "tcp", .body_length = 3});
    for (unsigned i = 0; i < 3; i++) {
        nc_request request = request_over(&f, NC_HTTP_3_IF_POSSIBLE);
        answer one = fixture_send(&f, &request);
        assert_response(one, 200, "tcp");
        nc_hop_metrics hop = nc_response_hop_at(one.response, 0);
        assert_int_equal(hop.http_version, NC_HTTP_VERSION_1_1);
        assert_int_equal(hop.quic_version, 0);
        assert_false(hop.used_early_data);
        assert_int_equal(hop.is_reused, i > 0);
    }
    assert_int_equal(nct_server_connection_count(f.server), 1);
    fixture_stop(&f);
}

static void http3__if_possible_is_ignored_where_quic_is_impossible(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/x", (nct_reply){.body = "plain", .body_length = 5});
    nc_request request = request_over(&f, NC_HTTP_3_IF_POSSIBLE);
    assert_response(fixture_send(&f, &request), 200, "plain");
    fixture_stop(&f);
    // A policy without TLS 1.3 allows no QUIC (RFC 9001, 4.2).
    fixture_start(&f, NCT_TLS_VALID);
    int udp = open_silent_port(f.server);
    const nc_trust_options old = {
        .roots = NC_ROOTS_BYTES, .ca_pem = nc_slice_of(nct_server_ca_pem(f.server)), .max_version = NC_TLS_LIMIT_1_2};
    fixture_script(&f, "/x", (nct_reply){.body = "old", .body_length = 3});
    request = request_over(&f, NC_HTTP_3_IF_POSSIBLE);
    request.trust = fixture_trust(&f, &old);
    answer one = fixture_send(&f, &request);
    assert_response(one, 200, "old");
    assert_string_equal(nc_response_hop_at(one.response, 0).tls_version, "TLSv1.2");
    assert_int_equal(take_datagrams(udp), 0);
    close(udp);
    fixture_stop(&f);
}

static _Atomic int64_t ahead_ns;

static int64_t shifted_realtime(void *ctx) {
    const nc_clock *system = ctx;
    return system->realtime_ns(system->ctx) + ahead_ns;
}

static uint64_t same_monotonic(void *ctx) {
    const nc_clock *system = ctx;
    return system->monotonic_ns(system->ctx);
}

static void http3__where_udp_is_dropped_quic_is_not_tried_again_for_five_minutes(void **state) {
    fixture f;
    nc_clock system = nc_clock_system();
    const nc_clock clock = {.ctx = &system, .monotonic_ns = same_monotonic, .realtime_ns = shifted_realtime};
    (void)state;
    ahead_ns = 0;
    fixture_start_with(&f, &(nct_server_options){.identity = NCT_TLS_VALID}, &(nc_engine_options){.clock = &clock});
    int udp = open_silent_port(f.server);
    fixture_script(&f, "/x", (nct_reply){.headers = "Connection: close\r\n", .body = "tcp", .body_length = 3});
    for (unsigned i = 0; i < 4; i++) {
        ahead_ns = i == 3 ? INT64_C(302000000000) : 0;
        nc_request request = request_over(&f, NC_HTTP_3_IF_POSSIBLE);
        assert_response(fixture_send(&f, &request), 200, "tcp");
        bool is_tried = take_datagrams(udp) > 0;
        assert_int_equal(is_tried, is_http3_optional() && (i == 0 || i == 3));
    }
    close(udp);
    fixture_stop(&f);
}

/// The servers of tests have TCP and UDP ports of their own, so the alternative is on another port.
static void http3__an_announced_server_that_drops_udp_is_avoided(void **state) {
    fixture f;
    nct_server *other = NULL;
    (void)state;
    assert_int_equal(nct_server_start(&other, NULL), 0);
    fixture_start_with(&f, &(nct_server_options){.identity = NCT_TLS_VALID},
                       &(nc_engine_options){.uses_alt_svc = true});
    int udp = open_silent_port(other);
    const char *fields =
        fixture_text(&f, "Connection: close\r\nAlt-Svc: h3=\"127.0.0.1:%u\"; ma=600\r\n", nct_server_port(other));
    fixture_script(&f, "/x", (nct_reply){.headers = fields, .body = "tcp", .body_length = 3});
    for (unsigned i = 0; i < 3; i++) {
        nc_request request = {.url = nc_slice_of(fixture_url_at(&f, "localhost", "/x"))};
        answer one = fixture_send(&f, &request);
        assert_response(one, 200, "tcp");
        assert_int_equal(nc_response_hop_count(one.response), 1);
        assert_int_equal(take_datagrams(udp) > 0, is_http3_optional() && i == 1);
    }
    close(udp);
    fixture_stop(&f);
    nct_server_stop(other);
}

static void http3__a_request_with_trailers_uses_http_1_1(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_TLS_VALID);
    fixture_script(&f, "/x", (nct_reply){.body = "ok", .body_length = 2});
    const nc_header trailer = {nc_slice_of("X-Sum"), nc_slice_of("1")};
    nc_request request = request_over(&f, NC_HTTP_3_IF_POSSIBLE);
    request.method = nc_slice_of("POST");
    request.body = nc_slice_of("body");
    request.trailers = (nc_trailers){.fields = &trailer, .count = 1};
    assert_response(fixture_send(&f, &request), 200, "ok");
    assert_non_null(strstr(fixture_received(&f, 0), "X-Sum: 1\r\n"));
    fixture_stop(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        harness_case(http3__only_is_refused_where_it_is_impossible),
        harness_case(http3__only_as_the_engines_version_leaves_other_choices),
        harness_case(http3__only_never_uses_tcp),
        harness_case(http3__if_possible_uses_tcp_where_no_server_listens_for_quic),
        harness_case(http3__if_possible_is_ignored_where_quic_is_impossible),
        harness_case(http3__where_udp_is_dropped_quic_is_not_tried_again_for_five_minutes),
        harness_case(http3__an_announced_server_that_drops_udp_is_avoided),
        harness_case(http3__a_request_with_trailers_uses_http_1_1),
    };
    harness_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
