#if defined(NETKIT_REDIS) || !defined(SWIFT_PACKAGE)
/// Commands on their way: their text, what may not be sent, and their end.
#include "internal.h"

#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <string.h>

enum { STACK_WORDS = 16 };

/* --- lists --- */

void nc_redis_list_append(nc_redis_list *list, nc_redis_pending *pending) {
    pending->next = NULL;
    pending->previous = list->last;
    *(list->last != NULL ? &list->last->next : &list->first) = pending;
    list->last = pending;
    list->count++;
}

void nc_redis_list_remove(nc_redis_list *list, nc_redis_pending *pending) {
    *(pending->previous != NULL ? &pending->previous->next : &list->first) = pending->next;
    *(pending->next != NULL ? &pending->next->previous : &list->last) = pending->previous;
    pending->next = NULL;
    pending->previous = NULL;
    list->count--;
}

/* --- what may be sent --- */

/// The commands that change a connection, or that are answered by no reply or by several.
static const char *const refused_names[] = {
    "ASKING",   "AUTH",         "DISCARD",   "EXEC",         "HELLO",     "MONITOR",     "MULTI",   "PSUBSCRIBE",
    "PSYNC",    "PUNSUBSCRIBE", "QUIT",      "READONLY",     "READWRITE", "REPLCONF",    "RESET",   "SELECT",
    "SHUTDOWN", "SSUBSCRIBE",   "SUBSCRIBE", "SUNSUBSCRIBE", "SYNC",      "UNSUBSCRIBE", "UNWATCH", "WATCH",
};

const char *nc_redis_refusal_of(nc_slice name) {
    for (size_t i = 0; i < sizeof refused_names / sizeof refused_names[0]; i++) {
        if (nc_slice_is_equal_ignoring_case(name, nc_slice_of(refused_names[i]))) {
            return refused_names[i];
        }
    }
    return NULL;
}

/// Returns the position of a command's first key.
static size_t key_position(const nc_redis_command *command) {
    static const char *const scripts[] = {"EVAL", "EVALSHA", "EVAL_RO", "EVALSHA_RO", "FCALL", "FCALL_RO"};
    if (command->key_index != 0) {
        return command->key_index;
    }
    for (size_t i = 0; i < sizeof scripts / sizeof scripts[0]; i++) {
        if (nc_slice_is_equal_ignoring_case(command->arguments[0], nc_slice_of(scripts[i]))) {
            bool has_key = command->count > 3 && !nc_slice_is_equal(command->arguments[2], nc_slice_of("0"));
            return has_key ? 3 : command->count;
        }
    }
    return 1;
}

/* --- text --- */

/// Returns the length of the formatted command, or 0 if it exceeds `max_bytes`.
static size_t formatted_bytes(const nc_redis_command *command, size_t max_bytes) {
    size_t total = 32;
    for (size_t i = 0; i < command->count; i++) {
        if (command->arguments[i].length > max_bytes) {
            return 0;
        }
        total += command->arguments[i].length + 32;
        if (total > max_bytes) {
            return 0;
        }
    }
    return total;
}

static nc_status format_words(nc_redis_pending *pending, const nc_redis_command *command) {
    const char *stack_words[STACK_WORDS];
    size_t stack_lengths[STACK_WORDS] = {0}; // GCC 12 does not see that all used ones are set
    bool is_small = command->count <= STACK_WORDS;
    const char **words = is_small ? stack_words : malloc(command->count * sizeof *words);
    size_t *lengths = is_small ? stack_lengths : malloc(command->count * sizeof *lengths);
    char *text = NULL;
    long long length = -1;
    if (words != NULL && lengths != NULL) {
        for (size_t i = 0; i < command->count; i++) {
            words[i] = command->arguments[i].length > 0 ? (const char *)command->arguments[i].data : "";
            lengths[i] = command->arguments[i].length;
        }
        length = redisFormatCommandArgv(&text, (int)command->count, words, lengths);
    }
    if (!is_small) {
        free(words);
        free(lengths);
    }
    pending->text = text;
    pending->length = length > 0 ? (size_t)length : 0;
    return length > 0 ? NC_OK : NC_ERR_NO_MEMORY;
}

nc_status nc_redis_pending_new(nc_redis_pending **out, const nc_redis_command *command, size_t max_bytes,
                               nc_error *err) {
    *out = NULL;
    if (command->count == 0 || command->count > NC_REDIS_MAX_WORDS) {
        return nc_redis_fail(err, NC_ERR_USAGE, 0, "a command has 1 to %d words", NC_REDIS_MAX_WORDS);
    }
    if (formatted_bytes(command, max_bytes) == 0) {
        return nc_redis_fail(err, NC_ERR_QUEUE_FULL, 0, "the command exceeds max_queued_bytes (%zu)", max_bytes);
    }
    nc_redis_pending *pending = calloc(1, sizeof *pending);
    if (pending == NULL || format_words(pending, command) != NC_OK) {
        nc_redis_pending_free(pending);
        return nc_redis_fail(err, NC_ERR_NO_MEMORY, 0, "%s", nc_status_text(NC_ERR_NO_MEMORY));
    }
    size_t key = key_position(command);
    pending->slot = key < command->count ? nc_redis_slot_of(command->arguments[key]) : NC_REDIS_SLOTS;
    pending->on_reply = command->on_reply;
    pending->ctx = command->ctx;
    pending->charged_bytes = pending->length + sizeof *pending;
    *out = pending;
    return NC_OK;
}

void nc_redis_pending_free(nc_redis_pending *pending) {
    if (pending != NULL) {
        free(pending->text); // hiredis 0.14 and 1 use malloc unless the program sets another allocator
        nc_redis_script_free(pending->script);
        free(pending);
    }
}

void nc_redis_pending_deliver(nc_redis_pending *pending, nc_redis_reply *reply, const nc_error *err) {
    nc_redis_reply_fn on_reply = pending->on_reply;
    bool is_taken = false;
    pending->on_reply = NULL;
    if (reply != NULL) {
        nc_redis_reply_lend(reply, &is_taken);
    }
    if (pending->own != NULL) {
        pending->own(pending->node, reply, err);
    } else if (on_reply != NULL) {
        on_reply(pending->ctx, reply, err);
    }
    if (!is_taken) {
        nc_redis_reply_free(reply);
    }
}

void nc_redis_finish(nc_redis *client, nc_redis_pending *pending, nc_redis_reply *reply, const nc_error *err) {
    nc_redis_deadlines_remove(&client->deadlines, pending);
    nc_redis_pending_deliver(pending, reply, err);
    (void)atomic_fetch_sub_explicit(&client->queued_bytes, pending->charged_bytes, memory_order_relaxed);
    nc_redis_pending_free(pending);
}

#endif
