/// A cluster of three nodes on loopback: MOVED, ASK, a slot that moves, and a node that dies.
#include "redis_server.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { NODES = 3 };

static redis_server nodes[NODES];
static int held_buses[NODES];
static uint16_t buses[NODES];
static nc_redis *direct[NODES]; // clients that do not follow redirections
static char ids[NODES][64];
static const unsigned first_slot[NODES + 1] = {0, 5461, 10923, 16384};

static const char *ask_node(size_t node, const char *format, ...) NC_PRINTF(2, 3);

static const char *ask_node(size_t node, const char *format, ...) {
    char words[256];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    return redis_ask(direct[node], words);
}

static size_t owner_of(unsigned slot) {
    return slot < first_slot[1] ? 0 : slot < first_slot[2] ? 1 : 2;
}

static void start_node(size_t i) {
    char bus[8];
    // The default port of the bus, 10000 above the node's own, may not exist.
    held_buses[i] = nct_port_reserve(&buses[i]);
    assert_true(held_buses[i] >= 0);
    (void)snprintf(bus, sizeof bus, "%u", (unsigned)buses[i]);
    redis_server_start(&nodes[i], (const char *const[]){"--cluster-enabled", "yes", "--cluster-port", bus,
                                                        "--cluster-node-timeout", "60000",
                                                        "--cluster-require-full-coverage", "no", NULL});
    direct[i] = redis_open(&nodes[i], NULL, &(nc_redis_config){.cluster = NC_REDIS_CLUSTER_OFF});
    (void)snprintf(ids[i], sizeof ids[i], "%s", ask_node(i, "CLUSTER MYID"));
    assert_string_equal(ask_node(i, "CLUSTER ADDSLOTSRANGE %u %u", first_slot[i], first_slot[i + 1] - 1), "OK");
    assert_string_equal(ask_node(i, "CLUSTER SET-CONFIG-EPOCH %u", (unsigned)i + 1), "OK");
    if (i > 0) {
        assert_string_equal(ask_node(i, "CLUSTER MEET 127.0.0.1 %u %u", (unsigned)nodes[0].port, (unsigned)buses[0]),
                            "OK");
    }
}

static int start_cluster(void **state) {
    (void)state;
    for (size_t i = 0; i < NODES; i++) {
        start_node(i);
    }
    for (size_t i = 0; i < NODES; i++) {
        const struct timespec pause = {.tv_nsec = 5000000};
        while (strstr(ask_node(i, "CLUSTER INFO"), "cluster_slots_ok:16384") == NULL ||
               strstr(ask_node(i, "CLUSTER INFO"), "cluster_state:ok") == NULL) {
            (void)nanosleep(&pause, NULL);
        }
    }
    return 0;
}

static int stop_cluster(void **state) {
    (void)state;
    for (size_t i = 0; i < NODES; i++) {
        nc_redis_close(direct[i]);
        redis_server_stop(&nodes[i]);
        (void)close(held_buses[i]);
    }
    return 0;
}

static void cluster__each_key_reaches_its_node(void **state) {
    (void)state;
    char words[64];
    nc_redis *client = redis_open(&nodes[0], NULL, NULL);
    for (int i = 0; i < 300; i++) {
        (void)snprintf(words, sizeof words, "SET key%d %d", i, i);
        assert_string_equal(redis_ask(client, words), "OK");
    }
    for (int i = 0; i < 300; i++) {
        char expected[16];
        (void)snprintf(words, sizeof words, "key%d", i);
        (void)snprintf(expected, sizeof expected, "%d", i);
        assert_string_equal(ask_node(owner_of(nc_redis_slot_of(nc_slice_of(words))), "GET %s", words), expected);
    }
    assert_string_equal(redis_ask(client, "MSET {tag}a 1 {tag}b 2"), "OK");
    assert_string_equal(redis_ask(client, "MGET {tag}b {tag}a"), "[2,1]");
    assert_string_equal(redis_ask(client, "EVAL return(redis.call('GET',KEYS[1])) 1 key7"), "7");
    assert_non_null(strstr(redis_ask(client, "MGET a b"), "-CROSSSLOT"));
    nc_redis_close(client);
}

static void cluster__after_the_first_redirection_no_command_is_redirected(void **state) {
    (void)state;
    char words[64];
    nc_redis *client = redis_open(&nodes[0], NULL, NULL);
    // Any key of another node turns the cluster mode on; then the slots are read.
    assert_string_equal(redis_ask(client, "SET key0 0"), "OK");
    assert_string_equal(redis_ask(client, "SET key1 1"), "OK");
    assert_string_equal(redis_ask(client, "SET key2 2"), "OK");
    for (int i = 0; i < 300; i++) {
        (void)snprintf(words, sizeof words, "GET key%d", i);
        (void)redis_ask(client, words);
    }
    for (size_t i = 0; i < NODES; i++) {
        assert_string_equal(ask_node(i, "CONFIG RESETSTAT"), "OK");
    }
    for (int i = 0; i < 300; i++) {
        (void)snprintf(words, sizeof words, "GET key%d", i);
        (void)redis_ask(client, words);
    }
    for (size_t i = 0; i < NODES; i++) {
        assert_null(strstr(ask_node(i, "INFO errorstats"), "errorstat_MOVED"));
    }
    nc_redis_close(client);
}

