/// GET of 1 KiB: one after the other, and pipelined. hiredis's own blocking connection, or libnetcore_redis.
///
///     bench-redis PEER ROW PORT COUNT    prints us=WALL cpu_us=CPU per_s=RATE
#include <hiredis/hiredis.h>
#include <netcore/redis.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { IN_FLIGHT = 100, VALUE_BYTES = 1024 };

static double seconds_of(clockid_t clock) {
    struct timespec now;
    (void)clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void require(bool holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "bench-redis: %s\n", what);
        exit(1);
    }
}

/* --- hiredis --- */

static void take_reply(redisContext *connection) {
    redisReply *reply = NULL;
    require(redisGetReply(connection, (void **)&reply) == REDIS_OK && reply->len == VALUE_BYTES, "hiredis failed");
    freeReplyObject(reply);
}

static void run_hiredis(int port, long count, long in_flight) {
    redisContext *connection = redisConnect("127.0.0.1", port);
    require(connection != NULL && connection->err == 0, "hiredis does not connect");
    for (long sent = 0; sent < count; sent += in_flight) {
        for (long i = 0; i < in_flight; i++) {
            require(redisAppendCommand(connection, "GET value") == REDIS_OK, "hiredis failed");
        }
        for (long i = 0; i < in_flight; i++) {
            take_reply(connection);
        }
    }
    redisFree(connection);
}

/* --- libnetcore_redis --- */

typedef struct pipeline {
    sem_t free_places;
    atomic_long hits;
} pipeline;

static void count_hit(void *ctx, nc_redis_reply *reply, const nc_error *err) {
    pipeline *sent = ctx;
    if (err->status == NC_OK && reply->bytes.length == VALUE_BYTES) {
        atomic_fetch_add_explicit(&sent->hits, 1, memory_order_relaxed);
    }
    sem_post(&sent->free_places);
}

static void run_alone(nc_redis *client, const nc_redis_command *command, long count) {
    for (long i = 0; i < count; i++) {
        nc_redis_reply *reply = NULL;
        require(nc_redis_call(client, command, &reply, NULL) == NC_OK && reply->bytes.length == VALUE_BYTES,
                "the client failed");
        nc_redis_reply_free(reply);
    }
}

static void run_pipelined(nc_redis *client, nc_redis_command *command, long count) {
    pipeline sent = {.hits = 0};
    command->on_reply = count_hit;
    command->ctx = &sent;
    sem_init(&sent.free_places, 0, IN_FLIGHT);
    for (long i = 0; i < count; i++) {
        while (sem_wait(&sent.free_places) != 0) {
        }
        require(nc_redis_send(client, command, NULL) == NC_OK, "the client failed");
    }
    for (int i = 0; i < IN_FLIGHT; i++) {
        while (sem_wait(&sent.free_places) != 0) {
        }
    }
    require(atomic_load(&sent.hits) == count, "a reply is missing");
    sem_destroy(&sent.free_places);
}

static void run_netcore(int port, long count, bool is_pipelined) {
    char url[64];
    nc_error err;
    nc_redis *client = NULL;
    const nc_slice words[] = {nc_slice_of("GET"), nc_slice_of("value")};
    nc_redis_command command = {.arguments = words, .count = 2, .timeout_ms = 10000};
    (void)snprintf(url, sizeof url, "redis://127.0.0.1:%d", port);
    const nc_redis_config config = {.url = nc_slice_of(url)};
    require(nc_redis_open(&client, &config, &err) == NC_OK, "the client does not open");
    if (is_pipelined) {
        run_pipelined(client, &command, count);
    } else {
        run_alone(client, &command, count);
    }
    nc_redis_close(client);
}

int main(int count_of_arguments, char **arguments) {
    require(count_of_arguments == 5, "usage: bench-redis hiredis|netcore alone|pipelined PORT COUNT");
    bool is_pipelined = strcmp(arguments[2], "pipelined") == 0;
    int port = atoi(arguments[3]);
    long count = atol(arguments[4]) / IN_FLIGHT * IN_FLIGHT;
    double wall = seconds_of(CLOCK_MONOTONIC);
    double cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    if (strcmp(arguments[1], "hiredis") == 0) {
        run_hiredis(port, count, is_pipelined ? IN_FLIGHT : 1);
    } else {
        run_netcore(port, count, is_pipelined);
    }
    wall = seconds_of(CLOCK_MONOTONIC) - wall;
    cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    printf("us=%.3f cpu_us=%.3f per_s=%.0f\n", wall / (double)count * 1e6, cpu / (double)count * 1e6,
           (double)count / wall);
    return 0;
}
