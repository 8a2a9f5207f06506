/// Subscriptions: messages in order, gaps, and their end.
#include "redis_server.h"
#include "relay.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/// What a listener has received, as text: "+" subscribed, "!" lost, "." ended, "<message>".
typedef struct record {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    char text[1024];
} record;

static void note(record *heard, const char *text, size_t length) {
    (void)pthread_mutex_lock(&heard->lock);
    size_t used = strlen(heard->text);
    (void)snprintf(heard->text + used, sizeof heard->text - used, "%.*s", (int)length, text);
    (void)pthread_cond_broadcast(&heard->changed);
    (void)pthread_mutex_unlock(&heard->lock);
}

static void hear_message(void *ctx, nc_slice channel, nc_slice message) {
    char text[64];
    int length = snprintf(text, sizeof text, "<%.*s>", (int)message.length, (const char *)message.data);
    (void)channel;
    note(ctx, text, (size_t)length);
}

static void hear_change(void *ctx, nc_redis_subscription_state state) {
    note(ctx, state == NC_REDIS_SUBSCRIBED ? "+" : state == NC_REDIS_LOST ? "!" : ".", 1);
}

static void await_text(record *heard, const char *expected) {
    (void)pthread_mutex_lock(&heard->lock);
    while (strlen(heard->text) < strlen(expected)) {
        (void)pthread_cond_wait(&heard->changed, &heard->lock);
    }
    assert_string_equal(heard->text, expected);
    (void)pthread_mutex_unlock(&heard->lock);
}

#define RECORD                                                                                                         \
    { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER }

static nc_redis_subscription *listen_to(nc_redis *client, record *heard, const char *channel) {
    nc_redis_subscription *subscription = NULL;
    const nc_redis_listener listener = {
        .channel = nc_slice_of(channel), .on_message = hear_message, .on_change = hear_change, .ctx = heard};
    assert_status(nc_redis_subscribe(client, &listener, &subscription, NULL), NC_OK);
    return subscription;
}

static void subscriptions__messages_arrive_in_order_until_the_end(void **state) {
    (void)state;
    record first = RECORD;
    record second = RECORD;
    record other = RECORD;
    nc_redis *client = redis_open(&redis_group_server, NULL, NULL);
    nc_redis_subscription *subscription = listen_to(client, &first, "news");
    await_text(&first, "+");
    (void)listen_to(client, &second, "news");
    (void)listen_to(client, &other, "weather");
    await_text(&second, "+");
    await_text(&other, "+");
    assert_string_equal(redis_ask(client, "PUBLISH news one"), ":1");
    assert_string_equal(redis_ask(client, "PUBLISH news two"), ":1");
    assert_string_equal(redis_ask(client, "PUBLISH weather rain"), ":1");
    await_text(&first, "+<one><two>");
    await_text(&second, "+<one><two>");
    await_text(&other, "+<rain>");
    nc_redis_unsubscribe(client, subscription);
    await_text(&first, "+<one><two>.");
    assert_string_equal(redis_ask(client, "PUBLISH news three"), ":1");
    await_text(&second, "+<one><two><three>");
    nc_redis_close(client);
    await_text(&first, "+<one><two>.");
    await_text(&second, "+<one><two><three>.");
    await_text(&other, "+<rain>.");
}

static void subscriptions__the_last_listener_of_a_channel_ends_it(void **state) {
    (void)state;
    record first = RECORD;
    record again = RECORD;
    nc_redis *client = redis_open(&redis_group_server, NULL, NULL);
    nc_redis_subscription *subscription = listen_to(client, &first, "alone");
    await_text(&first, "+");
    nc_redis_unsubscribe(client, subscription);
    await_text(&first, "+.");
    redis_ask_until(client, "PUBLISH alone x", ":0");
    (void)listen_to(client, &again, "alone");
    await_text(&again, "+");
    assert_string_equal(redis_ask(client, "PUBLISH alone y"), ":1");
    await_text(&again, "+<y>");
    nc_redis_close(client);
}

static void subscriptions__a_gap_is_reported_at_both_ends(void **state) {
    (void)state;
    record heard = RECORD;
    nc_redis *client =
        redis_open(&redis_group_server, NULL, &(nc_redis_config){.min_backoff_ms = 1, .max_backoff_ms = 10});
    (void)listen_to(client, &heard, "news");
    await_text(&heard, "+");
    redis_server_kill(&redis_group_server);
    await_text(&heard, "+!");
    redis_server_start_again(&redis_group_server);
    await_text(&heard, "+!+");
    redis_ask_until(client, "PING", "PONG");
    assert_string_equal(redis_ask(client, "PUBLISH news back"), ":1");
    await_text(&heard, "+!+<back>");
    nc_redis_close(client);
    await_text(&heard, "+!+<back>.");
}

static void subscriptions__a_silent_connection_is_found_by_a_ping(void **state) {
    (void)state;
    record heard = RECORD;
    char url[64];
    relay *between = relay_start(redis_group_server.port);
    (void)snprintf(url, sizeof url, "redis://127.0.0.1:%u", (unsigned)relay_port(between));
    nc_redis *client =
        redis_open(&redis_group_server, url, &(nc_redis_config){.silence_timeout_ms = 10, .min_backoff_ms = 1});
    (void)listen_to(client, &heard, "news");
    await_text(&heard, "+");
    relay_hold(between);
    await_text(&heard, "+!+");
    nc_redis_close(client);
    relay_stop(between);
}

static void subscriptions__a_binary_channel_is_a_channel(void **state) {
    (void)state;
    record heard = RECORD;
    nc_redis *client = redis_open(&redis_group_server, NULL, NULL);
    nc_redis_subscription *subscription = NULL;
    const nc_redis_listener listener = {
        .channel = nc_slice_make("a\0\r\n", 4), .on_message = hear_message, .on_change = hear_change, .ctx = &heard};
    assert_status(nc_redis_subscribe(client, &listener, &subscription, NULL), NC_OK);
    await_text(&heard, "+");
    const nc_slice words[] = {nc_slice_of("PUBLISH"), listener.channel, nc_slice_of("x")};
    nc_redis_reply *reply = NULL;
    assert_status(
        nc_redis_call(client, &(nc_redis_command){.arguments = words, .count = 3, .timeout_ms = 10000}, &reply, NULL),
        NC_OK);
    assert_int_equal(reply->integer, 1);
    nc_redis_reply_free(reply);
    await_text(&heard, "+<x>");
    const nc_redis_listener empty = {.ctx = NULL};
    assert_status(nc_redis_subscribe(client, &empty, &subscription, NULL), NC_ERR_USAGE);
    nc_redis_close(client);
}

int main(int count, char **arguments) {
    harness_begin();
    int missing = redis_server_choose(count, arguments);
    if (missing != 0) {
        return missing;
    }
    const struct CMUnitTest cases[] = {
        harness_case(subscriptions__messages_arrive_in_order_until_the_end),
        harness_case(subscriptions__the_last_listener_of_a_channel_ends_it),
        harness_case(subscriptions__a_gap_is_reported_at_both_ends),
        harness_case(subscriptions__a_silent_connection_is_found_by_a_ping),
        harness_case(subscriptions__a_binary_channel_is_a_channel),
    };
    return cmocka_run_group_tests(cases, redis_group_setup, redis_group_teardown);
}
