/// Servers that stop, die, return and run out of memory; connections that are cut; the end of a client.
#include "redis_server.h"
#include "relay.h"

#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/// Commands ECHO 0, ECHO 1, … and what became of each.
typedef struct echoes {
    sem_t ended;
    atomic_uint wrong; // replies that belong to another command
    atomic_uint done;
    atomic_uint failed;
} echoes;

typedef struct echo {
    echoes *all;
    atomic_uint ends;
    char text[24];
} echo;

static void end_echo(void *ctx, nc_redis_reply *reply, const nc_error *err) {
    echo *one = ctx;
    bool is_own = reply != NULL && nc_slice_is_equal(reply->bytes, nc_slice_of(one->text));
    (void)atomic_fetch_add(&one->ends, 1);
    if ((reply != NULL) != (err->status == NC_OK) || (reply != NULL && !is_own)) {
        (void)atomic_fetch_add(&one->all->wrong, 1);
    }
    (void)atomic_fetch_add(reply != NULL ? &one->all->done : &one->all->failed, 1);
    (void)sem_post(&one->all->ended);
}

static void send_echoes(nc_redis *client, echoes *all, echo *each, size_t count, uint32_t timeout_ms) {
    for (size_t i = 0; i < count; i++) {
        each[i] = (echo){.all = all};
        (void)snprintf(each[i].text, sizeof each[i].text, "%zu", i);
        const nc_slice words[] = {nc_slice_of("ECHO"), nc_slice_of(each[i].text)};
        const nc_redis_command command = {
            .arguments = words, .count = 2, .timeout_ms = timeout_ms, .on_reply = end_echo, .ctx = &each[i]};
        assert_status(nc_redis_send(client, &command, NULL), NC_OK);
    }
}

static void await_echoes(echoes *all, echo *each, size_t count) {
    for (size_t i = 0; i < count; i++) {
        while (sem_wait(&all->ended) != 0) {
        }
    }
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(atomic_load(&each[i].ends), 1);
    }
    assert_int_equal(atomic_load(&all->wrong), 0);
}

static void faults__a_stopped_server_costs_the_time_limit_and_its_late_replies_are_dropped(void **state) {
    (void)state;
    enum { COUNT = 200 };
    static echo each[COUNT];
    echoes all = {0};
    nc_redis *client = redis_open(&redis_group_server, NULL, &(nc_redis_config){.silence_timeout_ms = 60000});
    assert_int_equal(sem_init(&all.ended, 0, 0), 0);
    assert_string_equal(redis_ask(client, "PING"), "PONG");
    redis_server_signal(&redis_group_server, SIGSTOP);
    send_echoes(client, &all, each, COUNT, 30);
    await_echoes(&all, each, COUNT);
    assert_int_equal(atomic_load(&all.failed), COUNT);
    assert_string_equal(redis_ask_within(client, "ECHO never", 20), "NC_ERR_TOTAL_TIMED_OUT");
    redis_server_signal(&redis_group_server, SIGCONT);
    assert_string_equal(redis_ask(client, "ECHO mine"), "mine");
    send_echoes(client, &all, each, COUNT, 10000);
    await_echoes(&all, each, COUNT);
    assert_int_equal(atomic_load(&all.done), COUNT);
    (void)sem_destroy(&all.ended);
    nc_redis_close(client);
}

/// Sends PING with the client's time limit, and returns the message of its error.
static const char *ping_error(nc_redis *client) {
    static nc_error err;
    nc_redis_reply *reply = NULL;
    const nc_slice word = nc_slice_of("PING");
    nc_status status = nc_redis_call(client, &(nc_redis_command){.arguments = &word, .count = 1}, &reply, &err);
    assert_status(status, err.status);
    nc_redis_reply_free(reply);
    return err.message;
}

