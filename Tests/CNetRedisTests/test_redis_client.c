/// A client and one server: commands, replies, pipelines, databases, users, Unix sockets, TLS.
#include "redis_server.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static void redis__replies_have_the_types_of_the_protocol(void **state) {
    (void)state;
    nc_redis *client = redis_open(&redis_group_server, NULL, NULL);
    assert_string_equal(redis_ask(client, "SET key value"), "OK");
    assert_string_equal(redis_ask(client, "GET key"), "value");
    assert_string_equal(redis_ask(client, "GET absent"), "(nil)");
    assert_string_equal(redis_ask(client, "INCR number"), ":1");
    assert_string_equal(redis_ask(client, "RPUSH list a b c"), ":3");
    assert_string_equal(redis_ask(client, "LRANGE list 0 -1"), "[a,b,c]");
    assert_string_equal(redis_ask(client, "LRANGE absent 0 -1"), "[]");
    assert_string_equal(redis_ask(client, "MGET key absent key"), "[value,(nil),value]");
    assert_string_equal(redis_ask(client, "EVAL return{1,{'x',{false}}} 0"), "[:1,[x,[(nil)]]]");
    assert_string_equal(redis_ask(client, "INCR key"), "-ERR value is not an integer or out of range");
    nc_redis_close(client);
}

static void redis__words_may_contain_any_byte_and_be_empty(void **state) {
    (void)state;
    nc_redis *client = redis_open(&redis_group_server, NULL, NULL);
    const nc_slice setting[] = {nc_slice_of("SET"), nc_slice_of(""), nc_slice_make("\r\n\0$3", 5)};
    const nc_slice getting[] = {nc_slice_of("GET"), nc_slice_make(NULL, 0)};
    nc_redis_reply *reply = NULL;
    assert_status(
        nc_redis_call(client, &(nc_redis_command){.arguments = setting, .count = 3, .timeout_ms = 10000}, &reply, NULL),
        NC_OK);
    nc_redis_reply_free(reply);
    assert_status(
        nc_redis_call(client, &(nc_redis_command){.arguments = getting, .count = 2, .timeout_ms = 10000}, &reply, NULL),
        NC_OK);
    assert_int_equal(reply->bytes.length, 5);
    assert_memory_equal(reply->bytes.data, "\r\n\0$3", 6);
    nc_redis_reply_free(reply);
    nc_redis_close(client);
}

typedef struct pipeline {
    atomic_uint replies;
    unsigned out_of_order;
    atomic_uint failures;
} pipeline;

static void count_reply(void *ctx, nc_redis_reply *reply, const nc_error *err) {
    pipeline *sent = ctx;
    unsigned position = atomic_fetch_add(&sent->replies, 1);
    if (err->status != NC_OK) {
        (void)atomic_fetch_add(&sent->failures, 1);
    } else if (reply->integer != (int64_t)position + 1) {
        sent->out_of_order++;
    }
}

static void redis__a_pipeline_of_100_000_commands_is_answered_in_order(void **state) {
    (void)state;
    pipeline sent = {0};
    nc_redis *client = redis_open(&redis_group_server, NULL, NULL);
    const nc_slice words[] = {nc_slice_of("INCR"), nc_slice_of("pipelined")};
    const nc_redis_command command = {
        .arguments = words, .count = 2, .timeout_ms = 60000, .on_reply = count_reply, .ctx = &sent};
    for (int i = 0; i < 100000; i++) {
        assert_status(nc_redis_send(client, &command, NULL), NC_OK);
    }
    assert_string_equal(redis_ask_within(client, "GET pipelined", 60000), "100000");
    assert_int_equal(atomic_load(&sent.replies), 100000);
    assert_int_equal(atomic_load(&sent.failures), 0);
    assert_int_equal(sent.out_of_order, 0);
    nc_redis_close(client);
}