static void cluster__redirections_are_error_replies_if_they_are_off(void **state) {
    (void)state;
    unsigned slot = nc_redis_slot_of(nc_slice_of("key0"));
    char expected[64];
    (void)snprintf(expected, sizeof expected, "-MOVED %u 127.0.0.1:%u", slot, (unsigned)nodes[owner_of(slot)].port);
    assert_string_equal(ask_node((owner_of(slot) + 1) % NODES, "GET key0"), expected);
}

/// Commands that are sent while a slot moves.
typedef struct traffic {
    nc_redis *client;
    atomic_bool is_over;
    atomic_uint done;
    atomic_uint wrong;
} traffic;

static void *send_traffic(void *ctx) {
    traffic *sent = ctx;
    while (!atomic_load(&sent->is_over)) {
        const char *reply = redis_ask(sent->client, "GET {moving}1");
        (void)atomic_fetch_add(strcmp(reply, "1") == 0 ? &sent->done : &sent->wrong, 1);
    }
    return NULL;
}

static void cluster__a_slot_that_moves_loses_no_command(void **state) {
    (void)state;
    unsigned slot = nc_redis_slot_of(nc_slice_of("{moving}"));
    size_t from = owner_of(slot);
    size_t to = (from + 1) % NODES;
    traffic sent = {.client = redis_open(&nodes[2], NULL, NULL)};
    pthread_t thread;
    assert_string_equal(redis_ask(sent.client, "SET {moving}1 1"), "OK");
    assert_string_equal(redis_ask(sent.client, "SET {moving}2 2"), "OK");
    assert_int_equal(pthread_create(&thread, NULL, send_traffic, &sent), 0);
    assert_string_equal(ask_node(to, "CLUSTER SETSLOT %u IMPORTING %s", slot, ids[from]), "OK");
    assert_string_equal(ask_node(from, "CLUSTER SETSLOT %u MIGRATING %s", slot, ids[to]), "OK");
    assert_string_equal(ask_node(from, "MIGRATE 127.0.0.1 %u {moving}1 0 10000", (unsigned)nodes[to].port), "OK");
    // ASK: the old node still owns the slot, but the key is gone.
    nc_redis *asker = redis_open(&nodes[from], NULL, NULL);
    assert_non_null(strstr(ask_node(from, "GET {moving}1"), "-ASK"));
    assert_string_equal(redis_ask(asker, "GET {moving}1"), "1");
    assert_string_equal(redis_ask(asker, "GET {moving}2"), "2");
    assert_string_equal(redis_ask(asker, "SET {moving}3 3"), "OK");
    assert_string_equal(ask_node(from, "MIGRATE 127.0.0.1 %u {moving}2 0 10000", (unsigned)nodes[to].port), "OK");
    for (size_t i = 0; i < NODES; i++) {
        size_t node = (to + i) % NODES; // the new owner first
        assert_string_equal(ask_node(node, "CLUSTER SETSLOT %u NODE %s", slot, ids[to]), "OK");
    }
    for (int i = 1; i <= 3; i++) {
        char words[48];
        char expected[16];
        (void)snprintf(words, sizeof words, "GET {moving}%d", i);
        (void)snprintf(expected, sizeof expected, "%d", i);
        assert_string_equal(redis_ask(asker, words), expected);
    }
    unsigned until = atomic_load(&sent.done) + 20;
    while (atomic_load(&sent.done) < until && atomic_load(&sent.wrong) == 0) {
        (void)sched_yield();
    }
    atomic_store(&sent.is_over, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(atomic_load(&sent.wrong), 0);
    nc_redis_close(asker);
    nc_redis_close(sent.client);
}

static void cluster__a_dead_node_fails_only_its_own_commands(void **state) {
    (void)state;
    char own[32] = "";
    char other[32] = "";
    for (int i = 0; own[0] == '\0' || other[0] == '\0'; i++) {
        char key[16];
        (void)snprintf(key, sizeof key, "k%d", i);
        (void)snprintf(owner_of(nc_redis_slot_of(nc_slice_of(key))) == 2 ? own : other, sizeof own, "SET %s 1", key);
    }
    nc_redis *client = redis_open(&nodes[0], NULL, &(nc_redis_config){.min_backoff_ms = 1, .max_backoff_ms = 10});
    assert_string_equal(redis_ask(client, own), "OK");
    assert_string_equal(redis_ask(client, other), "OK");
    redis_server_kill(&nodes[2]);
    redis_ask_until(client, own, "NC_ERR_REFUSED");
    assert_string_equal(redis_ask(client, other), "OK");
    redis_server_start_again(&nodes[2]);
    redis_ask_until(client, own, "OK");
    nc_redis_close(client);
}

int main(int count, char **arguments) {
    harness_begin();
    int missing = redis_server_choose(count, arguments);
    if (missing != 0) {
        return missing;
    }
    const struct CMUnitTest cases[] = {
        harness_case(cluster__each_key_reaches_its_node),
        harness_case(cluster__after_the_first_redirection_no_command_is_redirected),
        harness_case(cluster__redirections_are_error_replies_if_they_are_off),
        harness_case(cluster__a_slot_that_moves_loses_no_command),
        harness_case(cluster__a_dead_node_fails_only_its_own_commands),
    };
    return cmocka_run_group_tests(cases, start_cluster, stop_cluster);
}
