/// Scripts, slots and URLs.
#include "redis_server.h"

#include <stdio.h>
#include <string.h>

static const char *run_script(nc_redis *client, nc_redis_script *script, const nc_slice *words, size_t count,
                              size_t key_count) {
    static char text[128];
    nc_redis_reply *reply = NULL;
    nc_error err;
    const nc_redis_command command = {.arguments = words, .count = count, .timeout_ms = 10000};
    if (nc_redis_eval_call(client, script, &command, key_count, &reply, &err) != NC_OK) {
        (void)snprintf(text, sizeof text, "%s", nc_status_name(err.status));
    } else {
        (void)snprintf(text, sizeof text, "%.*s", (int)reply->bytes.length,
                       reply->bytes.length > 0 ? (const char *)reply->bytes.data : "");
    }
    nc_redis_reply_free(reply);
    return text;
}

static nc_redis_script *script_of(const char *source) {
    nc_redis_script *script = NULL;
    assert_status(nc_redis_script_new(&script, nc_slice_of(source), NULL), NC_OK);
    return script;
}

static void scripts__the_source_is_sent_only_if_the_server_does_not_have_it(void **state) {
    (void)state;
    const nc_slice words[] = {nc_slice_of("{k}1"), nc_slice_of("{k}2"), nc_slice_make("a\r\n\0b", 5)};
    nc_redis *client = redis_open(&redis_group_server, NULL, NULL);
    nc_redis_script *script = script_of("return KEYS[1]..KEYS[2]..#ARGV[1]");
    assert_string_equal(redis_ask(client, "SCRIPT FLUSH"), "OK");
    assert_string_equal(run_script(client, script, words, 3, 2), "{k}1{k}25");
    assert_string_equal(redis_ask(client, "CONFIG RESETSTAT"), "OK");
    assert_string_equal(run_script(client, script, words, 3, 2), "{k}1{k}25");
    assert_non_null(strstr(redis_ask(client, "INFO commandstats"), "cmdstat_evalsha:calls=1"));
    assert_null(strstr(redis_ask(client, "INFO commandstats"), "cmdstat_eval:"));
    assert_string_equal(redis_ask(client, "SCRIPT FLUSH"), "OK");
    assert_string_equal(run_script(client, script, words, 3, 2), "{k}1{k}25");
    nc_redis_script_free(script);
    nc_redis_close(client);
}

static void scripts__errors_of_a_script_are_replies(void **state) {
    (void)state;
    nc_redis *client = redis_open(&redis_group_server, NULL, NULL);
    nc_redis_script *wrong = script_of("return redis.call('INCR', 'a', 'b')");
    nc_redis_script *empty = script_of("");
    assert_non_null(strstr(run_script(client, wrong, NULL, 0, 0), "Wrong number of args"));
    assert_string_equal(run_script(client, empty, NULL, 0, 0), "");
    const nc_slice word = nc_slice_of("x");
    assert_string_equal(run_script(client, empty, &word, 1, 2), "NC_ERR_USAGE");
    nc_redis_script_free(empty);
    nc_redis_script_free(wrong);
    nc_redis_close(client);
}

static void slots__are_those_of_the_specification(void **state) {
    (void)state;
    assert_int_equal(nc_redis_slot_of(nc_slice_of("123456789")), 0x31c3);
    assert_int_equal(nc_redis_slot_of(nc_slice_of("")), 0);
    assert_int_equal(nc_redis_slot_of(nc_slice_of("{user1000}.following")), nc_redis_slot_of(nc_slice_of("user1000")));
    assert_int_equal(nc_redis_slot_of(nc_slice_of("foo{{bar}}zap")), nc_redis_slot_of(nc_slice_of("{bar")));
    assert_int_equal(nc_redis_slot_of(nc_slice_of("foo{bar}{zap}")), nc_redis_slot_of(nc_slice_of("bar")));
    assert_int_not_equal(nc_redis_slot_of(nc_slice_of("foo{}{bar}")), nc_redis_slot_of(nc_slice_of("bar")));
    assert_int_equal(nc_redis_slot_of(nc_slice_of("{")), nc_redis_slot_of(nc_slice_make("{", 1)));
}

