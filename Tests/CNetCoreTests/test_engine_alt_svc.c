/// Alt-Svc (RFC 7838): an alternative service is used if the policy allows it, is authenticated as the origin, and is
/// dropped when it fails.
#include "fixture.h"
#include "listening.h"

#include <netcore/transfers.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct two_servers {
    fixture f; // the origin, "localhost"
    nct_server *other;
    nc_trust *trust; // both servers' authorities
} two_servers;

/// Starts an origin that advertises the other server on "/alt". Each server sends its name as the body.
static void start(two_servers *p, nct_identity identity, const nc_engine_options *options) {
    const nct_server_options origin = {.identity = NCT_TLS_VALID};
    assert_int_equal(nct_server_start(&p->other, &(nct_server_options){.identity = identity}), 0);
    assert_int_equal(nct_server_script(p->other, "*", &(nct_reply){.body = "other", .body_length = 5}), 0);
    fixture_start_with(&p->f, &origin, options);
    const char *field = fixture_text(&p->f, "Alt-Svc: h2=\"127.0.0.1:%u\"; ma=600\r\n", nct_server_port(p->other));
    fixture_script(&p->f, "*", (nct_reply){.headers = field, .body = "origin", .body_length = 6});
    const char *both = fixture_text(&p->f, "%s%s", nct_server_ca_pem(p->f.server), nct_server_ca_pem(p->other));
    nc_trust_options believes = {.roots = NC_ROOTS_BYTES, .ca_pem = nc_slice_of(both)};
    p->trust = fixture_trust(&p->f, &believes);
}

static void stop(two_servers *p) {
    fixture_stop(&p->f);
    nct_server_stop(p->other);
}

static nc_request request_of(two_servers *p) {
    nc_request request = {.url = nc_slice_of(fixture_url_at(&p->f, "localhost", "/x?y")), .trust = p->trust};
    return request;
}

static const char *received(nct_server *server, size_t index) {
    static char text[4096];
    size_t length = nct_server_copy_request(server, index, text, sizeof text - 1);
    text[length < sizeof text ? length : sizeof text - 1] = '\0';
    return text;
}

static const nc_engine_options asking = {.uses_alt_svc = true};

static void engine__alternative_services_are_used_only_if_enabled(void **state) {
    (void)state;
    for (int asks = 0; asks < 2; asks++) {
        two_servers p;
        start(&p, NCT_TLS_VALID, &(nc_engine_options){.uses_alt_svc = asks == 1});
        nc_request request = request_of(&p);
        assert_response(fixture_send(&p.f, &request), 200, "origin");
        assert_response(fixture_send(&p.f, &request), 200, asks == 1 ? "other" : "origin");
        assert_int_equal(nct_server_connection_count(p.other), asks);
        stop(&p);
    }
}

static void engine__an_alternative_service_receives_the_same_request_as_the_origin(void **state) {
    two_servers p;
    (void)state;
    start(&p, NCT_TLS_VALID, &asking);
    nc_request request = request_of(&p);
    const nc_header headers[] = {{nc_slice_of("X-First"), nc_slice_of("1")}, {nc_slice_of("X-Last"), nc_slice_of("2")}};
    request.method = nc_slice_of("POST");
    request.body = nc_slice_of("body");
    request.headers = headers;
    request.header_count = 2;
    assert_response(fixture_send(&p.f, &request), 200, "origin");
    assert_response(fixture_send(&p.f, &request), 200, "other");
    const char *text = received(p.other, 0);
    assert_non_null(strstr(text, "POST /x?y HTTP/1.1\r\n"));
    assert_non_null(strstr(text, fixture_text(&p.f, "Host: localhost:%u\r\n", nct_server_port(p.f.server))));
    assert_non_null(strstr(text, fixture_text(&p.f, "Alt-Used: 127.0.0.1:%u\r\n", nct_server_port(p.other))));
    assert_non_null(strstr(strstr(text, "X-First: 1\r\n"), "X-Last: 2\r\n"));
    assert_non_null(strstr(text, "\r\n\r\nbody"));
    assert_null(strstr(fixture_received(&p.f, 0), "Alt-Used"));
    // An explicit field of the caller is kept.
    const nc_header own = {nc_slice_of("ALT-USED"), nc_slice_of("own")};
    request.headers = &own;
    request.header_count = 1;
    assert_response(fixture_send(&p.f, &request), 200, "other");
    assert_null(strstr(received(p.other, 1), "Alt-Used"));
    assert_non_null(strstr(received(p.other, 1), "ALT-USED: own\r\n"));
    stop(&p);
}

