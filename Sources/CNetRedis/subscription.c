#if defined(NETKIT_REDIS) || !defined(SWIFT_PACKAGE)
/// Subscriptions: the channels of the subscriber's connection, and who receives their messages.
#include "internal.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_CHANNEL_BYTES = 64 << 10 };

struct nc_redis_subscription {
    nc_redis_subscription *next;
    nc_redis_listener listener; // its channel is the text behind the struct
    bool is_confirmed;
    bool is_ending; // guarded by the client's lock
};

/* --- other threads --- */

static void announce_change(nc_redis *client) {
    client->has_subscription_changes = true;
    if (client->is_asleep) {
        client->is_asleep = false;
        nc_redis_waker_wake(client->waker);
    }
}

nc_status nc_redis_subscribe(nc_redis *client, const nc_redis_listener *listener, nc_redis_subscription **out,
                             nc_error *err) {
    size_t length = listener->channel.length;
    *out = NULL;
    if (length == 0 || length > MAX_CHANNEL_BYTES) {
        return nc_redis_fail(err, NC_ERR_USAGE, 0, "the name of a channel has 1 to %d bytes", MAX_CHANNEL_BYTES);
    }
    nc_redis_subscription *subscription = calloc(1, sizeof *subscription + length);
    if (subscription == NULL) {
        return nc_redis_fail(err, NC_ERR_NO_MEMORY, 0, "%s", nc_status_text(NC_ERR_NO_MEMORY));
    }
    memcpy(subscription + 1, listener->channel.data, length);
    subscription->listener = *listener;
    subscription->listener.channel = nc_slice_make(subscription + 1, length);
    *out = subscription; // before the loop can free it
    (void)pthread_mutex_lock(&client->lock);
    subscription->next = client->new_subscriptions;
    client->new_subscriptions = subscription;
    announce_change(client);
    (void)pthread_mutex_unlock(&client->lock);
    return nc_redis_succeed(err);
}

void nc_redis_unsubscribe(nc_redis *client, nc_redis_subscription *subscription) {
    (void)pthread_mutex_lock(&client->lock);
    subscription->is_ending = true;
    announce_change(client);
    (void)pthread_mutex_unlock(&client->lock);
}

/* --- the loop --- */

static void notify(const nc_redis_subscription *subscription, nc_redis_subscription_state state) {
    if (subscription->listener.on_change != NULL) {
        subscription->listener.on_change(subscription->listener.ctx, state);
    }
}

/// Sends SUBSCRIBE or UNSUBSCRIBE. If memory ran out, the connection is closed, so that the next one subscribes again.
static void send_change(nc_redis_node *node, const char *name, nc_slice channel) {
    const nc_slice words[] = {nc_slice_of(name), channel};
    if (node->state == NC_REDIS_READY && !nc_redis_node_send_own(node, words, 2, NULL)) {
        nc_error err;
        (void)nc_redis_fail(&err, NC_ERR_NO_MEMORY, 0, "%s", nc_status_text(NC_ERR_NO_MEMORY));
        nc_redis_node_fail(node, &err);
    }
}

static bool has_channel(const nc_redis *client, nc_slice channel) {
    for (const nc_redis_subscription *each = client->subscriptions; each != NULL; each = each->next) {
        if (nc_slice_is_equal(each->listener.channel, channel)) {
            return true;
        }
    }
    return false;
}

/// Moves all subscriptions that end to a list of their own.
static nc_redis_subscription *take_ending(nc_redis *client) {
    nc_redis_subscription *ending = NULL;
    for (nc_redis_subscription **at = &client->subscriptions; *at != NULL;) {
        nc_redis_subscription *each = *at;
        if (each->is_ending) {
            *at = each->next;
            each->next = ending;
            ending = each;
        } else {
            at = &each->next;
        }
    }
    return ending;
}

static void end_each(nc_redis *client, nc_redis_subscription *ending) {
    while (ending != NULL) {
        nc_redis_subscription *next = ending->next;
        if (client->subscriber != NULL && !has_channel(client, ending->listener.channel)) {
            send_change(client->subscriber, "UNSUBSCRIBE", ending->listener.channel);
        }
        notify(ending, NC_REDIS_ENDED);
        free(ending);
        ending = next;
    }
}