static void faults__a_stopped_server_delays_only_the_first_command_with_the_clients_limit(void **state) {
    (void)state;
    enum { COUNT = 20 };
    static echo each[COUNT];
    echoes all = {0};
    const char *still_late = "the server still owes the reply to an earlier command";
    nc_redis *client = redis_open(&redis_group_server, NULL,
                                  &(nc_redis_config){.command_timeout_ms = 300, .silence_timeout_ms = 60000});
    assert_int_equal(sem_init(&all.ended, 0, 0), 0);
    assert_string_equal(redis_ask(client, "PING"), "PONG");
    redis_server_signal(&redis_group_server, SIGSTOP);
    // A limit of a command's own says nothing about the server.
    assert_string_equal(redis_ask_within(client, "PING", 1), "NC_ERR_TOTAL_TIMED_OUT");
    assert_string_equal(ping_error(client), "the server did not reply within the time limit");
    assert_string_equal(ping_error(client), still_late);
    send_echoes(client, &all, each, COUNT, 10000);
    assert_string_equal(ping_error(client), still_late);
    redis_server_signal(&redis_group_server, SIGCONT);
    await_echoes(&all, each, COUNT);
    assert_int_equal(atomic_load(&all.done), COUNT);
    assert_string_equal(redis_ask_within(client, "PING", 0), "PONG");
    (void)sem_destroy(&all.ended);
    nc_redis_close(client);
}

static void faults__a_replaced_connection_is_used_after_its_first_reply(void **state) {
    (void)state;
    relay *between = relay_start(redis_group_server.port);
    char url[64];
    (void)snprintf(url, sizeof url, "redis://127.0.0.1:%u", (unsigned)relay_port(between));
    nc_redis *client =
        redis_open(&redis_group_server, url,
                   &(nc_redis_config){.command_timeout_ms = 200, .silence_timeout_ms = 20, .min_backoff_ms = 1});
    assert_string_equal(redis_ask(client, "PING"), "PONG");
    relay_hold(between);
    assert_string_equal(ping_error(client), "the server did not reply within the time limit");
    // Nothing but the client's own PING shows that the server replies over the new connection.
    const struct timespec pause = {.tv_nsec = 2000000};
    for (int i = 0; i < 10000 && ping_error(client)[0] != '\0'; i++) {
        (void)nanosleep(&pause, NULL);
    }
    assert_string_equal(ping_error(client), "");
    assert_true(relay_connections(between) >= 2);
    nc_redis_close(client);
    relay_stop(between);
}

static void faults__a_silent_connection_is_replaced(void **state) {
    (void)state;
    relay *between = relay_start(redis_group_server.port);
    char url[64];
    (void)snprintf(url, sizeof url, "redis://127.0.0.1:%u", (unsigned)relay_port(between));
    nc_redis *client =
        redis_open(&redis_group_server, url, &(nc_redis_config){.silence_timeout_ms = 20, .min_backoff_ms = 1});
    assert_string_equal(redis_ask(client, "PING"), "PONG");
    relay_hold(between); // The current connection transports nothing more.
    assert_string_equal(redis_ask_within(client, "PING", 10), "NC_ERR_TOTAL_TIMED_OUT");
    redis_ask_until(client, "PING", "PONG");
    assert_true(relay_connections(between) >= 2);
    nc_redis_close(client);
    relay_stop(between);
}

static void faults__a_killed_server_is_found_again(void **state) {
    (void)state;
    nc_redis *client =
        redis_open(&redis_group_server, NULL, &(nc_redis_config){.min_backoff_ms = 1, .max_backoff_ms = 20});
    assert_string_equal(redis_ask(client, "PING"), "PONG");
    redis_server_kill(&redis_group_server);
    redis_ask_until(client, "PING", "NC_ERR_REFUSED");
    redis_server_start_again(&redis_group_server);
    redis_ask_until(client, "PING", "PONG");
    nc_redis_close(client);
}