static void engine__a_trailing_dot_does_not_change_the_alternative_service(void **state) {
    two_servers p;
    (void)state;
    start(&p, NCT_TLS_VALID, &asking);
    nc_request request = request_of(&p);
    assert_response(fixture_send(&p.f, &request), 200, "origin");
    request.url = nc_slice_of(fixture_url_at(&p.f, "localhost.", "/"));
    assert_response(fixture_send(&p.f, &request), 200, "other");
    stop(&p);
}

/// Sends three requests to the origin while the alternative service fails. It is tried once.
static void expect_the_origin(two_servers *p, uint32_t connect_ms) {
    nc_request request = request_of(p);
    request.method = nc_slice_of("POST");
    request.body = nc_slice_of("once");
    request.limits.connect_ms = connect_ms;
    for (size_t i = 0; i < 3; i++) {
        answer one = fixture_send(&p->f, &request);
        assert_response(one, 200, "origin");
        assert_int_equal(nc_response_hop_count(one.response), 1);
        assert_null(nc_response_trust_result(one.response)); // not that of the alternative service
        if (connect_ms != 0) {
            assert_true(nc_response_hop_at(one.response, 0).started_ns < (uint64_t)connect_ms * 1000000);
        }
        assert_int_equal(nct_server_request_count(p->f.server), i + 1);
    }
    assert_true(nct_server_connection_count(p->other) <= 1);
    assert_int_equal(nct_server_request_count(p->other), 0);
}

static void engine__an_alternative_service_without_the_origins_certificate_is_dropped(void **state) {
    static const nct_identity identities[] = {NCT_TLS_WRONG_NAME, NCT_TLS_UNTRUSTED, NCT_TLS_EXPIRED, NCT_TLS_GARBAGE,
                                              NCT_TLS_CLOSED,     NCT_TLS_RESET,     NCT_TLS_ALERT};
    (void)state;
    for (size_t i = 0; i < sizeof identities / sizeof *identities; i++) {
        two_servers p;
        start(&p, identities[i], &asking);
        expect_the_origin(&p, 0);
        assert_int_equal(nct_server_connection_count(p.other), 1);
        stop(&p);
    }
}

static void engine__descriptor_exhaustion_does_not_mark_an_alternative_service_as_failed(void **state) {
    struct rlimit limit;
    two_servers p;
    (void)state;
    start(&p, NCT_TLS_VALID, &asking);
    nc_request request = request_of(&p);
    assert_response(fixture_send(&p.f, &request), 200, "origin");
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &(struct rlimit){3, limit.rlim_max}), 0);
    answer one = fixture_send(&p.f, &request);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_response(one, 200, "origin"); // over the existing connection
    assert_response(fixture_send(&p.f, &request), 200, "other");
    stop(&p);
}

static void engine__a_failing_alternative_service_leaves_time_for_the_origin(void **state) {
    two_servers p;
    (void)state;
    start(&p, NCT_TLS_VALID, &asking);
    uint16_t port = nct_server_port(p.other);
    nct_server_stop(p.other);
    assert_int_equal(nct_server_start(&p.other, NULL), 0);
    expect_the_origin(&p, 0); // the alternative service refuses connections
    full_listener full = full_listener_start(0x7f000001, port);
    stop(&p);

    start(&p, NCT_TLS_STALLED, &asking);
    expect_the_origin(&p, 3000);
    assert_int_equal(nct_server_connection_count(p.other), 1);
    nct_server_release_stalled(p.other);
    stop(&p);
    full_listener_stop(&full);
}

