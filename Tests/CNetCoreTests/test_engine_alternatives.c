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

typedef struct pair {
    fixture f; // the origin, "localhost"
    nct_server *other;
    nc_trust *trust; // both servers' authorities
} pair;

/// Starts an origin that advertises the other server on "/alt". Each server sends its name as the body.
static void start(pair *p, nct_identity identity, const nc_engine_options *options) {
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

static void stop(pair *p) {
    fixture_stop(&p->f);
    nct_server_stop(p->other);
}

static nc_request request_of(pair *p) {
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

static void engine__another_place_is_taken_only_where_that_is_asked_for(void **state) {
    (void)state;
    for (int asks = 0; asks < 2; asks++) {
        pair p;
        start(&p, NCT_TLS_VALID, &(nc_engine_options){.uses_alt_svc = asks == 1});
        nc_request request = request_of(&p);
        assert_answered(fixture_send(&p.f, &request), 200, "origin");
        assert_answered(fixture_send(&p.f, &request), 200, asks == 1 ? "other" : "origin");
        assert_int_equal(nct_server_connection_count(p.other), asks);
        stop(&p);
    }
}

static void engine__another_place_is_asked_as_the_origin_would_be(void **state) {
    pair p;
    (void)state;
    start(&p, NCT_TLS_VALID, &asking);
    nc_request request = request_of(&p);
    const nc_header headers[] = {{nc_slice_of("X-First"), nc_slice_of("1")}, {nc_slice_of("X-Last"), nc_slice_of("2")}};
    request.method = nc_slice_of("POST");
    request.body = nc_slice_of("body");
    request.headers = headers;
    request.header_count = 2;
    assert_answered(fixture_send(&p.f, &request), 200, "origin");
    assert_answered(fixture_send(&p.f, &request), 200, "other");
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
    assert_answered(fixture_send(&p.f, &request), 200, "other");
    assert_null(strstr(received(p.other, 1), "Alt-Used"));
    assert_non_null(strstr(received(p.other, 1), "ALT-USED: own\r\n"));
    stop(&p);
}

static void engine__another_place_is_that_of_an_absolute_name_too(void **state) {
    pair p;
    (void)state;
    start(&p, NCT_TLS_VALID, &asking);
    nc_request request = request_of(&p);
    assert_answered(fixture_send(&p.f, &request), 200, "origin");
    request.url = nc_slice_of(fixture_url_at(&p.f, "localhost.", "/"));
    assert_answered(fixture_send(&p.f, &request), 200, "other");
    stop(&p);
}

/// Sends three requests to the origin while the alternative service fails. It is tried once.
static void expect_the_origin(pair *p, uint32_t connect_ms) {
    nc_request request = request_of(p);
    request.method = nc_slice_of("POST");
    request.body = nc_slice_of("once");
    request.limits.connect_ms = connect_ms;
    for (size_t i = 0; i < 3; i++) {
        answer one = fixture_send(&p->f, &request);
        assert_answered(one, 200, "origin");
        assert_int_equal(nc_response_hop_count(one.response), 1);
        assert_null(nc_response_verdict(one.response)); // no evaluation of an alternative service's certificate
        if (connect_ms != 0) {
            assert_true(nc_response_hop_at(one.response, 0).started_ns < (uint64_t)connect_ms * 1000000);
        }
        assert_int_equal(nct_server_request_count(p->f.server), i + 1);
    }
    assert_true(nct_server_connection_count(p->other) <= 1);
    assert_int_equal(nct_server_request_count(p->other), 0);
}

static void engine__another_place_that_is_not_the_origin_is_left(void **state) {
    static const nct_identity identities[] = {NCT_TLS_WRONG_NAME, NCT_TLS_UNTRUSTED, NCT_TLS_EXPIRED, NCT_TLS_GARBAGE,
                                              NCT_TLS_CLOSED,     NCT_TLS_RESET,     NCT_TLS_ALERT};
    (void)state;
    for (size_t i = 0; i < sizeof identities / sizeof *identities; i++) {
        pair p;
        start(&p, identities[i], &asking);
        expect_the_origin(&p, 0);
        assert_int_equal(nct_server_connection_count(p.other), 1);
        stop(&p);
    }
}

static void engine__another_place_is_not_to_blame_for_descriptors_that_are_used_up(void **state) {
    struct rlimit limit;
    pair p;
    (void)state;
    start(&p, NCT_TLS_VALID, &asking);
    nc_request request = request_of(&p);
    assert_answered(fixture_send(&p.f, &request), 200, "origin");
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &(struct rlimit){3, limit.rlim_max}), 0);
    answer one = fixture_send(&p.f, &request);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_answered(one, 200, "origin"); // over the existing connection
    assert_answered(fixture_send(&p.f, &request), 200, "other");
    stop(&p);
}