static void faults__commands_fail_immediately_while_the_server_is_unreachable(void **state) {
    (void)state;
    nc_redis *client = redis_open(&redis_group_server, "redis://127.0.0.1:1",
                                  &(nc_redis_config){.min_backoff_ms = 60000, .max_backoff_ms = 60000});
    for (int i = 0; i < 100; i++) {
        assert_string_equal(redis_ask_within(client, "PING", 3600000), "NC_ERR_REFUSED");
    }
    nc_redis_close(client);
    nc_redis *nowhere = redis_open(&redis_group_server, "redis://does-not-exist.invalid",
                                   &(nc_redis_config){.connect_timeout_ms = 30000});
    assert_string_equal(redis_ask_within(nowhere, "PING", 30000), "NC_ERR_RESOLVE");
    nc_redis_close(nowhere);
}

static void faults__a_connection_cut_at_any_byte_gives_no_command_a_foreign_reply(void **state) {
    (void)state;
    enum { COUNT = 12, CUTS = 300 };
    static echo each[COUNT];
    echoes all = {0};
    char url[64];
    relay *between = relay_start(redis_group_server.port);
    assert_int_equal(sem_init(&all.ended, 0, 0), 0);
    (void)snprintf(url, sizeof url, "redis://127.0.0.1:%u", (unsigned)relay_port(between));
    nc_redis *client =
        redis_open(&redis_group_server, url, &(nc_redis_config){.min_backoff_ms = 1, .max_backoff_ms = 1});
    for (unsigned at = 0; at < CUTS; at++) {
        // ECHO and its reply take 22 and 7 bytes.
        relay_cut(between, at % 2 == 0, at % 2 == 0 ? at % 84 : at % 264);
        send_echoes(client, &all, each, COUNT, 10000);
        await_echoes(&all, each, COUNT);
        redis_ask_until(client, "ECHO again", "again");
    }
    assert_true(atomic_load(&all.done) > 0);
    assert_true(atomic_load(&all.failed) > 0);
    assert_true(relay_connections(between) > CUTS / 2);
    (void)sem_destroy(&all.ended);
    nc_redis_close(client);
    relay_stop(between);
}

static void faults__a_server_without_memory_replies_with_an_error(void **state) {
    (void)state;
    nc_redis *client = redis_open(&redis_group_server, NULL, NULL);
    assert_string_equal(redis_ask(client, "CONFIG SET maxmemory 1"), "OK");
    assert_non_null(strstr(redis_ask(client, "SET a b"), "-OOM command not allowed"));
    assert_string_equal(redis_ask(client, "CONFIG SET maxmemory 0"), "OK");
    assert_string_equal(redis_ask(client, "SET a b"), "OK");
    nc_redis_close(client);
}

static void faults__the_queue_has_a_limit_and_is_usable_again(void **state) {
    (void)state;
    nc_redis *client = redis_open(&redis_group_server, NULL, &(nc_redis_config){.max_queued_bytes = 20000});
    char *large = test_malloc(20001);
    memset(large, 'x', 20001);
    const nc_slice too_large[] = {nc_slice_of("ECHO"), nc_slice_make(large, 20001)};
    assert_status(nc_redis_send(client, &(nc_redis_command){.arguments = too_large, .count = 2}, NULL),
                  NC_ERR_QUEUE_FULL);
    redis_server_signal(&redis_group_server, SIGSTOP);
    const nc_slice words[] = {nc_slice_of("ECHO"), nc_slice_make(large, 1000)};
    const nc_redis_command command = {.arguments = words, .count = 2, .timeout_ms = 10000};
    nc_status status = NC_OK;
    for (int i = 0; i < 100 && status == NC_OK; i++) {
        status = nc_redis_send(client, &command, NULL);
    }
    assert_status(status, NC_ERR_QUEUE_FULL);
    redis_server_signal(&redis_group_server, SIGCONT);
    redis_ask_until(client, "PING", "PONG");
    assert_status(nc_redis_send(client, &command, NULL), NC_OK);
    test_free(large);
    nc_redis_close(client);
}

