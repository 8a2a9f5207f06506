#if defined(NETKIT_REDIS) || !defined(SWIFT_PACKAGE)
/// Clients: their creation and end.
#include "internal.h"

#include <errno.h>
#include <netcore/hooks.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* --- the end of a client --- */

static void free_client(nc_redis *client) {
    for (size_t i = 0; i < client->node_count; i++) {
        nc_redis_node_free(client->nodes[i]);
    }
    nc_redis_node_free(client->subscriber);
    nc_trust_context_free(client->trust);
    nc_redis_settings_deinit(&client->settings);
    nc_redis_waker_release(client->waker);
    (void)pthread_mutex_destroy(&client->lock);
    free(client->deadlines.items);
    free(client->slots);
    free(client);
}

static void stop(nc_redis *client, bool frees_itself) {
    (void)pthread_mutex_lock(&client->lock);
    client->is_stopping = true;
    client->frees_itself = frees_itself;
    nc_redis_waker_wake(client->waker); // within the lock: the loop may free the client after it
    (void)pthread_mutex_unlock(&client->lock);
}

void nc_redis_close(nc_redis *client) {
    if (client != NULL) {
        stop(client, false);
        (void)pthread_join(client->thread, NULL);
        free_client(client);
    }
}

void nc_redis_release(nc_redis *client) {
    if (client != NULL) {
        (void)pthread_detach(client->thread);
        stop(client, true);
    }
}

static void *run(void *ctx) {
    nc_redis *client = ctx;
    (void)pthread_mutex_lock(&client->lock); // Waits until `thread` is stored.
    (void)pthread_mutex_unlock(&client->lock);
    nc_redis_loop_run(client);
    (void)pthread_mutex_lock(&client->lock);
    bool frees_itself = client->frees_itself;
    (void)pthread_mutex_unlock(&client->lock);
    if (frees_itself) {
        free_client(client);
    }
    return NULL;
}

/* --- creation --- */

static const nc_redis_events events = {
    .connected = nc_redis_subscriptions_connected,
    .lost = nc_redis_subscriptions_lost,
    .receive = nc_redis_subscriptions_receive,
    .redirect = nc_redis_cluster_redirect,
    .failed = nc_redis_cluster_refresh,
};

static nc_status load_trust(nc_redis *client, nc_trust *trust, nc_error *err) {
    nc_trust *fallback = NULL;
    nc_status status = trust == NULL ? nc_trust_new(&fallback, NULL, err) : NC_OK;
    if (status == NC_OK) {
        status = nc_trust_context_new(&client->trust, trust != NULL ? trust : fallback, err);
    }
    nc_trust_release(fallback);
    return status;
}

/// Starts the thread with all signals blocked, so that the program's own threads receive them.
static nc_status start_thread(nc_redis *client, nc_error *err) {
    sigset_t all;
    sigset_t previous;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &previous);
    (void)pthread_mutex_lock(&client->lock);
    int code = pthread_create(&client->thread, NULL, run, client);
    (void)pthread_mutex_unlock(&client->lock);
    (void)pthread_sigmask(SIG_SETMASK, &previous, NULL);
    return code == 0 ? NC_OK : nc_redis_fail(err, NC_ERR_THREAD, code, "cannot start a thread: %s", strerror(code));
}

static nc_status fill_client(nc_redis *client, const nc_redis_config *config, nc_error *err) {
    nc_status status = nc_redis_settings_read(&client->settings, config, err);
    if (status == NC_OK && client->settings.is_tls) {
        status = load_trust(client, config->trust, err);
    } else if (status == NC_OK && config->trust != NULL) {
        status = nc_redis_fail(err, NC_ERR_PLAINTEXT_REFUSED, 0, "a trust policy requires a rediss:// URL");
    }
    if (status != NC_OK) {
        return status;
    }
    nc_random random = nc_random_system();
    (void)random.fill(random.ctx, (uint8_t *)&client->random, sizeof client->random);
    client->random |= 1;
    client->events = &events;
    client->waker = nc_redis_waker_new();
    if (client->waker == NULL) {
        return nc_redis_fail(err, NC_ERR_DESCRIPTORS, errno, "cannot create a pipe: %s", strerror(errno));
    }
    client->nodes[0] = nc_redis_node_new(client, client->settings.host, client->settings.port);
    client->node_count = client->nodes[0] != NULL ? 1 : 0;
    if (client->node_count == 0) {
        return nc_redis_fail(err, NC_ERR_NO_MEMORY, 0, "%s", nc_status_text(NC_ERR_NO_MEMORY));
    }
    client->nodes[0]->is_used = true;
    return start_thread(client, err);
}

nc_status nc_redis_open(nc_redis **out, const nc_redis_config *config, nc_error *err) {
    *out = NULL;
    nc_redis *client = calloc(1, sizeof *client);
    if (client == NULL) {
        return nc_redis_fail(err, NC_ERR_NO_MEMORY, 0, "%s", nc_status_text(NC_ERR_NO_MEMORY));
    }
    (void)pthread_mutex_init(&client->lock, NULL);
    nc_status status = fill_client(client, config, err);
    if (status != NC_OK) {
        free_client(client);
        return status;
    }
    *out = client;
    return nc_redis_succeed(err);
}

#endif
