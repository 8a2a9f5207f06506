#if defined(NETKIT_REDIS) || !defined(SWIFT_PACKAGE)
/// The addresses of a host. getaddrinfo() blocks, so that a name is resolved on a thread of its own. The thread may
/// outlive the client.
#include "internal.h"

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct nc_redis_resolution {
    atomic_uint references; // of the client and of the thread
    atomic_bool has_ended;
    int code;
    struct addrinfo *addresses;
    nc_redis_waker *waker;
    char port[8];
    char host[NC_REDIS_MAX_HOST_BYTES + 1];
};

static void look_up(nc_redis_resolution *resolution, int flags) {
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV | flags};
    resolution->code = getaddrinfo(resolution->host, resolution->port, &hints, &resolution->addresses);
}

static void *run(void *ctx) {
    nc_redis_resolution *resolution = ctx;
    look_up(resolution, 0);
    atomic_store_explicit(&resolution->has_ended, true, memory_order_release);
    nc_redis_waker_wake(resolution->waker);
    nc_redis_resolution_free(resolution);
    return NULL;
}

static bool start_thread(nc_redis_resolution *resolution) {
    pthread_t thread;
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) {
        return false;
    }
    (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    (void)atomic_fetch_add_explicit(&resolution->references, 1, memory_order_relaxed);
    bool is_started = pthread_create(&thread, &attributes, run, resolution) == 0;
    (void)pthread_attr_destroy(&attributes);
    if (!is_started) {
        (void)atomic_fetch_sub_explicit(&resolution->references, 1, memory_order_relaxed);
    }
    return is_started;
}

nc_redis_resolution *nc_redis_resolve(nc_redis *client, const char *host, uint16_t port) {
    nc_redis_resolution *resolution = calloc(1, sizeof *resolution);
    if (resolution == NULL) {
        return NULL;
    }
    atomic_init(&resolution->references, 1);
    atomic_init(&resolution->has_ended, false);
    resolution->waker = client->waker;
    (void)atomic_fetch_add_explicit(&client->waker->references, 1, memory_order_relaxed);
    (void)snprintf(resolution->host, sizeof resolution->host, "%s", host);
    (void)snprintf(resolution->port, sizeof resolution->port, "%u", (unsigned)port);
    look_up(resolution, AI_NUMERICHOST);
    if (resolution->code == 0) {
        atomic_store_explicit(&resolution->has_ended, true, memory_order_release);
    } else if (!start_thread(resolution)) {
        nc_redis_resolution_free(resolution);
        return NULL;
    }
    return resolution;
}

bool nc_redis_resolution_take(nc_redis_resolution *resolution, struct addrinfo **addresses, int *code) {
    if (!atomic_load_explicit(&resolution->has_ended, memory_order_acquire)) {
        return false;
    }
    *addresses = resolution->addresses;
    *code = resolution->code;
    resolution->addresses = NULL;
    return true;
}

void nc_redis_resolution_free(nc_redis_resolution *resolution) {
    if (resolution != NULL && atomic_fetch_sub_explicit(&resolution->references, 1, memory_order_acq_rel) == 1) {
        if (resolution->addresses != NULL) {
            freeaddrinfo(resolution->addresses);
        }
        nc_redis_waker_release(resolution->waker);
        free(resolution);
    }
}

#endif
