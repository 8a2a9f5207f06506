#if defined(NETKIT_REDIS) || !defined(SWIFT_PACKAGE)
/// A server with its connection: connecting, commands in order, replies in order, and the end of a connection.
#include "internal.h"

#include <hiredis/hiredis.h>
#include <netdb.h>
#include <openssl/crypto.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { READS_PER_ROUND = 64 };

/* --- creation and end --- */

nc_redis_node *nc_redis_node_new(nc_redis *client, const char *host, uint16_t port) {
    nc_redis_node *node = calloc(1, sizeof *node);
    if (node != NULL) {
        node->client = client;
        node->port = port;
        node->fd = -1;
        node->limit.max_bytes = client->settings.limits.max_reply_bytes;
        (void)snprintf(node->host, sizeof node->host, "%s", host);
    }
    return node;
}

static void drop_connection(nc_redis_node *node) {
    nc_redis_socket_close(node);
    nc_redis_resolution_free(node->resolution);
    nc_redis_reader_free(node->reader);
    if (node->addresses != NULL) {
        freeaddrinfo(node->addresses);
    }
    if (node->out != NULL) {
        OPENSSL_cleanse(node->out, node->out_capacity); // may contain the password
    }
    free(node->out);
    node->resolution = NULL;
    node->reader = NULL;
    node->addresses = NULL;
    node->address = NULL;
    node->out = NULL;
    node->out_length = node->out_at = node->out_capacity = 0;
    node->wants_write = node->has_unread = node->has_replied = node->has_tried = false;
    node->pinged_at_ns = 0;
}

static void finish_all(nc_redis_node *node, nc_redis_list *list, const nc_error *err) {
    for (nc_redis_pending *pending = list->first; pending != NULL; pending = list->first) {
        nc_redis_list_remove(list, pending);
        nc_redis_finish(node->client, pending, NULL, err);
    }
}

void nc_redis_node_cancel(nc_redis_node *node, const nc_error *err) {
    finish_all(node, &node->sent, err);
    finish_all(node, &node->waiting, err);
}

void nc_redis_node_free(nc_redis_node *node) {
    if (node != NULL) {
        nc_error err;
        (void)nc_redis_fail(&err, NC_ERR_CANCELLED, 0, "the client was closed");
        nc_redis_node_cancel(node, &err); // A subscriber may have commands of the library itself.
        drop_connection(node);
        free(node);
    }
}

/// Returns how long to wait before the next attempt: exponential, with jitter, so that many clients do not return
/// together.
static uint64_t backoff_ns(nc_redis_node *node) {
    const nc_redis_config *limits = &node->client->settings.limits;
    unsigned doublings = node->failures - 1 < 20 ? node->failures - 1 : 20;
    uint64_t wait_ms = (uint64_t)limits->min_backoff_ms << doublings;
    wait_ms = wait_ms > limits->max_backoff_ms ? limits->max_backoff_ms : wait_ms;
    uint64_t *random = &node->client->random; // xorshift64
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    uint64_t wait_ns = wait_ms * 1000000u;
    return wait_ns - *random % (wait_ns / 2 + 1);
}

/// Closes the connection. Unless it served well until now, it is a failed attempt: commands fail until one succeeds.
static void close_connection(nc_redis_node *node, const nc_error *err) {
    bool was_ready = node->state == NC_REDIS_READY;
    bool is_failure = !was_ready || !node->has_replied || err->status == NC_ERR_BAD_RESPONSE;
    drop_connection(node);
    node->state = NC_REDIS_WAITING;
    node->retry_at_ns = 0;
    if (is_failure) {
        node->failures++;
        node->failure = *err;
        node->retry_at_ns = nc_redis_now_ns() + backoff_ns(node);
        finish_all(node, &node->waiting, err);
    }
    finish_all(node, &node->sent, err);
    if (was_ready && node->is_subscriber) {
        node->client->events->lost(node->client);
    }
    if (is_failure && !node->is_subscriber) {
        node->client->events->failed(node->client);
    }
}

void nc_redis_node_fail(nc_redis_node *node, const nc_error *err) {
    close_connection(node, err);
}

/* --- connecting --- */

static bool is_down(const nc_redis_node *node) {
    return node->failures > 0 && node->state != NC_REDIS_READY;
}

