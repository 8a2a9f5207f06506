// Counts the starts of this program in Redis or Valkey: more than ten within a minute are refused. Then subscribes to a
// channel, publishes a message in it, and waits for that message.
//
//     cc redis.c $(pkg-config --cflags --libs netcore_redis) -pthread -o redis && ./redis redis://127.0.0.1:6379
#include <netcore/redis.h>
#include <netcore/redis_subscription.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

typedef struct inbox {
    nc_redis *client;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool is_done;
} inbox;

static void finish(inbox *box) {
    pthread_mutex_lock(&box->mutex);
    box->is_done = true;
    pthread_cond_signal(&box->changed);
    pthread_mutex_unlock(&box->mutex);
}

// Both functions run on the client's thread, so they must not block.
static void print_message(void *ctx, nc_slice channel, nc_slice message) {
    printf("%.*s: %.*s\n", (int)channel.length, (const char *)channel.data, (int)message.length,
           (const char *)message.data);
    finish(ctx);
}

static void publish_once_subscribed(void *ctx, nc_redis_subscription_state state) {
    inbox *box = ctx;
    const nc_slice words[] = {nc_slice_of("PUBLISH"), nc_slice_of("news"), nc_slice_of("a program has started")};
    nc_error err;
    if (state != NC_REDIS_SUBSCRIBED) {
        finish(box); // the connection was lost, or the client has ended
    } else if (nc_redis_send(box->client, &(nc_redis_command){.arguments = words, .count = 3}, &err) != NC_OK) {
        fprintf(stderr, "%s\n", err.message);
        finish(box);
    }
}

// A script is atomic: no other client sees the counter without its time to live.
static nc_status count_start(nc_redis *client, long long *starts, nc_error *err) {
    nc_redis_script *script = NULL;
    nc_redis_reply *reply = NULL;
    const nc_slice words[] = {nc_slice_of("starts"), nc_slice_of("60")};
    nc_status status =
        nc_redis_script_new(&script,
                            nc_slice_of("local n = redis.call('INCR', KEYS[1]) "
                                        "if n == 1 then redis.call('EXPIRE', KEYS[1], ARGV[1]) end return n"),
                            err);
    if (status == NC_OK) {
        const nc_redis_command command = {.arguments = words, .count = 2, .timeout_ms = 1000};
        status = nc_redis_eval_call(client, script, &command, 1, &reply, err);
    }
    if (status == NC_OK && reply->type == NC_REDIS_ERROR) {
        fprintf(stderr, "the server replies: %s\n", (const char *)reply->bytes.data);
    } else if (status == NC_OK) {
        *starts = (long long)reply->integer;
    }
    nc_redis_reply_free(reply);
    nc_redis_script_free(script);
    return status;
}

int main(int argc, char **argv) {
    inbox box = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    nc_redis_subscription *subscription = NULL;
    nc_error err = {.status = NC_OK};
    long long starts = 0;
    if (argc != 2) {
        fprintf(stderr, "usage: redis URL\n");
        return 2;
    }
    const nc_redis_config config = {.url = nc_slice_of(argv[1])};
    const nc_redis_listener listener = {
        .channel = nc_slice_of("news"), .on_message = print_message, .on_change = publish_once_subscribed, .ctx = &box};
    if (nc_redis_open(&box.client, &config, &err) != NC_OK || count_start(box.client, &starts, &err) != NC_OK) {
        fprintf(stderr, "%s: %s\n", nc_status_name(err.status), err.message);
    } else if (starts > 0) {
        printf("start %lld in 60 seconds\n", starts);
        if (nc_redis_subscribe(box.client, &listener, &subscription, &err) == NC_OK) {
            pthread_mutex_lock(&box.mutex);
            while (!box.is_done) {
                pthread_cond_wait(&box.changed, &box.mutex);
            }
            pthread_mutex_unlock(&box.mutex);
        }
    }
    nc_redis_close(box.client);
    return starts > 0 && starts <= 10 ? 0 : 1;
}