static void engine__the_connect_timeout_covers_alternative_service_and_origin_together(void **state) {
    two_servers p;
    uint16_t port = 0;
    (void)state;
    start(&p, NCT_TLS_STALLED, &asking);
    nc_request request = request_of(&p);
    assert_response(fixture_send(&p.f, &request), 200, "origin");
    // The origin stops, and a silent server takes its port.
    port = nct_server_port(p.f.server);
    nct_server_stop(p.f.server);
    full_listener full = full_listener_start(0x7f000001, port);
    request.limits.connect_ms = 400;
    answer one = fixture_send(&p.f, &request);
    assert_status(one.error.status, NC_ERR_CONNECT_TIMED_OUT);
    assert_non_null(strstr(one.error.message, "after 400 ms"));
    full_listener_stop(&full);
    assert_int_equal(nct_server_start(&p.f.server, NULL), 0);
    nct_server_release_stalled(p.other);
    stop(&p);
}

/// The time that an alternative service took counts for the connect limit only until the origin is connected.
static void engine__the_connect_timeout_ends_when_the_origin_is_connected(void **state) {
    static const nc_header expects = {{(const uint8_t *)"Expect", 6}, {(const uint8_t *)"100-continue", 12}};
    two_servers p;
    (void)state;
    start(&p, NCT_TLS_RESET, &asking);
    nc_request request = request_of(&p);
    assert_response(fixture_send(&p.f, &request), 200, "origin");
    fixture_script(&p.f, "*", (nct_reply){.status = 417, .delay_ms = 1200});
    request.method = nc_slice_of("POST");
    request.body = nc_slice_of("body");
    request.headers = &expects;
    request.header_count = 1;
    request.limits.connect_ms = 1000;
    assert_response(fixture_send(&p.f, &request), 417, ""); // the response to a request without Expect
    assert_int_equal(nct_server_connection_count(p.other), 1);
    stop(&p);
}

static void engine__a_421_response_ends_the_use_of_an_alternative_service(void **state) {
    two_servers p;
    (void)state;
    start(&p, NCT_TLS_VALID, &asking);
    assert_int_equal(nct_server_script(p.other, "*", &(nct_reply){.status = 421}), 0);
    nc_request request = request_of(&p);
    assert_response(fixture_send(&p.f, &request), 200, "origin");
    assert_response(fixture_send(&p.f, &request), 421, "");
    assert_response(fixture_send(&p.f, &request), 200, "origin");
    assert_int_equal(nct_server_request_count(p.other), 1);
    stop(&p);
}

static void engine__connect_to_and_http_1_override_alternative_services(void **state) {
    two_servers p;
    (void)state;
    start(&p, NCT_TLS_VALID, &asking);
    nc_request request = request_of(&p);
    assert_response(fixture_send(&p.f, &request), 200, "origin");
    const nc_connect_to here = {.to_host = nc_slice_of("127.0.0.1")};
    request.connect_to = &here;
    request.connect_to_count = 1;
    assert_response(fixture_send(&p.f, &request), 200, "origin");
    request.connect_to_count = 0;
    request.http = NC_HTTP_1_0; // Alt-Svc does not apply to HTTP/1.0
    assert_response(fixture_send(&p.f, &request), 200, "origin");
    request.http = NC_HTTP_1_1;
    assert_response(fixture_send(&p.f, &request), 200, "origin");
    assert_int_equal(nct_server_connection_count(p.other), 0);
    stop(&p);
}

static void engine__alt_svc_is_ignored_without_a_verified_certificate(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        two_servers p;
        start(&p, NCT_TLS_VALID, &asking);
        nc_trust_options anybody = {
            .accepts_anything = i == 0, .accepts_invalid_chains = i == 1, .skips_name_check = i == 1};
        nc_request request = request_of(&p);
        request.trust = fixture_trust(&p.f, &anybody);
        assert_response(fixture_send(&p.f, &request), 200, "origin");
        assert_response(fixture_send(&p.f, &request), 200, "origin");
        assert_int_equal(nct_server_connection_count(p.other), 0);
        stop(&p);
    }
}