static void faults__a_reply_beyond_its_limit_ends_the_connection(void **state) {
    (void)state;
    nc_redis *client =
        redis_open(&redis_group_server, NULL, &(nc_redis_config){.max_reply_bytes = 4096, .min_backoff_ms = 1});
    assert_string_equal(redis_ask(client, "EVAL return(string.rep('x',100000)) 0"), "NC_ERR_TOO_LARGE");
    redis_ask_until(client, "PING", "PONG");
    assert_string_equal(redis_ask(client, "EVAL local\tt={};for\ti=1,1000\tdo\tt[i]=i\tend;return\tt 0"),
                        "NC_ERR_TOO_LARGE");
    redis_ask_until(client, "PING", "PONG");
    nc_redis_close(client);
}

static void faults__close_ends_all_commands(void **state) {
    (void)state;
    enum { COUNT = 500 };
    static echo each[COUNT];
    echoes all = {0};
    assert_int_equal(sem_init(&all.ended, 0, 0), 0);
    nc_redis *client = redis_open(&redis_group_server, NULL, NULL);
    redis_server_signal(&redis_group_server, SIGSTOP);
    send_echoes(client, &all, each, COUNT, 60000);
    nc_redis_close(client);
    redis_server_signal(&redis_group_server, SIGCONT);
    await_echoes(&all, each, COUNT);
    assert_int_equal(atomic_load(&all.failed), COUNT);
    (void)sem_destroy(&all.ended);
}

/// A callback that sends the next command, and ends the client after the last one.
typedef struct chain {
    nc_redis *client;
    sem_t ended;
    int left;
    nc_status call_status;
} chain;

static void send_next(void *ctx, nc_redis_reply *reply, const nc_error *err) {
    chain *sent = ctx;
    const nc_slice word = nc_slice_of("PING");
    const nc_redis_command command = {
        .arguments = &word, .count = 1, .timeout_ms = 10000, .on_reply = send_next, .ctx = sent};
    nc_redis_reply *waited = NULL;
    (void)reply;
    if (err->status == NC_OK && sent->left-- > 0) {
        assert_status(nc_redis_send(sent->client, &command, NULL), NC_OK);
        return;
    }
    sent->call_status = nc_redis_call(sent->client, &command, &waited, NULL);
    nc_redis_release(sent->client);
    (void)sem_post(&sent->ended);
}

static void faults__a_callback_may_send_and_release_but_not_wait(void **state) {
    (void)state;
    chain sent = {.client = redis_open(&redis_group_server, NULL, NULL), .left = 50};
    const nc_slice word = nc_slice_of("PING");
    assert_int_equal(sem_init(&sent.ended, 0, 0), 0);
    assert_status(
        nc_redis_send(sent.client,
                      &(nc_redis_command){
                          .arguments = &word, .count = 1, .timeout_ms = 10000, .on_reply = send_next, .ctx = &sent},
                      NULL),
        NC_OK);
    while (sem_wait(&sent.ended) != 0) {
    }
    assert_status(sent.call_status, NC_ERR_USAGE);
    assert_int_equal(sent.left, -1);
    (void)sem_destroy(&sent.ended);
}

int main(int count, char **arguments) {
    harness_begin();
    int missing = redis_server_choose(count, arguments);
    if (missing != 0) {
        return missing;
    }
    const struct CMUnitTest cases[] = {
        harness_case(faults__a_stopped_server_costs_the_time_limit_and_its_late_replies_are_dropped),
        harness_case(faults__a_stopped_server_delays_only_the_first_command_with_the_clients_limit),
        harness_case(faults__a_replaced_connection_is_used_after_its_first_reply),
        harness_case(faults__a_silent_connection_is_replaced),
        harness_case(faults__a_killed_server_is_found_again),
        harness_case(faults__commands_fail_immediately_while_the_server_is_unreachable),
        harness_case(faults__a_connection_cut_at_any_byte_gives_no_command_a_foreign_reply),
        harness_case(faults__a_server_without_memory_replies_with_an_error),
        harness_case(faults__the_queue_has_a_limit_and_is_usable_again),
        harness_case(faults__a_reply_beyond_its_limit_ends_the_connection),
        harness_case(faults__close_ends_all_commands),
        harness_case(faults__a_callback_may_send_and_release_but_not_wait),
    };
    return cmocka_run_group_tests(cases, redis_group_setup, redis_group_teardown);
}
