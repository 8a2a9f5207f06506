/// Host names with several addresses: each gets its share of the time until one of them connects.
#include "fixture.h"
#include "listening.h"

#include <netcore/transfers.h>
#include <stdio.h>
#include <string.h>

/// Writes a DNS response with A records, 127.0.0.`last[i]`, or with an alias without any. libcurl queries
/// "a.example".
static size_t write_answer(uint8_t *out, const uint8_t *last, size_t count) {
    static const uint8_t question[] = {0, 0,   0x81, 0x80, 0,   1,   0,   0,   0, 0, 0, 0, 1, 'a',
                                       7, 'e', 'x',  'a',  'm', 'p', 'l', 'e', 0, 0, 1, 0, 1};
    memcpy(out, question, sizeof question);
    out[7] = (uint8_t)count;
    size_t length = sizeof question;
    for (size_t i = 0; i < count; i++) {
        const uint8_t record[] = {0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, last[i]};
        memcpy(out + length, record, sizeof record);
        length += sizeof record;
    }
    if (count == 0) {
        static const uint8_t alias[] = {0xc0, 12, 0, 5, 0, 1, 0, 0, 0, 60, 0, 4, 1, 'b', 0xc0, 14};
        out[7] = 1;
        memcpy(out + length, alias, sizeof alias);
        length += sizeof alias;
    }
    return length;
}

typedef struct names {
    fixture f; // its server listens on 127.0.0.1
    nct_server *doh;
    nc_trust *trust;
} names;

/// Starts a server, and an engine for which "a.example" has these addresses.
static void start_for(names *n, nc_address_family family, const uint8_t *last, size_t count) {
    uint8_t message[128];
    char url[64];
    nct_reply reply = {.headers = "Content-Type: application/dns-message\r\n", .body = message};
    reply.body_length = write_answer(message, last, count);
    assert_int_equal(nct_server_start(&n->doh, &(nct_server_options){.identity = NCT_TLS_VALID}), 0);
    assert_int_equal(nct_server_script(n->doh, "/dns-query", &reply), 0);
    (void)snprintf(url, sizeof url, "https://127.0.0.1:%u/dns-query", nct_server_port(n->doh));
    nc_trust_options believes = {.roots = NC_ROOTS_BYTES, .ca_pem = nc_slice_of(nct_server_ca_pem(n->doh))};
    assert_status(nc_trust_new(&n->trust, &believes, NULL), NC_OK);
    nc_engine_options options = {.trust = n->trust, .doh_url = nc_slice_of(url), .family = family};
    fixture_start_with(&n->f, NULL, &options);
    fixture_script(&n->f, "/x", (nct_reply){.body = "ok", .body_length = 2});
}

static void start(names *n, const uint8_t *last, size_t count) {
    start_for(n, NC_FAMILY_ANY, last, count);
}

static answer send_within(names *n, uint32_t connect_ms) {
    nc_request request = {.url = nc_slice_of(fixture_url_at(&n->f, "a.example", "/x")),
                          .limits.connect_ms = connect_ms};
    return fixture_send(&n->f, &request);
}

static void stop(names *n) {
    fixture_stop(&n->f);
    nc_trust_release(n->trust);
    nct_server_stop(n->doh);
}

static void engine__an_unresponsive_address_leaves_time_for_the_next(void **state) {
    names n;
    (void)state;
    start(&n, (const uint8_t[]){2, 1}, 2);
    full_listener silent = full_listener_start(0x7f000002, nct_server_port(n.f.server));
    answer one = send_within(&n, 4000);
    assert_response(one, 200, "ok");
    assert_string_equal(nc_response_hop_at(one.response, 0).remote_address, "127.0.0.1");
    full_listener_stop(&silent);
    stop(&n);
}

static void engine__a_refused_connection_falls_back_to_the_next_address(void **state) {
    names n;
    (void)state;
    start(&n, (const uint8_t[]){2, 3, 4, 1}, 4);
    assert_response(send_within(&n, 5000), 200, "ok");
    stop(&n);
}

static void engine__unresponsive_and_refusing_addresses_are_skipped(void **state) {
    names n;
    (void)state;
    start(&n, (const uint8_t[]){2, 3, 1}, 3);
    full_listener silent = full_listener_start(0x7f000002, nct_server_port(n.f.server));
    assert_response(send_within(&n, 4000), 200, "ok");
    full_listener_stop(&silent);
    stop(&n);
}

static void engine__unresponsive_addresses_end_at_the_connect_timeout(void **state) {
    names n;
    (void)state;
    start(&n, (const uint8_t[]){2, 3}, 2);
    full_listener first = full_listener_start(0x7f000002, nct_server_port(n.f.server));
    full_listener second = full_listener_start(0x7f000003, first.port);
    assert_status(send_within(&n, 500).error.status, NC_ERR_CONNECT_TIMED_OUT);
    full_listener_stop(&second);
    full_listener_stop(&first);
    stop(&n);
}