static void redis__a_large_value_goes_both_ways(void **state) {
    (void)state;
    enum { VALUE_BYTES = 20 << 20 };
    nc_redis *client = redis_open(&redis_group_server, NULL, NULL);
    char *value = test_malloc(VALUE_BYTES);
    for (size_t i = 0; i < VALUE_BYTES; i++) {
        value[i] = (char)('a' + i % 26);
    }
    const nc_slice words[] = {nc_slice_of("SET"), nc_slice_of("large"), nc_slice_make(value, VALUE_BYTES)};
    nc_redis_reply *reply = NULL;
    assert_status(
        nc_redis_call(client, &(nc_redis_command){.arguments = words, .count = 3, .timeout_ms = 30000}, &reply, NULL),
        NC_OK);
    nc_redis_reply_free(reply);
    const nc_slice getting[] = {nc_slice_of("GET"), nc_slice_of("large")};
    assert_status(
        nc_redis_call(client, &(nc_redis_command){.arguments = getting, .count = 2, .timeout_ms = 30000}, &reply, NULL),
        NC_OK);
    assert_int_equal(reply->bytes.length, VALUE_BYTES);
    assert_true(harness_is_pattern(reply->bytes, VALUE_BYTES));
    nc_redis_reply_free(reply);
    test_free(value);
    nc_redis_close(client);
}

static void redis__a_database_is_selected_by_the_url_or_the_field(void **state) {
    (void)state;
    char url[64];
    (void)snprintf(url, sizeof url, "redis://127.0.0.1:%u/3", (unsigned)redis_group_server.port);
    nc_redis *third = redis_open(&redis_group_server, url, NULL);
    nc_redis *also_third = redis_open(&redis_group_server, NULL, &(nc_redis_config){.database = 3});
    nc_redis *first = redis_open(&redis_group_server, NULL, NULL);
    assert_string_equal(redis_ask(third, "SET only-in-3 yes"), "OK");
    assert_string_equal(redis_ask(also_third, "GET only-in-3"), "yes");
    assert_string_equal(redis_ask(first, "GET only-in-3"), "(nil)");
    nc_redis_close(first);
    nc_redis_close(also_third);
    nc_redis_close(third);
    nc_redis *none = redis_open(&redis_group_server, NULL, &(nc_redis_config){.database = 99});
    assert_string_equal(redis_ask(none, "GET only-in-3"), "NC_ERR_BAD_RESPONSE");
    nc_redis_close(none);
}

static void redis__a_unix_socket_is_a_server_too(void **state) {
    (void)state;
    char url[128];
    (void)snprintf(url, sizeof url, "unix://%s/socket?db=2", redis_group_server.directory);
    nc_redis *client = redis_open(&redis_group_server, url, NULL);
    assert_string_equal(redis_ask(client, "SET over-unix yes"), "OK");
    nc_redis_close(client);
    nc_redis *over_tcp = redis_open(&redis_group_server, NULL, &(nc_redis_config){.database = 2});
    assert_string_equal(redis_ask(over_tcp, "GET over-unix"), "yes");
    nc_redis_close(over_tcp);
    (void)snprintf(url, sizeof url, "unix://%s/absent", redis_group_server.directory);
    nc_redis *absent = redis_open(&redis_group_server, url, NULL);
    assert_string_equal(redis_ask(absent, "GET x"), "NC_ERR_CONNECT");
    nc_redis_close(absent);
}

static void redis__a_user_and_a_password_are_sent_and_never_reported(void **state) {
    (void)state;
    char url[128];
    nc_redis *admin = redis_open(&redis_group_server, NULL, NULL);
    assert_string_equal(redis_ask(admin, "ACL SETUSER reader on >s3cr%t ~* +get +select"), "OK");
    (void)snprintf(url, sizeof url, "redis://reader:s3cr%%25t@127.0.0.1:%u/1", (unsigned)redis_group_server.port);
    nc_redis *reader = redis_open(&redis_group_server, url, NULL);
    assert_string_equal(redis_ask(reader, "GET absent"), "(nil)");
    assert_non_null(strstr(redis_ask(reader, "SET a b"), "-NOPERM"));
    nc_redis_close(reader);
    nc_redis *wrong = redis_open(&redis_group_server, NULL,
                                 &(nc_redis_config){.user = nc_slice_of("reader"), .password = nc_slice_of("s3cret")});
    const nc_slice words[] = {nc_slice_of("GET"), nc_slice_of("a")};
    nc_redis_reply *reply = NULL;
    nc_error err;
    assert_status(
        nc_redis_call(wrong, &(nc_redis_command){.arguments = words, .count = 2, .timeout_ms = 10000}, &reply, &err),
        NC_ERR_AUTHENTICATION);
    assert_string_equal(err.message, "the server refuses the user or the password");
    nc_redis_close(wrong);
    nc_redis_close(admin);
}