static NC_PRINTF(3, 4) void fail_connection(nc_redis_node *node, nc_status status, const char *format, ...) {
    nc_error err;
    char text[NC_ERROR_MESSAGE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    (void)nc_redis_fail(&err, status, 0, "%s", text);
    close_connection(node, &err);
}

static void become_ready(nc_redis_node *node) {
    node->state = NC_REDIS_READY;
    node->failures = 0;
    if (node->is_subscriber) {
        node->client->events->connected(node);
    }
}

/// Authenticates and selects the database. No command is sent before the server has accepted both.
static void greet(nc_redis_node *node) {
    const nc_redis_settings *settings = &node->client->settings;
    char database[16];
    const char *with_user[] = {"AUTH", settings->user, settings->password};
    const char *without_user[] = {"AUTH", settings->password};
    const char *selecting[] = {"SELECT", database};
    (void)snprintf(database, sizeof database, "%u", (unsigned)settings->limits.database);
    node->state = NC_REDIS_GREETING;
    node->greetings = 0;
    node->reader = nc_redis_reader_new(&node->limit);
    bool is_prepared = node->reader != NULL;
    node->limit.used_bytes = 0;
    node->limit.status = NC_OK;
    node->received_at_ns = nc_redis_now_ns();
    if (is_prepared && settings->password != NULL) {
        node->greetings++;
        is_prepared = settings->user != NULL ? nc_redis_output_append(node, with_user, 3)
                                             : nc_redis_output_append(node, without_user, 2);
    }
    if (is_prepared && settings->limits.database != 0) {
        node->greetings++;
        is_prepared = nc_redis_output_append(node, selecting, 2);
    }
    if (!is_prepared) {
        fail_connection(node, NC_ERR_NO_MEMORY, "%s", nc_status_text(NC_ERR_NO_MEMORY));
    } else if (node->greetings == 0) {
        become_ready(node);
    }
}

static void start_connecting(nc_redis_node *node, uint64_t now_ns) {
    node->connect_until_ns = now_ns + (uint64_t)node->client->settings.limits.connect_timeout_ms * 1000000u;
    node->state = NC_REDIS_CONNECTING;
    if (!node->client->settings.is_unix) {
        node->resolution = nc_redis_resolve(node->client, node->host, node->port);
        if (node->resolution == NULL) {
            fail_connection(node, NC_ERR_THREAD, "cannot start a thread to resolve the host");
            return;
        }
        node->state = NC_REDIS_RESOLVING;
    } else if (!nc_redis_socket_connect(node)) {
        nc_error err = node->failure;
        close_connection(node, &err);
    }
}

static void check_resolution(nc_redis_node *node) {
    int code = 0;
    if (!nc_redis_resolution_take(node->resolution, &node->addresses, &code)) {
        return;
    }
    nc_redis_resolution_free(node->resolution);
    node->resolution = NULL;
    node->address = node->addresses;
    node->state = NC_REDIS_CONNECTING;
    if (code != 0) {
        fail_connection(node, NC_ERR_RESOLVE, "cannot resolve host \"%s\": %s", node->host, gai_strerror(code));
    } else if (!nc_redis_socket_connect(node)) {
        nc_error err = node->failure;
        close_connection(node, &err);
    }
}

static void shake_hands(nc_redis_node *node) {
    nc_error err;
    switch (nc_redis_tls_shake_hands(node, &err)) {
    case NC_REDIS_IO_DONE:
        greet(node);
        break;
    case NC_REDIS_IO_FAILED:
        close_connection(node, &err);
        break;
    default:
        break;
    }
}

/// Handles the end of connect(2): the next address after a failure.
static void check_connect(nc_redis_node *node) {
    nc_error err;
    nc_status status = nc_redis_socket_result(node, &err);
    if (status == NC_OK && node->client->settings.is_tls) {
        node->state = NC_REDIS_TLS;
        shake_hands(node);
    } else if (status == NC_OK) {
        greet(node);
    } else {
        nc_redis_socket_close(node);
        node->failure = err;
        if (!nc_redis_socket_connect(node)) {
            err = node->failure;
            close_connection(node, &err);
        }
    }
}

/* --- time --- */

/// Closes a connection that owes replies and is silent. Returns when to look again.
static uint64_t check_silence(nc_redis_node *node, uint64_t now_ns) {
    uint64_t limit_ns = (uint64_t)node->client->settings.limits.silence_timeout_ms * 1000000u;
    uint64_t due_ns = node->pinged_at_ns;
    if (!node->is_subscriber) {
        due_ns = node->sent.first != NULL ? node->sent.first->deadline_ns : 0;
    } else if (due_ns == 0) {
        uint64_t ping_at_ns = node->received_at_ns + 10 * limit_ns;
        const nc_slice ping = nc_slice_of("PING");
        if (now_ns < ping_at_ns || !nc_redis_node_send_own(node, &ping, 1, NULL)) {
            return ping_at_ns;
        }
        node->pinged_at_ns = now_ns;
        due_ns = now_ns;
    }
    if (due_ns == 0) {
        return UINT64_MAX;
    }
    due_ns = (due_ns > node->received_at_ns ? due_ns : node->received_at_ns) + limit_ns;
    if (now_ns < due_ns) {
        return due_ns;
    }
    fail_connection(node, NC_ERR_RESET, "the server has been silent for more than %u ms although replies are due",
                    (unsigned)node->client->settings.limits.silence_timeout_ms);
    return now_ns;
}

/// Sends a PING if no reply is due that would show that the server replies again. Without memory for it, the next
/// command shows that.
static void probe(nc_redis_node *node) {
    if (node->is_overdue && node->sent.first == NULL && node->waiting.first == NULL) {
        const nc_slice ping = nc_slice_of("PING");
        node->is_overdue = nc_redis_node_send_own(node, &ping, 1, NULL);
    }
}

uint64_t nc_redis_node_tick(nc_redis_node *node, uint64_t now_ns) {
    if (node->state == NC_REDIS_WAITING && now_ns >= node->retry_at_ns) {
        start_connecting(node, now_ns);
    }
    if (node->state == NC_REDIS_RESOLVING) {
        check_resolution(node);
    }
    if (node->state == NC_REDIS_READY) {
        probe(node);
        nc_redis_node_flush(node);
    }
    if (node->state == NC_REDIS_READY) {
        return check_silence(node, now_ns);
    }
    if (node->state != NC_REDIS_WAITING && now_ns >= node->connect_until_ns) {
        fail_connection(node, NC_ERR_CONNECT_TIMED_OUT, "connecting to %s took longer than %u ms", node->host,
                        (unsigned)node->client->settings.limits.connect_timeout_ms);
    }
    return node->state == NC_REDIS_WAITING ? node->retry_at_ns : node->connect_until_ns;
}

/* --- commands --- */

void nc_redis_node_submit(nc_redis_node *node, nc_redis_pending *pending) {
    pending->node = node;
    pending->is_sent = false;
    if (is_down(node)) {
        nc_redis_finish(node->client, pending, NULL, &node->failure);
    } else if (node->is_overdue && !pending->has_own_limit) {
        nc_error err;
        (void)nc_redis_fail(&err, NC_ERR_TOTAL_TIMED_OUT, 0, "the server still owes the reply to an earlier command");
        nc_redis_finish(node->client, pending, NULL, &err);
    } else {
        nc_redis_list_append(&node->waiting, pending);
    }
}

bool nc_redis_node_send_own(nc_redis_node *node, const nc_slice *words, size_t count, nc_redis_own_fn own) {
    nc_redis_pending *pending = NULL;
    const nc_redis_command command = {.arguments = words, .count = count};
    if (nc_redis_pending_new(&pending, &command, SIZE_MAX / 2, NULL) != NC_OK) {
        return false;
    }
    pending->own = own;
    pending->charged_bytes = 0;
    pending->deadline_ns = nc_redis_now_ns() + (uint64_t)node->client->settings.limits.command_timeout_ms * 1000000u;
    pending->node = node;
    nc_redis_list_append(&node->waiting, pending);
    return true;
}

void nc_redis_node_flush(nc_redis_node *node) {
    nc_error err;
    if (nc_redis_output_write(node, &err) == NC_REDIS_IO_FAILED) {
        close_connection(node, &err);
    }
}

/* --- replies --- */

/// Handles the reply of AUTH or SELECT. Returns false if the connection is of no use.
static bool accept_greeting(nc_redis_node *node, nc_redis_reply *reply, nc_error *err) {
    const nc_redis_settings *settings = &node->client->settings;
    bool is_authentication = settings->password != NULL && (node->greetings == 2 || settings->limits.database == 0);
    bool is_accepted = reply->type == NC_REDIS_STATUS;
    if (!is_accepted && is_authentication) {
        (void)nc_redis_fail(err, NC_ERR_AUTHENTICATION, 0, "the server refuses the user or the password");
    } else if (!is_accepted) {
        (void)nc_redis_fail(err, NC_ERR_BAD_RESPONSE, 0, "the server does not select database %u: %.100s",
                            (unsigned)settings->limits.database,
                            reply->type == NC_REDIS_ERROR ? (const char *)reply->bytes.data : "no status");
    }
    nc_redis_reply_free(reply);
    node->greetings -= is_accepted ? 1 : 0;
    if (is_accepted && node->greetings == 0) {
        become_ready(node);
    }
    return is_accepted;
}

static bool begins_with(nc_slice text, const char *word) {
    size_t length = strlen(word);
    return text.length >= length && memcmp(text.data, word, length) == 0;
}

/// Sends a command again that the server did not execute. Returns false if the reply is the command's end.
static bool send_again(nc_redis_node *node, nc_redis_pending *pending, const nc_redis_reply *reply) {
    if (reply->type != NC_REDIS_ERROR || pending->heap_index == 0) {
        return false;
    }
    if (begins_with(reply->bytes, "NOSCRIPT") && pending->script != NULL && nc_redis_script_expand(pending)) {
        nc_redis_node_submit(node, pending);
        return true;
    }
    return (begins_with(reply->bytes, "MOVED ") || begins_with(reply->bytes, "ASK ")) &&
           node->client->events->redirect(node, pending, reply);
}

static bool accept_reply(nc_redis_node *node, nc_redis_reply *reply, nc_error *err) {
    if (node->state == NC_REDIS_GREETING) {
        return accept_greeting(node, reply, err);
    }
    node->has_replied = true;
    node->is_overdue = false;
    if (node->is_subscriber) {
        bool is_expected = node->client->events->receive(node, reply);
        nc_redis_reply_free(reply);
        return is_expected || nc_redis_fail(err, NC_ERR_BAD_RESPONSE, 0, "the server sent no message") == NC_OK;
    }
    nc_redis_pending *pending = node->sent.first;
    if (pending == NULL) {
        nc_redis_reply_free(reply);
        return nc_redis_fail(err, NC_ERR_BAD_RESPONSE, 0, "the server sent a reply without a command") == NC_OK;
    }
    nc_redis_list_remove(&node->sent, pending);
    if (send_again(node, pending, reply)) {
        nc_redis_reply_free(reply);
    } else {
        nc_error none;
        (void)nc_redis_succeed(&none);
        nc_redis_finish(node->client, pending, reply, &none);
    }
    return true;
}

/// Parses received bytes and handles all complete replies.
static bool parse(nc_redis_node *node, const uint8_t *bytes, size_t length, nc_error *err) {
    redisReader *reader = node->reader;
    if (redisReaderFeed(reader, (const char *)bytes, length) != REDIS_OK) {
        return nc_redis_fail(err, NC_ERR_NO_MEMORY, 0, "%s", nc_status_text(NC_ERR_NO_MEMORY)) == NC_OK;
    }
    for (;;) {
        void *reply = NULL;
        if (redisReaderGetReply(reader, &reply) != REDIS_OK) {
            nc_status status = node->limit.status != NC_OK ? node->limit.status : NC_ERR_BAD_RESPONSE;
            const char *why = node->limit.status == NC_OK ? reader->errstr : nc_status_text(status);
            return nc_redis_fail(err, status, 0, "cannot parse the server's reply: %s", why) == NC_OK;
        }
        if (reply == NULL) {
            break;
        }
        node->limit.used_bytes = 0;
        if (!accept_reply(node, reply, err)) {
            return false;
        }
    }
    if (reader->len - reader->pos > node->limit.max_bytes) {
        return nc_redis_fail(err, NC_ERR_TOO_LARGE, 0, "a reply exceeds max_reply_bytes (%zu)",
                             node->limit.max_bytes) == NC_OK;
    }
    return true;
}

static void read_replies(nc_redis_node *node) {
    uint8_t bytes[NC_REDIS_READ_BYTES];
    nc_error err;
    node->has_unread = false;
    for (int i = 0; i < READS_PER_ROUND; i++) {
        size_t length = 0;
        nc_redis_io result = nc_redis_socket_read(node, bytes, sizeof bytes, &length, &err);
        if (result == NC_REDIS_IO_AGAIN) {
            return;
        }
        if (result == NC_REDIS_IO_FAILED || !parse(node, bytes, length, &err)) {
            close_connection(node, &err);
            return;
        }
        node->received_at_ns = nc_redis_now_ns();
        if (length < sizeof bytes && !node->client->settings.is_tls) {
            return; // The socket is empty; poll() reports more.
        }
    }
    node->has_unread = true;
}

void nc_redis_node_handle(nc_redis_node *node, short events) {
    if (node->state == NC_REDIS_CONNECTING) {
        check_connect(node);
    } else if (node->state == NC_REDIS_TLS) {
        shake_hands(node);
    } else if (node->fd >= 0 && ((events & ~POLLOUT) != 0 || node->has_unread)) {
        read_replies(node);
    }
    if (node->state == NC_REDIS_GREETING || node->state == NC_REDIS_READY) {
        nc_redis_node_flush(node);
    }
}

#endif