static void slots__are_those_of_the_server(void **state) {
    (void)state;
    static const char *const keys[] = {"a", "{b}c", "{}", "x{y", "{a}{b}", "}{", "\xff\xfe"};
    redis_server cluster;
    char words[64];
    char expected[16];
    redis_server_start(&cluster, (const char *const[]){"--cluster-enabled", "yes", NULL});
    nc_redis *client = redis_open(&cluster, NULL, NULL);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        (void)snprintf(words, sizeof words, "CLUSTER KEYSLOT %s", keys[i]);
        (void)snprintf(expected, sizeof expected, ":%u", (unsigned)nc_redis_slot_of(nc_slice_of(keys[i])));
        assert_string_equal(redis_ask(client, words), expected);
    }
    nc_redis_close(client);
    redis_server_stop(&cluster);
}

typedef struct url_case {
    const char *url;
    nc_status status;
} url_case;

static void urls__malformed_ones_are_refused_without_showing_a_secret(void **state) {
    (void)state;
    static const url_case cases[] = {
        {"http://localhost", NC_ERR_BAD_SCHEME},
        {"", NC_ERR_BAD_SCHEME},
        {"redis://", NC_ERR_BAD_URL},
        {"redis://:s3cret@", NC_ERR_BAD_URL},
        {"redis://:s3cret@h:0", NC_ERR_BAD_URL},
        {"redis://:s3cret@h:65536", NC_ERR_BAD_URL},
        {"redis://:s3cret@h:x", NC_ERR_BAD_URL},
        {"redis://:s3cret@h/x", NC_ERR_BAD_URL},
        {"redis://:s3cret@h/99999999999", NC_ERR_BAD_URL},
        {"redis://h?s3cret", NC_ERR_BAD_URL},
        {"redis://s3cret@h", NC_ERR_USAGE},
        {"redis://:s3cret%00x@h", NC_ERR_USAGE},
        {"unix://host/path", NC_ERR_BAD_URL},
        {"unix:///path?database=1", NC_ERR_BAD_URL},
        {"unix:///", NC_ERR_BAD_URL},
        {"redis://h h", NC_ERR_BAD_URL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        nc_error err;
        nc_redis *client = NULL;
        const nc_redis_config config = {.url = nc_slice_of(cases[i].url)};
        nc_status status = nc_redis_open(&client, &config, &err);
        if (status != cases[i].status) {
            print_error("%s: %s\n", cases[i].url, err.message);
        }
        assert_status(status, cases[i].status);
        assert_null(client);
        assert_null(strstr(err.message, "s3cret"));
    }
}

static void urls__an_ipv6_address_stands_in_brackets(void **state) {
    (void)state;
    char url[64];
    (void)snprintf(url, sizeof url, "redis://[::ffff:127.0.0.1]:%u", (unsigned)redis_group_server.port);
    nc_redis *client = redis_open(&redis_group_server, url, NULL);
    assert_string_equal(redis_ask(client, "PING"), "PONG");
    nc_redis_close(client);
}

static void urls__numbers_out_of_range_are_refused(void **state) {
    (void)state;
    static const nc_redis_config cases[] = {
        {.connect_timeout_ms = UINT32_MAX},          {.max_backoff_ms = 86400001}, {.max_reply_bytes = SIZE_MAX},
        {.max_queued_bytes = ((size_t)1 << 30) + 1}, {.database = UINT32_MAX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        nc_redis *client = NULL;
        nc_redis_config config = cases[i];
        config.url = nc_slice_of("redis://localhost");
        assert_status(nc_redis_open(&client, &config, NULL), NC_ERR_USAGE);
    }
}

int main(int count, char **arguments) {
    harness_begin();
    int missing = redis_server_choose(count, arguments);
    if (missing != 0) {
        return missing;
    }
    const struct CMUnitTest cases[] = {
        harness_case(scripts__the_source_is_sent_only_if_the_server_does_not_have_it),
        harness_case(scripts__errors_of_a_script_are_replies),
        harness_case(slots__are_those_of_the_specification),
        harness_case(slots__are_those_of_the_server),
        harness_case(urls__malformed_ones_are_refused_without_showing_a_secret),
        harness_case(urls__an_ipv6_address_stands_in_brackets),
        harness_case(urls__numbers_out_of_range_are_refused),
    };
    return cmocka_run_group_tests(cases, redis_group_setup, redis_group_teardown);
}