static void redis__commands_that_change_the_connection_are_refused(void **state) {
    (void)state;
    static const char *const names[] = {"SELECT 1", "select 1", "AUTH x", "MULTI", "SUBSCRIBE x", "MONITOR", "HELLO 3"};
    nc_redis *client = redis_open(&redis_group_server, NULL, NULL);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_string_equal(redis_ask(client, names[i]), "NC_ERR_USAGE");
    }
    nc_redis_close(client);
}

static void redis__tls_follows_the_trust_policy(void **state) {
    (void)state;
    redis_server over_tls;
    char file[128];
    char url[64];
    nc_trust *trust = NULL;
    redis_server_start_tls(&over_tls);
    (void)snprintf(file, sizeof file, "%s/ca.pem", over_tls.directory);
    (void)snprintf(url, sizeof url, "rediss://localhost:%u", (unsigned)over_tls.port);
    const nc_trust_options options = {.roots = NC_ROOTS_FILE, .ca_file = nc_slice_of(file)};
    assert_status(nc_trust_new(&trust, &options, NULL), NC_OK);
    nc_redis *client = redis_open(&over_tls, url, &(nc_redis_config){.trust = trust});
    assert_string_equal(redis_ask(client, "SET over tls"), "OK");
    assert_string_equal(redis_ask(client, "GET over"), "tls");
    nc_redis_close(client);
    nc_redis *stranger = redis_open(&over_tls, url, NULL);
    assert_string_equal(redis_ask(stranger, "GET over"), "NC_ERR_TLS_UNTRUSTED");
    nc_redis_close(stranger);
    nc_trust *pinned = NULL;
    const nc_slice pin = nc_slice_of("sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=");
    const nc_trust_rule rule = {
        .hosts = nc_slice_of("localhost"), .mode = NC_PIN_PUBLIC_KEY, .pins = &pin, .pin_count = 1};
    const nc_trust_options with_pin = {
        .roots = NC_ROOTS_FILE, .ca_file = nc_slice_of(file), .rules = &rule, .rule_count = 1};
    assert_status(nc_trust_new(&pinned, &with_pin, NULL), NC_OK);
    nc_redis *mismatched = redis_open(&over_tls, url, &(nc_redis_config){.trust = pinned});
    assert_string_equal(redis_ask(mismatched, "GET over"), "NC_ERR_PIN_MISMATCH");
    nc_redis_close(mismatched);
    nc_trust_release(pinned);
    const nc_trust_options without_file = {.roots = NC_ROOTS_FILE, .ca_file = nc_slice_of("/absent/ca.pem")};
    assert_status(nc_trust_new(&pinned, &without_file, NULL), NC_OK);
    nc_redis *never = NULL;
    assert_status(nc_redis_open(&never, &(nc_redis_config){.url = nc_slice_of(url), .trust = pinned}, NULL),
                  NC_ERR_TLS_ROOTS);
    nc_trust_release(pinned);
    (void)snprintf(url, sizeof url, "redis://localhost:%u", (unsigned)over_tls.port);
    assert_status(nc_redis_open(&never, &(nc_redis_config){.url = nc_slice_of(url), .trust = trust}, NULL),
                  NC_ERR_PLAINTEXT_REFUSED);
    nc_redis *plain = redis_open(&over_tls, url, NULL);
    assert_string_equal(redis_ask(plain, "GET over"), "NC_ERR_RESET");
    nc_redis_close(plain);
    nc_trust_release(trust);
    redis_server_stop(&over_tls);
}

int main(int count, char **arguments) {
    harness_begin();
    int missing = redis_server_choose(count, arguments);
    if (missing != 0) {
        return missing;
    }
    const struct CMUnitTest cases[] = {
        harness_case(redis__replies_have_the_types_of_the_protocol),
        harness_case(redis__words_may_contain_any_byte_and_be_empty),
        harness_case(redis__a_pipeline_of_100_000_commands_is_answered_in_order),
        harness_case(redis__a_large_value_goes_both_ways),
        harness_case(redis__a_database_is_selected_by_the_url_or_the_field),
        harness_case(redis__a_unix_socket_is_a_server_too),
        harness_case(redis__a_user_and_a_password_are_sent_and_never_reported),
        harness_case(redis__commands_that_change_the_connection_are_refused),
        harness_case(redis__tls_follows_the_trust_policy),
    };
    return cmocka_run_group_tests(cases, redis_group_setup, redis_group_teardown);
}
