#if defined(NETKIT_REDIS) || !defined(SWIFT_PACKAGE)
/// The functions of other threads that send commands and scripts.
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// Gives a formatted command to the loop.
static nc_status submit(nc_redis *client, nc_redis_pending *pending, uint32_t timeout_ms, nc_error *err) {
    const nc_redis_config *limits = &client->settings.limits;
    uint32_t limit_ms = timeout_ms != 0 ? timeout_ms : limits->command_timeout_ms;
    size_t queued = atomic_fetch_add_explicit(&client->queued_bytes, pending->charged_bytes, memory_order_relaxed);
    if (queued > limits->max_queued_bytes || pending->charged_bytes > limits->max_queued_bytes - queued) {
        (void)atomic_fetch_sub_explicit(&client->queued_bytes, pending->charged_bytes, memory_order_relaxed);
        nc_redis_pending_free(pending);
        return nc_redis_fail(err, NC_ERR_QUEUE_FULL, 0, "the commands without a reply exceed max_queued_bytes (%zu)",
                             limits->max_queued_bytes);
    }
    pending->deadline_ns = nc_redis_now_ns() + (uint64_t)limit_ms * 1000000u;
    pending->has_own_limit = timeout_ms != 0;
    (void)pthread_mutex_lock(&client->lock);
    bool is_stopping = client->is_stopping;
    if (!is_stopping) {
        nc_redis_list_append(&client->mailbox, pending);
        if (client->is_asleep) {
            client->is_asleep = false;
            nc_redis_waker_wake(client->waker);
        }
    }
    (void)pthread_mutex_unlock(&client->lock);
    if (is_stopping) {
        (void)atomic_fetch_sub_explicit(&client->queued_bytes, pending->charged_bytes, memory_order_relaxed);
        nc_redis_pending_free(pending);
        return nc_redis_fail(err, NC_ERR_CLOSED, 0, "the client is closed");
    }
    return nc_redis_succeed(err);
}

nc_status nc_redis_send(nc_redis *client, const nc_redis_command *command, nc_error *err) {
    nc_redis_pending *pending = NULL;
    const char *refused = command->count > 0 ? nc_redis_refusal_of(command->arguments[0]) : NULL;
    if (refused != NULL) {
        return nc_redis_fail(err, NC_ERR_USAGE, 0, "%s changes the shared connection, so it cannot be sent", refused);
    }
    nc_status status = nc_redis_pending_new(&pending, command, client->settings.limits.max_queued_bytes, err);
    return status != NC_OK ? status : submit(client, pending, command->timeout_ms, err);
}

/* --- scripts --- */

/// Formats the words EVALSHA, SHA-1, number of keys, keys and arguments.
static nc_status format_call(nc_redis_pending **out, nc_redis *client, nc_redis_script *script,
                             const nc_redis_command *command, size_t key_count, nc_error *err) {
    char digits[24];
    size_t max_bytes = client->settings.limits.max_queued_bytes;
    nc_slice *words = malloc((command->count + 3) * sizeof *words);
    if (words == NULL) {
        return nc_redis_fail(err, NC_ERR_NO_MEMORY, 0, "%s", nc_status_text(NC_ERR_NO_MEMORY));
    }
    (void)snprintf(digits, sizeof digits, "%zu", key_count);
    words[0] = nc_slice_of("EVALSHA");
    words[1] = nc_slice_of(script->sha1);
    words[2] = nc_slice_of(digits);
    if (command->count > 0) {
        memcpy(words + 3, command->arguments, command->count * sizeof *words);
    }
    nc_redis_command whole = *command;
    whole.arguments = words;
    whole.count = command->count + 3;
    whole.key_index = 0;
    nc_status status = nc_redis_pending_new(out, &whole, max_bytes, err);
    free(words);
    return status;
}

nc_status nc_redis_eval(nc_redis *client, nc_redis_script *script, const nc_redis_command *command, size_t key_count,
                        nc_error *err) {
    nc_redis_pending *pending = NULL;
    if (key_count > command->count || command->count > NC_REDIS_MAX_WORDS - 3) {
        return nc_redis_fail(err, NC_ERR_USAGE, 0, "a script has at most %d words, the keys among them",
                             NC_REDIS_MAX_WORDS - 3);
    }
    nc_status status = format_call(&pending, client, script, command, key_count, err);
    if (status != NC_OK) {
        return status;
    }
    // The text begins with "*N\r\n$7\r\nEVALSHA\r\n$40\r\n", the digits, and "\r\n".
    const char *first_line_end = memchr(pending->text, '\n', pending->length);
    pending->script_tail =
        (size_t)(first_line_end - pending->text) + strlen("\n$7\r\nEVALSHA\r\n$40\r\n\r\n") + NC_REDIS_SHA1_DIGITS;
    pending->script = nc_redis_script_retain(script);
    // The source may have to be sent too.
    pending->charged_bytes += script->length;
    return submit(client, pending, command->timeout_ms, err);
}

/* --- blocking calls --- */

/// The state of nc_redis_call().
typedef struct waiting_call {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool has_ended;
    nc_redis_reply *reply;
    nc_error err;
} waiting_call;

static void end_call(void *ctx, nc_redis_reply *reply, const nc_error *err) {
    waiting_call *call = ctx;
    (void)pthread_mutex_lock(&call->lock);
    call->reply = reply != NULL ? nc_redis_reply_take(reply) : NULL;
    call->err = *err;
    call->has_ended = true;
    (void)pthread_cond_signal(&call->ended);
    (void)pthread_mutex_unlock(&call->lock);
}

static nc_status wait_for(waiting_call *call, nc_redis_reply **out, nc_error *err) {
    (void)pthread_mutex_lock(&call->lock);
    while (!call->has_ended) {
        (void)pthread_cond_wait(&call->ended, &call->lock);
    }
    (void)pthread_mutex_unlock(&call->lock);
    (void)pthread_cond_destroy(&call->ended);
    (void)pthread_mutex_destroy(&call->lock);
    *out = call->reply;
    if (err != NULL) {
        *err = call->err;
    }
    return call->err.status;
}

static nc_status call(nc_redis *client, nc_redis_script *script, const nc_redis_command *command, size_t key_count,
                      nc_redis_reply **out, nc_error *err) {
    waiting_call waiting = {.lock = PTHREAD_MUTEX_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER};
    nc_redis_command asked = *command;
    asked.on_reply = end_call;
    asked.ctx = &waiting;
    *out = NULL;
    if (pthread_equal(pthread_self(), client->thread) != 0) {
        return nc_redis_fail(err, NC_ERR_USAGE, 0, "a callback of the client cannot wait for a reply");
    }
    nc_status status =
        script != NULL ? nc_redis_eval(client, script, &asked, key_count, err) : nc_redis_send(client, &asked, err);
    return status == NC_OK ? wait_for(&waiting, out, err) : status;
}

nc_status nc_redis_call(nc_redis *client, const nc_redis_command *command, nc_redis_reply **out, nc_error *err) {
    return call(client, NULL, command, 0, out, err);
}

nc_status nc_redis_eval_call(nc_redis *client, nc_redis_script *script, const nc_redis_command *command,
                             size_t key_count, nc_redis_reply **out, nc_error *err) {
    return call(client, script, command, key_count, out, err);
}

#endif