/// The entries of all handles are shared and stored. libcurl alone keeps a list per handle and rewrites the whole file.
static void engine__concurrent_alt_svc_fields_are_all_stored(void **state) {
    enum { COUNT = 8 };
    char folder[] = "/tmp/netcore-altsvc-XXXXXX";
    char path[64];
    char text[8192];
    nct_server *servers[COUNT] = {0};
    nc_transfer_id ids[COUNT];
    fixture f;
    (void)state;
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/services", folder);
    fixture_start_with(&f, &(nct_server_options){.identity = NCT_TLS_VALID},
                       &(nc_engine_options){.uses_alt_svc = true, .alt_svc_file = nc_slice_of(path)});
    for (size_t i = 0; i < COUNT; i++) {
        const nct_reply reply = {.headers = "Alt-Svc: h2=\"other.example:1\"\r\n"};
        assert_int_equal(nct_server_start(&servers[i], &(nct_server_options){.identity = NCT_TLS_VALID}), 0);
        assert_int_equal(nct_server_script(servers[i], "*", &reply), 0);
        nc_request request = {.url = nc_slice_of(fixture_url_of(&f, servers[i], "localhost", "/")),
                              .trust = fixture_trust_of(&f, servers[i])};
        ids[i] = fixture_submit(&f, &request);
    }
    for (size_t i = 0; i < COUNT; i++) {
        assert_response(fixture_wait(&f, ids[i]), 200, "");
    }
    assert_status(nc_engine_close(f.engine, FIXTURE_LIMIT_MS), NC_OK);
    f.engine = NULL;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    assert_int_equal(fclose(file), 0);
    for (size_t i = 0; i < COUNT; i++) {
        const char *line = fixture_text(&f, "h2 localhost %u h2 other.example 1 \"", nct_server_port(servers[i]));
        assert_non_null(strstr(text, line));
        nct_server_stop(servers[i]);
    }
    fixture_stop(&f);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void engine__an_alt_svc_file_outlives_its_engine_and_is_private(void **state) {
    char folder[] = "/tmp/netcore-altsvc-XXXXXX";
    char path[64];
    struct stat info;
    two_servers p;
    nc_error err;
    (void)state;
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/services", folder);
    const nc_engine_options options = {.uses_alt_svc = true, .alt_svc_file = nc_slice_of(path)};
    for (int round = 0; round < 2; round++) { // first a new file, then an existing one
        start(&p, NCT_TLS_VALID, &options);
        nc_request request = request_of(&p);
        assert_response(fixture_send(&p.f, &request), 200, "origin");
        assert_status(nc_engine_close(p.f.engine, FIXTURE_LIMIT_MS), NC_OK);
        assert_int_equal(stat(path, &info), 0);
        assert_int_equal(info.st_mode & 07777, 0600);
        assert_status(nc_engine_new(&p.f.engine, &options, &err), NC_OK);
        assert_response(fixture_send(&p.f, &request), 200, "other");
        stop(&p);
        assert_int_equal(chmod(path, 0644), 0);
    }
    nc_engine *engine = NULL;
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs("# places\nnot one of them\n", file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_status(nc_engine_new(&engine, &options, &err), NC_ERR_FILE);
    assert_non_null(strstr(err.message, "is not a valid Alt-Svc file: line 2"));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
    assert_status(nc_engine_new(&engine, &options, &err), NC_ERR_FILE); // its directory does not exist any more
    const nc_engine_options unfit = {.uses_alt_svc = true, .alt_svc_file = nc_slice_of("/tmp")};
    assert_status(nc_engine_new(&engine, &unfit, &err), NC_ERR_FILE);
    assert_non_null(strstr(err.message, "/tmp"));
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine__alternative_services_are_used_only_if_enabled),
        harness_case(engine__an_alternative_service_receives_the_same_request_as_the_origin),
        harness_case(engine__a_trailing_dot_does_not_change_the_alternative_service),
        harness_case(engine__an_alternative_service_without_the_origins_certificate_is_dropped),
        harness_case(engine__descriptor_exhaustion_does_not_mark_an_alternative_service_as_failed),
        harness_case(engine__a_failing_alternative_service_leaves_time_for_the_origin),
        harness_case(engine__the_connect_timeout_covers_alternative_service_and_origin_together),
        harness_case(engine__the_connect_timeout_ends_when_the_origin_is_connected),
        harness_case(engine__a_421_response_ends_the_use_of_an_alternative_service),
        harness_case(engine__connect_to_and_http_1_override_alternative_services),
        harness_case(engine__alt_svc_is_ignored_without_a_verified_certificate),
        harness_case(engine__concurrent_alt_svc_fields_are_all_stored),
        harness_case(engine__an_alt_svc_file_outlives_its_engine_and_is_private),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