static void engine__refused_connections_to_all_addresses_fail_immediately(void **state) {
    names n;
    (void)state;
    start(&n, (const uint8_t[]){2, 3}, 2);
    assert_status(send_within(&n, 60000).error.status, NC_ERR_REFUSED);
    stop(&n);
}

static void engine__a_cname_without_an_address_is_an_unknown_host(void **state) {
    names n;
    (void)state;
    start(&n, NULL, 0);
    answer one = send_within(&n, 60000);
    assert_status(one.error.status, NC_ERR_RESOLVE);
    assert_non_null(strstr(one.error.message, "a.example"));
    stop(&n);
}

static void engine__an_ipv4_only_engine_queries_only_a_records(void **state) {
    names n;
    uint8_t query[1024];
    (void)state;
    start_for(&n, NC_FAMILY_IPV4, (const uint8_t[]){1}, 1);
    assert_response(send_within(&n, 60000), 200, "ok");
    assert_int_equal(nct_server_request_count(n.doh), 1);
    size_t length = nct_server_copy_request(n.doh, 0, query, sizeof query);
    assert_in_range(length, 5, sizeof query);
    assert_memory_equal(query + length - 4, "\0\1\0\1", 4); // A, IN
    stop(&n);
}

static void engine__addresses_of_the_other_family_are_ignored(void **state) {
    static const char *const hosts[] = {"127.0.0.1", "localhost"};
    names n;
    (void)state;
    start_for(&n, NC_FAMILY_IPV6, (const uint8_t[]){1}, 1);
    answer one = send_within(&n, 60000);
    // Since 8.20 or 8.21 libcurl reports that the name has no address.
    assert_true(one.error.status == NC_ERR_CONNECT || one.error.status == NC_ERR_RESOLVE);
    assert_non_null(strstr(one.error.message, "a.example"));
    assert_non_null(strstr(one.error.message, ", over IPv6"));
    stop(&n);
    nc_engine_options options = {.family = NC_FAMILY_IPV6};
    fixture f;
    fixture_start_with(&f, NULL, &options);
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        nc_request request = {.url = nc_slice_of(fixture_url_at(&f, hosts[i], "/x"))};
        one = fixture_send(&f, &request);
        assert_int_not_equal(one.error.status, NC_OK);
        const char *expected = fixture_text(&f, "%s:%u, over IPv6", hosts[i], nct_server_port(f.server));
        assert_non_null(strstr(one.error.message, expected));
    }
    assert_int_equal(nct_server_connection_count(f.server), 0);
    fixture_stop(&f);
}

static void engine__a_cancelled_dns_query_closes_its_doh_connection(void **state) {
    names n;
    nct_reply answers = {.headers = "Content-Type: application/dns-message\r\n"};
    uint8_t other_answer[128], local_answer[128];
    nct_reply late = answers;
    (void)state;
    start_for(&n, NC_FAMILY_IPV4, (const uint8_t[]){1}, 1);
    late.body = other_answer;
    late.body_length = write_answer(other_answer, (const uint8_t[]){2}, 1);
    late.is_cut = true;
    late.ending = NCT_STALL;
    answers.body = local_answer;
    answers.body_length = write_answer(local_answer, (const uint8_t[]){1}, 1);
    const nct_reply replies[] = {late, answers};
    assert_int_equal(nct_server_script_sequence(n.doh, "/dns-query", replies, 2), 0);
    nc_request request = {.url = nc_slice_of(fixture_url_at(&n.f, "a.example", "/x"))};
    nc_transfer_id id = fixture_submit(&n.f, &request);
    assert_true(nct_server_wait_for_stalled(n.doh, 1, FIXTURE_LIMIT_MS));
    nc_engine_cancel(n.f.engine, id);
    assert_status(fixture_wait(&n.f, id).error.status, NC_ERR_CANCELLED);
    // On the same connection the late response would belong to the next query.
    nct_server_release_stalled(n.doh);
    assert_response(fixture_send(&n.f, &request), 200, "ok");
    assert_int_equal(nct_server_connection_count(n.doh), 2);
    stop(&n);
}

static void engine__an_unknown_address_family_is_rejected(void **state) {
    nc_engine *engine = NULL;
    nc_error err;
    (void)state;
    assert_status(nc_engine_new(&engine, &(nc_engine_options){.family = (nc_address_family)5}, &err), NC_ERR_USAGE);
    assert_non_null(strstr(err.message, "family 5"));
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine__an_unresponsive_address_leaves_time_for_the_next),
        harness_case(engine__a_refused_connection_falls_back_to_the_next_address),
        harness_case(engine__unresponsive_and_refusing_addresses_are_skipped),
        harness_case(engine__unresponsive_addresses_end_at_the_connect_timeout),
        harness_case(engine__refused_connections_to_all_addresses_fail_immediately),
        harness_case(engine__a_cname_without_an_address_is_an_unknown_host),
        harness_case(engine__an_ipv4_only_engine_queries_only_a_records),
        harness_case(engine__addresses_of_the_other_family_are_ignored),
        harness_case(engine__a_cancelled_dns_query_closes_its_doh_connection),
        harness_case(engine__an_unknown_address_family_is_rejected),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