static void engine__another_place_that_refuses_or_is_silent_leaves_time_for_the_origin(void **state) {
    pair p;
    (void)state;
    start(&p, NCT_TLS_VALID, &asking);
    uint16_t port = nct_server_port(p.other);
    nct_server_stop(p.other);
    assert_int_equal(nct_server_start(&p.other, NULL), 0);
    expect_the_origin(&p, 0); // connection refused
    full_listener full = full_listener_start(0x7f000001, port);
    stop(&p);

    start(&p, NCT_TLS_STALLED, &asking);
    expect_the_origin(&p, 3000);
    assert_int_equal(nct_server_connection_count(p.other), 1);
    nct_server_release_stalled(p.other);
    stop(&p);
    full_listener_stop(&full);
}

static void engine__a_limit_of_connecting_counts_for_both_places_together(void **state) {
    pair p;
    uint16_t port = 0;
    (void)state;
    start(&p, NCT_TLS_STALLED, &asking);
    nc_request request = request_of(&p);
    assert_answered(fixture_send(&p.f, &request), 200, "origin");
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

/// Time lost on an alternative service counts only for the first connection attempt.
static void engine__a_limit_of_connecting_does_not_go_on_once_the_origin_was_reached(void **state) {
    static const nc_header expects = {{(const uint8_t *)"Expect", 6}, {(const uint8_t *)"100-continue", 12}};
    pair p;
    (void)state;
    start(&p, NCT_TLS_RESET, &asking);
    nc_request request = request_of(&p);
    assert_answered(fixture_send(&p.f, &request), 200, "origin");
    fixture_script(&p.f, "*", (nct_reply){.status = 417, .delay_ms = 1200});
    request.method = nc_slice_of("POST");
    request.body = nc_slice_of("body");
    request.headers = &expects;
    request.header_count = 1;
    request.limits.connect_ms = 1000;
    assert_answered(fixture_send(&p.f, &request), 417, ""); // response to the request without the field
    assert_int_equal(nct_server_connection_count(p.other), 1);
    stop(&p);
}

static void engine__a_misdirected_request_is_the_last_to_another_place(void **state) {
    pair p;
    (void)state;
    start(&p, NCT_TLS_VALID, &asking);
    assert_int_equal(nct_server_script(p.other, "*", &(nct_reply){.status = 421}), 0);
    nc_request request = request_of(&p);
    assert_answered(fixture_send(&p.f, &request), 200, "origin");
    assert_answered(fixture_send(&p.f, &request), 421, "");
    assert_answered(fixture_send(&p.f, &request), 200, "origin");
    assert_int_equal(nct_server_request_count(p.other), 1);
    stop(&p);
}

static void engine__whoever_says_where_a_request_goes_is_obeyed(void **state) {
    pair p;
    (void)state;
    start(&p, NCT_TLS_VALID, &asking);
    nc_request request = request_of(&p);
    assert_answered(fixture_send(&p.f, &request), 200, "origin");
    const nc_connect_to here = {.to_host = nc_slice_of("127.0.0.1")};
    request.connect_to = &here;
    request.connect_to_count = 1;
    assert_answered(fixture_send(&p.f, &request), 200, "origin");
    request.connect_to_count = 0;
    request.http = NC_HTTP_1_0; // the field does not apply to it
    assert_answered(fixture_send(&p.f, &request), 200, "origin");
    request.http = NC_HTTP_1_1;
    assert_answered(fixture_send(&p.f, &request), 200, "origin");
    assert_int_equal(nct_server_connection_count(p.other), 0);
    stop(&p);
}

static void engine__what_nobody_vouches_for_says_nothing_of_other_places(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        pair p;
        start(&p, NCT_TLS_VALID, &asking);
        nc_trust_options anybody = {
            .accepts_anything = i == 0, .accepts_invalid_chains = i == 1, .skips_name_check = i == 1};
        nc_request request = request_of(&p);
        request.trust = fixture_trust(&p.f, &anybody);
        assert_answered(fixture_send(&p.f, &request), 200, "origin");
        assert_answered(fixture_send(&p.f, &request), 200, "origin");
        assert_int_equal(nct_server_connection_count(p.other), 0);
        stop(&p);
    }
}

