#if defined(NETKIT_REDIS) || !defined(SWIFT_PACKAGE)
/// The thread of a client: takes commands from the mailbox, and serves all connections with poll().
#include "internal.h"

#include <poll.h>
#include <unistd.h>

/// Takes the mailbox. Returns false if the client ends.
static bool take_mailbox(nc_redis *client, nc_redis_list *out) {
    (void)pthread_mutex_lock(&client->lock);
    *out = client->mailbox;
    client->mailbox = (nc_redis_list){0};
    client->is_asleep = false;
    bool is_running = !client->is_stopping;
    (void)pthread_mutex_unlock(&client->lock);
    return is_running;
}

/// Returns false if there is something in the mailbox. From then on, senders wake the loop.
static bool fall_asleep(nc_redis *client) {
    (void)pthread_mutex_lock(&client->lock);
    client->is_asleep = client->mailbox.first == NULL && !client->is_stopping && !client->has_subscription_changes;
    bool is_asleep = client->is_asleep;
    (void)pthread_mutex_unlock(&client->lock);
    return is_asleep;
}

static void accept_commands(nc_redis *client, nc_redis_list *commands) {
    for (nc_redis_pending *pending = commands->first; pending != NULL; pending = commands->first) {
        nc_redis_list_remove(commands, pending);
        if (nc_redis_deadlines_add(&client->deadlines, pending)) {
            nc_redis_node_submit(nc_redis_cluster_route(client, pending->slot), pending);
        } else {
            nc_error err;
            (void)nc_redis_fail(&err, NC_ERR_NO_MEMORY, 0, "%s", nc_status_text(NC_ERR_NO_MEMORY));
            nc_redis_finish(client, pending, NULL, &err);
        }
    }
}

/// Ends commands whose time is over. One that was sent keeps its place, so that its late reply is recognized.
static void expire_commands(nc_redis *client, uint64_t now_ns) {
    nc_error err;
    (void)nc_redis_fail(&err, NC_ERR_TOTAL_TIMED_OUT, 0, "the server did not reply within the time limit");
    while (client->deadlines.count > 0 && client->deadlines.items[0]->deadline_ns <= now_ns) {
        nc_redis_pending *pending = client->deadlines.items[0];
        nc_redis_deadlines_remove(&client->deadlines, pending);
        pending->node->is_overdue = pending->node->is_overdue || !pending->has_own_limit;
        if (pending->is_sent) {
            nc_redis_pending_deliver(pending, NULL, &err);
        } else {
            nc_redis_list_remove(&pending->node->waiting, pending);
            nc_redis_finish(client, pending, NULL, &err);
        }
    }
}

typedef struct poll_set {
    struct pollfd fds[NC_REDIS_MAX_NODES + 2];
    nc_redis_node *nodes[NC_REDIS_MAX_NODES + 2];
    nfds_t count;
    uint64_t wake_at_ns;
    bool has_unread; // bytes that poll() does not report, because OpenSSL has them
} poll_set;

static void add_node(poll_set *set, nc_redis_node *node, uint64_t now_ns) {
    uint64_t at_ns = nc_redis_node_tick(node, now_ns);
    set->wake_at_ns = at_ns < set->wake_at_ns ? at_ns : set->wake_at_ns;
    set->has_unread = set->has_unread || node->has_unread;
    if (node->fd >= 0) {
        short events = (short)(node->state == NC_REDIS_CONNECTING ? POLLOUT : POLLIN);
        set->fds[set->count] =
            (struct pollfd){.fd = node->fd, .events = (short)(node->wants_write ? events | POLLOUT : events)};
        set->nodes[set->count++] = node;
    }
}

static void prepare(poll_set *set, nc_redis *client, uint64_t now_ns) {
    set->fds[0] = (struct pollfd){.fd = client->waker->fds[0], .events = POLLIN};
    set->nodes[0] = NULL;
    set->count = 1;
    set->has_unread = false;
    set->wake_at_ns = client->deadlines.count > 0 ? client->deadlines.items[0]->deadline_ns : UINT64_MAX;
    for (size_t i = 0; i < client->node_count; i++) {
        add_node(set, client->nodes[i], now_ns);
    }
    if (client->subscriber != NULL) {
        add_node(set, client->subscriber, now_ns);
    }
}

/// Returns the timeout for poll(): rounded up, so that the loop does not spin before a deadline.
static int timeout_of(const poll_set *set, uint64_t now_ns, bool may_sleep) {
    if (!may_sleep || set->has_unread || set->wake_at_ns <= now_ns) {
        return 0;
    }
    uint64_t wait_ms = (set->wake_at_ns - now_ns + 999999u) / 1000000u;
    return set->wake_at_ns == UINT64_MAX ? -1 : wait_ms > 60000 ? 60000 : (int)wait_ms;
}

static void drain_waker(const nc_redis *client) {
    char bytes[64];
    while (read(client->waker->fds[0], bytes, sizeof bytes) > 0) {
    }
}

static void cancel_everything(nc_redis *client, nc_redis_list *commands) {
    nc_error err;
    (void)nc_redis_fail(&err, NC_ERR_CANCELLED, 0, "the client was closed");
    for (nc_redis_pending *pending = commands->first; pending != NULL; pending = commands->first) {
        nc_redis_list_remove(commands, pending);
        nc_redis_finish(client, pending, NULL, &err);
    }
    for (size_t i = 0; i < client->node_count; i++) {
        nc_redis_node_cancel(client->nodes[i], &err);
    }
    if (client->subscriber != NULL) {
        nc_redis_node_cancel(client->subscriber, &err);
    }
    nc_redis_subscriptions_end(client);
}

void nc_redis_loop_run(nc_redis *client) {
    nc_redis_list commands;
    poll_set set;
    while (take_mailbox(client, &commands)) {
        uint64_t now_ns = nc_redis_now_ns();
        nc_redis_subscriptions_update(client);
        accept_commands(client, &commands);
        expire_commands(client, now_ns);
        prepare(&set, client, now_ns);
        int ready = poll(set.fds, set.count, timeout_of(&set, now_ns, fall_asleep(client)));
        if (ready > 0 && set.fds[0].revents != 0) {
            drain_waker(client);
        }
        for (nfds_t i = 1; i < set.count; i++) {
            short events = ready > 0 ? set.fds[i].revents : 0;
            if (events != 0 || set.nodes[i]->has_unread) {
                nc_redis_node_handle(set.nodes[i], events);
            }
        }
        nc_redis_cluster_sweep(client);
    }
    cancel_everything(client, &commands);
}

#endif
