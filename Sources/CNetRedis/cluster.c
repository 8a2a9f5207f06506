#if defined(NETKIT_REDIS) || !defined(SWIFT_PACKAGE)
/// Clusters: the node of each slot, and the redirections MOVED and ASK.
#include "internal.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t min_refresh_interval_ns = 100 * 1000000u;

nc_redis_node *nc_redis_cluster_route(nc_redis *client, uint16_t slot) {
    if (client->slots == NULL) {
        return client->nodes[0];
    }
    if (slot < NC_REDIS_SLOTS) {
        return client->slots[slot];
    }
    for (size_t i = 0; i < client->node_count; i++) {
        if (client->nodes[i]->state == NC_REDIS_READY) {
            return client->nodes[i];
        }
    }
    return client->nodes[0];
}

/// Returns the node with an address, which is created if it is new. NULL if there are too many, or memory ran out.
static nc_redis_node *find_node(nc_redis *client, const char *host, uint16_t port) {
    for (size_t i = 0; i < client->node_count; i++) {
        if (client->nodes[i]->port == port && strcmp(client->nodes[i]->host, host) == 0) {
            return client->nodes[i];
        }
    }
    bool has_room = client->node_count < NC_REDIS_MAX_NODES;
    nc_redis_node *node = has_room ? nc_redis_node_new(client, host, port) : NULL;
    if (node != NULL) {
        node->is_used = true;
        client->nodes[client->node_count++] = node;
    }
    return node;
}

static bool enter_cluster(nc_redis *client) {
    if (client->slots == NULL) {
        client->slots = malloc(NC_REDIS_SLOTS * sizeof client->slots[0]);
        for (size_t i = 0; client->slots != NULL && i < NC_REDIS_SLOTS; i++) {
            client->slots[i] = client->nodes[0];
        }
    }
    return client->slots != NULL;
}

/* --- redirections --- */

/// Parses "MOVED 3999 host:port" and "ASK 3999 host:port". An unknown host is that of the node which replied.
static nc_redis_node *read_target(nc_redis_node *node, const nc_redis_reply *reply, unsigned *slot) {
    char host[NC_REDIS_MAX_HOST_BYTES + 1] = "";
    unsigned port = 0;
    int length = 0;
    const char *text = (const char *)reply->bytes.data; // NUL-terminated
    const char *colon = strrchr(text, ':');
    if (colon == NULL || sscanf(text, "%*5s %5u %n", slot, &length) != 1 || sscanf(colon, ":%5u", &port) != 1 ||
        *slot >= NC_REDIS_SLOTS || port == 0 || port > UINT16_MAX || colon < text + length ||
        (size_t)(colon - text) - (size_t)length >= sizeof host) {
        return NULL;
    }
    memcpy(host, text + length, (size_t)(colon - text) - (size_t)length);
    bool is_known = host[0] != '\0' && strcmp(host, "?") != 0;
    return find_node(node->client, is_known ? host : node->host, (uint16_t)port);
}

bool nc_redis_cluster_redirect(nc_redis_node *node, nc_redis_pending *pending, const nc_redis_reply *reply) {
    nc_redis *client = node->client;
    unsigned slot = 0;
    bool is_moved = reply->bytes.data[0] == 'M';
    if (client->settings.limits.cluster == NC_REDIS_CLUSTER_OFF || client->settings.is_unix ||
        pending->redirects >= NC_REDIS_MAX_REDIRECTS || !enter_cluster(client)) {
        return false;
    }
    nc_redis_node *target = read_target(node, reply, &slot);
    if (target == NULL) {
        return false;
    }
    pending->redirects++;
    if (is_moved) {
        client->slots[slot] = target;
        target->is_used = true;
        nc_redis_cluster_refresh(client);
    } else {
        const nc_slice asking = nc_slice_of("ASKING");
        if (!nc_redis_node_send_own(target, &asking, 1, NULL)) {
            return false;
        }
    }
    nc_redis_node_submit(target, pending);
    return true;
}

/* --- the table of slots --- */

/// Stores a range of CLUSTER SLOTS: [first, last, [host, port, …], replicas …]. Other values are ignored.
static void store_range(nc_redis_node *node, const nc_redis_reply *range) {
    if (range->type != NC_REDIS_ARRAY || range->count < 3 || range->items[2].type != NC_REDIS_ARRAY ||
        range->items[2].count < 2) {
        return;
    }
    const nc_redis_reply *host = &range->items[2].items[0];
    int64_t port = range->items[2].items[1].integer;
    int64_t first = range->items[0].integer;
    int64_t last = range->items[1].integer;
    if (first < 0 || last < first || last >= NC_REDIS_SLOTS || port <= 0 || port > UINT16_MAX ||
        host->bytes.length > NC_REDIS_MAX_HOST_BYTES) {
        return;
    }
    bool is_known = host->bytes.length > 0 && !nc_slice_is_equal(host->bytes, nc_slice_of("?"));
    nc_redis_node *owner =
        find_node(node->client, is_known ? (const char *)host->bytes.data : node->host, (uint16_t)port);
    for (int64_t slot = first; owner != NULL && slot <= last; slot++) {
        node->client->slots[slot] = owner;
    }
}

static void accept_slots(nc_redis_node *node, nc_redis_reply *reply, const nc_error *err) {
    nc_redis *client = node->client;
    (void)err;
    client->is_refreshing = false;
    client->refreshed_at_ns = nc_redis_now_ns();
    if (reply == NULL || reply->type != NC_REDIS_ARRAY) {
        return;
    }
    for (size_t i = 0; i < reply->count; i++) {
        store_range(node, &reply->items[i]);
    }
    for (size_t i = 1; i < client->node_count; i++) {
        client->nodes[i]->is_used = false;
    }
    for (size_t i = 0; i < NC_REDIS_SLOTS; i++) {
        client->slots[i]->is_used = true;
    }
}

void nc_redis_cluster_refresh(nc_redis *client) {
    static const nc_slice words[] = {{(const uint8_t *)"CLUSTER", 7}, {(const uint8_t *)"SLOTS", 5}};
    uint64_t now_ns = nc_redis_now_ns();
    bool is_early = client->refreshed_at_ns != 0 && now_ns < client->refreshed_at_ns + min_refresh_interval_ns;
    nc_redis_node *node = nc_redis_cluster_route(client, NC_REDIS_SLOTS);
    if (client->slots != NULL && !client->is_refreshing && !is_early && node->state == NC_REDIS_READY) {
        client->is_refreshing = nc_redis_node_send_own(node, words, 2, accept_slots);
    }
}

void nc_redis_cluster_sweep(nc_redis *client) {
    for (size_t i = client->node_count; client->slots != NULL && i-- > 1;) {
        nc_redis_node *node = client->nodes[i];
        if (!node->is_used && node->waiting.count == 0 && node->sent.count == 0) {
            nc_redis_node_free(node);
            client->nodes[i] = client->nodes[--client->node_count];
        }
    }
}

#endif