/// All handles and the file have each handle's entries. libcurl keeps a list per handle and rewrites the whole file.
static void engine__what_requests_hear_at_once_is_all_kept(void **state) {
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
        assert_answered(fixture_wait(&f, ids[i]), 200, "");
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

static void engine__a_file_of_places_outlives_its_engine_and_is_private(void **state) {
    char folder[] = "/tmp/netcore-altsvc-XXXXXX";
    char path[64];
    struct stat info;
    pair p;
    nc_error err;
    (void)state;
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/services", folder);
    const nc_engine_options options = {.uses_alt_svc = true, .alt_svc_file = nc_slice_of(path)};
    for (int round = 0; round < 2; round++) { // first a new file, then an existing one
        start(&p, NCT_TLS_VALID, &options);
        nc_request request = request_of(&p);
        assert_answered(fixture_send(&p.f, &request), 200, "origin");
        assert_status(nc_engine_close(p.f.engine, FIXTURE_LIMIT_MS), NC_OK);
        assert_int_equal(stat(path, &info), 0);
        assert_int_equal(info.st_mode & 07777, 0600);
        assert_status(nc_engine_new(&p.f.engine, &options, &err), NC_OK);
        assert_answered(fixture_send(&p.f, &request), 200, "other");
        stop(&p);
        assert_int_equal(chmod(path, 0644), 0);
    }
    nc_engine *engine = NULL;
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs("# places\nnot one of them\n", file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_status(nc_engine_new(&engine, &options, &err), NC_ERR_FILE);
    assert_non_null(strstr(err.message, "is no Alt-Svc file: line 2"));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
    assert_status(nc_engine_new(&engine, &options, &err), NC_ERR_FILE); // its folder has gone
    const nc_engine_options unfit = {.uses_alt_svc = true, .alt_svc_file = nc_slice_of("/tmp")};
    assert_status(nc_engine_new(&engine, &unfit, &err), NC_ERR_FILE);
    assert_non_null(strstr(err.message, "/tmp"));
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine__another_place_is_taken_only_where_that_is_asked_for),
        harness_case(engine__another_place_is_asked_as_the_origin_would_be),
        harness_case(engine__another_place_is_that_of_an_absolute_name_too),
        harness_case(engine__another_place_that_is_not_the_origin_is_left),
        harness_case(engine__another_place_is_not_to_blame_for_descriptors_that_are_used_up),
        harness_case(engine__another_place_that_refuses_or_is_silent_leaves_time_for_the_origin),
        harness_case(engine__a_limit_of_connecting_counts_for_both_places_together),
        harness_case(engine__a_limit_of_connecting_does_not_go_on_once_the_origin_was_reached),
        harness_case(engine__a_misdirected_request_is_the_last_to_another_place),
        harness_case(engine__whoever_says_where_a_request_goes_is_obeyed),
        harness_case(engine__what_nobody_vouches_for_says_nothing_of_other_places),
        harness_case(engine__what_requests_hear_at_once_is_all_kept),
        harness_case(engine__a_file_of_places_outlives_its_engine_and_is_private),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