/// Prepends new subscriptions, and subscribes to their channels if there is a connection.
static void add_each(nc_redis *client, nc_redis_subscription *added) {
    while (added != NULL) {
        nc_redis_subscription *next = added->next;
        added->next = client->subscriptions;
        client->subscriptions = added;
        if (client->subscriber != NULL) {
            send_change(client->subscriber, "SUBSCRIBE", added->listener.channel);
        }
        added = next;
    }
}

void nc_redis_subscriptions_update(nc_redis *client) {
    nc_redis_subscription *added = NULL;
    nc_redis_subscription *ending = NULL;
    (void)pthread_mutex_lock(&client->lock);
    bool has_changes = client->has_subscription_changes;
    if (has_changes) {
        client->has_subscription_changes = false;
        ending = take_ending(client);
        added = client->new_subscriptions;
        client->new_subscriptions = NULL;
        client->has_subscription_changes = added != NULL; // One that ends already is seen in the next round.
    }
    (void)pthread_mutex_unlock(&client->lock);
    if (!has_changes) {
        return;
    }
    end_each(client, ending);
    add_each(client, added);
    if (client->subscriptions == NULL && client->subscriber != NULL) {
        nc_redis_node_free(client->subscriber);
        client->subscriber = NULL;
    } else if (client->subscriptions != NULL && client->subscriber == NULL) {
        client->subscriber = nc_redis_node_new(client, client->settings.host, client->settings.port);
        if (client->subscriber != NULL) {
            client->subscriber->is_subscriber = true;
        }
    }
}

void nc_redis_subscriptions_connected(nc_redis_node *node) {
    for (nc_redis_subscription *each = node->client->subscriptions; each != NULL; each = each->next) {
        send_change(node, "SUBSCRIBE", each->listener.channel);
    }
}

void nc_redis_subscriptions_lost(nc_redis *client) {
    for (nc_redis_subscription *each = client->subscriptions; each != NULL; each = each->next) {
        if (each->is_confirmed) {
            each->is_confirmed = false;
            notify(each, NC_REDIS_LOST);
        }
    }
}

bool nc_redis_subscriptions_receive(nc_redis_node *node, const nc_redis_reply *reply) {
    if (reply->type == NC_REDIS_STATUS && nc_slice_is_equal(reply->bytes, nc_slice_of("PONG"))) {
        node->pinged_at_ns = 0;
        return true;
    }
    if (reply->type != NC_REDIS_ARRAY || reply->count < 2) {
        return false;
    }
    nc_slice kind = reply->items[0].bytes;
    nc_slice channel = reply->items[1].bytes;
    bool is_message = nc_slice_is_equal(kind, nc_slice_of("message")) && reply->count == 3;
    bool is_confirmation = nc_slice_is_equal(kind, nc_slice_of("subscribe"));
    if (nc_slice_is_equal(kind, nc_slice_of("pong"))) {
        node->pinged_at_ns = 0;
        return true;
    }
    for (nc_redis_subscription *each = node->client->subscriptions; each != NULL; each = each->next) {
        if (!nc_slice_is_equal(each->listener.channel, channel)) {
            continue;
        }
        if (is_message && each->listener.on_message != NULL) {
            each->listener.on_message(each->listener.ctx, channel, reply->items[2].bytes);
        } else if (is_confirmation && !each->is_confirmed) {
            each->is_confirmed = true;
            notify(each, NC_REDIS_SUBSCRIBED);
        }
    }
    return is_message || is_confirmation || nc_slice_is_equal(kind, nc_slice_of("unsubscribe"));
}

void nc_redis_subscriptions_end(nc_redis *client) {
    (void)pthread_mutex_lock(&client->lock);
    nc_redis_subscription *added = client->new_subscriptions;
    client->new_subscriptions = NULL;
    (void)pthread_mutex_unlock(&client->lock);
    nc_redis_node_free(client->subscriber);
    client->subscriber = NULL;
    end_each(client, client->subscriptions);
    client->subscriptions = NULL;
    end_each(client, added);
}

#endif
